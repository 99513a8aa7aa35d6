"""Refs: `<harness>:<session id>`, with `#<span>` for an entry, and times given as `--since` (3.4). Pure."""

from __future__ import annotations

import re

from attrs import frozen

from agentfeedback.foundation import times
from agentfeedback.foundation.errors import UsageError

OUTCOMES = ("filed", "nothing", "skipped")

_RELATIVE = re.compile(r"([0-9]+)([mhdw])", re.ASCII)
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_CENTURY = 876_600 * 3600
_UID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    re.ASCII | re.IGNORECASE,
)


@frozen
class Ref:
    """The name of a session: canonical harness name and id, and the text as it was given."""

    harness: str
    id: str
    given: str

    def __str__(self) -> str:
        return f"{self.harness}:{self.id}"


def split(text: str) -> tuple[str, str]:
    """Harness and id of a ref as written; raises UsageError when it has not that form."""
    harness, colon, id = text.partition(":")
    if not colon or not harness or not id:
        raise UsageError(
            f'session ref "{text}": want <harness>:<session id>', "copy it from sessions list"
        )
    if not valid_id(id):
        raise UsageError(f'session ref "{text}": invalid session id', "copy it from sessions list")
    return harness, id


def valid_id(id: str) -> bool:
    """Whether an id can be part of a ref."""
    return bool(id) and id not in (".", "..") and not any(bad in id for bad in "/\\#\0")


def since(text: str, now: int) -> int | None:
    """The time of `--since` in nanoseconds since the epoch, None for an empty text; `now` likewise.

    A relative time is `now` minus n minutes, hours, days or weeks, truncated to whole seconds.
    """
    if not text:
        return None
    relative = _RELATIVE.fullmatch(text)
    if relative is not None and len(relative[1]) < 20:
        seconds = int(relative[1]) * _SECONDS[relative[2]]
        if seconds <= _CENTURY:
            return (now // 1_000_000_000 - seconds) * 1_000_000_000
    elif (at := times.parse(text)) is not None:
        return at
    raise UsageError(
        f'--since "{text}" is neither an RFC 3339 time nor a relative time',
        "use one such as 2026-10-08T07:00:00Z, 30m, 12h, 7d or 2w",
    )


def outcome(text: str) -> str:
    """One of the outcomes of `mark`; raises UsageError for another word."""
    if text not in OUTCOMES:
        raise UsageError(
            f'outcome "{text}": want filed, nothing or skipped', "pass one of these to --outcome"
        )
    return text


def uid(text: str) -> str:
    """A submission uid; raises UsageError when it has not that form."""
    if not _UID.fullmatch(text):
        raise UsageError(f'uid "{text}": not a submission uid', "pass the uid submit printed")
    return text
