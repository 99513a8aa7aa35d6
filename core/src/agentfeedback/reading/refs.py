"""Refs: `<harness>:<session id>`, with `#<span>` for an entry, and times given as `--since`. Pure."""

from __future__ import annotations

import re

from attrs import frozen

from agentfeedback.foundation import times
from agentfeedback.foundation.errors import UsageError

OUTCOMES = ("filed", "nothing", "skipped")

#: Every form of a time, as an example.
TIME_FORMS = "30m, 12h, 7d, 2w, today, yesterday, 2026-10-08 or 2026-10-08T07:00:00Z"

_RELATIVE = re.compile(r"([0-9]+)([smhdw])", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
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
            f'"{text}" is not a session', "write <harness>:<session id>, as sessions list shows it"
        )
    if "#" in id and valid_id(id.partition("#")[0]):
        span = id[id.index("#") :]
        raise UsageError(f'"{text}" names an entry', f'leave out "{span}", or use sessions show')
    if not valid_id(id):
        raise UsageError(f'"{text}" is not a session', "copy its ref from sessions list")
    return harness, id


def valid_id(id: str) -> bool:
    """Whether an id can be part of a ref."""
    return bool(id) and id not in (".", "..") and not any(bad in id for bad in "/\\#\0")


def since(text: str, now: int, flag: str = "--since") -> int | None:
    """The time of `--since` in nanoseconds since the epoch, None for an empty text; `now` likewise.

    A relative time is `now` minus n seconds, minutes, hours, days or weeks, truncated to whole seconds;
    `today`, `yesterday` and a date alone are the midnight of that day on this machine.
    """
    if not text:
        return None
    relative = _RELATIVE.fullmatch(text)
    if relative is not None and len(relative[1]) < 20:
        seconds = int(relative[1]) * _SECONDS[relative[2]]
        if seconds <= _CENTURY:
            return (now // 1_000_000_000 - seconds) * 1_000_000_000
    elif (at := times.parse(text)) is not None or (at := _midnight(text, now)) is not None:
        return at
    raise UsageError(f'{flag} does not understand "{text}"', f"write it like {TIME_FORMS}")


def _midnight(text: str, now: int) -> int | None:
    from datetime import date, timedelta

    from agentfeedback.foundation import local_time

    words = {"today": 0, "yesterday": 1}
    try:
        if (back := words.get(text.lower())) is not None:
            day = date.fromordinal(local_time.day_of(now)) - timedelta(days=back)
        elif _DATE.fullmatch(text):
            day = date.fromisoformat(text)
        else:
            return None
        return local_time.midnight(day)
    except ValueError:  # no such day
        return None


def outcome(text: str) -> str:
    """One of the outcomes of `mark`; raises UsageError for another word."""
    if text not in OUTCOMES:
        raise UsageError(f'"{text}" is not an outcome', "it is filed, nothing or skipped")
    return text


def uid(text: str) -> str:
    """A submission uid; raises UsageError when it has not that form."""
    if not _UID.fullmatch(text):
        raise UsageError(f'"{text}" is not the uid of a report', "pass the uid that submit printed")
    return text
