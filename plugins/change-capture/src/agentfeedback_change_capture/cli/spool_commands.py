"""The table of the commands that look at a spool or tidy it."""

from __future__ import annotations

from agentfeedback.terminal.arguments import Command, Flag

_JSON = Flag("json", "bool", "print JSON instead of text")
_SPOOL = Flag("spool", "text", "the spool, an absolute path", "PATH", "directory")
_LIMIT = Flag("limit", "number", "at most N of each list (100)", "N")

SPOOL_COMMANDS = (
    Command(
        "change-capture inspect",
        "show what a spool holds, without changing it",
        flags=(_SPOOL, _LIMIT, _JSON),
        about="""Takes no lock and writes nothing; also shows a spool that every other command refuses. What it says
is a snapshot: it grants no authority, and whether it is complete is never known.

 agentscm change-capture inspect --spool /absolute/private/spool""",
        target="agentfeedback_change_capture.cli.spool_views:run_inspect",
    ),
)
