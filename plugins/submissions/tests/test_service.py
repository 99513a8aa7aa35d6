"""The API in process: replays, lists and their cursors, marks, tombstones, numbers, exports."""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.state.database import Database
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submissions.row import uuid7
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions
from agentfeedback_submissions.store import DEDUPE_WINDOW_S

UID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Clock:
    def __init__(self, at: int = 1_700_000_000_000_000) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at


def timed(folder: Path) -> tuple[Service, Clock]:
    clock = Clock()
    return Service(
        SqliteSubmissions(Database(str(folder / "agentfeedback.db"), "submissions"), now=clock)
    ), clock


def create(service: Service, status: int = 201, **members: Any) -> Any:
    reply = service.create(json.dumps({"kind": "note", "payload": {}, **members}).encode())
    assert reply.status == status, reply.body
    return reply.body["submission"] if reply.ok else reply.body


def detail(reply: ApiResponse) -> tuple[str, str]:
    assert (reply.status, reply.body["error"]) == (400, "validation_error"), reply.body
    (found,) = reply.body["details"]
    return found["code"], found["pointer"]


def plain(reply: ApiResponse) -> Any:
    return json.loads(reply.encoded())


def test_a_new_submission_is_stored_as_a_record(service: Service) -> None:
    """The record has an id, a uid of version 7, its hash and time; what is not set is left out."""
    reply = service.create(b'{"kind":"note","key":"k","payload":{"n":1.50}}')
    record = reply.body["submission"]
    assert (reply.status, reply.headers["Location"]) == (201, "/api/v1/submissions/1")
    assert UID7.fullmatch(record["uid"]) and len(record["content_hash"]) == 64
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", record["created_at"])
    assert not {"summary", "context", "verdict", "processed_at"} & set(record)
    assert b'"n":1.50' in service.get("1").encoded()
    assert (
        re.fullmatch("[0-9a-f]{32}", reply.request_id)
        and service.get("1", "mine").request_id == "mine"
    )


def test_a_keyed_replay(service: Service) -> None:
    """Same content under a key is the stored row, other content a mismatch that names it; another kind is another row."""
    first = create(service, key="k", summary="a", occurred_at="2026-01-01T00:00:00Z")
    assert create(service, 200, key="k", summary="a", context={"x": "y"}) == first
    refused = create(service, 409, key="k", summary="b")
    assert refused["error"] == "replay_mismatch"
    assert [(d["code"], d["pointer"], d["existing_id"]) for d in refused["details"]] == [
        ("key_reused", "/key", 1)
    ]
    assert create(service, kind="other", key="k", summary="b")["id"] == 2


def test_a_keyless_replay(tmp_path: Path) -> None:
    """Equal content within a day is one row, unless that one is processed; later it is a new one."""
    service, clock = timed(tmp_path)
    assert create(service, summary="a")["id"] == 1
    assert create(service, 200, summary="a")["id"] == 1
    service.mark("1")
    assert create(service, summary="a")["id"] == 2
    clock.at += DEDUPE_WINDOW_S * 1_000_000
    assert create(service, summary="a")["id"] == 3


def test_a_tombstone_answers_its_replay(service: Service) -> None:
    """What was redacted is not filed again under its key."""
    create(service, key="k", summary="secret", payload={"a": "secret"}, context={"c": "secret"})
    assert service.redact("1").body["payload"] == {"redacted": True}
    record = create(service, 200, key="k", summary="secret", payload={"a": "secret"})
    assert "secret" not in json.dumps(record) and record["key"] == "k"


def test_redacting_leaves_no_trace_and_happens_once(tmp_path: Path) -> None:
    """The content is gone from the file, the hash and the first time stay."""
    service, clock = timed(tmp_path)
    word = "needle" * 50
    record = create(service, key="k", summary=word, payload={"a": word * 20}, context={"c": word})
    first = service.redact("1").body
    clock.at += 5
    assert service.redact("1").body == first
    assert first["content_hash"] == record["content_hash"] and "summary" not in first
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"needleneedle" not in data
    assert service.redact("2").status == 404


@pytest.mark.parametrize("name", ["0", "-1", "01", "1.0", "x", "", "9" * 30, "2"])
def test_an_id_is_a_plain_positive_integer(service: Service, name: str) -> None:
    """Anything else names nothing."""
    create(service)
    assert [
        reply.status for reply in (service.get(name), service.mark(name), service.redact(name))
    ] == [404] * 3


