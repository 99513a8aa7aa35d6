"""Where the databases lie, and the sessions their rows name (details 14.5; nothing but session rows is read)."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from attrs import field, frozen

from agentfeedback import moment
from agentfeedback.log import Unreadable
from agentfeedback.reader import Home, Report, Session, StoreState, reason_of

from .database import Database, Databases

UNSUPPORTED = "unsupported session store format: "
#: A database with this table is OpenCode 2's alone.
V2_TABLE = "session_v2"


@frozen
class Schema:
    """What one of the two readers needs of a database: its session table, and all columns it selects.

    `layout` gives the lines of the session with an id, in order.
    """

    harness: str
    table: str
    layout: Callable[[sqlite3.Connection, str], Iterator[bytes]]
    columns: dict[str, tuple[str, ...]]
    #: The same of tables that need not be there.
    optional: dict[str, tuple[str, ...]] = field(factory=dict)


@frozen(eq=False)
class Row:
    """What a session's row told: where it lies, and the working directory."""

    databases: Databases
    database: Database
    directory: str


class Unsupported(Exception):
    """A database without the tables and columns of OpenCode; the reason names the first one missing."""


#: The databases of each run: one run has one `Home`, and with it the snapshots go.
_RUNS: WeakKeyDictionary[Home, Databases] = WeakKeyDictionary()

_Listed = list[tuple[bytes, Any, Any]]


def sessions(home: Home, schema: Schema, report: Report) -> Iterator[Session]:
    """The sessions of one harness; what cannot be listed is reported, never raised."""
    location, paths = _paths(home, report)
    if not paths:
        return
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
        except (Unreadable, OSError) as error:
            reason = error.reason if isinstance(error, Unreadable) else reason_of(error)
            failed.append(("unreadable", reason))
            report.problem(path, reason)
            continue
        if rows is None:
            continue
        present = True
        stamp = database.stamp
        written = max(stamp.file.mtime, stamp.wal.mtime if stamp.wal is not None else 0)
        for raw_id, raw_directory, updated in rows:
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
                    detail=Row(databases, database, text(raw_directory)),
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


def _databases(home: Home) -> Databases:
    databases = _RUNS.get(home)
    if databases is None:
        databases = _RUNS[home] = Databases(home.cache)
    return databases


def _paths(home: Home, report: Report) -> tuple[str, list[str]]:
    """The location of the store and its databases; the report says why there are none."""
    directory = os.path.join(home.directory("XDG_DATA_HOME", ".local", "share"), "opencode")
    named = home.environ.get("OPENCODE_DB", "")
    if named:
        return _named(os.path.join(directory, named), report)
    report.store(directory)
    names = [entry.name for entry in report.files(directory, root=True)]
    found = [name for name in names if name == "opencode.db"]
    found += [name for name in names if name.startswith("opencode-") and name.endswith(".db")]
    if not found and report.state == "present":
        report.store(directory, "absent", "no database")
    return directory, [os.path.join(directory, name) for name in found]


def _named(path: str, report: Report) -> tuple[str, list[str]]:
    report.store(path)
    try:
        regular = stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError) as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        report.store(path, "absent" if missing else "unreadable", reason_of(error))
        return path, []
    if not regular:
        report.store(path, "unreadable", "not a regular file")
        return path, []
    return path, [path]


def _rows(connection: sqlite3.Connection, schema: Schema) -> _Listed | None:
    """Id, directory and time of each session that is no child; None when the database is the other reader's."""
    tables = {row[0] for row in connection.execute(_TABLES)}
    is_v2 = V2_TABLE.encode() in tables
    if is_v2 != (schema.table == V2_TABLE):
        return None
    optional = {
        table: needed for table, needed in schema.optional.items() if table.encode() in tables
    }
    for table, needed in (schema.columns | optional).items():
        have = {row[0] for row in connection.execute(_COLUMNS, (table,))}
        for column in needed:
            if column.encode() not in have:
                raise Unsupported(f"no column {table}.{column}")
    query = f"SELECT id, directory, time_updated FROM {schema.table} WHERE parent_id IS NULL"
    return connection.execute(f"{query} ORDER BY time_created, id").fetchall()


def _nanoseconds(milliseconds: object) -> int:
    if not isinstance(milliseconds, int):
        return 0
    return moment.milliseconds(milliseconds) or 0


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
_COLUMNS = "SELECT name FROM pragma_table_info(?)"
