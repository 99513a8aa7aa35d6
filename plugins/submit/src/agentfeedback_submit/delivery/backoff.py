"""How long an undelivered submission waits before it is sent again. Pure."""

from __future__ import annotations

#: Seconds: the first wait, and the longest of our own.
FIRST, LONGEST = 30, 3600


def wait(attempts: int) -> int:
    """Seconds after the n-th failed attempt (from 1): 30 doubled each time, at most an hour."""
    # No power beyond the cap: the count of attempts comes from a file.
    return min(LONGEST, FIRST << min(max(attempts, 1) - 1, 7))


def not_before(attempts: int, asked: int, now: int) -> int:
    """Unix nanoseconds before which nothing is sent: the longer of our own wait and the one asked for."""
    return now + max(wait(attempts), asked) * 1_000_000_000
