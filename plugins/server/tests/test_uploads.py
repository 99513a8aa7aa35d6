"""Uploads of sessions: what begin, part and complete answer, and what is there afterwards."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import obstore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.errors import StoreError
from agentfeedback_server import upload_rows, uploads
from agentfeedback_server.begin import Limits
from agentfeedback_server.settings import Settings
from agentfeedback_web.objects import BucketObjects
from tests.support.uploads import Upload, sha256

from .conftest import Running

UPLOADS = "/api/v1/sessions/uploads"
HOUR = 3600 * 1_000_000


class Uploader:
    """A client that uploads to one server."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.client = running.client
        self.consent = running.consent()

    def begin(self, upload: Upload, consent: str | None = None, **members: Any) -> Any:
        body = upload.body(self.consent if consent is None else consent) | members
        return self.client.post(UPLOADS, json=body)

    def begun(self, upload: Upload) -> str:
        reply = self.begin(upload)
        assert reply.status_code in (200, 201), reply.text
        id: str = reply.json()["upload"]["id"]
        return id

    def part(self, id: str, number: int, data: bytes, digest: str | None = None) -> Any:
        headers = {"X-Content-Sha256": sha256(data) if digest is None else digest}
        return self.client.put(f"{UPLOADS}/{id}/parts/{number}", content=data, headers=headers)

    def parts(self, id: str, upload: Upload) -> None:
        for number, data in enumerate(upload.parts, 1):
            assert self.part(id, number, data).status_code == 200

    def complete(self, id: str) -> Any:
        return self.client.post(f"{UPLOADS}/{id}/complete")

    def push(self, upload: Upload) -> Any:
        id = self.begun(upload)
        self.parts(id, upload)
        return self.complete(id)

    def objects(self) -> list[str]:
        """The names of all objects."""
        place = self.running.server.objects
        if isinstance(place, BucketObjects):
            listed = [item for batch in obstore.list(place._store) for item in batch]
            return sorted(item["path"].rpartition("/")[2] for item in listed)
        root = Path(self.running.server.settings.objects)
        return sorted(path.name for path in root.rglob("*") if path.is_file())


@pytest.fixture
def client(small: Running) -> Uploader:
    return Uploader(small)


def error(reply: Any) -> tuple[int, str]:
    """Status and code of a refusal, whose body has the one form."""
    body = reply.json()
    assert {"error", "message", "request_id"} <= body.keys()
    assert body["request_id"] == reply.headers["X-Request-Id"]
    return reply.status_code, body["error"]


def test_a_session_is_uploaded_and_reads_back_as_it_was(running: Running) -> None:
    """Begin, parts, complete; then it is one submission whose transcript is byte for byte what was sent."""
    client, upload = Uploader(running), Upload("é\n€🎉 ".encode() * 50)
    upload = upload.but(part=11 * 20)
    begun = client.begin(upload)
    assert begun.status_code == 201
    shown = begun.json()["upload"]
    assert (shown["state"], shown["received"], shown["part_bytes"]) == ("open", [], 4 << 20)
    assert shown["expires_at"].endswith("Z")
    for number, data in enumerate(upload.parts, 1):
        reply = client.part(shown["id"], number, data)
        assert (reply.status_code, reply.json()) == (200, {"received": list(range(1, number + 1))})
    done = client.complete(shown["id"])
    assert done.status_code == 201
    record = done.json()["submission"]
    assert record["kind"] == "session" and record["key"] == upload.manifest["key"]
    assert record["payload"]["transcript_sha256"] == sha256(upload.transcript)
    assert "transcript" not in record["payload"]
    again = client.complete(shown["id"])
    assert (again.status_code, again.json()) == (200, {"submission": record})
    read = client.client.get(f"/api/v1/submissions/{record['id']}/transcript")
    assert (read.status_code, read.content) == (200, upload.transcript)
    assert read.headers["X-Content-Type-Options"] == "nosniff"
    assert read.headers["Content-Disposition"] == "attachment"
    known = client.begin(upload)
    assert known.status_code == 200
    assert known.json()["upload"]["state"] == "complete" and known.json()["submission"] == record
    assert client.client.get("/api/v1/submissions").json()["total"] == 1


