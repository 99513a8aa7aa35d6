"""`SubmissionStore` in the data-directory database: each method is one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import evolve

from agentfeedback.state.checksum import checksum
from agentfeedback.state.database import Database
from agentfeedback_submissions.damage import damaged, is_whole, remains
from agentfeedback_submissions.envelope import Normalised
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.row import (
    COLUMNS,
    MARK,
    SubmissionRow,
    marked,
    new_row,
    redacted,
    unmarked,
)
from agentfeedback_submissions.store import (
    DEDUPE_WINDOW_S,
    MOST_GROUPS,
    Conflict,
    Counts,
    Created,
    FoundPage,
    Inserted,
    Mark,
    Marked,
    Recurring,
)

_SELECT = f"SELECT {', '.join(COLUMNS)}, checksum FROM submissions"
_CHECKED = "UPDATE submissions SET checksum = ? WHERE id = ?"
_INSERT = f"INSERT INTO submissions ({', '.join(COLUMNS[1:])}) VALUES ({', '.join('?' * (len(COLUMNS) - 1))})"
_BY_ID = f"{_SELECT} WHERE id = ?"
_BY_UID = f"{_SELECT} WHERE uid = ?"
_KEYED = f"{_SELECT} WHERE kind = ? AND key = ?"
_SAME = (
    f"{_SELECT} WHERE content_hash = ? AND processed_at IS NULL AND created_at > ?"
    " ORDER BY id DESC LIMIT 1"
)
_STAMP = ("processed_at", *MARK)
_MARK = f"UPDATE submissions SET {', '.join(f'{name} = ?' for name in _STAMP)} WHERE id = ?"
_REPLACE = f"UPDATE submissions SET {', '.join(f'{name} = ?' for name in COLUMNS[1:])} WHERE id = ?"
# The newest row is read by its id, so that its texts are looked up once for each hash that is shown.
_RECURRING = """
    SELECT found.content_hash, found.many, found.first, found.last, newest.summary, newest.kind, newest.project
    FROM (SELECT content_hash, count(*) AS many, min(id) AS first, max(id) AS last
          FROM submissions{where} GROUP BY content_hash HAVING count(*) > 1
          ORDER BY many DESC, last DESC LIMIT ?) AS found
    JOIN submissions AS newest ON newest.id = found.last
    ORDER BY found.many DESC, found.last DESC"""
_DAY = 86_400_000_000
# The epoch was a Thursday; weeks start on Monday, four days after it. SQLite's % has the sign of its
# left side, so a time before the epoch needs the second one.
_BUCKETS = {
    name: f"{{at}} - (({{at}} - {first}) % {length} + {length}) % {length}"
    for name, first, length in (("day", 0, _DAY), ("week", 4 * _DAY, 7 * _DAY))
}


class SqliteSubmissions:
    """The submissions in one database; `now` gives unix microseconds. What only reads makes no database.

    A row that is damaged is an error where it is the one that is asked for; a page leaves it out and
    names it to `warn`.
    """

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], int] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self._database = database
        self._now = now or (lambda: time.time_ns() // 1000)
        self._warn = warn

    def create(self, envelope: Normalised) -> Created:
        """Insert a submission, or find the one it repeats: lookup and insert in one transaction."""
        key = envelope.members.get("key")
        with self._database.writing() as connection:
            now = self._now()
            if key is not None:
                found = _one(connection, _KEYED, envelope.members["kind"], key)
                if found is not None:
                    same = found.content_hash == envelope.content_hash
                    return Created(found, "duplicate" if same else "mismatch")
            else:
                since = now - DEDUPE_WINDOW_S * 1_000_000
                found = _one(connection, _SAME, envelope.content_hash, since)
                if found is not None:
                    return Created(found, "duplicate")
            return Created(_insert(connection, new_row(envelope, now)), "new")

    def get(self, id: int) -> SubmissionRow | None:
        """One row by its id."""
        with self._database.reading() as connection:
            return None if connection is None else _one(connection, _BY_ID, id)

    def by_uid(self, uid: str) -> SubmissionRow | None:
        """One row by its uid, in lower case."""
        with self._database.reading() as connection:
            return None if connection is None else _one(connection, _BY_UID, uid)

    def page(self, filters: Filters, page: Page) -> FoundPage:
        """A page of rows, newest first, or oldest first after an id."""
        with self._reading() as connection:
            if connection is None:
                return FoundPage()
            where, values = _where(filters)
            counted = connection.execute(f"SELECT count(*) FROM submissions{where}", values)
            total: int = counted.fetchone()[0]
            bounded, bounds = _where(filters, page)
            order = "ASC" if page.ascending else "DESC"
            query = f"{_SELECT}{bounded} ORDER BY id {order} LIMIT ?"
            found = connection.execute(query, (*bounds, page.limit + 1)).fetchall()
        rows = [row for each in found[: page.limit] if (row := self._sound(each)) is not None]
        shown = found[: page.limit]
        last = shown[-1][0] if shown else 0
        return FoundPage(rows, total, len(found) > page.limit, last)

    def counts(
        self, filters: Filters, groups: Sequence[str] = (), bucket: str = "", top: int = 0
    ) -> Counts:
        """How many rows match, in all, by columns, by day or week, and what recurs."""
        where, values = _where(filters)
        both = "count(*), count(*) - count(processed_at)"
        with self._reading() as connection:
            if connection is None:
                return Counts()
            total, open, redacted = connection.execute(
                f"SELECT {both}, count(redacted_at) FROM submissions{where}", values
            ).fetchone()
            grouped: list[tuple[Any, ...]] = []
            if groups:
                names = ", ".join(groups)
                there = " AND ".join(f"{name} IS NOT NULL" for name in groups)
                grouped = connection.execute(
                    f"SELECT {names}, {both} FROM submissions{where} GROUP BY {names}"
                    f" HAVING {there} ORDER BY count(*) DESC, {names} LIMIT {MOST_GROUPS}",
                    values,
                ).fetchall()
            recurring = connection.execute(_RECURRING.format(where=where), (*values, top))
            found = [Recurring(*each) for each in recurring]
            series: list[tuple[int, int, int]] = []
            if bucket:
                start = _BUCKETS[bucket].format(at=filters.on)
                series = connection.execute(
                    f"SELECT {start} AS start, {both} FROM submissions{where}"
                    f" GROUP BY start HAVING start IS NOT NULL ORDER BY start",
                    values,
                ).fetchall()
        return Counts(total, open, redacted, grouped, found, series)

    def mark(self, ids: Sequence[int], mark: Mark) -> Marked:
        """Mark rows, or take the mark back."""
        unique = dict.fromkeys(ids)
        if not self._database.exists():
            return Marked(missing=list(unique))
        rows: list[SubmissionRow] = []
        changed: list[int] = []
        missing: list[int] = []
        with self._database.writing() as connection:
            for id in unique:
                row = _one(connection, _BY_ID, id)
                if row is None:
                    missing.append(id)
                    continue
                new = marked(row, mark.members, self._now()) if mark.processed else unmarked(row)
                if _stamp(new) != _stamp(row):
                    connection.execute(_MARK, (*_stamp(new), id))
                    _check(connection, new)
                    changed.append(id)
                rows.append(new)
        return Marked(rows, changed, missing)

    def redact(self, id: int) -> SubmissionRow | None:
        """Turn a row into a tombstone that keeps id, key and hash; once more changes nothing."""
        if not self._database.exists():
            return None
        with self._database.writing() as connection:
            # Otherwise what was deleted stays readable in the file's free pages.
            connection.execute("PRAGMA secure_delete = ON")
            found = connection.execute(_BY_ID, (id,)).fetchone()
            if found is None:
                return None
            # A damaged row is redacted too: nobody could go on from it otherwise.
            whole = is_whole(found)
            row = SubmissionRow(*found[:-1]) if whole else remains(found, self._now())
            if row.redacted_at is not None:
                return row
            row = redacted(row, self._now())
            values = [getattr(row, name) for name in COLUMNS[1:]]
            connection.execute(_REPLACE, (*values, id))
            _check(connection, row)
            return row

    def insert_all(self, rows: Sequence[SubmissionRow]) -> Inserted:
        """Insert rows of an export under new ids."""
        inserted: list[SubmissionRow] = []
        conflicts: list[Conflict] = []
        skipped = 0
        if not rows:
            return Inserted()
        with self._database.writing() as connection:
            for position, row in enumerate(rows):
                there = _one(connection, _BY_UID, row.uid)
                keyed = None
                if there is None and row.key is not None:
                    keyed = _one(connection, _KEYED, row.kind, row.key)
                if there is None and keyed is None:
                    inserted.append(_insert(connection, row))
                    continue
                skipped += 1
                if keyed is not None and keyed.content_hash != row.content_hash:
                    conflicts.append(Conflict(position, keyed.id))
        return Inserted(inserted, skipped, conflicts)

    def _sound(self, found: Sequence[Any]) -> SubmissionRow | None:
        """The row of a page; None for a damaged one, which is named."""
        if is_whole(found):
            return SubmissionRow(*found[:-1])
        error = damaged(found)
        if self._warn is None:
            raise error
        self._warn(f"{error.problem} and left out; {error.remedy}")
        return None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees one state of the database throughout."""
        with self._database.reading() as connection:
            if connection is not None:
                connection.execute("BEGIN")
            yield connection


