"""Submissions as NDJSON, format 2: a header, the records oldest first, a trailer that proves them whole. Pure.

Platform details 9. Member names of header and trailer are this project's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from agentfeedback.foundation.canonical import canonical, compact
from agentfeedback.foundation.json_text import RECORD_DEPTH, NotJson, Number, parse
from agentfeedback_submissions.envelope import MEMBERS, content_hash
from agentfeedback_submissions.response import ApiError
from agentfeedback_submissions.row import MARK, TOMBSTONE, SubmissionRow
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
    """The rows of an export, verified as a whole. Raises `ApiError` at the first thing that is wrong."""
    texts = data.split(b"\n")
    if texts[-1] or len(texts) < 3:
        raise _wrong(len(texts), "the export is not whole: its last line is missing")
    header, trailer = _line(texts[0], 1), _line(texts[-2], len(texts) - 1)
    if header.get("type") != "header" or header.get("format") != Number(str(FORMAT)):
        raise _wrong(1, f"it is no header of format {FORMAT}")
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
        raise _wrong(number, "it is no clean JSON object")
    return document.value


def _row(record: dict[str, Any], number: int) -> SubmissionRow:
    def need(holds: object, problem: str) -> None:
        if not holds:
            raise _wrong(number, problem)

    extra = set(record) - {*MEMBERS, *_TIMES, *MARK, "id", "uid", "content_hash"}
    need(not extra, f"{', '.join(sorted(extra))}: no member of a record")
    for name in ("uid", "kind", "content_hash", "created_at"):
        need(isinstance(record.get(name), str), f"{name} is missing")
    need(_UID.fullmatch(record["uid"]), "uid is no uid")
    need(_HASH.fullmatch(record["content_hash"]), "content_hash is no hash")
    for name in (*_TEXTS, *MARK):
        need(name not in record or isinstance(record[name], str), f"{name} is no string")
    version = record.get("schema_version")
    need(
        isinstance(version, Number) and version.text.isdigit() and len(version.text) < 17,
        "schema_version is no whole number",
    )
    times: dict[str, int | None] = {}
    for name in _TIMES:
        text = record.get(name)
        times[name] = microseconds(text) if isinstance(text, str) else None
        need(text is None or times[name] is not None, f"{name} is no time")
    payload, context = record.get("payload"), record.get("context")
    need(isinstance(payload, dict), "payload is no object")
    fits = isinstance(context, dict) and all(isinstance(value, str) for value in context.values())
    need(context is None or fits, "context is no map of strings")
    if times["redacted_at"] is None:
        need(
            content_hash(record) == record["content_hash"], "content_hash is not that of the record"
        )
    else:
        need(payload == TOMBSTONE, "a redacted record has a payload")
    return SubmissionRow(
        id=0,
        uid=record["uid"],
        kind=record["kind"],
        schema_version=int(version.text) if isinstance(version, Number) else 1,
        **{name: record.get(name) for name in (*_TEXTS, *MARK)},
        occurred_at=times["occurred_at"],
        context=None if context is None else canonical(context).decode(),
        payload=canonical(payload).decode(),
        content_hash=record["content_hash"],
        created_at=times["created_at"] or 0,
        processed_at=times["processed_at"],
        redacted_at=times["redacted_at"],
    )


def _wrong(number: int, problem: str) -> ApiError:
    return ApiError("bad_request", f"line {number} of the import: {problem}")
