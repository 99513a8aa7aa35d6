"""Which pieces of a conversation belong to a fact, and how they are kept; loaded only where a mode keeps bodies.

The order is: select, drop what a model thought, write canonically, redact. Nothing here writes a file,
so nothing unredacted can be on one in shared mode.
"""

from __future__ import annotations

import signal
import time

from agentfeedback.foundation.canonical import canonical
from agentfeedback_change_capture.adapter import observed
from agentfeedback_change_capture.facts import LOCAL, SHARED, Body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from agentfeedback_change_capture.facts import CaptureMode, Role

#: Seconds that the redaction of one body may take; one that takes longer is not retained.
SECONDS = 3.0
_THOUGHT = ("thinking", "redacted_thinking")


class _Dropped:
    """Stands for what is left out."""


_DROPPED = _Dropped()


class _TooSlow(Exception):
    """A body was not redacted in time."""


def select(event: str, payload: dict[str, Any], mode: CaptureMode) -> list[Body]:
    """Return the bodies of an event, redacted where the mode may share them; none where it keeps none."""
    if mode not in (LOCAL, SHARED):
        return []
    found = _selected(event, payload)
    if found is None:
        return []
    role, value = found
    value = without_thought(value)
    if value is _DROPPED:
        return []
    if mode == SHARED:
        return [_redacted(role, value)]
    return [_body(role, value)]


def redact(value: Any) -> tuple[Any, int]:
    """Return a text or JSON value without secrets of known formats, and how many were replaced."""
    from agentfeedback.scrub import CAPTURE, Scrubber

    scrubber = Scrubber(CAPTURE)
    scrubbed = scrubber.text(value) if isinstance(value, str) else scrubber.tree(value)
    return scrubbed, scrubber.count


def without_thought(value: Any) -> Any:
    """Return a value without blocks of a model's thinking, at any depth, and without signatures beside them.

    A value that is such a block itself is left out whole; test for that with `is_dropped`.
    """
    if isinstance(value, list):
        kept = []
        for item in value:
            item = without_thought(item)
            if item is not _DROPPED:
                kept.append(item)
        return kept
    if not isinstance(value, dict):
        return value
    if value.get("type") in _THOUGHT:
        return _DROPPED
    members: dict[str, Any] = {}
    signed = False
    for name, item in value.items():
        left = without_thought(item)
        signed = signed or left is _DROPPED or _lost(item, left)
        if left is not _DROPPED:
            members[name] = left
    if signed:
        members.pop("signature", None)
    return members


def is_dropped(value: Any) -> bool:
    """Return whether `without_thought` left a whole value out."""
    return value is _DROPPED


def _lost(before: Any, after: Any) -> bool:
    return isinstance(before, list) and len(after) < len(before)


def _selected(event: str, payload: dict[str, Any]) -> tuple[Role, Any] | None:
    if event == "UserPromptSubmit":
        if observed.is_notification(payload):
            return None
        return _text("prompt", payload.get("prompt"))
    if event == "MessageDisplay":
        return _text("assistant", payload.get("delta"))
    if event == "PreToolUse":
        return ("tool_input", payload["tool_input"]) if "tool_input" in payload else None
    if event == "PostToolUse":
        return ("tool_result", payload["tool_response"]) if "tool_response" in payload else None
    if event == "PostToolUseFailure":
        return _text("tool_error", payload.get("error"))
    return None


def _text(role: Role, value: Any) -> tuple[Role, Any] | None:
    return (role, value) if isinstance(value, str) else None


def _body(role: Role, value: Any, redactions: int = 0) -> Body:
    # A tool's input is JSON even where it is a string; everything else that is a string is text.
    if isinstance(value, str) and role != "tool_input":
        return Body(role, value.encode(), "text/plain", redactions=redactions)
    return Body(role, canonical(value), "application/json", redactions=redactions)


def _redacted(role: Role, value: Any) -> Body:
    started = time.monotonic()
    previous = signal.signal(signal.SIGALRM, _too_slow)
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        scrubbed, count = redact(value)
        return _body(role, scrubbed, count)
    except Exception:  # noqa: BLE001 - whatever the reason: what was not redacted is not kept
        plain = _body(role, value)
        return Body(role, None, plain.media_type, size=len(plain.data or b""))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous or signal.SIG_DFL)
        if remaining:  # the hook's own deadline goes on
            left = remaining - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise _TooSlow