def test_refused_bodies_have_the_shape_of_errors(service: Service) -> None:
    """Error, message and the id of the request; nothing is stored."""
    for body, status in ((b"x", 400), (b"[]", 400), (b" " * 10_485_761, 413)):
        reply = service.create(body)
        assert reply.status == status
        assert set(reply.body) == {"error", "message", "request_id"}
    assert service.list([]).body["total"] == 0


ROWS = [
    {
        "kind": "friction",
        "project": "shop",
        "harness": "codex",
        "machine": "m1",
        "payload": {"category": "docs", "fix_status": "none"},
    },
    {
        "kind": "friction",
        "project": "shop",
        "model": "o",
        "payload": {"category": "tool"},
        "summary": "100% _wrong_",
    },
    {
        "kind": "note",
        "project": "api",
        "key": "k",
        "context": {"origin": "inbox"},
        "occurred_at": "2020-01-01T00:00:00Z",
    },
    {"kind": "install-check"},
    {"kind": "friction", "schema_version": 2, "payload": {"category": ["no text"]}},
]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ([], [5, 4, 3, 2, 1]),
        ([("kind", "Friction")], [5, 2, 1]),
        ([("kind", "install-check")], [4]),
        ([("exclude_kind", "friction"), ("exclude_kind", "x")], [4, 3]),
        ([("schema_version", "2")], [5]),
        ([("project", "shop"), ("harness", "codex")], [1]),
        ([("model", "o")], [2]),
        ([("machine", "m1")], [1]),
        ([("category", "docs")], [1]),
        ([("fix_status", "none")], [1]),
        ([("origin", "inbox")], [3]),
        ([("key", "k")], [3]),
        ([("q", "0% _W")], [2]),
        ([("q", "0%_")], []),
        ([("processed", "true")], [2]),
        ([("processed", "false")], [5, 4, 3, 1]),
        ([("verdict", "fixed")], [2]),
        ([("redacted", "true")], [5]),
        ([("since", "2021-01-01T00:00:00Z"), ("on", "occurred_at")], []),
        ([("until", "2020-01-01T00:00:00Z"), ("on", "occurred_at")], [3]),
        ([("since", "2023-11-14T22:13:21Z")], [5, 4, 3, 2]),
        ([("until", "2023-11-14T22:13:21Z")], [2, 1]),
        ([("limit", "1")], [5]),
    ],
)
def test_lists_are_narrowed(tmp_path: Path, query: list[tuple[str, str]], ids: list[int]) -> None:
    """Every filter gives the rows it names, newest first."""
    service, clock = timed(tmp_path)
    for row in ROWS:
        create(service, **row)
        clock.at += 1_000_000
    service.mark("2", b'{"verdict":"fixed"}')
    service.redact("5")
    reply = service.list(query)
    assert [record["id"] for record in reply.body["submissions"]] == ids
    assert all("payload" not in record for record in reply.body["submissions"])


