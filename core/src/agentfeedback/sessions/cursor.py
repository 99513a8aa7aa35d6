"""A place in an order of sessions, as a text that a caller gives back to go on behind it. Pure.

It names a place and no number, so it stays valid while sessions come and go.
"""

from __future__ import annotations

import base64
import binascii

from agentfeedback.foundation.errors import UsageError

#: Bytes of the longest cursor. Of a longer ref the beginning stands for it.
LONGEST = 512
_TIME_DIGITS = 20
#: What fits beside the time, and grows by a third in base64.
_REF = LONGEST * 3 // 4 - _TIME_DIGITS - 2

#: When a session's last entry was, in nanoseconds since the epoch, and its ref.
Spot = tuple[int, bytes]


def spot(when: int, ref: str) -> Spot:
    """The place of a session; sessions of one time are in the byte order of their refs."""
    return when, ref.encode("utf-8", "replace")


def written(place: Spot) -> str:
    """The cursor that names a place."""
    when, ref = place
    return base64.urlsafe_b64encode(b"%d %s" % (when, ref[:_REF])).decode().rstrip("=")


def read(text: str) -> Spot:
    """The place that a cursor names; raises `UsageError` for any other text."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        when, blank, ref = base64.b64decode(padded, b"-_", validate=True).partition(b" ")
        if not blank or not when.lstrip(b"-").isdigit() or len(when) > _TIME_DIGITS:
            raise ValueError
        return int(when), ref
    except (ValueError, binascii.Error):
        raise UsageError(
            "the cursor is none that an answer gave", "give next_cursor as it was answered"
        ) from None
