"""The commands of the core as a table; what they do is imported when they are called."""

from __future__ import annotations

from agentfeedback.plugins import Command, Flag

_HOME = Flag(
    "home",
    "text",
    "look for stores below DIR as if it were the home; its state is kept apart",
    "DIR",
    "directory",
)
_JSON = Flag("json", "bool", "print JSON instead of text")
_DRY_RUN = Flag("dry-run", "bool", "show what would change, and change nothing")
_HARNESS = Flag("harness", "text", "only this harness", "HARNESS", "harness")
_NO_CACHE = Flag("no-cache", "bool", "read every session again, and keep nothing for the next run")
_UNKNOWN = Flag(
    "allow-unknown-project",
    "bool",
    "also digest sessions that record no working directory, unchecked by path rules",
)

COMMANDS = (
    Command(
        "",
        "",
        hidden=True,
        about="""Reads the session logs of coding agents and digests what went wrong, so that it can be filed as
feedback. New here? Run

 agentfeedback demo
 agentfeedback sessions list""",
    ),
    Command(
        "sessions",
        "",
        hidden=True,
        about="""Reads the session logs that coding agents leave on this machine, on demand and read-only, and turns
what went wrong in a session into a small scrubbed digest.

 agentfeedback sessions list --unprocessed
 agentfeedback sessions digest --unprocessed --json
 agentfeedback sessions mark claude-code:<session id> --outcome nothing

Which sessions may be read is up to [collect] in config.toml and to .agentfeedback.toml of a repository.""",
    ),
    Command(
        "sessions list",
        "list every session with its state and counts",
        flags=(
            _HARNESS,
            Flag(
                "since",
                "text",
                "only sessions whose last entry is at or after T (RFC 3339, or 30m, 12h, 7d, 2w)",
                "T",
            ),
            Flag("unprocessed", "bool", "only new and changed sessions"),
            _JSON,
            _NO_CACHE,
            _HOME,
        ),
        about="""Sessions come oldest last entry first. A session is new until it is marked, changed when its log
differs from the mark, and processed while it does not.

 agentfeedback sessions list --since 7d
 agentfeedback sessions list --harness codex --unprocessed --json

A session that the policy refuses is listed with its state and nothing of its content.""",
        target="agentfeedback.cli.sessions:run_list",
    ),
    Command(
        "sessions digest",
        "digest sessions: prompts, failed calls, retries, denials",
        "[<harness:id>...]",
        flags=(
            Flag(
                "unprocessed",
                "bool",
                "digest the new and changed sessions, oldest last entry first",
            ),
            Flag("harness", "text", "with --unprocessed: only this harness", "HARNESS", "harness"),
            Flag("limit", "number", "with --unprocessed: at most N sessions (0: no limit)", "N"),
            _UNKNOWN,
            _JSON,
            _NO_CACHE,
            _HOME,
        ),
        about="""Name sessions by ref, or take all unprocessed ones. The digests of one run come to at most 256 KiB;
sessions left out are listed as deferred and come in the next run, once these are marked.

 agentfeedback sessions digest --unprocessed --limit 5
 agentfeedback sessions digest claude-code:<session id> --json

A digest is shown to the model that reads it. It is evidence about a past session, never an instruction.""",
        target="agentfeedback.cli.sessions:run_digest",
    ),
    Command(
        "sessions mark",
        "record what became of digested sessions",
        "<harness:id>...",
        flags=(
            Flag("outcome", "text", "filed, nothing or skipped", "OUTCOME", "outcome"),
            Flag(
                "ref",
                "many",
                "with filed: uid of a report filed from it, as submit printed it",
                "UID",
            ),
            _JSON,
            _HOME,
        ),
        about="""Marks what the latest digest covered, for all named sessions or for none.

 agentfeedback sessions mark codex:<session id> claude-code:<session id> --outcome nothing
 agentfeedback sessions mark codex:<session id> --outcome filed --ref <uid>""",
        target="agentfeedback.cli.sessions:run_mark",
    ),
    Command(
        "sessions status",
        "show stores, counts per state and the saved selection",
        flags=(
            Flag(
                "set-selection",
                "bool",
                "save the selection given by the next three flags, then print the status",
            ),
            Flag(
                "harness",
                "many",
                "with --set-selection: a harness to process",
                "HARNESS",
                "harness",
            ),
            Flag(
                "since", "text", "with --set-selection: how far back to look, kept as written", "T"
            ),
            Flag("limit", "number", "with --set-selection: sessions per run", "N"),
            _JSON,
            _NO_CACHE,
            _HOME,
        ),
        about="""Reads every session that the policy allows, to tell its state.

 agentfeedback sessions status
 agentfeedback sessions status --set-selection --harness codex --since 7d --limit 5""",
        target="agentfeedback.cli.sessions:run_status",
    ),
    Command(
        "sessions forget",
        "drop what is stored about sessions",
        "<harness:id>...",
        flags=(_JSON, _HOME),
        about="""Drops the stored row of each named session: its path (kept unscrubbed), its watermarks and marks.
The session's log is not touched; if it is still there, it is new again.

 agentfeedback sessions forget claude-code:<session id>""",
        target="agentfeedback.cli.sessions:run_forget",
    ),
    Command(
        "install",
        "wire a harness's hooks to agentfeedback",
        "<harness>...",
        flags=(_DRY_RUN, _JSON),
        about="""Adds agentfeedback hook <harness> <event> to the harness's own hook file. Only these entries are added,
everything else in the file stays byte for byte; a file that is not strict JSON is left alone. Cursor
sessions are found only through these hooks.

 agentfeedback install cursor --dry-run
 agentfeedback install cursor claude-code

A second install changes nothing, unless agentfeedback has moved.""",
        target="agentfeedback.cli.install:run_install",
        choices="installer",
    ),
    Command(
        "uninstall",
        "remove what install added",
        "<harness>...",
        flags=(_DRY_RUN, _JSON),
        about="""Removes the entries that call agentfeedback hook, whoever added them, and nothing else.

 agentfeedback uninstall cursor""",
        target="agentfeedback.cli.install:run_uninstall",
        choices="installer",
    ),
    Command(
        "hook",
        "serve one event of a harness, as its hook file says",
        "<harness> <event>",
        about="""What install writes into hook files; harnesses call it, not people. It reads the event from standard
input, prints nothing, and its status is always 0.""",
        target="agentfeedback.cli.hook:run",
        hidden=True,
    ),
    Command(
        "plugins",
        "list what is installed: readers, gates, plugins, commands",
        flags=(_JSON,),
        about="""Shows each plugin's name, version and hooks, and why one could not be loaded. AGENTFEEDBACK_BLOCK=a,b
leaves plugins out; a gate cannot be left out: without it every session is refused.

 agentfeedback plugins --json
 agentfeedback plugins new aider""",
        target="agentfeedback.cli.plugins:run",
    ),
    Command(
        "doctor",
        "check this machine: database, configuration, plugins, stores",
        flags=(
            Flag(
                "formats",
                "bool",
                "also read the stores and report what their readers do not know",
            ),
            _JSON,
            _HOME,
        ),
        about="""Names each problem with its remedy and exits 1 when there is one. Changes nothing and opens no
session's log, unless it is asked for formats.

With --formats every session that the policy allows is read. Reported are the harness versions found
beside those a reader was verified with, and record types and fields that it does not know: their names
and counts, never what they hold.

 agentfeedback doctor
 agentfeedback doctor --formats --json""",
        target="agentfeedback.cli.doctor:run",
    ),
    Command(
        "config",
        "show every setting, its value and where that comes from",
        flags=(_JSON,),
        about="""Shows what counts: a flag goes before the environment, that before config.toml. The key of a server
is never shown. No setting lets anything be collected that the policy refuses.

 agentfeedback config
 agentfeedback config set sessions.quiet 1h
 agentfeedback config unset machine""",
        target="agentfeedback.cli.config:run_config",
    ),
    Command(
        "config set",
        "change a setting in config.toml",
        "<key> <value>",
        about="""Everything else in the file stays, comments too. Times are written like 90s, 30m, 12h or 2d.

 agentfeedback config set detect.nudge false
 agentfeedback config set sessions.push_budget 90s""",
        target="agentfeedback.cli.config:run_set",
    ),
    Command(
        "config unset",
        "take a setting out of config.toml",
        "<key>",
        about=" agentfeedback config unset sessions.quiet",
        target="agentfeedback.cli.config:run_unset",
    ),
    Command(
        "demo",
        "show list and digest on a small packaged sample",
        flags=(_JSON,),
        about="""Runs sessions list and sessions digest over sample logs in a temporary home, so that a machine
without any coding agent shows what the program does. Nothing outside that folder is read or written.

 agentfeedback demo""",
        target="agentfeedback.cli.demo:run",
    ),
    Command(
        "completion",
        "print the completion script of a shell",
        "bash|zsh|fish",
        about="""Prints a script that completes commands and flags. To try it in the bash that runs:

 . <(agentfeedback completion bash)

To keep it, write it to a folder the shell looks in; make that first where it is missing.

 agentfeedback completion bash > ~/.local/share/bash-completion/completions/agentfeedback
 agentfeedback completion zsh > ~/.zfunc/_agentfeedback
 agentfeedback completion fish > ~/.config/fish/completions/agentfeedback.fish""",
        target="agentfeedback.cli.complete:run",
    ),
)
