"""The API under `/api/v1`: what each route takes, refuses and answers, on both databases."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agentfeedback_server.settings import Settings
from tests.support import ROOT

from .conftest import Running

SUBMISSIONS = "/api/v1/submissions"


def schema(name: str) -> Draft202012Validator:
    """A published schema."""
    path = ROOT / f"docs/reference/schemas/{name}.json"
    return Draft202012Validator(json.loads(path.read_text()))


def test_a_submission_from_its_filing_to_its_tombstone(running: Running) -> None:
    """Every answer has the published shape; times have six digits; members that are not set are left out."""
    client = running.client
    body = {"kind": "friction", "key": "k", "summary": "s", "payload": {"category": "docs"}}
    created = client.post(SUBMISSIONS, json=body)
    assert created.status_code == 201
    schema("submission-created").validate(created.json())
    record = created.json()["submission"]
    where = created.headers["Location"]
    assert where == f"{SUBMISSIONS}/{record['id']}"
    again = client.post(SUBMISSIONS, json={**body, "context": {"a": "b"}})
    assert (again.status_code, again.json()["submission"]) == (200, record)
    other = client.post(SUBMISSIONS, json={**body, "summary": "t"})
    schema("error").validate(other.json())
    assert (other.status_code, other.json()["error"]) == (409, "replay_mismatch")
    assert other.json()["details"][0]["existing_id"] == record["id"]
    assert client.get(where).json() == record
    listed = client.get(SUBMISSIONS, params={"include": "payload", "category": "docs"})
    assert listed.json()["submissions"] == [record]
    page = client.get(SUBMISSIONS).json()
    schema("submissions-list").validate(page)
    assert "payload" not in page["submissions"][0]
    marked = client.patch(where, json={"verdict": "fixed", "ref": "r"})
    schema("submission").validate(marked.json())
    batch = client.post(f"{SUBMISSIONS}/processed", json={"ids": [record["id"], 999]})
    schema("submissions-processed").validate(batch.json())
    assert batch.json() == {
        "processed": True,
        "updated": [],
        "unchanged": [record["id"]],
        "not_found": [999],
    }
    stats = client.get("/api/v1/stats", params={"by": "kind,verdict", "bucket": "day"}).json()
    schema("submissions-stats").validate(stats)
    assert stats["groups"][0]["keys"] == {"kind": "friction", "verdict": "fixed"}
    gone = client.delete(where)
    assert gone.json()["payload"] == {"redacted": True} and "summary" not in gone.json()
    assert client.delete(where).json() == gone.json()
    for name in ("created_at", "processed_at", "redacted_at"):
        assert len(gone.json()[name]) == 27 and gone.json()[name].endswith("Z")


def test_export_and_import_carry_everything(running: Running) -> None:
    """Line by line with a trailer that proves it whole; into another organisation all of it or nothing."""
    for number in range(7):
        running.file(key=str(number), payload={"n": number})
    reply = running.client.get("/api/v1/export")
    assert reply.headers["Content-Type"].startswith("application/x-ndjson")
    lines = reply.content.splitlines(keepends=True)
    trailer = json.loads(lines[-1])
    assert trailer["export_complete"] is True and trailer["count"] == 7
    assert trailer["sha256"] == hashlib.sha256(b"".join(lines[1:-1])).hexdigest()
    head = running.client.head("/api/v1/export")
    assert head.status_code == 200 and head.content == b""
    assert len(running.client.get("/api/v1/export?limit=2&after_id=1").content.splitlines()) == 4
    running.server.access.add_organisation("other")
    _, key = running.server.access.add("other", "n")
    there = running.with_key(key)
    broken = b"".join(lines[:-1])
    refused = there.post("/api/v1/import", content=broken)
    assert (refused.status_code, refused.json()["error"]) == (400, "validation_error")
    assert there.get(SUBMISSIONS).json()["total"] == 0
    done = there.post("/api/v1/import", content=reply.content)
    schema("submissions-import").validate(done.json())
    assert done.json()["imported"] == 7
    assert there.post("/api/v1/import", content=reply.content).json()["skipped"] == 7
    back = there.get("/api/v1/export").content.splitlines()[1:-1]
    assert [without_id(each) for each in back] == [without_id(each) for each in lines[1:-1]]


def without_id(line: bytes) -> Any:
    record = json.loads(line)
    del record["id"]
    return record


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/submissions?nope=1", 400, "unknown_field"),
        ("/api/v1/submissions?limit=1&limit=2", 400, "duplicate_key"),
        ("/api/v1/submissions?kind=", 400, "empty"),
        ("/api/v1/submissions?limit=501", 400, "out_of_range"),
        ("/api/v1/submissions?limit=101&include=payload", 400, "out_of_range"),
        ("/api/v1/submissions?before_id=1&after_id=1", 400, "out_of_range"),
        ("/api/v1/submissions?since=yesterday", 400, "invalid_format"),
        ("/api/v1/submissions?" + "&".join(f"exclude_kind={n}" for n in range(101)), 400, None),
        ("/api/v1/submissions/1?x=1", 400, "unknown_field"),
        ("/api/v1/meta?x=1", 400, "unknown_field"),
        ("/api/v1/sessions/policy?x=1", 400, "unknown_field"),
        ("/api/v1/submissions/0", 404, None),
        ("/api/v1/submissions/01", 404, None),
        ("/api/v1/submissions/99", 404, None),
        ("/api/v1/submissions/99999999999999999999", 404, None),
        ("/api/v1/submissions/1/transcript", 404, None),
        ("/api/v1/stats?by=nope", 400, "out_of_range"),
        ("/api/v1/export?limit=0", 400, "out_of_range"),
        ("/api/v1/nothing", 404, None),
        ("/api/v1/", 404, None),
        ("/api/v2/submissions", 404, None),
    ],
)
def test_what_is_asked_wrongly_is_refused(
    small: Running, path: str, status: int, code: str | None
) -> None:
    """With the one error body, and a detail that names the parameter."""
    small.file()
    reply = small.client.get(path)
    assert reply.status_code == status, reply.text
    body = reply.json()
    schema("error").validate(body)
    assert [each["code"] for each in body.get("details", ())] == ([code] if code else [])


def test_methods_of_each_route(small: Running) -> None:
    """405 with what is allowed, for every route of the API."""
    expected = {
        SUBMISSIONS: "GET, HEAD, POST",
        f"{SUBMISSIONS}/1": "DELETE, GET, HEAD, PATCH",
        f"{SUBMISSIONS}/processed": "POST",
        f"{SUBMISSIONS}/1/transcript": "GET, HEAD",
        "/api/v1/stats": "GET, HEAD",
        "/api/v1/export": "GET, HEAD",
        "/api/v1/import": "POST",
        "/api/v1/meta": "GET, HEAD",
        "/api/v1/sessions/policy": "GET, HEAD",
        "/api/v1/sessions/uploads": "POST",
        "/api/v1/sessions/uploads/a/parts/1": "PUT",
        "/api/v1/sessions/uploads/a/complete": "POST",
        "/health": "GET, HEAD",
    }
    for path, allowed in expected.items():
        reply = small.client.request("OPTIONS", path)
        assert (reply.status_code, reply.headers["Allow"]) == (405, allowed), path


def test_marks_are_read_strictly(small: Running) -> None:
    """Members of other types, unknown ones, ones that are too long, and bodies that are none."""
    where = f"{SUBMISSIONS}/{small.file()['id']}"
    bad: list[Any] = [
        {"nope": 1},
        {"processed": 1},
        {"verdict": "Fixed"},
        {"verdict": "x" * 65},
        {"resolution": " "},
        {"resolution": "x" * 2001},
        {"ref": None},
        {"processed": False, "ref": "r"},
        [],
    ]
    for body in bad:
        reply = small.client.patch(where, json=body)
        assert reply.status_code == 400, body
        schema("error").validate(reply.json())
    for body in ({}, {"ids": []}, {"ids": [0]}, {"ids": ["1"]}, {"ids": list(range(1, 502))}):
        assert small.client.post(f"{SUBMISSIONS}/processed", json=body).status_code == 400, body
    assert small.client.patch(where).json()["processed_at"]
    assert "processed_at" not in small.client.patch(where, json={"processed": False}).json()


def test_only_four_bodies_are_refused(small: Running) -> None:
    """Too large, not JSON, not an object, nested too deeply; any other object is mended."""
    for content, status in (
        (b" " * 10_485_761, 413),
        (b"{", 400),
        (b"[]", 400),
        (b'{"a":' * 600 + b"1" + b"}" * 600, 400),
        (b'{"kind":7,"payload":[],"x":"\xff","context":9}', 201),
        (b"{}", 201),
    ):
        assert small.client.post(SUBMISSIONS, content=content).status_code == status


def test_what_is_public_needs_no_key(small: Running) -> None:
    """And says nothing of anybody."""
    bare = small.with_key("")
    shown = bare.get("/api/v1/schemas").json()["schemas"]
    assert {"kind": "friction", "version": 1} in shown
    for each in shown:
        found = bare.get(f"/api/v1/schemas/{each['kind']}/{each['version']}")
        Draft202012Validator.check_schema(found.json())
    assert bare.get("/api/v1/schemas/friction/9").status_code == 404
    assert bare.get("/.well-known/agentfeedback.json").json()["name"] == "agentfeedback"
    assert bare.get("/api/v1/meta").status_code == 401


def test_meta_says_what_this_server_is(small: Running) -> None:
    """Versions, limits, kinds, features."""
    meta = small.client.get("/api/v1/meta").json()
    assert {
        "service_version",
        "api_version",
        "client",
        "features",
        "kinds",
        "limits",
    } <= meta.keys()
    assert "sessions.push" in meta["features"] and meta["dedupe_window_s"] == 86_400
    assert {"min_version", "latest_known"} <= meta["client"].keys()


def test_a_revoked_key_is_refused_at_once(running: Running) -> None:
    """Of keys only hashes are stored; a key of the environment works beside them."""
    id, key = running.server.access.add("default", "other")
    client = running.with_key(key)
    assert client.get("/api/v1/meta").status_code == 200
    assert running.server.access.revoke(id) and running.server.access.revoke(id)
    assert not running.server.access.revoke("nope")
    assert client.get("/api/v1/meta").status_code == 401
    assert client.get("/api/v1/meta", headers={"X-Api-Key": key[:-1] + "_"}).status_code == 401
    infos = running.server.access.all()
    assert [bool(each.revoked_at) for each in infos] == [False, True]
    with running.server.database.reading() as connection:
        stored = repr(connection.exec_driver_sql("SELECT * FROM keys").all())
    assert key not in stored and key.rpartition("_")[2] not in stored
    assert key not in running.log.getvalue() and running.key not in running.log.getvalue()


def test_a_key_of_the_environment(tmp_path: Any) -> None:
    """It speaks for the organisation that the server was given; the right one alone."""
    key = "a-key-of-" + "the-environment"
    settings = Settings(
        f"sqlite:///{tmp_path}/s.db", str(tmp_path / "o"), key=key, organisation="shop"
    )
    running = Running(settings)
    assert (
        running.with_key(key).get("/api/v1/sessions/policy").json()["organisation"]["id"] == "shop"
    )
    assert running.with_key(key + "x").get("/api/v1/meta").status_code == 401
    assert key not in repr(settings) and key not in running.log.getvalue()
    running.server.close()


def test_secrets_are_taken_out_where_the_server_is_set_to_do_so(tmp_path: Any) -> None:
    """Every way a report comes in; what has none is stored byte for byte."""
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLA"
    settings = Settings(f"sqlite:///{tmp_path}/s.db", str(tmp_path / "o"), scrub=True)
    running = Running(settings)
    filed = running.file(summary=f"the key {secret}", payload={"n": 1.5, "t": [secret]})
    assert secret not in json.dumps(filed) and "REDACTED" in filed["summary"]
    plain = running.client.post(SUBMISSIONS, content=b'{"kind":"note","payload":{"n":1.50}}')
    assert '"n":1.50' in plain.text
    assert running.client.post(SUBMISSIONS, content=b"{").status_code == 400
    running.server.close()
