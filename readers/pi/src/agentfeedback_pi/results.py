"""What became of a tool call, by the texts pi itself writes into a failed result (`README.md`, "Results")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfeedback.reading import Status

#: Whole texts of a result that stand for a call which an extension stopped before it ran.
_BLOCKED = frozenset(("Blocked by user", "Tool execution was blocked"))
#: The whole text of a result of the tools that read and write files.
_ABORTED = "Operation aborted"
#: The last line of what a failed `bash` returns; the command's own output stands before it.
_BASH_ABORTED = "Command aborted"
_BASH_EXIT = re.compile(r"Command exited with code ([0-9]{1,3})", re.ASCII)


def outcome(tool: str | None, text: str) -> tuple[Status, int | None]:
    """Status and exit code of a result that is marked as an error."""
    if text in _BLOCKED:
        return "denied", None
    if tool != "bash":
        return ("interrupted" if text == _ABORTED else "error"), None
    last = text.rpartition("\n")[2]
    if last == _BASH_ABORTED:
        return "interrupted", None
    exited = _BASH_EXIT.fullmatch(last)
    return "error", int(exited[1]) if exited else None