def test_payloads_are_listed_where_asked(service: Service) -> None:
    """Only `include=payload` shows them."""
    create(service, payload={"a": 1})
    assert plain(service.list([("include", "payload")]))["submissions"][0]["payload"] == {"a": 1}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ([("nope", "1")], ("unknown_field", "?nope")),
        ([("kind", "a"), ("kind", "b")], ("duplicate_key", "?kind")),
        ([("kind", "")], ("empty", "?kind")),
        ([("limit", "0")], ("out_of_range", "?limit")),
        ([("limit", "501")], ("out_of_range", "?limit")),
        ([("limit", "101"), ("include", "payload")], ("out_of_range", "?limit")),
        ([("limit", "1x")], ("type_mismatch", "?limit")),
        ([("processed", "yes")], ("type_mismatch", "?processed")),
        ([("since", "today")], ("invalid_format", "?since")),
        ([("on", "never")], ("out_of_range", "?on")),
        ([("q", "é" * 101)], ("out_of_range", "?q")),
        ([("before_id", "1"), ("after_id", "1")], ("out_of_range", "?before_id")),
        ([("zz", ""), ("aa", "")], ("unknown_field", "?aa")),
    ],
)
def test_wrong_parameters_are_refused(
    service: Service, query: list[tuple[str, str]], found: tuple[str, str]
) -> None:
    """Unknown, repeated, empty and unfit parameters are named, the first by name."""
    assert detail(service.list(query)) == found


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b"]), max_size=14),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(["", "a"]),
)
def test_cursors_visit_every_match_once(
    kinds: list[str], limit: int, ascending: bool, kind: str
) -> None:
    """Following the cursor, in either direction, with any limit and filter, shows each match once and in order."""
    with tempfile.TemporaryDirectory() as folder:
        service, _ = timed(Path(folder))
        for number, each in enumerate(kinds):
            create(service, kind=each, key=str(number))
        expected = [number for number, each in enumerate(kinds, 1) if not kind or each == kind]
        query = [("limit", str(limit)), *([("kind", kind)] if kind else [])]
        seen, cursor = [], [("after_id", "0")] if ascending else []
        while True:
            page = service.list([*query, *cursor]).body
            assert page["total"] == len(expected) and len(page["submissions"]) <= limit
            seen += [record["id"] for record in page["submissions"]]
            assert len(seen) <= len(expected)
            forward, back = page["next_after_id"], page["next_before_id"]
            assert list(page)[2:] == ["total", "has_more", "next_before_id", "next_after_id"]
            if not page["has_more"]:
                assert (forward, back) == (None, None)
                break
            assert (back if ascending else forward) is None
            cursor = [("after_id", str(forward))] if ascending else [("before_id", str(back))]
        assert seen == (expected if ascending else expected[::-1])


def test_a_mark_is_set_kept_and_taken_back(tmp_path: Path) -> None:
    """Marking again keeps the first time and what is not given; taking it back clears all five."""
    service, clock = timed(tmp_path)
    create(service)
    first = service.mark("1", b'{"verdict":"fixed","ref":"abc"}').body
    clock.at += 1_000_000
    second = service.mark("1", b'{"resolution":"done","processed_by":"me"}').body
    assert second == {**first, "resolution": "done", "processed_by": "me"}
    bare = service.mark("1", b'{"processed":false}').body
    assert not {"processed_at", "verdict", "resolution", "ref", "processed_by"} & set(bare)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"nope":1}', ("unknown_field", "/nope")),
        (b'{"processed":1}', ("type_mismatch", "/processed")),
        (b'{"verdict":"Fixed It"}', ("invalid_format", "/verdict")),
        (b'{"verdict":"' + b"x" * 65 + b'"}', ("out_of_range", "/verdict")),
        (b'{"resolution":" "}', ("empty", "/resolution")),
        (b'{"ref":5}', ("type_mismatch", "/ref")),
        (b'{"processed":false,"ref":"x"}', ("out_of_range", "/ref")),
        (b'{"ref":"a","ref":"b"}', ("duplicate_key", "/ref")),
    ],
)
def test_marks_are_strict(service: Service, body: bytes, found: tuple[str, str]) -> None:
    """A mark that is not understood marks nothing."""
    create(service)
    assert detail(service.mark("1", body)) == found
    assert "processed_at" not in service.get("1").body


def test_many_are_marked_at_once(service: Service) -> None:
    """Changed, unchanged and missing ones are told apart."""
    for number in range(3):
        create(service, key=str(number))
    service.mark("1", b'{"verdict":"fixed"}')
    reply = service.mark_all(b'{"ids":[1,2,3,9,2],"verdict":"fixed"}')
    assert reply.body == {
        "processed": True,
        "verdict": "fixed",
        "updated": [2, 3],
        "unchanged": [1],
        "not_found": [9],
    }
    cleared = service.mark_all(b'{"ids":[3,1],"verdict":" ","processed_by":""}').body
    assert cleared == {"processed": True, "updated": [1, 3], "unchanged": [], "not_found": []}
    assert "verdict" not in service.get("1").body and "processed_at" in service.get("1").body
    undone = service.mark_all(b'{"ids":[7,3,2,5],"processed":false}').body
    assert undone == {"processed": False, "updated": [2, 3], "unchanged": [], "not_found": [5, 7]}
    again = service.mark_all(b'{"ids":[3,2],"processed":false}').body
    assert again == {"processed": False, "updated": [], "unchanged": [2, 3], "not_found": []}
    assert detail(service.mark_all(b'{"ids":[1],"resolution":" "}')) == ("empty", "/resolution")
    assert detail(service.mark_all(b"{}")) == ("required", "/ids")
    assert detail(service.mark_all(b'{"ids":[]}')) == ("out_of_range", "/ids")
    assert detail(service.mark_all(b'{"ids":[0]}')) == ("type_mismatch", "/ids/0")


