"""How a call ended, by what its `tool.execution_complete` holds (details 14.3). Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentfeedback.teller import Status

from .lines import Data

#: The line with which the harness closes the output of a shell.
_CLOSING = re.compile(
    r"<(?:detached command with )?shellId: [^\n]* completed with exit code (-?[0-9]{1,18})>\s*",
    re.ASCII,
)
#: Lines the harness may add below it.
_REMARKS = ("<sandbox is active ", "<this failure may be caused by t")
_DENIED = ("rejected", "denied")


class Outcome(NamedTuple):
    """How a call ended; `exit_code` is None unless a failing one is recorded."""

    status: Status
    content: str
    exit_code: int | None


def outcome(data: Data, *, shell: bool) -> Outcome:
    """The outcome of a completed call; `shell` says that its tool runs commands in a shell."""
    content = (data.result.content if data.result is not None else None) or ""
    error = data.error
    if not content and error is not None:
        content = error.message or ""
    code: int | None = None
    if shell or data.shell_execution is not None:
        content, code = without_closing(content)
        if data.shell_execution is not None and data.shell_execution.exit_code is not None:
            code = data.shell_execution.exit_code
    if not data.success and error is not None and error.code in _DENIED:
        return Outcome("denied", content, None)
    if data.success and not code:
        return Outcome("ok", content, None)
    return Outcome("error", content, code or None)


def without_closing(content: str) -> tuple[str, int | None]:
    """An output without its closing line, and the exit code that line tells; as it is where there is none."""
    end = len(content)
    while end >= 0:
        start = content.rfind("\n", 0, end) + 1
        line = content[start:end]
        if line and not line.isspace() and not line.startswith(_REMARKS):
            closing = _CLOSING.fullmatch(line)
            if closing is None:
                break
            return content[:start].rstrip("\r\n"), int(closing[1])
        end = start - 1
    return content, None