def _one(connection: sqlite3.Connection, query: str, *values: Any) -> SubmissionRow | None:
    found = connection.execute(query, values).fetchone()
    if found is None:
        return None
    if not is_whole(found):
        raise damaged(found)
    return SubmissionRow(*found[:-1])


def _insert(connection: sqlite3.Connection, row: SubmissionRow) -> SubmissionRow:
    values = [getattr(row, name) for name in COLUMNS[1:]]
    id = connection.execute(_INSERT, values).lastrowid
    assert id is not None
    row = evolve(row, id=id)
    _check(connection, row)
    return row


def _check(connection: sqlite3.Connection, row: SubmissionRow) -> None:
    """Keep the checksum of a row as it is now."""
    connection.execute(_CHECKED, (checksum([getattr(row, name) for name in COLUMNS]), row.id))


def _stamp(row: SubmissionRow) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _STAMP)


def _where(filters: Filters, page: Page | None = None) -> tuple[str, list[Any]]:
    """The WHERE clause with its values, also bounded by a page's cursor when one is given."""
    clauses: list[str] = []
    values: list[Any] = []

    def add(clause: str, *given: Any) -> None:
        clauses.append(clause)
        values.extend(given)

    for name, value in filters.equal.items():
        add(f"{name} = ?", value)
    if filters.schema_version is not None:
        add("schema_version = ?", filters.schema_version)
    for kind in filters.exclude_kind:
        add("kind <> ?", kind)
    for column, wanted in (("processed_at", filters.processed), ("redacted_at", filters.redacted)):
        if wanted is not None:
            add(f"{column} IS {'NOT ' if wanted else ''}NULL")
    if filters.since is not None:
        add(f"{filters.on} >= ?", filters.since)
    if filters.until is not None:
        add(f"{filters.on} <= ?", filters.until)
    if filters.q:
        like = f"%{_escaped(filters.q)}%"
        add("(summary LIKE ? ESCAPE '\\' OR payload LIKE ? ESCAPE '\\')", like, like)
    if page is not None and page.before_id is not None:
        add("id < ?", page.before_id)
    if page is not None and page.after_id is not None:
        add("id > ?", page.after_id)
    return f" WHERE {' AND '.join(clauses)}" if clauses else "", values


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
