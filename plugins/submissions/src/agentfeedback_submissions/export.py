"""Submissions as NDJSON, format 2: a header, the records oldest first, a trailer that proves them whole. Pure.

Member names of header and trailer are this project's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import field, frozen

from agentfeedback.foundation.canonical import canonical, compact
from agentfeedback.foundation.json_text import RECORD_DEPTH, NotJson, Number, parse
from agentfeedback_submissions.envelope import content_hash
from agentfeedback_submissions.response import ApiError
from agentfeedback_submissions.row import MARK, TOMBSTONE, SubmissionRow
from agentfeedback_submissions.shape import MisfitError, fitted
from agentfeedback_submissions.texts import microseconds, time_form

FORMAT = 2
#: The largest body that the route of imports takes, in bytes.
IMPORT_LIMIT = 32 << 20
TYPE = "application/x-ndjson"
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TEXTS = ("key", "summary", "machine", "model", "harness", "project")
_TIMES = ("occurred_at", "created_at", "processed_at", "redacted_at")


def lines(rows: Iterable[SubmissionRow], at: int) -> Iterator[bytes]:
    """The lines of an export of rows in ascending order; `at` is its time in unix microseconds."""
    yield compact({"type": "header", "format": FORMAT, "exported_at": time_form(at)}) + b"\n"
    digest = hashlib.sha256()
    count, first, last = 0, None, None
    for row in rows:
        line = compact(row.record()) + b"\n"
        digest.update(line)
        yield line
        count, first, last = count + 1, row.id if first is None else first, row.id
    trailer: dict[str, Any] = {"type": "trailer", "count": count}
    if first is not None:
        trailer |= {"first_id": first, "last_id": last}
    yield compact({**trailer, "sha256": digest.hexdigest()}) + b"\n"


def rows_of(data: bytes) -> list[SubmissionRow]:
    """The rows of an export with the ids they have in it, verified as a whole.

    Raises `ApiError` at the first thing that is wrong.
    """
    texts = data.split(b"\n")
    if texts[-1] or len(texts) < 3:
        raise _wrong(len(texts), "the export is not whole: its last line is missing")
    header, trailer = _line(texts[0], 1), _line(texts[-2], len(texts) - 1)
    if header.get("type") != "header" or header.get("format") != Number(str(FORMAT)):
        raise _wrong(1, f"it is not a header of format {FORMAT}")
    records = texts[1:-2]
    digest = hashlib.sha256(b"".join(line + b"\n" for line in records)).hexdigest()
    whole = trailer.get("type") == "trailer" and trailer.get("count") == Number(str(len(records)))
    if not whole or trailer.get("sha256") != digest:
        raise _wrong(len(texts) - 1, "the trailer does not fit the records: the export was changed")
    found = [_row(_line(text, number), number) for number, text in enumerate(records, 2)]
    for name, values in (
        ("uid", [row.uid for row in found]),
        ("key", [(row.kind, row.key) for row in found if row.key is not None]),
    ):
        if len(set(values)) != len(values):
            raise _wrong(2, f"two records have the same {name}")
    return found


def _line(text: bytes, number: int) -> dict[str, Any]:
    try:
        document = parse(text, depth=RECORD_DEPTH)
    except NotJson as error:
        raise _wrong(number, str(error)) from None
    if not isinstance(document.value, dict) or document.duplicates or document.mended:
        raise _wrong(number, "it is not a clean JSON object")
    return document.value


@frozen(eq=False)
class _Record:
    """A line of an export: the members of a record as the API shows it, and no others."""

    id: int
    uid: str
    kind: str
    schema_version: int
    payload: dict  # type: ignore[type-arg]
    content_hash: str
    created_at: str
    key: str = ""
    summary: str = ""
    machine: str = ""
    model: str = ""
    harness: str = ""
    project: str = ""
    occurred_at: str = ""
    context: dict = field(factory=dict)  # type: ignore[type-arg]
    processed_at: str = ""
    verdict: str = ""
    resolution: str = ""
    ref: str = ""
    processed_by: str = ""
    redacted_at: str = ""


def _row(record: dict[str, Any], number: int) -> SubmissionRow:
    def need(holds: object, problem: str) -> None:
        if not holds:
            raise _wrong(number, problem)

    try:
        found = fitted(record, _Record, strict=True)
    except MisfitError as error:
        raise _wrong(number, str(error)) from None
    need(found.id, "id is not positive")
    need(_UID.fullmatch(found.uid), "uid is not a UUID")
    need(_HASH.fullmatch(found.content_hash), "content_hash is not a SHA-256 in hex")
    need(0 < found.schema_version <= 2**53 - 1, "schema_version is not a version")
    times = {name: microseconds(record[name]) for name in _TIMES if name in record}
    for name, at in times.items():
        need(at is not None, f"{name} is not a time")
    texts = all(isinstance(value, str) for value in found.context.values())
    need(texts, "context is not a map of strings")
    if "redacted_at" in record:
        need(found.payload == TOMBSTONE, "a redacted record has a payload")
        for name in ("summary", "context"):
            need(name not in record, f"a redacted record has a {name}")
    else:
        whole = content_hash(record) == found.content_hash
        need(whole, "content_hash is not that of the record")
    for name in MARK:
        need(
            name not in record or "processed_at" in record, f"{name} is there, but no processed_at"
        )
    return SubmissionRow(
        id=found.id,
        uid=found.uid,
        kind=found.kind,
        schema_version=found.schema_version,
        **{name: record.get(name) for name in (*_TEXTS, *MARK)},
        occurred_at=times.get("occurred_at"),
        context=canonical(found.context).decode() if "context" in record else None,
        payload=canonical(found.payload).decode(),
        content_hash=found.content_hash,
        created_at=times["created_at"] or 0,
        processed_at=times.get("processed_at"),
        redacted_at=times.get("redacted_at"),
    )


def _wrong(number: int, problem: str) -> ApiError:
    return ApiError("bad_request", f"line {number} of the import: {problem}")