def test_numbers(tmp_path: Path) -> None:
    """Totals, groups of rows that have every key, what recurs, and weeks that start on a Monday."""
    service, clock = timed(tmp_path)
    for row in ROWS:
        create(service, **row)
        clock.at += 86_400_000_000
    service.mark("1")
    service.redact("2")
    plain = {"total": 5, "open": 4, "processed": 1, "redacted": 1, "recurring": []}
    assert service.stats([]).body == plain
    found = service.stats([("by", "kind,project")]).body["groups"]
    assert found == [
        {"keys": {"kind": "friction", "project": "shop"}, "total": 2, "open": 1, "processed": 1},
        {"keys": {"kind": "note", "project": "api"}, "total": 1, "open": 1, "processed": 0},
    ]
    days = service.stats([("bucket", "day")]).body["series"]
    assert days[:2] == [
        {"bucket": "2023-11-14", "total": 1, "open": 0},
        {"bucket": "2023-11-15", "total": 1, "open": 1},
    ]
    weeks = service.stats([("bucket", "week")]).body["series"]
    assert weeks == [{"bucket": "2023-11-13", "total": 5, "open": 4}]
    clock.at += 86_400_000_000
    newest = create(service, **ROWS[0])
    (again,) = service.stats([("top", "3")]).body["recurring"]
    assert again == {
        "content_hash": newest["content_hash"],
        "count": 2,
        "first_id": 1,
        "last_id": 6,
        "kind": "friction",
        "project": "shop",
    }
    assert service.stats([("top", "0")]).body["recurring"] == []
    assert detail(service.stats([("by", "kind,nope")])) == ("out_of_range", "?by")
    assert detail(service.stats([("by", "kind,model,project,origin")])) == ("out_of_range", "?by")


def exported(service: Service) -> bytes:
    text = service.export([]).text
    assert text is not None
    return text


def test_an_export_taken_elsewhere_is_the_same_again(tmp_path: Path) -> None:
    """Uids, times, marks, tombstones and the spelling of numbers arrive; taken again, all is here already."""
    (source, clock), (target, _) = timed(tmp_path / "a"), timed(tmp_path / "b")
    for row in ROWS:
        create(source, **row)
        clock.at += 1
    source.create(b'{"kind":"note","payload":{"n":1.50,"\\u0001":"\xc3\xa9"}}')
    source.mark("2", b'{"verdict":"fixed","ref":"r"}')
    source.redact("1")
    create(target, key="first")
    before = exported(source)
    reply = target.import_(before)
    warned = reply.body.pop("warnings")
    assert {each["line"] for each in warned} == {3, 4, 5, 6, 7}  # the tombstone has none
    assert list(warned[0]) == ["line", "code", "pointer", "message"]
    assert reply.body == {"imported": 6, "skipped": 0, "conflicts": [], "first_id": 2, "last_id": 7}
    again = target.import_(before).body
    assert again == {"imported": 0, "skipped": 6, "conflicts": [], "warnings": warned}
    ours, theirs = (
        [re.sub(rb'^\{"id":\d+,', b"", line) for line in exported(each).split(b"\n")[1:-2]]
        for each in (source, target)
    )
    assert theirs[1:] == ours


def test_an_export_is_narrowed_as_its_header_says(tmp_path: Path) -> None:
    """By kind, time, id and number; the client's own test reports are carried like all others."""
    service, clock = timed(tmp_path)
    for number in range(4):
        create(service, kind=["a", "install-check"][number % 2], key=str(number))
        clock.at += 1_000_000
    for query, header, ids in (
        ([], {}, [1, 2, 3, 4]),
        ([("kind", "A")], {"kind": "a"}, [1, 3]),
        ([("after_id", "2")], {"after_id": 2}, [3, 4]),
        ([("since", "2023-11-14T22:13:22Z")], {"since": "2023-11-14T22:13:22.000000Z"}, [3, 4]),
        ([("limit", "3")], {}, [1, 2, 3]),
    ):
        text = service.export(query).text
        assert text is not None
        found = [json.loads(line) for line in text.splitlines()]
        unset = {"kind": None, "since": None, "after_id": None}
        shown = {name: found[0][name] for name in unset}
        assert shown == {**unset, **header}
        assert [record["id"] for record in found[1:-1]] == ids
    assert detail(service.export([("limit", "501")])) == ("out_of_range", "?limit")


