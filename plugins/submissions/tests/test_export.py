"""A record of an import is taken as the API shows records, or its line and member are named."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from attrs import evolve

from agentfeedback_submissions.envelope import normalise
from agentfeedback_submissions.export import Asked, Verified, lines, read_export
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
    trailer = {"export_complete": True, "count": len(records), "sha256": sha256}
    return b'{"export_format":2}\n' + body + json.dumps(trailer).encode() + b"\n"


def problem_of(data: bytes) -> str:
    with pytest.raises(ApiError) as raised:
        read_export(data)
    assert raised.value.code == "validation_error"
    return raised.value.message


def test_rows_come_back_as_they_were() -> None:
    """With the ids of the export; marks and tombstones too."""
    rows = [
        evolve(ROW, id=3),
        evolve(marked(ROW, {"verdict": "v"}, AT), id=5),
        evolve(redacted(ROW, AT), id=9),
    ]
    rows = [evolve(row, uid=f"{row.uid[:-1]}{row.id}", key=str(row.id)) for row in rows]
    assert [row.record() for row in read_export(export(*rows)).rows] == [
        row.record() for row in rows
    ]


def test_header_and_trailer_say_what_is_in_between() -> None:
    """The filters of the header are null when nothing was asked, the ids of the trailer where there is no record."""
    row = evolve(ROW, id=3)
    header, line, trailer, end = export(row).split(b"\n")
    assert header == (
        b'{"export_format":2,"kind":null,"since":null,"after_id":null,'
        b'"exported_at":"2023-11-14T22:13:20.000000Z"}'
    )
    digest = hashlib.sha256(line + b"\n").hexdigest()
    assert trailer.decode() == (
        f'{{"export_complete":true,"count":1,"first_id":3,"last_id":3,"sha256":"{digest}"}}'
    )
    assert end == b""
    asked = b"".join(lines([], AT, Asked("note", AT, 7))).split(b"\n")
    assert b'"kind":"note","since":"2023-11-14T22:13:20.000000Z","after_id":7,' in asked[0]
    assert b'"count":0,"first_id":null,"last_id":null,' in asked[1]


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_an_export_is_verified_while_it_passes(size: int) -> None:
    """Whatever the blocks, what passes is what came, and what was cut or changed is refused at the end."""
    rows = [evolve(ROW, id=number, uid=f"{ROW.uid[:-1]}{number}") for number in range(1, 4)]

    def passed(data: bytes) -> bytes:
        blocks = (data[at : at + size] for at in range(0, len(data), size))
        return b"".join(Verified(blocks))

    for whole in (export(*rows), export()):
        assert passed(whole) == whole
        cuts = [whole[:at] for at in range(0, len(whole), 29)]
        changed = [whole.replace(b'"s"', b'"t"'), whole + b"{}\n", whole.replace(b't":2', b't":3')]
        for wrong in (*cuts, *(each for each in changed if each != whole)):
            with pytest.raises(ApiError):
                passed(wrong)


def test_a_record_is_taken_in_its_one_form() -> None:
    """What normalising leaves as content is taken, with its warnings and their line; tombstones have none."""
    other = {**record(), "context": {f"k{n:02}": "v" for n in range(3)}, "uid": ROW.uid.upper()}
    read = read_export(around(json.dumps(other).encode()))
    assert read.rows[0].uid == ROW.uid
    assert [
        (line, each.code, each.pointer) for line, found in read.warnings.items() for each in found
    ] == [
        (2, "no_schema", "/kind"),
        (2, "missing_recommended", "/machine"),
        (2, "missing_recommended", "/model"),
    ]
    gone = evolve(redacted(ROW, AT), id=4)
    assert read_export(export(gone)).warnings == {}


def test_a_summary_that_was_cut_at_white_space_comes_back() -> None:
    """Normalising it again would trim it, and it would be other content."""
    long = new_row(
        normalise(json.dumps({"kind": "note", "summary": "x" * 1999 + " y"}).encode()), AT
    )
    assert long.summary is not None and long.summary.endswith(" ")
    (back,) = read_export(export(evolve(long, id=1))).rows
    assert back.record() == evolve(long, id=1).record()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "line 1 of the export: the export is not whole: its last line is missing"),
        (b"\n\n\n", "line 1 of the export: it is empty"),
        (b'{"export_format":2}\r\n{}\n', "line 1 of the export: it ends in a carriage return"),
        (
            b'{"export_format":2}\n',
            "line 2 of the export: the export is not whole: its last line is missing",
        ),
        (
            b'{"export_format":3}\n{"export_complete":true}\n',
            "line 1 of the export: it is not the header of an export of format 2",
        ),
        (
            b'{"export_format":2}\n{"export_complete":false}\n',
            "line 2 of the export: the export is not whole: its last line is missing",
        ),
        (
            b'{"export_format":2}\n{"export_complete":true,"count":1}\n',
            "line 2 of the export: it does not fit the records: the export was changed",
        ),
        (around(b"[]"), "line 2 of the export: it is not a JSON object"),
        (around(b'{"id":1,"id":2}'), "line 2 of the export: id is given more than once"),
    ],
)
def test_what_is_not_an_export_is_named_by_its_line(data: bytes, problem: str) -> None:
    """Lines count from 1."""
    assert problem_of(data) == problem


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
    second = json.dumps(record(**members)).encode()
    assert problem_of(around(first, second)) == f"line 3 of the export: {problem}"


def test_null_is_no_value() -> None:
    """A member that is not set is left out of a record."""
    line = json.dumps({**record(), "verdict": None}).encode()
    assert problem_of(around(line)) == "line 2 of the export: verdict is not a string"
