"""`SubmissionStore` in the tables of the server: the submissions of one organisation, each method one transaction."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve

from agentfeedback.foundation.json_text import RECORD_DEPTH, parse
from agentfeedback_server.tables import submissions as table
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
from agentfeedback_web.sql import Database

_COLUMNS = [table.c[name] for name in COLUMNS]
_STAMP = ("processed_at", *MARK)
_DAY = 86_400_000_000
#: When a bucket starts after the epoch, which was a Thursday, and its length; weeks start on Monday.
_BUCKETS = {"day": (0, _DAY), "week": (4 * _DAY, 7 * _DAY)}


class SqlSubmissions:
    """The submissions of one organisation; `now` gives unix microseconds."""

    def __init__(
        self, database: Database, organisation: str, *, now: Callable[[], int] | None = None
    ) -> None:
        self._database = database
        self._organisation = organisation
        self._own = table.c.organisation_id == organisation
        self._now = now or (lambda: time.time_ns() // 1000)

    def create(self, envelope: Normalised) -> Created:
        """Insert a submission, or find the one it repeats: look-up and insert in one transaction."""
        with self._database.writing() as connection:
            return self.create_in(connection, envelope)

    def create_in(self, connection: sa.Connection, envelope: Normalised) -> Created:
        """The same in a transaction of the caller's."""
        now = self._now()
        key = envelope.members.get("key")
        if key is not None:
            found = self.keyed_in(connection, envelope.members["kind"], key)
            if found is not None:
                same = found.content_hash == envelope.content_hash
                return Created(found, "duplicate" if same else "mismatch")
        else:
            found = self._first(
                connection,
                table.c.content_hash == envelope.content_hash,
                table.c.processed_at.is_(None),
                table.c.created_at > now - DEDUPE_WINDOW_S * 1_000_000,
            )
            if found is not None:
                return Created(found, "duplicate")
        return Created(self._insert(connection, new_row(envelope, now)), "new")

    def get(self, id: int) -> SubmissionRow | None:
        """One row by its id."""
        with self._database.reading() as connection:
            return self._first(connection, table.c.id == id)

    def by_uid(self, uid: str) -> SubmissionRow | None:
        """One row by its uid, in lower case."""
        with self._database.reading() as connection:
            return self._first(connection, table.c.uid == uid)

    def page(self, filters: Filters, page: Page) -> FoundPage:
        """A page of rows, newest first, or oldest first after an id."""
        where = self._where(filters)
        rows = sa.select(*_COLUMNS).where(*where).limit(page.limit + 1)
        if page.before_id is not None:
            rows = rows.where(table.c.id < page.before_id)
        if page.after_id is not None:
            rows = rows.where(table.c.id > page.after_id)
        rows = rows.order_by(table.c.id if page.ascending else table.c.id.desc())
        with self._database.reading() as connection:
            total = connection.execute(
                sa.select(sa.func.count()).select_from(table).where(*where)
            ).scalar_one()
            found = [SubmissionRow(*row) for row in connection.execute(rows)]
        return FoundPage(found[: page.limit], total, len(found) > page.limit)

    def counts(
        self, filters: Filters, groups: Sequence[str] = (), bucket: str = "", top: int = 0
    ) -> Counts:
        """How many rows match, in all, by columns, by day or week, and what recurs."""
        where = self._where(filters)
        count = sa.func.count()
        both = (count, count - sa.func.count(table.c.processed_at))
        with self._database.reading() as connection:
            total, open, redacted = connection.execute(
                sa.select(*both, sa.func.count(table.c.redacted_at))
                .select_from(table)
                .where(*where)
            ).one()
            grouped: list[tuple[Any, ...]] = []
            if groups:
                names = [table.c[name] for name in groups]
                there = [name.is_not(None) for name in names]
                query = sa.select(*names, *both).where(*where, *there).group_by(*names)
                query = query.order_by(count.desc(), *names).limit(MOST_GROUPS)
                grouped = [tuple(row) for row in connection.execute(query)]
            recurring = [Recurring(*row) for row in connection.execute(_recurring(where, top))]
            series: list[tuple[int, int, int]] = []
            if bucket:
                start = _start(table.c[filters.on], bucket)
                timed = sa.select(start, *both).where(*where, table.c[filters.on].is_not(None))
                found = connection.execute(timed.group_by(start).order_by(start))
                series = [(row[0], row[1], row[2]) for row in found]
        return Counts(total, open, redacted, grouped, recurring, series)

    def mark(self, ids: Sequence[int], mark: Mark) -> Marked:
        """Mark rows, or take the mark back."""
        rows: list[SubmissionRow] = []
        changed: list[int] = []
        missing: list[int] = []
        with self._database.writing() as connection:
            for id in dict.fromkeys(ids):
                row = self._first(connection, table.c.id == id)
                if row is None:
                    missing.append(id)
                    continue
                new = marked(row, mark.members, self._now()) if mark.processed else unmarked(row)
                stamp = {name: getattr(new, name) for name in _STAMP}
                if stamp != {name: getattr(row, name) for name in _STAMP}:
                    connection.execute(sa.update(table).where(table.c.id == id).values(stamp))
                    changed.append(id)
                rows.append(new)
        return Marked(rows, changed, missing)

    def redact(self, id: int) -> SubmissionRow | None:
        """Turn a row into a tombstone that keeps id, key and hash; once more changes nothing."""
        with self._database.writing() as connection:
            row = self._first(connection, table.c.id == id)
            if row is None or row.redacted_at is not None:
                return row
            row = redacted(row, self._now())
            changed = {name: getattr(row, name) for name in ("payload", "summary", "context")}
            connection.execute(
                sa.update(table)
                .where(table.c.id == id)
                .values(redacted_at=row.redacted_at, **changed, **_looked_up(row))
            )
            return row

    def insert_all(self, rows: Sequence[SubmissionRow]) -> Inserted:
        """Insert rows of an export under new ids."""
        inserted: list[SubmissionRow] = []
        conflicts: list[Conflict] = []
        skipped = 0
        with self._database.writing() as connection:
            for position, row in enumerate(rows):
                there = self._first(connection, table.c.uid == row.uid)
                keyed = None
                if there is None and row.key is not None:
                    keyed = self.keyed_in(connection, row.kind, row.key)
                if there is None and keyed is None:
                    inserted.append(self._insert(connection, row))
                    continue
                skipped += 1
                if keyed is not None and keyed.content_hash != row.content_hash:
                    conflicts.append(Conflict(position, keyed.id))
        return Inserted(inserted, skipped, conflicts)

    def keyed_in(self, connection: sa.Connection, kind: str, key: str) -> SubmissionRow | None:
        """The row of a kind and key, in a transaction of the caller's."""
        return self._first(connection, table.c.key_hash == _key_hash(kind, key))

    def _first(self, connection: sa.Connection, *where: Any) -> SubmissionRow | None:
        query = sa.select(*_COLUMNS).where(self._own, *where)
        found = connection.execute(query.order_by(table.c.id.desc()).limit(1)).first()
        return None if found is None else SubmissionRow(*found)

    def _insert(self, connection: sa.Connection, row: SubmissionRow) -> SubmissionRow:
        values = {name: getattr(row, name) for name in COLUMNS[1:]}
        done = connection.execute(
            sa.insert(table).values(
                organisation_id=self._organisation,
                key_hash=None if row.key is None else _key_hash(row.kind, row.key),
                **values,
                **_looked_up(row),
            )
        )
        (id,) = done.inserted_primary_key or (0,)
        return evolve(row, id=id)

    def _where(self, filters: Filters) -> list[Any]:
        """The conditions of a list; the cursor is not one of them."""
        where: list[Any] = [self._own]
        where += [table.c[name] == value for name, value in filters.equal.items()]
        if filters.schema_version is not None:
            where.append(table.c.schema_version == filters.schema_version)
        where += [table.c.kind != kind for kind in filters.exclude_kind]
        for name, wanted in (
            ("processed_at", filters.processed),
            ("redacted_at", filters.redacted),
        ):
            if wanted is not None:
                where.append(table.c[name].is_not(None) if wanted else table.c[name].is_(None))
        at = table.c[filters.on]
        if filters.since is not None:
            where.append(at >= filters.since)
        if filters.until is not None:
            where.append(at <= filters.until)
        if filters.q:
            # Both databases fold the case of ASCII alone, PostgreSQL because of the collation.
            texts = [sa.func.lower(table.c[name]) for name in ("summary", "payload")]
            pattern = sa.func.lower(sa.literal(f"%{_pattern(filters.q)}%", table.c.summary.type))
            where.append(sa.or_(*(text.like(pattern, escape="\\") for text in texts)))
        return where


