"""A hook's payload: decoded without losing how it is spelled, and the members that are read of it. Pure."""

from __future__ import annotations

import re

from agentfeedback.foundation import times
from agentfeedback.foundation.json_text import NotJson, Number, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The largest payload that is decoded, in bytes.
LARGEST = 32 << 20
#: Strings of a payload that are kept as facts are at most this long, in bytes; a longer one counts as absent.
LONGEST = 256
#: How far an unreadable payload is searched for its event and its session, in bytes.
_SCANNED = 64 << 10
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_AGENT = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{9,10}(?:\.[0-9]{1,9})?", re.ASCII)
_NAMED = re.compile(
    rb'"(hook_event_name|session_id)"[ \t\n\r]*+:[ \t\n\r]*+"([A-Za-z0-9._-]{1,128})"'
)
# 2000-01-01 and 2100-01-01 in Unix seconds.
_EARLIEST, _LATEST = 946_684_800, 4_102_444_800


class Unreadable(ValueError):
    """The payload is too large or not a JSON object; event and session are what a scan of its beginning found."""

    def __init__(self, event: str = "", session: str = "") -> None:
        super().__init__(event, session)
        self.event = event
        self.session = session


def decode(data: bytes) -> dict[str, Any]:
    """Return the object a payload is; numbers as spelled, unpaired surrogates as U+FFFD, of equal names the last.

    Raises:
        Unreadable: It is larger than `LARGEST`, not JSON, nested too deeply, or not an object.
    """
    if len(data) <= LARGEST:
        try:
            value = parse(data).value
        except NotJson:
            value = None
        if isinstance(value, dict):
            return value
    found: dict[bytes, str] = {}
    for name, text in _NAMED.findall(data[:_SCANNED]):
        found.setdefault(name, text.decode())
    raise Unreadable(found.get(b"hook_event_name", ""), found.get(b"session_id", ""))


def string(payload: dict[str, Any], name: str) -> str | None:
    """Return a member that is a string short enough to be a fact; None for any other."""
    value = payload.get(name)
    if not isinstance(value, str) or not value or len(value) > LONGEST:
        return None
    return value if len(value.encode("utf-8", "replace")) <= LONGEST else None


def integer(payload: dict[str, Any], name: str) -> int | None:
    """Return a member that is a whole number from 0 on; None for any other."""
    value = payload.get(name)
    if isinstance(value, Number) and value.text.isascii() and value.text.isdigit():
        return int(value.text) if len(value.text) < 16 else None
    return None


def session_id(payload: dict[str, Any]) -> str | None:
    """Return the session that was observed; None for an id that no harness gives."""
    value = payload.get("session_id")
    return value if isinstance(value, str) and is_session(value) else None


def is_session(text: str) -> bool:
    """Return whether a text may be the id of a native session."""
    return _SESSION.fullmatch(text) is not None and ".." not in text


def agent_id(payload: dict[str, Any]) -> str | None:
    """Return the subagent a payload speaks of; None without a well-formed one."""
    value = payload.get("agent_id")
    return value if isinstance(value, str) and _AGENT.fullmatch(value) else None


def timestamp(payload: dict[str, Any]) -> tuple[str, int] | None:
    """Return the host's time as spelled and in Unix seconds; None without a valid one.

    Valid is RFC 3339 with a zone, or a number of Unix seconds, between 2000 and 2100.
    """
    value = payload.get("timestamp")
    if isinstance(value, str):
        moment = times.parse(value) if len(value) <= 64 else None
        seconds = None if moment is None else moment // 1_000_000_000
        spelled = value
    elif isinstance(value, Number) and _DECIMAL.fullmatch(value.text):
        seconds, spelled = int(value.text.partition(".")[0]), value.text
    else:
        return None
    if seconds is None or not _EARLIEST <= seconds < _LATEST:
        return None
    return spelled, seconds
