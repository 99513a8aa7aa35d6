"""The sessions that the rows of the databases name; nothing but session rows is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from attrs import field, frozen

from agentfeedback.reading import (
    Home,
    Report,
    Session,
    Snapshot,
    SqliteSnapshots,
    StoreState,
    UnreadableLog,
    reason_of,
    times,
)

UNSUPPORTED = "unsupported session store format: "
#: The table of sessions of V1, and that of OpenCode 2.
V1_TABLE, V2_TABLE = "session", "session_v2"
SESSION = ("id", "parent_id", "directory", "time_created", "time_updated")
MESSAGE_V2 = ("id", "session_id", "type", "seq", "data")
V1_COLUMNS = {
    V1_TABLE: SESSION,
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "session_id", "data"),
}
_SECOND_ENGINE = {V1_TABLE: SESSION, "session_message": MESSAGE_V2, "message": ("session_id",)}


@frozen
class Schema:
    """What one of the two readers needs of a database of its own: its session table, and all columns it selects.

    `layout` gives the lines of the session with an id, in order. `by_second_engine` says which
    sessions in V1's tables are this reader's too: those that the second engine of V1 wrote, or all
    others.
    """

    harness: str
    table: str
    layout: Callable[[sqlite3.Connection, str], Iterator[bytes]]
    columns: dict[str, tuple[str, ...]]
    by_second_engine: bool
    #: The same of tables that need not be there.
    optional: dict[str, tuple[str, ...]] = field(factory=dict)


@frozen(eq=False)
class Row:
    """What a session's row says: where it is, and the working directory."""

    databases: SqliteSnapshots
    database: Snapshot
    table: str
    directory: str


class Unsupported(Exception):
    """A database without the tables and columns of OpenCode; the reason names the first one missing."""


#: The databases of each run: one run has one `Home`, and with it the snapshots go.
_RUNS: WeakKeyDictionary[Home, SqliteSnapshots] = WeakKeyDictionary()

#: Table, id, directory and time of each session.
_Listed = list[tuple[str, bytes, Any, Any]]


def sessions(
    home: Home, schema: Schema, report: Report, location: str, paths: list[str]
) -> Iterator[Session]:
    """The sessions of one harness in these databases; what cannot be listed is reported, never raised."""
    databases = _databases(home)
    first: dict[str, str] = {}
    failed: list[tuple[StoreState, str]] = []
    present = False
    for path in paths:
        try:
            database, rows = databases.read(
                databases.now(path, schema.harness), lambda connection: _rows(connection, schema)
            )
        except Unsupported as missing:
            failed.append(("unsupported-format", f"{UNSUPPORTED}{missing}"))
            report.problem(path, failed[-1][1])
            continue
        except (UnreadableLog, OSError) as error:
            reason = error.reason if isinstance(error, UnreadableLog) else reason_of(error)
            failed.append(("unreadable", reason))
            report.problem(path, reason)
            continue
        if rows is None:
            continue
        present = True
        stamp = database.stamp
        written = max(stamp.file.mtime, stamp.wal.mtime if stamp.wal is not None else 0)
        for table, raw_id, raw_directory, updated in rows:
            id = text(raw_id)
            if id in first:
                report.problem(path, f"session {id} is also in {first[id]}; listed from there")
            else:
                first[id] = path
                yield Session(
                    harness=schema.harness,
                    id=id,
                    path=path,
                    mtime=_nanoseconds(updated),
                    device=stamp.file.device,
                    inode=stamp.file.inode,
                    ctime=written,
                    detail=Row(databases, database, table, text(raw_directory)),
                )
    if not present and failed:
        report.store(location, *failed[0])
    elif not present:
        report.store(location, "absent", f"no database of {schema.harness}")


def text(value: object) -> str:
    """A value of a column as text: SQLite keeps any value in any column."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _databases(home: Home) -> SqliteSnapshots:
    databases = _RUNS.get(home)
    if databases is None:
        databases = _RUNS[home] = SqliteSnapshots(home.cache)
    return databases


def _rows(connection: sqlite3.Connection, schema: Schema) -> _Listed | None:
    """The reader's sessions that are not children; None when nothing in the database is the reader's."""
    tables = {text(row[0]) for row in connection.execute(_TABLES)}
    is_v2 = V2_TABLE in tables
    own = is_v2 == (schema.table == V2_TABLE)
    rows: _Listed = []
    if own:
        optional = {name: needed for name, needed in schema.optional.items() if name in tables}
        missing = _missing(connection, schema.columns | optional)
        if missing is not None:
            raise Unsupported(f"no column {missing}")
    if own and is_v2:
        rows += _listed(connection, V2_TABLE, "TRUE")
    needed = _SECOND_ENGINE if schema.by_second_engine else V1_COLUMNS
    if (own and not is_v2) or _missing(connection, needed) is None:
        condition = _in_v1(connection, schema, tables)
        if is_v2:  # what V1 wrote there after the import is in its own tables alone
            condition = f"{_NOT_IMPORTED} AND {condition}"
        rows += _listed(connection, V1_TABLE, condition)
    return rows if own or rows else None


def _in_v1(connection: sqlite3.Connection, schema: Schema, tables: set[str]) -> str:
    """Which rows of V1's session table are the reader's: those of the second engine have messages of their own alone."""
    used = "session_message" in tables and connection.execute(_USED).fetchone() is not None
    if not used or _missing(connection, _SECOND_ENGINE) is not None:
        return "FALSE" if schema.by_second_engine else "TRUE"
    return f"({_BY_SECOND_ENGINE}) IS {'' if schema.by_second_engine else 'NOT '}TRUE"


def _listed(connection: sqlite3.Connection, table: str, condition: str) -> _Listed:
    query = f"SELECT id, directory, time_updated FROM {table} WHERE parent_id IS NULL"
    query = f"{query} AND {condition} ORDER BY time_created, id"
    return [(table, *row) for row in connection.execute(query)]


def _missing(connection: sqlite3.Connection, tables: dict[str, tuple[str, ...]]) -> str | None:
    """The first column of those named that is not there."""
    for table, needed in tables.items():
        have = {text(row[0]) for row in connection.execute(_COLUMNS, (table,))}
        for column in needed:
            if column not in have:
                return f"{table}.{column}"
    return None


def _nanoseconds(milliseconds: object) -> int:
    if not isinstance(milliseconds, int):
        return 0
    return times.milliseconds(milliseconds) or 0


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_COLUMNS = "SELECT name FROM pragma_table_info(?)"
_USED = "SELECT 1 FROM session_message LIMIT 1"
_BY_SECOND_ENGINE = """
    id IN (SELECT session_id FROM session_message WHERE session_id IS NOT NULL)
    AND id NOT IN (SELECT session_id FROM message WHERE session_id IS NOT NULL)
"""
_NOT_IMPORTED = "NOT EXISTS (SELECT 1 FROM session_v2 WHERE session_v2.id = session.id)"
