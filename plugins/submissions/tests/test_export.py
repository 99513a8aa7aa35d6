"""A record of an import is taken as the API shows records, or its line and member are named."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from agentfeedback_submissions.envelope import normalise
from agentfeedback_submissions.export import lines, rows_of
from agentfeedback_submissions.response import ApiError
from agentfeedback_submissions.row import marked, new_row, redacted

AT = 1_700_000_000_000_000
ROW = new_row(
    normalise(b'{"kind":"note","key":"k","summary":"s","context":{"a":"b"},"payload":{"n":1}}'),
    AT,
)


def record(**members: Any) -> dict[str, Any]:
    """The record of a row with other members; None takes one out."""
    found = {**json.loads(export(ROW).split(b"\n")[1]), "id": 7, **members}
    return {name: value for name, value in found.items() if value is not None}


def export(*rows: Any) -> bytes:
    return b"".join(lines(rows, AT))


def around(*records: bytes) -> bytes:
    """An export whose header and trailer are right, whatever its records are."""
    body = b"".join(each + b"\n" for each in records)
    sha256 = hashlib.sha256(body).hexdigest()
    trailer = {"type": "trailer", "count": len(records), "sha256": sha256}
    return b'{"type":"header","format":2}\n' + body + json.dumps(trailer).encode() + b"\n"


def test_rows_come_back_as_they_were() -> None:
    """With the ids of the export; marks and tombstones too."""
    from attrs import evolve

    rows = [
        evolve(ROW, id=3),
        evolve(marked(ROW, {"verdict": "v"}, AT), id=5),
        evolve(redacted(ROW, AT), id=9),
    ]
    rows = [evolve(row, uid=f"{row.uid[:-1]}{row.id}", key=str(row.id)) for row in rows]
    assert [row.record() for row in rows_of(export(*rows))] == [row.record() for row in rows]


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"id": None}, "id is missing"),
        ({"id": 0}, "id is not positive"),
        ({"id": "7"}, "id is not a whole number"),
        ({"uid": "x"}, "uid is not a UUID"),
        ({"kind": None}, "kind is missing"),
        ({"content_hash": "F" * 64}, "content_hash is not a SHA-256 in hex"),
        ({"content_hash": "0" * 64}, "content_hash is not that of the record"),
        ({"schema_version": 0}, "schema_version is not a version"),
        ({"created_at": "today"}, "created_at is not a time"),
        ({"processed_at": ""}, "processed_at is not a time"),
        ({"verdict": "fixed"}, "verdict is there, but no processed_at"),
        ({"payload": []}, "payload is not an object"),
        ({"context": {"a": 1}}, "context is not a map of strings"),
        ({"summary": 1}, "summary is not a string"),
        ({"later": 1}, "has members it should not have: later"),
        ({"redacted_at": "2026-01-01T00:00:00Z"}, "a redacted record has a payload"),
        (
            {"redacted_at": "2026-01-01T00:00:00Z", "payload": {"redacted": True}},
            "a redacted record has a summary",
        ),
    ],
)
def test_a_wrong_member_is_named_with_its_line(members: dict[str, Any], problem: str) -> None:
    """The records before it are sound; nothing of the export is taken."""
    first = json.dumps(record(uid=ROW.uid[:-1] + "0", key="0")).encode()
    with pytest.raises(ApiError) as raised:
        rows_of(around(first, json.dumps(record(**members)).encode()))
    assert raised.value.message == f"line 3 of the import: {problem}"


def test_null_is_no_value() -> None:
    """A member that is not set is left out of a record."""
    line = json.dumps({**record(), "verdict": None}).encode()
    with pytest.raises(ApiError) as raised:
        rows_of(around(line))
    assert raised.value.message == "line 2 of the import: verdict is not a string"
