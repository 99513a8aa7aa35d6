"""Times of log entries as integers: nanoseconds since the epoch, UTC (details 2, "Time parsing" and "Time formatting")."""

from __future__ import annotations

import re
from functools import lru_cache

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_SECOND = 1_000_000_000
_DAY = 86_400


def parse(text: str | None) -> int | None:
    """Nanoseconds since the epoch of an RFC 3339 time with `T` and `Z` in upper case; None for anything else.

    Digits beyond nanoseconds are dropped; a leap second is the second after; years before 1 are no time.
    """
    if text is None:
        return None
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    date, hour, minute, second, fraction, sign, off_hour, off_minute = match.groups()
    day = _days(date)
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
    year, month, date = _civil(day)
    return f"{year:04d}-{month:02d}-{date:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


@lru_cache(maxsize=4096)
def _days(date: str) -> int | None:
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:10])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if year < 1 or not 1 <= month <= 12 or day < 1:
        return None
    length = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    if day > length:
        return None
    past = year - 1
    days = past * 365 + past // 4 - past // 100 + past // 400
    return days + _DAYS_BEFORE_MONTH[month - 1] + (leap and month > 2) + day - 719_163


@lru_cache(maxsize=4096)
def _civil(days: int) -> tuple[int, int, int]:
    # Days since the epoch to a date of the proleptic Gregorian calendar, by the calendar's own ordinals:
    # `datetime` would do, but costs an import on every start for two divisions here.
    ordinal = days + 719_162
    quadricentury, ordinal = divmod(ordinal, 146_097)
    century = min(ordinal // 36_524, 3)
    ordinal -= century * 36_524
    quad, ordinal = divmod(ordinal, 1_461)
    year_of_quad = min(ordinal // 365, 3)
    day_of_year = ordinal - year_of_quad * 365
    year = quadricentury * 400 + century * 100 + quad * 4 + year_of_quad + 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    month = 12
    while day_of_year < (start := _DAYS_BEFORE_MONTH[month - 1] + (leap and month > 2)):
        month -= 1
    return year, month, day_of_year - start + 1


_FIRST = -719_162 * _DAY * _SECOND  # year 1; earlier (by an offset) has no RFC 3339 form
_END = (3_652_059 - 719_162) * _DAY * _SECOND  # year 10000
