"""A session that is rows of a database, as a log."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Generator, Iterator
from typing import Any

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import RowLog
from agentfeedback.reading.sqlite.database import CHANGED, Snapshot, SqliteSnapshots, Stale

Rows = Callable[[sqlite3.Connection], Iterator[bytes]]


class SqliteLog(RowLog):
    """The rows of one session, laid out as lines and read while they are iterated.

    `rows(connection)` gives the lines: one JSON text a row, without a newline, in an order in which
    new rows come last; texts of the connection are bytes. It may raise `UnreadableLog`. A reading
    that proves stale is repeated once, from a database taken again: lines that were given out
    already must come out the same again, else the log is unreadable.
    """

    def __init__(self, databases: SqliteSnapshots, database: Snapshot, rows: Rows) -> None:
        self._databases = databases
        self._database = database
        self._reading = self._read(rows)
        super().__init__(self._reading)

    def close(self) -> None:
        """Leave the database."""
        self._reading.close()

    def _read(self, rows: Rows) -> Generator[bytes, None, None]:
        given = _Given()
        try:
            with self._database.reading() as connection:
                yield from given.onward(rows(connection))
            return
        except Stale:
            database = self._databases.renewed(self._database)
        with database.reading() as connection:
            yield from given.onward(rows(connection))


class _Given:
    """The lines given out so far, as their number and hash."""

    def __init__(self) -> None:
        self._count = 0
        self._hash = hashlib.sha256()

    def onward(self, rows: Iterator[bytes]) -> Iterator[bytes]:
        """The lines after those given out, which `rows` must begin with."""
        before, expected = self._count, self._hash.digest()
        again = hashlib.sha256()
        number = 0
        for row in rows:
            number += 1
            if number > before:
                self._count += 1
                _add(self._hash, row)
                yield row
                continue
            _add(again, row)
            if number == before and again.digest() != expected:
                raise UnreadableLog(CHANGED)
        if number < before:
            raise UnreadableLog(CHANGED)


def _add(hash: Any, row: bytes) -> None:
    hash.update(row)
    hash.update(b"\n")
