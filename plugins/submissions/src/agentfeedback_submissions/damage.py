"""Rows of the database as they were read: whole, or damaged and said to be. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentfeedback.foundation.errors import StoreError
from agentfeedback.foundation.json_text import RECORD_DEPTH, NotJson, parse
from agentfeedback.state.checksum import is_sound
from agentfeedback_submissions.envelope import IDENTITY, content_hash
from agentfeedback_submissions.row import COLUMNS, SubmissionRow, uuid7

_NUMBERS = ("id", "schema_version", "occurred_at", "created_at", "processed_at", "redacted_at")
_INSTEAD = {"kind": "unknown", "schema_version": 1, "content_hash": "0" * 64, "payload": "{}"}


def is_whole(found: Sequence[Any]) -> bool:
    """Whether the columns of a row, then its checksum, are as they were written.

    A row of an earlier version has no checksum; its content has a hash, unless it is a tombstone.
    """
    *values, kept = found
    if not is_sound(values, kept):
        return False
    row = dict(zip(COLUMNS, values, strict=True))
    if kept is not None:
        return True
    try:
        payload = parse(row["payload"].encode(), depth=RECORD_DEPTH).value
        members = {name: row[name] for name in IDENTITY if row[name] is not None}
        return (
            row["redacted_at"] is not None
            or content_hash({**members, "payload": payload}) == row["content_hash"]
        )
    except (AttributeError, TypeError, NotJson):
        return False


def remains(found: Sequence[Any], at: int) -> SubmissionRow:
    """What can be kept of a damaged row: the columns that still have their type, nothing that was redacted with it."""
    row = dict(zip(COLUMNS, found, strict=False))
    for name in COLUMNS:
        wanted = int if name in _NUMBERS else str
        if type(row[name]) is not wanted:
            row[name] = {"uid": uuid7(at), "created_at": at, **_INSTEAD}.get(name)
    return SubmissionRow(**{**row, "redacted_at": None})


def damaged(found: Sequence[Any]) -> StoreError:
    """The error of a damaged row, which says how to go on."""
    error = StoreError(
        f"report {found[0]} of the local database is damaged",
        f"remove what is left of it with agentfeedback redact {found[0]} --yes",
    )
    error.fault = "damaged"
    return error