def test_an_upload_goes_on_where_it_was(client: Uploader) -> None:
    """Begin again says which parts are there; a part may be sent again; what is missing is named."""
    upload = Upload()
    id = client.begun(upload)
    assert client.part(id, 2, upload.parts[1]).json() == {"received": [2]}
    assert client.part(id, 2, upload.parts[1]).json() == {"received": [2]}
    reply = client.complete(id)
    assert error(reply) == (409, "incomplete") and reply.json()["missing"] == [1, 3]
    again = client.begin(upload.but(members={"machine": "renamed"}))
    assert again.status_code == 200
    assert (again.json()["upload"]["id"], again.json()["upload"]["received"]) == (id, [2])
    assert client.part(id, 3, upload.parts[2]).json() == {"received": [2, 3]}
    assert client.part(id, 1, upload.parts[0]).json() == {"received": [1, 2, 3]}
    assert client.complete(id).json()["submission"]["machine"] == "m"


def test_another_transcript_of_a_revision_is_a_mismatch(client: Uploader) -> None:
    """While parts of the first are there, and once it is complete; before that it takes its place."""
    first, second = Upload(), Upload(b"x" * 37)
    before = client.begun(first)
    id = client.begun(second)
    assert id != before
    assert error(client.part(before, 1, first.parts[0])) == (404, "not_found")
    assert client.part(id, 1, second.parts[0]).status_code == 200
    assert error(client.begin(first)) == (409, "replay_mismatch")
    client.parts(id, second)
    assert client.complete(id).status_code == 201
    assert error(client.begin(first)) == (409, "replay_mismatch")
    assert client.push(first.but(revision="38")).status_code == 201


def test_other_cuts_of_the_same_transcript_begin_again(client: Uploader) -> None:
    """What was received of the old cuts is of no use and goes."""
    upload = Upload()
    old = client.begun(upload)
    client.part(old, 1, upload.parts[0])
    assert client.objects() == [f"{old}.1"]
    other = upload.but(part=20)
    id = client.begun(other)
    assert id != old and client.objects() == []
    client.parts(id, other)
    assert client.complete(id).status_code == 201


def test_without_consent_nothing_is_taken(running: Running) -> None:
    """Before it is given, after it ended, and under a period that is over: at each of the three steps."""
    client, upload = Uploader(running), Upload()
    consent = running.server.tenants.of("default").consent
    policy = client.client.get("/api/v1/sessions/policy")
    assert policy.headers["Cache-Control"] == "no-store"
    assert policy.json()["capture"] == "enabled" and policy.json()["protocol"] == 1
    assert policy.json()["consent_id"] == client.consent and policy.json()["ttl_s"] == 300
    assert policy.json()["organisation"] == {"id": "default", "name": "default"}
    assert policy.json()["limits"]["part_bytes"] == 4 << 20
    id = client.begun(upload)
    client.part(id, 1, upload.parts[0])
    consent.disable()
    shown = client.client.get("/api/v1/sessions/policy").json()
    assert shown["capture"] == "disabled" and "consent_id" not in shown
    refused = (403, "capture_disabled")
    assert error(client.begin(upload)) == refused
    assert error(client.part(id, 2, upload.parts[1])) == refused
    assert error(client.complete(id)) == refused
    new = consent.enable()
    assert new != client.consent and consent.enable() == new
    changed = (403, "consent_changed")
    assert error(client.begin(upload)) == changed
    assert error(client.begin(upload, "")) == changed
    assert error(client.part(id, 2, upload.parts[1])) == changed
    assert error(client.complete(id)) == changed
    again = client.begin(upload, new)
    assert again.status_code == 201 and again.json()["upload"]["received"] == []
    assert client.objects() == []
    assert [bool(each.disabled_at) for each in consent.periods()] == [True, False]
    assert client.client.get("/api/v1/submissions").json()["total"] == 0


