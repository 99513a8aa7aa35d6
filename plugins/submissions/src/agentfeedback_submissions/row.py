"""One row of the table of submissions: new, marked, a tombstone, and the record the API shows of it. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.json_text import RECORD_DEPTH, parse
from agentfeedback_submissions.texts import time_form

if TYPE_CHECKING:
    from agentfeedback_submissions.envelope import Normalised

#: What takes the place of a redacted payload.
TOMBSTONE = {"redacted": True}

COLUMNS = (
    "id",
    "uid",
    "kind",
    "schema_version",
    "key",
    "summary",
    "machine",
    "model",
    "harness",
    "project",
    "occurred_at",
    "context",
    "payload",
    "content_hash",
    "created_at",
    "processed_at",
    "verdict",
    "resolution",
    "ref",
    "processed_by",
    "redacted_at",
)
MARK = ("verdict", "resolution", "ref", "processed_by")
_TIMES = frozenset(("occurred_at", "created_at", "processed_at", "redacted_at"))
_TREES = frozenset(("context", "payload"))


@frozen(eq=False)
class SubmissionRow:
    """One row: times in unix microseconds, `context` and `payload` as canonical JSON."""

    id: int
    uid: str
    kind: str
    schema_version: int
    key: str | None
    summary: str | None
    machine: str | None
    model: str | None
    harness: str | None
    project: str | None
    occurred_at: int | None
    context: str | None
    payload: str
    content_hash: str
    created_at: int
    processed_at: int | None = None
    verdict: str | None = None
    resolution: str | None = None
    ref: str | None = None
    processed_by: str | None = None
    redacted_at: int | None = None

    def record(self, *, payload: bool = True) -> dict[str, Any]:
        """The record as the API shows it: what is not set is left out."""
        shown: dict[str, Any] = {}
        for name in COLUMNS:
            value = getattr(self, name)
            if value is None or (name == "payload" and not payload):
                continue
            if name in _TIMES:
                value = time_form(value)
            elif name in _TREES:
                value = parse(value.encode(), depth=RECORD_DEPTH).value
            shown[name] = value
        return shown


def new_row(envelope: Normalised, at: int) -> SubmissionRow:
    """The row of a submission that arrives at a time in unix microseconds; its id is still 0."""
    members = envelope.members
    texts = ("key", "summary", "machine", "model", "harness", "project")
    return SubmissionRow(
        id=0,
        uid=uuid7(at),
        kind=members["kind"],
        schema_version=members["schema_version"],
        **{name: members.get(name) for name in texts},
        occurred_at=envelope.occurred_at,
        context=canonical(members["context"]).decode() if "context" in members else None,
        payload=canonical(members["payload"]).decode(),
        content_hash=envelope.content_hash,
        created_at=at,
    )


def marked(row: SubmissionRow, members: Mapping[str, str], at: int) -> SubmissionRow:
    """A row that is processed: the first time counts, a member that is not given stays, an empty one is cleared."""
    given: dict[str, Any] = {name: members[name] or None for name in MARK if name in members}
    return evolve(row, processed_at=at if row.processed_at is None else row.processed_at, **given)


def unmarked(row: SubmissionRow) -> SubmissionRow:
    """A row that is not processed."""
    cleared: dict[str, Any] = dict.fromkeys(MARK)
    return evolve(row, processed_at=None, **cleared)


def redacted(row: SubmissionRow, at: int) -> SubmissionRow:
    """The tombstone of a row: id, uid, key, hash, times and mark stay."""
    payload = canonical(TOMBSTONE).decode()
    return evolve(row, payload=payload, summary=None, context=None, redacted_at=at)


def uuid7(at: int) -> str:
    """A UUID of version 7 (RFC 9562) for a time in unix microseconds."""
    milliseconds = max(0, at // 1000) & (1 << 48) - 1
    value = milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64
    value |= 2 << 62 | secrets.randbits(62)
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
