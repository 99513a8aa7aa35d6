"""The table of submissions in the data-directory database (platform details 2.6 and 10).

Each method is one transaction. Every failure is the `StoreError` of `Database`.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import evolve

from agentfeedback.foundation.canonical import canonical
from agentfeedback.state.database import Database
from agentfeedback_submissions.envelope import Normalised
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.row import COLUMNS, MARK, TOMBSTONE, SubmissionRow
from agentfeedback_submissions.store import Created, Mark

#: How long a keyless submission of equal content is taken for the same one, in seconds.
DEDUPE_WINDOW_S = 86_400
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM submissions"
_INSERT = f"INSERT INTO submissions ({', '.join(COLUMNS[1:])}) VALUES ({', '.join('?' * (len(COLUMNS) - 1))})"
_KEYED = f"{_SELECT} WHERE kind = ? AND key = ?"
_SAME = (
    f"{_SELECT} WHERE content_hash = ? AND processed_at IS NULL AND created_at > ?"
    " ORDER BY id DESC LIMIT 1"
)
_MARK = (
    "UPDATE submissions SET processed_at = ?, verdict = ?, resolution = ?, ref = ?,"
    " processed_by = ? WHERE id = ?"
)
_REDACT = (
    "UPDATE submissions SET payload = ?, summary = NULL, context = NULL, redacted_at = ?"
    " WHERE id = ?"
)


class SqliteSubmissions:
    """The submissions in one database; `now` gives unix microseconds."""

    def __init__(self, database: Database, *, now: Any = None) -> None:
        self._database = database
        self._now = now or (lambda: time.time_ns() // 1000)

    def create(self, envelope: Normalised) -> Created:
        """Insert a submission, or find the one it repeats: lookup and insert in one transaction."""
        members = envelope.members
        key = members.get("key")
        with self._database.writing() as connection:
            now = self._now()
            if key is not None:
                found = _one(connection, _KEYED, (members["kind"], key))
                if found is not None:
                    same = found.content_hash == envelope.content_hash
                    return Created(found, "duplicate" if same else "mismatch")
            else:
                since = now - DEDUPE_WINDOW_S * 1_000_000
                found = _one(connection, _SAME, (envelope.content_hash, since))
                if found is not None:
                    return Created(found, "duplicate")
            row = SubmissionRow(
                id=0,
                uid=uuid7(now),
                kind=members["kind"],
                schema_version=members["schema_version"],
                key=key,
                **{
                    name: members.get(name)
                    for name in ("summary", "machine", "model", "harness", "project")
                },
                occurred_at=envelope.occurred_at,
                context=canonical(members["context"]).decode() if "context" in members else None,
                payload=canonical(members["payload"]).decode(),
                content_hash=envelope.content_hash,
                created_at=now,
            )
            return Created(_insert(connection, row), "new")

    def get(self, id: int) -> SubmissionRow | None:
        """One row by id."""
        with self._database.reading() as connection:
            return (
                None if connection is None else _one(connection, f"{_SELECT} WHERE id = ?", (id,))
            )

    def by_uid(self, uid: str) -> SubmissionRow | None:
        """One row by uid, in lower case."""
        with self._database.reading() as connection:
            if connection is None:
                return None
            return _one(connection, f"{_SELECT} WHERE uid = ?", (uid,))

    def page(self, filters: Filters, page: Page) -> tuple[list[SubmissionRow], int, bool]:
        """A page of rows, how many match in all, and whether more follow in the page's direction."""
        with self._reading() as connection:
            if connection is None:
                return [], 0, False
            where, values = filters.where()
            counted = connection.execute(f"SELECT count(*) FROM submissions{where}", values)
            total: int = counted.fetchone()[0]
            bounded, bounds = filters.where(page)
            order = "ASC" if page.ascending else "DESC"
            query = f"{_SELECT}{bounded} ORDER BY id {order} LIMIT ?"
            rows = [
                SubmissionRow(*found)
                for found in connection.execute(query, (*bounds, page.limit + 1))
            ]
        return rows[: page.limit], total, len(rows) > page.limit

    def numbers(
        self, filters: Filters, groups: Sequence[str], bucket: str
    ) -> tuple[int, int, list[tuple[Any, ...]], list[tuple[int, int]]]:
        """How many match, how many of them are unprocessed, counts by group (most first) and by bucket start."""
        where, values = filters.where()
        with self._reading() as connection:
            if connection is None:
                return 0, 0, [], []
            total, unprocessed = connection.execute(
                f"SELECT count(*), count(*) - count(processed_at) FROM submissions{where}", values
            ).fetchone()
            grouped = []
            if groups:
                names = ", ".join(groups)
                grouped = connection.execute(
                    f"SELECT {names}, count(*) FROM submissions{where} GROUP BY {names}"
                    f" ORDER BY count(*) DESC, {names}",
                    values,
                ).fetchall()
            buckets = []
            if bucket:
                start = _BUCKETS[bucket].format(at=filters.on)
                buckets = connection.execute(
                    f"SELECT {start} AS start, count(*) FROM submissions{where}"
                    f" GROUP BY start HAVING start IS NOT NULL ORDER BY start",
                    values,
                ).fetchall()
        return total, unprocessed, grouped, buckets

    def mark(
        self, ids: Sequence[int], mark: Mark
    ) -> tuple[list[SubmissionRow], list[int], list[int]]:
        """Mark rows: the rows as they are now, the ids that changed, and the ids that are not there."""
        rows: list[SubmissionRow] = []
        changed: list[int] = []
        missing: list[int] = []
        if not self._database.exists():
            return rows, changed, list(dict.fromkeys(ids))
        with self._database.writing() as connection:
            for id in dict.fromkeys(ids):
                row = _one(connection, f"{_SELECT} WHERE id = ?", (id,))
                if row is None:
                    missing.append(id)
                    continue
                marked = _marked(row, mark, self._now())
                if _stamp(marked) != _stamp(row):
                    connection.execute(_MARK, (*_stamp(marked), id))
                    changed.append(id)
                rows.append(marked)
        return rows, changed, missing

    def redact(self, id: int) -> SubmissionRow | None:
        """Turn a row into a tombstone that keeps id, key and hash; once more changes nothing."""
        if not self._database.exists():
            return None
        with self._database.writing() as connection:
            # Otherwise what was deleted stays readable in the file's free pages.
            connection.execute("PRAGMA secure_delete = ON")
            row = _one(connection, f"{_SELECT} WHERE id = ?", (id,))
            if row is None or row.redacted_at is not None:
                return row
            now = self._now()
            connection.execute(_REDACT, (canonical(TOMBSTONE).decode(), now, id))
            return evolve(
                row,
                payload=canonical(TOMBSTONE).decode(),
                summary=None,
                context=None,
                redacted_at=now,
            )

    def insert_all(
        self, rows: Sequence[SubmissionRow]
    ) -> tuple[list[SubmissionRow], int, list[SubmissionRow]]:
        """Insert rows of an export under new ids: those inserted, how many were here already, those whose key is taken."""
        inserted: list[SubmissionRow] = []
        conflicts: list[SubmissionRow] = []
        skipped = 0
        if not rows:
            return inserted, skipped, conflicts
        with self._database.writing() as connection:
            for row in rows:
                if _one(connection, f"{_SELECT} WHERE uid = ?", (row.uid,)) is not None:
                    skipped += 1
                elif row.key is not None and _one(connection, _KEYED, (row.kind, row.key)):
                    conflicts.append(row)
                else:
                    inserted.append(_insert(connection, row))
        return inserted, skipped, conflicts

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees one state of the database throughout."""
        with self._database.reading() as connection:
            if connection is not None:
                connection.execute("BEGIN")
            yield connection


def uuid7(at: int) -> str:
    """A UUID of version 7 (RFC 9562) for a time in unix microseconds."""
    milliseconds = max(0, at // 1000) & (1 << 48) - 1
    value = milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64
    value |= 2 << 62 | secrets.randbits(62)
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _one(connection: sqlite3.Connection, query: str, values: Sequence[Any]) -> SubmissionRow | None:
    found = connection.execute(query, values).fetchone()
    return None if found is None else SubmissionRow(*found)


def _insert(connection: sqlite3.Connection, row: SubmissionRow) -> SubmissionRow:
    values = [getattr(row, name) for name in COLUMNS[1:]]
    id = connection.execute(_INSERT, values).lastrowid
    assert id is not None
    return evolve(row, id=id)


def _stamp(row: SubmissionRow) -> tuple[Any, ...]:
    return (row.processed_at, *(getattr(row, name) for name in MARK))


def _marked(row: SubmissionRow, mark: Mark, now: int) -> SubmissionRow:
    if not mark.processed:
        return evolve(
            row, processed_at=None, verdict=None, resolution=None, ref=None, processed_by=None
        )
    return evolve(
        row,
        processed_at=now if row.processed_at is None else row.processed_at,
        verdict=mark.members.get("verdict", row.verdict),
        resolution=mark.members.get("resolution", row.resolution),
        ref=mark.members.get("ref", row.ref),
        processed_by=mark.members.get("processed_by", row.processed_by),
    )


_DAY = 86_400_000_000
# The epoch was a Thursday; weeks start on Monday, four days after it.
_BUCKETS = {
    "day": f"{{at}} - {{at}} % {_DAY}",
    "week": f"{{at}} - ({{at}} - {4 * _DAY}) % {7 * _DAY}",
}
