"""Submissions as NDJSON, format 2: a header, the records oldest first, a trailer that proves them whole. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from attrs import field, frozen

from agentfeedback.foundation.canonical import canonical, compact
from agentfeedback.foundation.json_text import RECORD_DEPTH, Document, NotJson, Number, parse
from agentfeedback_submissions.envelope import MEMBERS, content_hash, envelope_of
from agentfeedback_submissions.response import ApiError, Detail
from agentfeedback_submissions.row import MARK, TOMBSTONE, SubmissionRow
from agentfeedback_submissions.shape import MisfitError, fitted
from agentfeedback_submissions.texts import microseconds, time_form
from agentfeedback_submissions.warning import SubmissionWarning

FORMAT = 2
#: The largest body that the route of imports takes, in bytes.
IMPORT_LIMIT = 32 << 20
TYPE = "application/x-ndjson"
#: The line of an export's first record; the header is the first.
FIRST_LINE = 2
_NOT_WHOLE = "the export is not whole: its last line is missing"
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_TEXTS = ("key", "summary", "machine", "model", "harness", "project")
_TIMES = ("occurred_at", "created_at", "processed_at", "redacted_at")


@frozen
class Asked:
    """What an export was narrowed by, as its header says: None for what was not asked."""

    kind: str | None = None
    #: Unix microseconds.
    since: int | None = None
    after_id: int | None = None


@frozen(eq=False)
class ReadExport:
    """The rows of an export with the ids they have in it, and the warnings about its records by their line."""

    rows: list[SubmissionRow]
    warnings: dict[int, list[SubmissionWarning]]


def lines(rows: Iterable[SubmissionRow], at: int, asked: Asked | None = None) -> Iterator[bytes]:
    """The lines of an export of rows in ascending order; `at` is its time in unix microseconds."""
    asked = asked or Asked()
    header = {
        "export_format": FORMAT,
        "kind": asked.kind,
        "since": None if asked.since is None else time_form(asked.since),
        "after_id": asked.after_id,
        "exported_at": time_form(at),
    }
    yield compact(header) + b"\n"
    digest = hashlib.sha256()
    count, first, last = 0, None, None
    for row in rows:
        line = compact(row.record()) + b"\n"
        digest.update(line)
        yield line
        count, first, last = count + 1, row.id if first is None else first, row.id
    trailer = {
        "export_complete": True,
        "count": count,
        "first_id": first,
        "last_id": last,
        "sha256": digest.hexdigest(),
    }
    yield compact(trailer) + b"\n"


class Verified:
    """Passes the blocks of an export on, and at its end raises `ApiError` unless header and trailer prove it whole.

    Memory is one line; the last one is known to be the trailer only when nothing follows it.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = blocks
        self._digest = hashlib.sha256()
        self._lines = 0
        self._last = b""

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        for block in self._blocks:
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                self._line(line)
            yield block
        if rest or self._lines < 2:
            raise _wrong(self._lines + 1, _NOT_WHOLE)
        _proved(self._last, self._lines, self._lines - 2, self._digest.hexdigest())

    def _line(self, line: bytes) -> None:
        if self._lines == 0:
            _header(line)
        elif self._lines > 1:
            self._digest.update(self._last + b"\n")
        self._last = line
        self._lines += 1


def read_export(data: bytes) -> ReadExport:
    """The records of an export, verified as a whole.

    Raises `ApiError` at the first thing that is wrong, with its line.
    """
    texts = data.split(b"\n")
    for number, text in enumerate(texts[:-1], 1):
        if not text or text.endswith(b"\r"):
            raise _wrong(number, "it is empty" if not text else "it ends in a carriage return")
    if texts[-1] or len(texts) < 3:
        raise _wrong(len(texts), _NOT_WHOLE)
    _header(texts[0])
    records = texts[1:-2]
    digest = hashlib.sha256()
    for line in records:
        digest.update(line + b"\n")
    _proved(texts[-2], len(texts) - 1, len(records), digest.hexdigest())
    found = ReadExport([], {})
    for number, text in enumerate(records, FIRST_LINE):
        row, warnings = _row(text, number)
        found.rows.append(row)
        if warnings:
            found.warnings[number] = warnings
    return found


def _header(text: bytes) -> None:
    if _line(text, 1).get("export_format") != Number(str(FORMAT)):
        raise _wrong(1, f"it is not the header of an export of format {FORMAT}")


def _proved(text: bytes, number: int, count: int, digest: str) -> None:
    """Check the trailer, which is line `number`."""
    trailer = _line(text, number)
    if trailer.get("export_complete") is not True:
        raise _wrong(number, _NOT_WHOLE)
    if trailer.get("count") != Number(str(count)) or trailer.get("sha256") != digest:
        raise _wrong(number, "it does not fit the records: the export was changed")


def _line(text: bytes, number: int) -> dict[str, Any]:
    return cast("dict[str, Any]", _document(text, number).value)


def _document(text: bytes, number: int) -> Document:
    try:
        document = parse(text, depth=RECORD_DEPTH)
    except NotJson as error:
        raise _wrong(number, str(error)) from None
    if not isinstance(document.value, dict):
        raise _wrong(number, "it is not a JSON object")
    if document.duplicates:
        raise _wrong(number, f"{document.duplicates[0][-1]} is given more than once")
    return document


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


def _row(text: bytes, number: int) -> tuple[SubmissionRow, list[SubmissionWarning]]:
    def need(holds: object, problem: str) -> None:
        if not holds:
            raise _wrong(number, problem)

    document = _document(text, number)
    record = document.value
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
    for name in MARK:
        need(
            name not in record or "processed_at" in record, f"{name} is there, but no processed_at"
        )
    warnings: list[SubmissionWarning] = []
    members = {name: record[name] for name in MEMBERS if name in record}
    if "redacted_at" in record:
        need(found.payload == TOMBSTONE, "a redacted record has a payload")
        for name in ("summary", "context"):
            need(name not in record, f"a redacted record has a {name}")
    else:
        as_given = content_hash(members) == found.content_hash
        document.value = dict(members)
        normal = envelope_of(document)
        warnings = normal.warnings
        if normal.content_hash == found.content_hash:
            members = normal.members
        else:
            # A text that was cut may end in white space, which normalising again would trim.
            texts = all(isinstance(value, str) for value in found.context.values())
            need(as_given and texts, "content_hash is not that of the record")
            # Normalising took the tree apart.
            members = {name: _line(text, number)[name] for name in members}
    row = SubmissionRow(
        id=found.id,
        uid=found.uid.lower(),
        kind=members["kind"],
        schema_version=found.schema_version,
        **{name: members.get(name) for name in _TEXTS},
        **{name: record.get(name) for name in MARK},
        occurred_at=microseconds(members["occurred_at"]) if "occurred_at" in members else None,
        context=canonical(members["context"]).decode() if "context" in members else None,
        payload=canonical(members["payload"]).decode(),
        content_hash=found.content_hash,
        created_at=times["created_at"] or 0,
        processed_at=times.get("processed_at"),
        redacted_at=times.get("redacted_at"),
    )
    return row, warnings


def _wrong(number: int, problem: str) -> ApiError:
    message = f"line {number} of the export: {problem}"
    return ApiError("validation_error", message, (Detail("invalid_format", "", message),))