def test_consent_that_ends_while_a_part_or_completion_runs_is_seen(
    client: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked again in the transaction that takes the part or makes the submission; nothing stays."""
    upload = Upload()
    server = client.running.server
    consent = server.tenants.of("default").consent
    put, get = server.objects.put, server.objects.get
    id = client.begun(upload)

    def ends(key: str, data: bytes) -> None:
        put(key, data)
        consent.disable()

    with monkeypatch.context() as patch:
        patch.setattr(server.objects, "put", ends)
        assert error(client.part(id, 1, upload.parts[0])) == (403, "capture_disabled")
    assert client.objects() == []
    client.consent = consent.enable()
    id = client.begun(upload)
    client.parts(id, upload)

    def ends_too(key: str) -> bytes | None:
        consent.disable()
        return get(key)

    monkeypatch.setattr(server.objects, "get", ends_too)
    assert error(client.complete(id)) == (403, "capture_disabled")
    assert client.client.get("/api/v1/submissions").json()["total"] == 0


def test_parts_are_what_was_announced(client: Uploader) -> None:
    """Length and digest, by the header and by the announcement; other bytes for one that is there are a mismatch."""
    upload = Upload()
    id = client.begun(upload)
    first = upload.parts[0]
    assert error(client.part(id, 1, first, "0" * 64)) == (400, "validation_error")
    assert error(client.part(id, 1, first, "")) == (400, "validation_error")
    assert error(client.part(id, 1, first, sha256(first).upper())) == (400, "validation_error")
    assert error(client.part(id, 1, first[:-1])) == (400, "validation_error")
    assert error(client.part(id, 1, b"")) == (400, "validation_error")
    assert error(client.part(id, 0, first)) == (404, "not_found")
    assert error(client.part(id, 4, first)) == (404, "not_found")
    assert error(client.part("f" * 32, 1, first)) == (404, "not_found")
    assert client.objects() == []
    assert client.part(id, 1, first).status_code == 200
    assert error(client.part(id, 1, b"y" * 16)) == (409, "replay_mismatch")
    too_much = b" " * ((4 << 20) + 1)
    assert error(client.part(id, 2, too_much)) == (413, "request_too_large")
    for number, data in ((2, upload.parts[1]), (3, upload.parts[2])):
        assert client.part(id, number, data).status_code == 200
    assert client.complete(id).status_code == 201
    assert error(client.part(id, 1, first)) == (404, "not_found")


def test_a_part_is_text_by_itself(client: Uploader) -> None:
    """A cut inside a character is refused."""
    upload = Upload("€".encode(), part=2)
    id = client.begun(upload)
    reply = client.part(id, 1, upload.parts[0])
    assert error(reply) == (400, "validation_error")
    assert reply.json()["details"][0]["code"] == "invalid_utf8"


@given(st.text(st.characters(codec="utf-8")))
def test_the_length_of_a_part_in_an_envelope(text: str) -> None:
    """Is that of the canonical JSON string without its quotes."""
    assert uploads.escaped_length(text.encode()) == len(canonical(text)) - 2


def test_a_transcript_with_another_digest_is_given_up(client: Uploader) -> None:
    """The parts are each as announced, the whole is not: the upload is gone, and so are its parts."""
    upload = Upload()
    reply = client.begin(upload, transcript_sha256="0" * 64)
    id = reply.json()["upload"]["id"]
    client.parts(id, upload)
    assert error(client.complete(id)) == (400, "validation_error")
    assert error(client.complete(id)) == (404, "not_found")
    assert client.objects() == []
    assert client.push(upload).status_code == 201


def test_a_part_whose_object_is_lost_is_asked_for_again(client: Uploader) -> None:
    """The database says it was received, the store does not have it."""
    upload = Upload()
    id = client.begun(upload)
    client.parts(id, upload)
    client.running.server.objects.delete(f"transcripts/{id[:2]}/{id}.2")
    reply = client.complete(id)
    assert error(reply) == (409, "incomplete") and reply.json()["missing"] == [2]
    assert client.part(id, 2, upload.parts[1]).json() == {"received": [1, 2, 3]}
    assert client.complete(id).status_code == 201


def test_what_is_too_large_is_refused_with_the_limits(tmp_path: Path) -> None:
    """By what begin says, and by what the envelope turns out to be: characters that JSON escapes count as escaped."""
    limits = Limits(envelope_bytes=70_000, part_bytes=40_000, parts_max=3)
    running = Running(
        Settings(f"sqlite:///{tmp_path}/s.db", str(tmp_path / "objects"), limits=limits)
    )
    with running.client:
        client = Uploader(running)
        for upload, members in (
            (Upload(b"x" * 70_001, part=30_000), {}),
            (Upload(), {"envelope_bytes": 70_001}),
            (Upload(b"x" * 40_001, part=40_001), {}),
            (Upload(b"xxxx", part=1), {}),
        ):
            reply = client.begin(upload, **members)
            assert error(reply) == (413, "request_too_large")
            assert reply.json()["limits"] == {
                "envelope_bytes": 70_000,
                "part_bytes": 40_000,
                "parts_max": 3,
            }
        escaped = Upload(b"\x01" * 12_000, part=40_000)
        id = client.begun(escaped)
        client.parts(id, escaped)
        assert error(client.complete(id)) == (413, "request_too_large")
        assert client.objects() == []
        fits = Upload(b'"' * 34_000, part=40_000)
        room = 70_000 - len(canonical({**fits.manifest, "payload": _payload(fits)}))
        fits = fits.but(transcript=b'"' * (room // 2))
        assert client.push(fits).status_code == 201
        over = Upload(b'"' * (room // 2 + 2), part=40_000)
        id = client.begun(over.but(revision="99"))
        client.parts(id, over)
        assert error(client.complete(id)) == (413, "request_too_large")
    running.server.close()


def _payload(upload: Upload) -> dict[str, Any]:
    return {
        **upload.manifest["payload"],
        "transcript": "",
        "transcript_bytes": len(upload.transcript),
        "transcript_sha256": sha256(upload.transcript),
    }


def test_an_upload_expires(client: Uploader) -> None:
    """After a day it is as if it had never been; its parts go at once, its row an hour later."""
    upload = Upload()
    part = client.running.server.tenants.of("default").uploads
    id = client.begun(upload)
    client.part(id, 1, upload.parts[0])
    now = part._now()
    part._now = lambda: now + 24 * HOUR
    assert error(client.part(id, 2, upload.parts[1])) == (404, "not_found")
    assert error(client.complete(id)) == (404, "not_found")
    server = client.running.server
    upload_rows.expire(server.database, now + 24 * HOUR)
    upload_rows.remove(server.database, server.objects, now + 24 * HOUR)
    assert client.objects() == []
    part._now = lambda: now
    new = client.begun(upload)
    assert new != id
    upload_rows.remove(server.database, server.objects, now + 25 * HOUR)
    with server.database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT id FROM uploads").scalars().all()
    assert rows == [new]


def test_redaction_takes_the_transcript(running: Running) -> None:
    """What is left is the tombstone, which still answers for its revision; also when the server died in between."""
    client, upload = Uploader(running), Upload()
    record = client.push(upload).json()["submission"]
    assert client.objects()
    gone = client.client.delete(f"/api/v1/submissions/{record['id']}")
    assert gone.json()["payload"] == {"redacted": True}
    assert client.objects() == []
    read = client.client.get(f"/api/v1/submissions/{record['id']}/transcript")
    assert error(read) == (404, "not_found")
    known = client.begin(upload)
    assert known.status_code == 200 and known.json()["upload"]["state"] == "complete"
    assert known.json()["submission"]["payload"] == {"redacted": True}
    other = client.push(upload.but(revision="38")).json()["submission"]
    running.server.tenants.of("default").service.redact(str(other["id"]))
    assert client.objects()
    running.server.sweep()
    assert client.objects() == []
    with running.server.database.reading() as connection:
        texts = connection.exec_driver_sql("SELECT manifest FROM uploads").scalars().all()
    assert set(texts) <= {""}


def test_an_imported_session_answers_for_its_revision(client: Uploader) -> None:
    """Its transcript is elsewhere; the same one is there already, another is a mismatch."""
    upload = Upload()
    client.push(upload)
    exported = client.client.get("/api/v1/export").content
    _, key = client.running.server.access.add("default", "n")
    client.running.server.access.add_organisation("other")
    _, key = client.running.server.access.add("other", "n")
    there = Uploader(client.running)
    there.client, there.consent = client.running.with_key(key), client.running.consent("other")
    assert there.client.post("/api/v1/import", content=exported).json()["imported"] == 1
    known = there.begin(upload)
    assert known.status_code == 200 and known.json()["upload"]["state"] == "complete"
    assert error(there.begin(Upload(b"x" * 37))) == (409, "replay_mismatch")


def test_organisations_do_not_meet(client: Uploader) -> None:
    """The same revision may be uploaded to each; an upload's id is of no use to the other."""
    upload = Upload()
    id = client.begun(upload)
    client.running.server.access.add_organisation("other")
    _, key = client.running.server.access.add("other", "n")
    other = Uploader(client.running)
    other.client = client.running.with_key(key)
    assert error(other.begin(upload, client.consent)) == (403, "capture_disabled")
    other.consent = client.running.consent("other")
    assert error(other.part(id, 1, upload.parts[0])) == (404, "not_found")
    assert error(other.complete(id)) == (404, "not_found")
    record = other.push(upload).json()["submission"]
    read = client.client.get(f"/api/v1/submissions/{record['id']}/transcript")
    assert error(read) == (404, "not_found")


def _changes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in the body of a begin that is bound to a form."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield (*path, name)
            if (*path, name) != ("manifest",):
                yield from _changes(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from _changes(item, (*path, index))


def _changed(body: Any, path: tuple[Any, ...], change: Any) -> Any:
    body = copy.deepcopy(body)
    place = body
    for step in path[:-1]:
        place = place[step]
    change(place, path[-1])
    return body


def test_the_body_of_a_begin_is_read_strictly(client: Uploader) -> None:
    """Each member removed, retyped, or with one more beside it: refused, with a pointer to it."""
    good = Upload().body(client.consent)
    others: list[Any] = [None, True, 1.5, -1, "", "x", [], {}, [None]]
    refused = 0
    for path in _changes(good):
        bodies = [_changed(good, path, lambda place, name: place.pop(name))]
        bodies += [
            _changed(good, path, lambda place, name, o=other: place.__setitem__(name, o))
            for other in others
        ]
        if isinstance(path[-1], str):
            bodies.append(
                _changed(good, path, lambda place, name: place.__setitem__(name + "_", 1))
            )
        for body in bodies:
            reply = client.client.post(UPLOADS, json=body)
            refused += 1
            if path == ("consent_id",) and isinstance(body.get("consent_id"), str):
                assert error(reply) in ((403, "consent_changed"), (400, "validation_error")), body
                continue
            assert error(reply) == (400, "validation_error"), (path, body)
            (detail,) = reply.json()["details"]
            assert detail["pointer"].startswith("/") and detail["code"], body
    for path, value in (
        (("manifest", "kind"), "note"),
        (("manifest", "schema_version"), 2),
        (("manifest", "key"), "session-0"),
        (("manifest", "harness"), "codex"),
        (("manifest", "payload", "format"), "gemini-cli-jsonl"),
        (("manifest", "payload", "revision"), "037"),
        (("manifest", "payload", "revision"), 37),
        (("manifest", "payload", "session_id"), "s2"),
        (("manifest", "payload", "transcript"), "text"),
        (("manifest", "payload", "transcript_bytes"), 1),
        (("manifest", "payload", "transcript_sha256"), "0" * 64),
    ):
        body = _changed(good, path, lambda place, name, v=value: place.__setitem__(name, v))
        reply = client.client.post(UPLOADS, json=body)
        assert error(reply) == (400, "validation_error"), path
        refused += 1
    for text in (b"", b"[]", b"{", b'{"consent_id":"a","consent_id":"b"}', b"\xff"):
        assert error(client.client.post(UPLOADS, content=text))[0] == 400
    assert refused > 100
    with client.running.server.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM uploads").scalar() == 0
    assert client.client.post(UPLOADS, json=good).status_code == 201


def test_objects_that_cannot_be_used_are_a_503(
    client: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part is not received; the client comes back."""

    def full(key: str, data: bytes) -> None:
        raise StoreError("the objects cannot be used: no space left on device")

    upload = Upload()
    id = client.begun(upload)
    with monkeypatch.context() as patch:
        patch.setattr(client.running.server.objects, "put", full)
        reply = client.part(id, 1, upload.parts[0])
        assert error(reply) == (503, "unavailable") and reply.headers["Retry-After"] == "1"
        assert "space" not in reply.text
    assert client.part(id, 1, upload.parts[0]).json() == {"received": [1]}


def test_nothing_of_a_transcript_is_in_log_or_database(client: Uploader, tmp_path: Path) -> None:
    """It is in the objects alone."""
    word = "needle" * 3
    upload = Upload(f'{{"text":"{word}"}}\n'.encode() * 3)
    assert client.push(upload).status_code == 201
    assert word not in client.running.log.getvalue()
    client.running.server.close()
    for name in os.listdir(tmp_path):
        if os.path.isfile(tmp_path / name):
            assert word.encode() not in (tmp_path / name).read_bytes(), name
    assert json.dumps(client.running.lines()).count(client.running.key) == 0
