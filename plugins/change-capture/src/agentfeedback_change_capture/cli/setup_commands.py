"""The table of the commands that set capture up, and of those about connections."""

from __future__ import annotations

from agentfeedback.terminal.arguments import Command, Flag

_JSON = Flag("json", "bool", "print JSON instead of text")
_ROOT = Flag("root", "text", "the checkout, an absolute path", "PATH", "directory")
_MODES = ("metadata-only", "local-conversation", "shared-conversation")
_VIEWS = "agentfeedback_change_capture.cli.setup_views"

SETUP_COMMANDS = (
    Command(
        "change-capture configure",
        "bind a checkout to a private spool and put the hooks in place",
        flags=(
            _ROOT,
            Flag("spool", "text", "the spool: an absent or empty folder, or its own", "PATH"),
            Flag("worktree-id", "text", "how the Hub calls this checkout", "ID"),
            Flag("base-ref", "text", "what changes are compared with", "REF"),
            Flag(
                "setup-digest", "text", "identifies the agent's setup, 64 hexadecimal digits", "SHA"
            ),
            Flag("claude-history-root", "text", "read usage from session files below it", "PATH"),
            Flag("no-claude-history-root", "bool", "read no session files any more"),
            Flag("capture-mode", "text", "what is kept (metadata-only)", "MODE", _MODES),
            Flag(
                "action-rule",
                "many",
                "TOOL=execution:COVERAGE:RESULT_SOURCE; replaces the saved rules",
            ),
            Flag("recipe-file", "many", "a recipe to register; replaces the saved recipes", "PATH"),
            Flag("max-records", "number", "records the spool may hold (4096, at least 48)", "N"),
            Flag("max-bytes", "number", "bytes the spool may hold (67108864, at least 65536)", "N"),
            Flag("max-artifact-bytes", "number", "bytes of one artifact (16777216)", "N"),
            Flag("replay-records", "number", "entries of the replay index (4 x max-records)", "N"),
            Flag("replay-bytes", "number", "bytes of the replay index (max-artifact-bytes)", "N"),
            Flag(
                "claude-settings",
                "text",
                "the settings file (ROOT/.claude/settings.local.json)",
                "PATH",
            ),
            _JSON,
        ),
        about="""Needs a client connection of the checkout. What is given once is saved: later calls only name what
changes, and a call that changes nothing is a no-op.

 agentscm change-capture configure --root /srv/app --spool /srv/spools/app --worktree-id checkout_app \\
   --base-ref origin/main --setup-digest $(sha256sum settings.json | cut -d' ' -f1) \\
   --action-rule Bash=execution:partial:process_exit_code""",
        target=f"{_VIEWS}:run_configure",
    ),
    Command(
        "change-capture set-mode",
        "change what a checkout's capture keeps, and nothing else",
        flags=(_ROOT, Flag("mode", "text", "what is kept", "MODE", _MODES), _JSON),
        about="""metadata-only keeps no text. local-conversation keeps prompts, messages, tool inputs and results in the
private spool. shared-conversation also sends them, redacted, to the Hub. Lowering works without a connection.""",
        target=f"{_VIEWS}:run_set_mode",
    ),
    Command(
        "change-capture status",
        "show how capture of one checkout, or of all, is set",
        flags=(_ROOT, _JSON),
        target="agentfeedback_change_capture.cli.status:run_status",
    ),
    Command(
        "change-capture unconfigure",
        "turn capture of a checkout off and remove its hooks; the spool stays",
        flags=(_ROOT, _JSON),
        about="Also works for a checkout that is gone: give its path as it was.",
        target=f"{_VIEWS}:run_unconfigure",
    ),
    Command(
        "change-capture forget",
        "remove the binding of a checkout whose capture is off; the spool stays",
        flags=(_ROOT, _JSON),
        about="Prints where the spool is, so that you can export or delete it. The next configure starts fresh.",
        target=f"{_VIEWS}:run_forget",
    ),
    Command(
        "change-capture capabilities",
        "list what is observed of each harness, and what is not",
        flags=(Flag("harness", "text", "one harness", "HARNESS", ("claude-code", "codex")), _JSON),
        target="agentfeedback_change_capture.cli.facts_views:run_capabilities",
    ),
    Command(
        "change-capture recipe-digest",
        "print the digest of a registered recipe, or of one input of a tool",
        flags=(
            Flag("recipe-file", "text", "a recipe file", "PATH", "file"),
            Flag("tool", "text", "a tool of the harness", "NAME"),
            Flag("input-file", "text", "with --tool: its input, a JSON file", "PATH", "file"),
            _JSON,
        ),
        about="""The digest of an input stands in a verification rule:

 agentscm change-capture recipe-digest --tool Bash --input-file input.json""",
        target="agentfeedback_change_capture.cli.facts_views:run_recipe_digest",
    ),
    Command(
        "change-capture hook-claude",
        "what Claude Code's hooks call",
        flags=(
            _ROOT,
            Flag("runner", "text", "the command that runs a recipe", "COMMAND"),
        ),
        hidden=True,
        target="agentfeedback_change_capture.cli.setup_views:run_hook",
    ),
    Command(
        "demo",
        "replay a made-up session into a temporary spool and show the account",
        flags=(
            Flag("capture-mode", "text", "what is kept (metadata-only)", "MODE", _MODES),
            Flag("keep", "bool", "leave the temporary folder, and say where it is"),
            _JSON,
        ),
        about="""Needs neither a checkout nor a Hub, and touches nothing but a temporary folder.

 agentscm demo
 agentscm demo --capture-mode shared-conversation""",
        target="agentfeedback_change_capture.cli.demo:run_demo",
    ),
    Command(
        "client",
        "",
        hidden=True,
        about="A connection says to which Hub and repository a checkout belongs. Capture does nothing without one.",
    ),
    Command(
        "client setup",
        "connect a checkout to a repository on a Hub",
        flags=(
            _ROOT,
            Flag("hub", "text", "the Hub's URL", "URL"),
            Flag("repository", "text", "the repository's name at the Hub", "NAME"),
            Flag("token-stdin", "bool", "read the token from standard input"),
            Flag("unchecked", "bool", "record the connection without asking the Hub"),
            _JSON,
        ),
        about="""The token is read from standard input, never from the command line. A connection to another repository
or Hub replaces the one there is, and sharing stops until it is confirmed again.

 agentscm client setup --root /srv/app --hub https://hub.example --repository demo/app \\
   --token-stdin --unchecked < token""",
        target=f"{_VIEWS}:run_client_setup",
    ),
    Command(
        "client status",
        "show the connection of one checkout, or of all",
        flags=(_ROOT, _JSON),
        target=f"{_VIEWS}:run_client_status",
    ),
    Command(
        "client remove",
        "remove the connection of a checkout: capture there stops at once",
        flags=(_ROOT, _JSON),
        target=f"{_VIEWS}:run_client_remove",
    ),
)
