"""What both formats share: when a row is complete, the command of a call, the exit code of a result. Pure."""

from __future__ import annotations

from typing import Any

from agentfeedback.reading import Record, loads

_LARGEST_EXIT = (1 << 31) - 1


class Input(Record):
    """The input of a call, as far as it matters."""

    command: str | None = None


def completed(message: dict[str, Any]) -> bool:
    """Whether an assistant message has its time of completion."""
    time = message.get("time")
    at = time.get("completed") if isinstance(time, dict) else None
    return isinstance(at, (int, float)) and not isinstance(at, bool)


def running(part: dict[str, Any]) -> bool:
    """Whether a part is a tool call without a result."""
    if part.get("type") != "tool":
        return False
    state = part.get("state")
    return not isinstance(state, dict) or state.get("status") not in ("completed", "error")


def exit_code(written: bytes) -> int | None:
    """The exit code of a command that failed: a whole number other than 0, however it is written."""
    value = loads(written) if written else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not value or value != value // 1 or abs(value) > _LARGEST_EXIT:
        return None
    return int(value)
