"""One row of the table of submissions, and the record the API shows of it. Pure (platform details 9 and 10)."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from agentfeedback.foundation.json_text import RECORD_DEPTH, parse
from agentfeedback_submissions.texts import time_form

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
