"""The rows of uploads and their parts, and what of them is removed; every function is within a transaction of its caller's but the last two."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from attrs import frozen

from agentfeedback_server.begin import Begin, Part
from agentfeedback_server.tables import parts as part_table
from agentfeedback_server.tables import submissions
from agentfeedback_server.tables import uploads as table
from agentfeedback_web.objects import Objects
from agentfeedback_web.sql import Database

#: How long an upload may stay open, in seconds.
OPEN_S = 86_400
#: How long a part may be on its way after its upload was given up, in seconds.
_LATE_S = 3600


@frozen(eq=False)
class Upload:
    """An upload. `state` is `open`, `complete` or `removing`; `escaped` has the parts that were received."""

    id: str
    state: str
    consent_id: str
    manifest: str
    transcript_sha256: str
    expires_at: int
    submission_id: int | None
    parts: dict[int, Part]
    escaped: dict[int, int]

    @property
    def received(self) -> list[int]:
        """The numbers of the parts that were received."""
        return sorted(self.escaped)

    @property
    def missing(self) -> list[int]:
        """The numbers of those that were not."""
        return sorted(self.parts.keys() - self.escaped.keys())


def by_id(connection: sa.Connection, organisation: str, id: str) -> Upload | None:
    """The upload with an id."""
    return _find(connection, organisation, table.c.id == id)


def by_key(connection: sa.Connection, organisation: str, key: str) -> Upload | None:
    """The upload, open or complete, of the submission with a key."""
    return _find(connection, organisation, table.c.key == key, table.c.state != "removing")


def by_submission(connection: sa.Connection, organisation: str, id: int) -> Upload | None:
    """The complete upload that a submission was made of."""
    return _find(connection, organisation, table.c.submission_id == id, table.c.state == "complete")


def _find(connection: sa.Connection, organisation: str, *where: Any) -> Upload | None:
    query = sa.select(
        table.c.id,
        table.c.state,
        table.c.consent_id,
        table.c.manifest,
        table.c.transcript_sha256,
        table.c.expires_at,
        table.c.submission_id,
    ).where(table.c.organisation_id == organisation, *where)
    row = connection.execute(query).first()
    if row is None:
        return None
    parts: Sequence[Any] = connection.execute(
        sa.select(
            part_table.c.number, part_table.c.bytes, part_table.c.sha256, part_table.c.escaped
        )
        .where(part_table.c.upload_id == row.id)
        .order_by(part_table.c.number)
    ).all()
    return Upload(
        row.id,
        row.state,
        row.consent_id,
        row.manifest,
        row.transcript_sha256,
        row.expires_at,
        row.submission_id,
        {each.number: Part(each.bytes, each.sha256) for each in parts},
        {each.number: each.escaped for each in parts if each.escaped is not None},
    )


def insert(connection: sa.Connection, organisation: str, asked: Begin, now: int) -> Upload:
    """A new open upload."""
    id = secrets.token_hex(16)
    expires = now + OPEN_S * 1_000_000
    connection.execute(
        sa.insert(table).values(
            id=id,
            organisation_id=organisation,
            key=asked.key,
            state="open",
            consent_id=asked.consent_id,
            manifest=asked.manifest.decode(),
            transcript_bytes=asked.transcript_bytes,
            transcript_sha256=asked.transcript_sha256,
            created_at=now,
            expires_at=expires,
        )
    )
    parts = dict(enumerate(asked.parts, 1))
    rows = [
        {"upload_id": id, "number": number, "bytes": part.bytes, "sha256": part.sha256}
        for number, part in parts.items()
    ]
    connection.execute(sa.insert(part_table), rows)
    sha256 = asked.transcript_sha256
    return Upload(id, "open", asked.consent_id, "", sha256, expires, None, parts, {})


def receive(connection: sa.Connection, id: str, number: int, escaped: int | None) -> None:
    """Note that a part was received, and how long it is as a piece of a JSON string; None: it was not."""
    connection.execute(
        sa.update(part_table)
        .where(part_table.c.upload_id == id, part_table.c.number == number)
        .values(escaped=escaped)
    )


def complete(connection: sa.Connection, id: str, submission_id: int) -> None:
    """Note that an upload became a submission, which has what its manifest had."""
    connection.execute(
        sa.update(table)
        .where(table.c.id == id)
        .values(state="complete", submission_id=submission_id, manifest="")
    )


def drop(connection: sa.Connection, id: str, now: int) -> None:
    """Have an upload removed."""
    connection.execute(
        sa.update(table)
        .where(table.c.id == id)
        .values(state="removing", manifest="", expires_at=now)
    )


def expire(database: Database, now: int) -> None:
    """Mark what is to be removed: uploads that were open too long, and transcripts of tombstones. Raises `StoreError`."""
    redacted = sa.select(submissions.c.id).where(submissions.c.redacted_at.is_not(None))
    with database.writing() as connection:
        for where in (
            (table.c.state == "open", table.c.expires_at <= now),
            (table.c.state == "complete", table.c.submission_id.in_(redacted)),
        ):
            connection.execute(
                sa.update(table).where(*where).values(state="removing", manifest="", expires_at=now)
            )


def remove(database: Database, objects: Objects, now: int) -> None:
    """Delete the parts of uploads that are to be removed, then their rows; done again it does no harm.

    A row stays for an hour longer than its parts, for a part that was on its way. Raises `StoreError`.
    """
    removing = (
        sa.select(table.c.id, table.c.expires_at, part_table.c.number)
        .join(part_table, part_table.c.upload_id == table.c.id)
        .where(table.c.state == "removing")
    )
    with database.reading() as connection:
        rows = connection.execute(removing).all()
    for row in rows:
        objects.delete(object_key(row.id, row.number))
    gone = {row.id for row in rows if row.expires_at + _LATE_S * 1_000_000 <= now}
    if gone:
        with database.writing() as connection:
            for id in sorted(gone):
                connection.execute(sa.delete(part_table).where(part_table.c.upload_id == id))
                connection.execute(sa.delete(table).where(table.c.id == id))


def object_key(id: str, number: int) -> str:
    """The key of a part's object."""
    return f"transcripts/{id[:2]}/{id}.{number}"
