"""An undelivered or refused report as a file: the members around its body, which stays byte for byte. Pure.

Times are RFC 3339 in UTC; members without a value are left out.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from agentfeedback.foundation import times
from agentfeedback.foundation.canonical import text
from agentfeedback.foundation.json_text import (
    MAX_DEPTH,
    NotJson,
    members,
    parse,
    text_bytes,
)
from agentfeedback_submissions.shape import MisfitError, fitted
from agentfeedback_submit.filing.body import Body

VERSION = 1
_HOUR = 3600 * 10**9
#: The last error of an entry that was too old to be sent.
EXPIRED = "expired"
#: Nanoseconds after which a report is not sent any more, by kind.
EXPIRY = {"friction": 20 * _HOUR}
OTHER_EXPIRY = 30 * 24 * _HOUR


class UnreadableEntry(Exception):
    """A file that is not an entry; the text says why."""


@frozen(eq=False)
class SpoolEntry:
    """A report for a destination, `local` or a base URL. Times are unix nanoseconds, 0 where there is no time."""

    body: Body
    destination: str
    created_at: int
    attempts: int = 0
    not_before: int = 0
    last_error: str = ""
    rejected_at: int = 0
    status: int = 0
    response: str = ""
    #: The file it was read from, byte for byte.
    source: bytes = b""

    def expired(self, now: int) -> bool:
        """Whether it is too old to be sent."""
        return now - self.created_at >= EXPIRY.get(self.body.kind, OTHER_EXPIRY)


def file_time(at: int) -> str:
    """A time as names of entries have it: nanoseconds, in digits that sort."""
    seconds, rest = divmod(at, 10**9)
    date = times.table_form(seconds * 10**9).replace("-", "").replace(":", "")
    return f"{date[:-1]}.{rest:09d}Z"


def written(entry: SpoolEntry) -> bytes:
    """The file of an entry."""
    shown: dict[str, Any] = {
        "v": VERSION,
        "kind": entry.body.kind,
        "key": entry.body.key,
        "destination": entry.destination,
        "created_at": times.list_form(entry.created_at),
        "attempts": entry.attempts,
    }
    if entry.not_before:
        shown["not_before"] = times.list_form(entry.not_before)
    if entry.last_error:
        shown["last_error"] = entry.last_error
    if entry.rejected_at:
        shown["rejected_at"] = times.list_form(entry.rejected_at)
        if entry.status:
            shown["status"] = entry.status
        shown["response"] = entry.response
    head = text_bytes(text(shown)).removesuffix(b"}")
    return head + b',"body":' + entry.body.data + b"}\n"


@frozen(eq=False)
class _Written:
    """The members that are read around the body; what else there is, later versions wrote."""

    v: int
    kind: str
    key: str
    destination: str
    created_at: str
    attempts: int = 0
    not_before: str = ""
    last_error: str = ""


def read(data: bytes) -> SpoolEntry:
    """The entry in a file. Raises `UnreadableEntry`."""
    try:
        found = members(data, depth=MAX_DEPTH + 1)
        if found is None:
            raise UnreadableEntry("it is not an object")
        raw = dict(found)
        body = text_bytes(raw.pop("body", ""))
        if not body.startswith(b"{"):
            raise UnreadableEntry("it has no body")
        values = {name: parse(text_bytes(value)).value for name, value in raw.items()}
        # Null is how others may write that there is no value.
        there = {name: value for name, value in values.items() if value is not None}
        entry = fitted(there, _Written)
    except (NotJson, MisfitError) as error:
        raise UnreadableEntry(str(error)) from None
    if entry.v != VERSION:
        raise UnreadableEntry("it is of another version")
    if not entry.kind or not entry.destination:
        raise UnreadableEntry("its kind or its destination is empty")
    created_at = times.parse(entry.created_at)
    not_before = times.parse(entry.not_before) if entry.not_before else 0
    if created_at is None or not_before is None:
        raise UnreadableEntry("one of its times is not a time")
    return SpoolEntry(
        body=Body(body, entry.kind, entry.key),
        destination=entry.destination,
        created_at=created_at,
        attempts=entry.attempts,
        not_before=not_before,
        last_error=entry.last_error,
        source=data,
    )
