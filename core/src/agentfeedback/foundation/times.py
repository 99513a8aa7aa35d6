"""Times of log entries as integers: nanoseconds since the epoch, UTC, read and written as RFC 3339."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_SECOND = 1_000_000_000
_DAY = 86_400
_EPOCH = 719_163  # the ordinal of 1970-01-01


def parse(text: str | None) -> int | None:
    """Nanoseconds since the epoch of an RFC 3339 time with `T` and `Z` in upper case; None for anything else.

    Digits beyond nanoseconds are dropped; a leap second is the second after; years before 1 are not time.
    """
    if text is None:
        return None
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    day_text, hour, minute, second, fraction, sign, off_hour, off_minute = match.groups()
    day = _days(day_text)
    hours, minutes, seconds = int(hour), int(minute), int(second)
    if day is None or hours > 23 or minutes > 59 or seconds > 60:
        return None
    total = day * _DAY + hours * 3600 + minutes * 60 + seconds
    if sign is not None:
        shift_hours, shift_minutes = int(off_hour), int(off_minute)
        if shift_hours > 23 or shift_minutes > 59:
            return None
        shift = shift_hours * 3600 + shift_minutes * 60
        total += -shift if sign == "+" else shift
    nanoseconds = int(fraction[:9].ljust(9, "0")) if fraction else 0
    moment = total * _SECOND + nanoseconds
    return moment if _FIRST <= moment < _END else None


def milliseconds(value: int | None) -> int | None:
    """Nanoseconds of a time given in whole milliseconds since the epoch (row stores)."""
    if value is None:
        return None
    moment = value * 1_000_000
    return moment if _FIRST <= moment < _END else None


def digest_form(moment: int) -> str:
    """UTC with exactly three decimals, truncated: the form of a digest."""
    seconds, nanoseconds = divmod(moment, _SECOND)
    return f"{_seconds_form(seconds)}.{nanoseconds // 1_000_000:03d}Z"


def list_form(moment: int) -> str:
    """UTC with up to nine decimals, trailing zeros and an empty fraction dropped: the form of `list --json`."""
    seconds, nanoseconds = divmod(moment, _SECOND)
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    return f"{_seconds_form(seconds)}{fraction}Z"


def table_form(moment: int) -> str:
    """UTC in whole seconds: the form of the table."""
    return f"{_seconds_form(moment // _SECOND)}Z"


def filing_form(moment: int) -> str:
    """UTC with exactly six decimals, truncated: the form of `occurred_at`."""
    seconds, nanoseconds = divmod(moment, _SECOND)
    return f"{_seconds_form(seconds)}.{nanoseconds // 1_000:06d}Z"


def _seconds_form(seconds: int) -> str:
    day, rest = divmod(seconds, _DAY)
    return f"{_date(day)}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


# A log has few days and many times.
@lru_cache(maxsize=4096)
def _days(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _date(days: int) -> str:
    return date.fromordinal(days + _EPOCH).isoformat()


_FIRST = (
    (date.min.toordinal() - _EPOCH) * _DAY * _SECOND
)  # earlier (by an offset) has no RFC 3339 form
_END = (date.max.toordinal() + 1 - _EPOCH) * _DAY * _SECOND
