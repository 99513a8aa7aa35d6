"""Uploads of sessions: begun, received part by part, completed as one submission.

A part is an object, put before the database says that it was received; an object without a row is found by
the upload's row, which goes last. So a kill at any moment leaves an upload that goes on, or one that expires.
"""

from __future__ import annotations

import codecs
import hashlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from agentfeedback_server import upload_rows
from agentfeedback_server.begin import (
    KIND,
    Begin,
    Limits,
    Part,
    envelope_bytes,
    envelope_of,
    over,
    read_begin,
)
from agentfeedback_server.consent import Consent
from agentfeedback_server.store import SqlSubmissions
from agentfeedback_server.upload_rows import Upload, object_key
from agentfeedback_submissions.row import SubmissionRow
from agentfeedback_submissions.texts import time_form
from agentfeedback_web.answers import HttpError, invalid, not_found
from agentfeedback_web.objects import Objects
from agentfeedback_web.sql import Database

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_PIECE = 1 << 16
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class Uploads:
    """The uploads of one organisation; `now` gives unix microseconds. Methods raise `HttpError` and `StoreError`."""

    def __init__(
        self,
        database: Database,
        objects: Objects,
        organisation: str,
        *,
        limits: Limits,
        store: SqlSubmissions,
        now: Callable[[], int] | None = None,
    ) -> None:
        self._database = database
        self._objects = objects
        self._organisation = organisation
        self._limits = limits
        self._store = store
        self._consent = Consent(database, organisation)
        self._now = now or (lambda: time.time_ns() // 1000)

    def begin(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """Begin an upload, go on with one, or say that the session is there: status and body."""
        asked = read_begin(body, self._limits)
        replaced = ""
        with self._database.writing() as connection:
            self._require_consent(connection, asked.consent_id)
            there = self._store.keyed_in(connection, KIND, asked.key)
            found = upload_rows.by_key(connection, self._organisation, asked.key)
            if there is not None:
                return 200, self._known(asked, there, found)
            if found is not None:
                if self._goes_on(found, asked):
                    return 200, {"upload": self._shown(found)}
                other = found.transcript_sha256 != asked.transcript_sha256
                if other and found.received and found.expires_at > self._now():
                    raise _mismatch("another transcript of this revision is being uploaded")
                upload_rows.drop(connection, found.id, self._now())
                replaced = found.id
            made = upload_rows.insert(connection, self._organisation, asked, self._now())
        if replaced:
            upload_rows.remove(self._database, self._objects, self._now())
        return 201, {"upload": self._shown(made)}

    def part(self, id: str, number: str, data: bytes, digest: str) -> dict[str, Any]:
        """Take one part."""
        n = int(number) if _NUMBER.fullmatch(number) else 0
        with self._database.reading() as connection:
            found = self._open(connection, id, n)
        if not _SHA256.fullmatch(digest):
            raise invalid("invalid_format", "?X-Content-Sha256", "not a SHA-256 in lower-case hex")
        if hashlib.sha256(data).hexdigest() != digest:
            raise invalid("out_of_range", "?X-Content-Sha256", "the body has another SHA-256")
        if Part(len(data), digest) != found.parts[n]:
            if n in found.escaped:
                raise _mismatch(f"part {n} was received with other bytes")
            raise invalid("out_of_range", "", f"part {n} was announced with other bytes")
        if n in found.escaped:
            return {"received": found.received}
        if not _is_text(data):
            raise invalid("invalid_utf8", "", "the part is not UTF-8 by itself")
        escaped = escaped_length(data)
        self._objects.put(object_key(id, n), data)
        try:
            with self._database.writing() as connection:
                found = self._open(connection, id, n)
                upload_rows.receive(connection, id, n, escaped)
        except HttpError:
            # It was removed in the meantime, and what removed it may have passed this part already.
            self._objects.delete(object_key(id, n))
            raise
        return {"received": sorted({*found.received, n})}

    def complete(self, id: str) -> tuple[int, dict[str, Any]]:
        """Make the submission: status and body."""
        with self._database.reading() as connection:
            found = self._open(connection, id)
            if found.state == "complete":
                return 200, self._completed(found)
        if found.missing:
            raise _incomplete(found.missing)
        envelope = envelope_of(found.manifest.encode())
        if envelope_bytes(envelope, sum(found.escaped.values())) > self._limits.envelope_bytes:
            self._give_up(id)
            raise over(
                self._limits, f"an envelope takes at most {self._limits.envelope_bytes} bytes"
            )
        self._verify(found)
        with self._database.writing() as connection:
            found = self._open(connection, id)
            if found.state == "complete":
                return 200, self._completed(found)
            if found.missing:
                raise _incomplete(found.missing)
            created = self._store.create_in(connection, envelope)
            if created.outcome == "mismatch":
                raise _mismatch("this revision is there with other content")
            upload_rows.complete(connection, id, created.row.id)
        return (201 if created.outcome == "new" else 200), {"submission": created.row.record()}

    def transcript(self, submission_id: int) -> tuple[int, Iterator[bytes]] | None:
        """The length of the transcript of a submission and its parts, each read when it is asked for; None without one."""
        with self._database.reading() as connection:
            found = upload_rows.by_submission(connection, self._organisation, submission_id)
        if found is None:
            return None
        return sum(part.bytes for part in found.parts.values()), self._pieces(found)

    def forget(self, submission_id: int) -> None:
        """Remove the transcript of a submission that was redacted."""
        with self._database.writing() as connection:
            found = upload_rows.by_submission(connection, self._organisation, submission_id)
            if found is None:
                return
            upload_rows.drop(connection, found.id, self._now())
        upload_rows.remove(self._database, self._objects, self._now())

    def _require_consent(self, connection: sa.Connection, given: str) -> None:
        current = self._consent.current(connection)
        if not current:
            raise HttpError(
                403, "capture_disabled", "this organisation does not have sessions processed"
            )
        if given != current:
            raise HttpError(403, "consent_changed", "consent was given again since; begin again")

    def _open(self, connection: sa.Connection, id: str, number: int | None = None) -> Upload:
        """An upload that may go on, or is complete where no part is asked for."""
        found = None
        if _ID.fullmatch(id):
            found = upload_rows.by_id(connection, self._organisation, id)
        states = ("open",) if number is not None else ("open", "complete")
        if found is None or found.state not in states:
            raise not_found("there is no such upload")
        if found.state == "open":
            if found.expires_at <= self._now():
                raise not_found("the upload expired")
            self._require_consent(connection, found.consent_id)
        else:
            self._require_consent(connection, self._consent.current(connection))
        if number is not None and number not in found.parts:
            raise not_found("there is no such part")
        return found

    def _goes_on(self, found: Upload, asked: Begin) -> bool:
        return (
            found.transcript_sha256 == asked.transcript_sha256
            and [found.parts[number] for number in sorted(found.parts)] == asked.parts
            and found.consent_id == asked.consent_id
            and found.expires_at > self._now()
        )

    def _verify(self, found: Upload) -> None:
        """Read all parts once more: the transcript as a whole has to be the one that was announced."""
        digest = hashlib.sha256()
        for number in sorted(found.parts):
            data = self._objects.get(object_key(found.id, number))
            if data is None:
                with self._database.writing() as connection:
                    upload_rows.receive(connection, found.id, number, None)
                raise _incomplete([number])
            digest.update(data)
        if digest.hexdigest() != found.transcript_sha256:
            self._give_up(found.id)
            problem = "the parts together have another SHA-256"
            raise invalid("out_of_range", "/transcript_sha256", problem)

    def _give_up(self, id: str) -> None:
        with self._database.writing() as connection:
            upload_rows.drop(connection, id, self._now())
        upload_rows.remove(self._database, self._objects, self._now())

    def _pieces(self, found: Upload) -> Iterator[bytes]:
        for number in sorted(found.parts):
            data = self._objects.get(object_key(found.id, number))
            if data is None:
                raise not_found("the transcript is no longer there")
            yield data

    def _known(self, asked: Begin, there: SubmissionRow, found: Upload | None) -> dict[str, Any]:
        """What begin answers for a revision that is a submission already, with its transcript here or elsewhere."""
        if found is not None and found.state == "complete":
            same = found.transcript_sha256 == asked.transcript_sha256
        else:
            payload = there.record().get("payload", {})
            same = payload.get("transcript_sha256") == asked.transcript_sha256
            # The content of a tombstone is not known any more.
            same = same or there.redacted_at is not None
        if not same:
            raise _mismatch("this revision is there with another transcript")
        upload = {
            "id": found.id if found is not None else there.uid.replace("-", ""),
            "state": "complete",
            "received": list(range(1, len(asked.parts) + 1)),
            "part_bytes": self._limits.part_bytes,
            "expires_at": time_form(self._now()),
        }
        return {"upload": upload, "submission": there.record()}

    def _completed(self, found: Upload) -> dict[str, Any]:
        row = self._store.get(found.submission_id or 0)
        if row is None:
            raise not_found("there is no such upload")
        return {"submission": row.record()}

    def _shown(self, found: Upload) -> dict[str, Any]:
        return {
            "id": found.id,
            "state": found.state,
            "received": found.received,
            "part_bytes": self._limits.part_bytes,
            "expires_at": time_form(found.expires_at),
        }


def escaped_length(data: bytes) -> int:
    """How long a text is as a piece of a canonical JSON string; nothing is copied."""
    two = sum(map(data.count, (b'"', b"\\", b"\n", b"\r", b"\t")))
    six = sum(data.count(char) for char in range(0x20) if char not in b"\n\r\t")
    return len(data) + two + 5 * six


def _is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8, looked at piece by piece."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for at in range(0, len(data), _PIECE):
            decoder.decode(view[at : at + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _mismatch(message: str) -> HttpError:
    return HttpError(409, "replay_mismatch", message)


def _incomplete(missing: list[int]) -> HttpError:
    return HttpError(409, "incomplete", "parts are missing", {"missing": missing})
