"""The rows of one session of a database, as the SQL text a corpus keeps."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from urllib.parse import quote

from agentfeedback.foundation.errors import AgentFeedbackError

#: What stays of a row: its values by column; None drops it. Texts only are to be changed.
Change = Callable[[str, dict[str, object]], dict[str, object] | None]

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid'


def sql(
    path: str, id: str, wanted: Mapping[str, Sequence[str]] | None, change: Change, title: str
) -> str:
    """SQL text that makes a database of the session with an id alone.

    `wanted` names the tables and their columns, in order; None takes each table that has rows of
    the session. A row is the session's by its `id`, its `session_id`, or the `message_id` of one
    that is.
    """
    with _opened(path) as database:
        tables = [name for (name,) in database.execute(_TABLES)]
        texts, rows = [f"-- {title}\n"], []
        for table in tables if wanted is None else [each for each in wanted if each in tables]:
            found = database.execute(_COLUMNS, (table,)).fetchall()
            columns = [each for each in found if wanted is None or each[0] in wanted[table]]
            names = [each[0] for each in columns]
            condition = _condition(database, [each[0] for each in found], tables)
            if not condition:
                continue
            chosen = ", ".join(map(_name, names))
            order = _order(names)
            query = f"SELECT {chosen} FROM {_name(table)} WHERE {condition}{order}"
            own = [
                kept
                for values in database.execute(query, {"id": id})
                if (kept := change(table, dict(zip(names, values, strict=True)))) is not None
            ]
            if wanted is None and not own:
                continue
            texts.append(_create(table, columns))
            rows += [
                f"INSERT INTO {_name(table)} VALUES ({', '.join(map(_literal, row.values()))});\n"
                for row in own
            ]
    return "".join((*texts, "\n", *rows))


def _condition(database: sqlite3.Connection, columns: Sequence[str], tables: Sequence[str]) -> str:
    for column in ("session_id", "id"):
        if column in columns and (column != "id" or "message_id" not in columns):
            return f"{column} = :id"
    if "message_id" not in columns:
        return ""
    messages = [each for each in tables if {"id", "session_id"} <= set(_names(database, each))]
    chosen = " UNION ".join(
        f"SELECT id FROM {_name(each)} WHERE session_id = :id" for each in messages
    )
    return f"message_id IN ({chosen})" if chosen else ""


def _names(database: sqlite3.Connection, table: str) -> list[str]:
    return [each[0] for each in database.execute(_COLUMNS, (table,))]


def _order(names: Sequence[str]) -> str:
    by = [each for each in ("time_created", "message_id", "seq", "ordinal", "id") if each in names]
    return f" ORDER BY {', '.join(by)}" if by else ""


def _create(table: str, columns: Sequence[tuple[str, str, int, int]]) -> str:
    keys = [name for name, _, _, key in columns if key]
    shown = [
        f"{_name(name)} {kind}".rstrip()
        + (" PRIMARY KEY" if keys == [name] else " NOT NULL" if needed else "")
        for name, kind, needed, _ in columns
    ]
    return f"CREATE TABLE {_name(table)} ({', '.join(shown)});\n"


def _name(name: str) -> str:
    if name.isidentifier() and name.isascii():
        return name
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """The database to read from: itself while nobody has it open, else a private copy of it and its log."""
    before = _stamps(path)
    if before[1] is None or not before[1][1]:
        with closing(_connected(path, "immutable=1")) as database:
            yield database
        _unchanged(path, before)
        return
    with tempfile.TemporaryDirectory(prefix="agentfeedback-") as folder:
        copy = os.path.join(folder, "copy.db")
        shutil.copyfile(path, copy)
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
        _unchanged(path, before)
        with closing(_connected(copy, "mode=rw")) as database:
            yield database


def _connected(path: str, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file://{quote(os.path.abspath(path))}?{how}", uri=True)


def _unchanged(path: str, before: object) -> None:
    if _stamps(path) != before:
        raise AgentFeedbackError(
            f"{path}: the database changed during the read", "end the harness and try again"
        )


def _stamps(path: str) -> tuple[tuple[int, int] | None, ...]:
    found: list[tuple[int, int] | None] = []
    for each in (path, f"{path}-wal"):
        try:
            stat = os.lstat(each)
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((stat.st_mtime_ns, stat.st_size))
    return tuple(found)