def _looked_up(row: SubmissionRow) -> dict[str, Any]:
    """The columns that are members of payload and context; those of a payload are of frictions alone."""
    payload = (
        parse(row.payload.encode(), depth=RECORD_DEPTH).value if row.kind == "friction" else {}
    )
    context = {} if row.context is None else parse(row.context.encode()).value
    found = {name: payload.get(name) for name in ("category", "fix_status")}
    found["origin"] = context.get("origin")
    return {name: value if isinstance(value, str) else None for name, value in found.items()}


def _key_hash(kind: str, key: str) -> str:
    """Neither can hold what separates them: a kind is a token."""
    return hashlib.sha256(f"{kind}\n{key}".encode("utf-8", "replace")).hexdigest()


def _recurring(where: Sequence[Any], top: int) -> sa.Select[Any]:
    """The hashes of more than one row: most rows first, then the newest, whose texts they come with."""
    count, first, last = sa.func.count(), sa.func.min(table.c.id), sa.func.max(table.c.id)
    found = (
        sa.select(
            table.c.content_hash, count.label("many"), first.label("first"), last.label("last")
        )
        .where(*where)
        .group_by(table.c.content_hash)
        .having(count > 1)
        .order_by(count.desc(), last.desc())
        .limit(top)
        .subquery()
    )
    texts = (table.c.summary, table.c.kind, table.c.project)
    return (
        sa.select(*found.c, *texts)
        .join(table, table.c.id == found.c.last)
        .order_by(found.c.many.desc(), found.c.last.desc())
    )


def _start(at: sa.ColumnElement[int], bucket: str) -> sa.ColumnElement[int]:
    """The start of the bucket of a time. `%` has the sign of its left side, so it is taken twice."""
    first, length = _BUCKETS[bucket]
    return at - ((at - first) % length + length) % length


def _pattern(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
