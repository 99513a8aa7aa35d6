"""The table of the commands that look at a spool or tidy it."""

from __future__ import annotations

from agentfeedback.terminal.arguments import Command, Flag

_JSON = Flag("json", "bool", "print JSON instead of text")
_SPOOL = Flag("spool", "text", "the spool, an absolute path", "PATH", "directory")
_LIMIT = Flag("limit", "number", "at most N of each list (100)", "N")
_TARGETS = "agentfeedback_change_capture.cli.spool"

SPOOL_COMMANDS = (
    Command(
        "change-capture inspect",
        "show what a spool holds, without changing it",
        flags=(_SPOOL, _LIMIT, _JSON),
        about="""Takes no lock and writes nothing; also shows a spool that every other command refuses. What it says
is a snapshot: it grants no authority, and whether it is complete is never known.

 agentscm change-capture inspect --spool /absolute/private/spool""",
        target=f"{_TARGETS}:run_inspect",
    ),
    Command(
        "change-capture deferred",
        "list facts that were kept without a target",
        flags=(
            _SPOOL,
            Flag("limit", "number", "at most N (100)", "N"),
            Flag("after", "number", "those after this receipt order", "N"),
            _JSON,
        ),
        about="""They stay on this machine: none of them is ever attributed later.

 agentscm change-capture deferred --spool /absolute/private/spool --after 20""",
        target=f"{_TARGETS}:run_deferred",
    ),
    Command(
        "change-capture quarantine",
        "list files of a spool that were set aside after a crash",
        flags=(_SPOOL, _JSON),
        about="""They count toward the limits of the spool, and are deleted by prune-quarantine alone.

 agentscm change-capture quarantine --spool /absolute/private/spool""",
        target=f"{_TARGETS}:run_quarantine",
    ),
    Command(
        "change-capture prune-quarantine",
        "delete named files from a spool's quarantine",
        "<name>...",
        flags=(_SPOOL, _JSON),
        about="""Deletes exactly the names that are given, as quarantine shows them.

 agentscm change-capture prune-quarantine --spool /absolute/private/spool <name>""",
        target=f"{_TARGETS}:run_prune",
    ),
    Command(
        "change-capture compact",
        "replace what a Hub accepted by the digests that replays need",
        flags=(
            _SPOOL,
            Flag("root", "text", "or the checkout it belongs to", "PATH", "directory"),
            _JSON,
        ),
        about="""Removes acknowledged envelopes and finished actions once an index holds what a hook that runs again
needs. Pending envelopes, open actions, artifacts and deferred facts stay. Where the index would pass its
bounds nothing is changed: export the spool, or configure larger limits.

 agentscm change-capture compact --spool /absolute/private/spool""",
        target=f"{_TARGETS}:run_compact",
    ),
    Command(
        "change-capture export",
        "copy a spool into an archive, byte for byte",
        flags=(
            _SPOOL,
            Flag("destination", "text", "the archive to make, an absolute path", "PATH"),
            _JSON,
        ),
        about="""Makes a folder that does not exist yet and copies every file, each compared again after it is copied.
The archive cannot be resumed or used as a spool. The spool itself is not changed. An empty folder named
.agentscm-export-<random> stays beside the archive: no folder is ever deleted by its path.

 agentscm change-capture export --spool /absolute/private/spool --destination /absolute/archive""",
        target=f"{_TARGETS}:run_export",
    ),
)
