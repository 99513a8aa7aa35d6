"""Days and offsets of the machine's time zone (`TZ` is honoured); times in nanoseconds since the epoch."""

from __future__ import annotations

import time
from datetime import date
from functools import lru_cache

_SECOND = 1_000_000_000
#: The offset of every time zone is a multiple of this many seconds.
_QUARTER = 900


def day_of(at: int) -> int:
    """The local day of a time, as a `date` ordinal; a year that the system does not know is the first day of all."""
    return _day(at // (_QUARTER * _SECOND), time.tzname)


@lru_cache(maxsize=8192)
def _day(quarter: int, zone: tuple[str, str]) -> int:
    try:
        then = time.localtime(quarter * _QUARTER)
        return date(then.tm_year, then.tm_mon, then.tm_mday).toordinal()
    except (OverflowError, OSError, ValueError):
        return date.min.toordinal()


def offset(at: int) -> str:
    """The offset from UTC at a time, such as `+02:00`."""
    minutes = time.localtime(at // _SECOND).tm_gmtoff // 60
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def midnight(day: date) -> int:
    """The first moment of a local day; raises ValueError where the system has no such time."""
    try:
        return int(time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))) * _SECOND
    except OverflowError as error:
        raise ValueError(str(error)) from None