def test_the_deepest_body_is_kept_and_carried(tmp_path: Path) -> None:
    """A member at the depth limit that moves down in the payload is still shown, exported and imported."""
    (source, _), (target, _) = timed(tmp_path / "a"), timed(tmp_path / "b")
    deep = b"[" * 511 + b"]" * 511
    assert (
        source.create(b'{"x":%s,"payload":{"x":1},"context":[%s]}' % (deep, deep[1:-1])).status
        == 201
    )
    assert deep in source.get("1").encoded()
    assert target.import_(exported(source)).body["imported"] == 1
    assert deep in target.get("1").encoded()


def test_a_key_that_is_taken_is_a_conflict(tmp_path: Path) -> None:
    """The other rows are imported, and the one that is not is named."""
    (source, _), (target, _) = timed(tmp_path / "a"), timed(tmp_path / "b")
    create(source, key="k", summary="theirs")
    create(source, key="l")
    create(target, key="k", summary="ours")
    create(source, key="m", summary="alike")
    create(target, key="m", summary="alike")
    body = target.import_(exported(source)).body
    uid = source.get("1").body["uid"]
    assert (body["imported"], body["skipped"]) == (1, 2)
    assert body["conflicts"] == [
        {"line": 2, "uid": uid, "existing_id": 1, "reason": "key_mismatch"}
    ]


def test_a_damaged_export_imports_nothing(tmp_path: Path) -> None:
    """Cut, changed, reordered or extended at any line, it is refused as a whole."""
    (source, _), (target, _) = timed(tmp_path / "a"), timed(tmp_path / "b")
    for number in range(3):
        create(source, key=str(number), summary="one two")
    whole = exported(source)
    lines = whole.split(b"\n")
    wrong = [
        whole[:-1],
        whole.replace(b"one two", b"one too"),
        whole.replace(b'"export_format":2', b'"export_format":3'),
        b"",
        b"\n\n\n",
    ]
    wrong += [b"\n".join(lines[:at] + lines[at + 1 :]) for at in range(len(lines) - 1)]
    wrong += [b"\n".join([lines[0], lines[2], lines[1], *lines[3:]])]
    for body in wrong:
        assert target.import_(body).status == 400, body
    assert target.import_(whole, limit=10).status == 413
    assert target.list([]).body["total"] == 0


def test_a_database_that_cannot_be_used_is_unavailable(tmp_path: Path) -> None:
    """A newer database is refused with the shape of an error, and left as it is."""
    service, _ = timed(tmp_path)
    create(service)
    with closing(sqlite3.connect(tmp_path / "agentfeedback.db")) as connection:
        connection.execute("UPDATE schema_version SET version = 99")
        connection.commit()
    reply = service.create(b"{}")
    assert (reply.status, reply.body["error"], reply.headers) == (
        503,
        "unavailable",
        {"Retry-After": "1"},
    )


def test_reading_makes_no_database(service: Service, tmp_path: Path) -> None:
    """What only reads or marks creates nothing."""
    assert service.list([]).body["total"] == service.stats([]).body["total"] == 0
    assert [service.get("1").status, service.mark("1").status, service.redact("1").status] == [
        404
    ] * 3
    assert exported(service).count(b"\n") == 2
    assert list(tmp_path.iterdir()) == []


@given(st.integers(0, 2**58))
def test_uids_tell_their_time(at: int) -> None:
    """A uid has the form of version 7 and begins with its milliseconds, cut to 48 bits."""
    uid = uuid7(at)
    assert UID7.fullmatch(uid)
    assert int(uid.replace("-", "")[:12], 16) == (at // 1000) & (1 << 48) - 1


def test_schemas(service: Service) -> None:
    """Shipped kinds tell their guide, other kinds are not found."""
    assert service.schema("friction").body["properties"]["severity"]["enum"] == [
        "low",
        "medium",
        "high",
    ]
    assert [service.schema("friction", version).status for version in ("2", "x", "9" * 99)] == [
        404
    ] * 3
    assert service.schema("session").status == 404
