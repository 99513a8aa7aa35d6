"""How long an undelivered submission waits before it is sent again (platform details 1.6). Pure."""

from __future__ import annotations

import re

#: Seconds: the first wait, the longest of our own, the longest that a server may ask for.
FIRST, LONGEST, LONGEST_ASKED = 30, 3600, 86_400
_SECONDS = re.compile(r"[0-9]{1,18}", re.ASCII)


def wait(attempts: int) -> int:
    """Seconds after the n-th failed attempt (from 1): 30 doubled each time, at most an hour."""
    # No power beyond the cap: the count of attempts comes from a file.
    return min(LONGEST, FIRST << min(max(attempts, 1) - 1, 7))


def retry_after(text: str, now: float) -> int:
    """Seconds that a `Retry-After` header asks for, as seconds or an HTTP date; 0 for anything else.

    `now` is in unix seconds. A time that has passed is 0; more than a day is a day.
    """
    text = text.strip(" \t")
    if _SECONDS.fullmatch(text):
        return min(int(text), LONGEST_ASKED)
    at = _http_date(text)
    # Rounded up: a server that names a second is not asked within it.
    return 0 if at is None else max(0, min(int(at - now + 0.999), LONGEST_ASKED))


def not_before(attempts: int, asked: int, now: int) -> int:
    """Unix nanoseconds before which nothing is sent: the longer of our own wait and the one asked for."""
    return now + max(wait(attempts), asked) * 1_000_000_000


def _http_date(text: str) -> float | None:
    # The parser takes nearly anything for a date; an HTTP date begins with the name of a day.
    if text[:3] not in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"):
        return None
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(text)
        if found.tzinfo is None:  # the oldest of the three forms names no zone; it is UTC
            found = found.replace(tzinfo=UTC)
        return found.timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
