"""What one session gives to a report: when what happened in it, without a text of the log. Pure.

It can be kept beside what a listing keeps: spans, times, names of tools, and of texts a keyed hash alone.
"""

from __future__ import annotations

from typing import Literal

import msgspec

#: What of a session a report counts or shows, beside prompts and calls.
Kind = Literal["error", "denied", "interrupted", "interrupt", "complaint", "retry", "trouble"]

#: The length of a slot in nanoseconds: the offset of every time zone is a multiple of it.
SLOT = 900 * 1_000_000_000


class Event(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """Something that went wrong; `at` is in nanoseconds since the epoch, None where the log says none.

    `group` is the same for what belongs together (16 hex digits), and empty where nothing is grouped.
    """

    span: str
    at: int | None
    kind: Kind
    tool: str
    exit_code: int | None
    own: bool
    group: str


class SessionEvents(msgspec.Struct, array_like=True, gc=False):
    """A session's prompts and calls by their times, what went wrong, and the slots with an entry (numbered from the epoch)."""

    prompts: list[int | None]
    calls: list[int | None]
    slots: list[int]
    events: list[Event]
