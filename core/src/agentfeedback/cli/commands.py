"""The commands of the core as a table; what they do is imported when they are called."""

from __future__ import annotations

from agentfeedback.cli.session_commands import HOME, JSON, SESSIONS
from agentfeedback.plugins import Command, Flag

_DRY_RUN = Flag("dry-run", "bool", "show what would change, and change nothing")

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
    *SESSIONS,
    Command(
        "install",
        "wire a harness's hooks to agentfeedback",
        "<harness>...",
        flags=(_DRY_RUN, JSON),
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
        flags=(_DRY_RUN, JSON),
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
        flags=(JSON,),
        about="""Shows each plugin's name, version and hooks, and why one could not be loaded. AGENTFEEDBACK_BLOCK=a,b
leaves plugins out; a gate cannot be left out: without it every session is refused.

 agentfeedback plugins --json
 agentfeedback plugins new goose""",
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
            JSON,
            HOME,
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
        flags=(JSON,),
        about="""Shows what counts: a flag goes before the environment, that before config.toml. The key of a server
is never shown. No setting lets anything be collected that the policy refuses.

 agentfeedback config
 agentfeedback config set machine build-box
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
        flags=(JSON,),
        about="""Runs sessions list and sessions digest over sample logs in a temporary home, so that a machine
without any coding agent shows what the program does. Nothing outside that folder is read or written.

 agentfeedback demo""",
        target="agentfeedback.cli.demo:run",
    ),
    Command(
        "completion",
        "print the completion script of a shell",
        "bash|zsh|fish",
        about="""Prints a script that completes commands, flags and refs. To try it in the bash that runs:

 . <(agentfeedback completion bash)

To keep it, write it to a folder the shell looks in; make that first where it is missing.

 agentfeedback completion bash > ~/.local/share/bash-completion/completions/agentfeedback
 agentfeedback completion zsh > ~/.zfunc/_agentfeedback
 agentfeedback completion fish > ~/.config/fish/completions/agentfeedback.fish""",
        target="agentfeedback.cli.complete:run",
    ),
)
