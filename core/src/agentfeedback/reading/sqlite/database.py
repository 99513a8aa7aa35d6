"""A database as it can be read now: the original where it is at rest, else a private snapshot.

SQLite opens an original only with `immutable=1` and only while there is no `-wal`, or an empty one;
whether that stayed so is checked after every reading. Everything else is read from a copy.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

from attrs import define, field, frozen

from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.files import open_regular
from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.sqlite.snapshot import Copy, SnapshotFolder

T = TypeVar("T")

CHANGED = "the database changed during the read"
#: Tries for a snapshot that no write-ahead log was restarted under.
_TRIES = 20
#: A database that cannot be read is copied again at most so often a run.
_RENEWALS = 3
#: For so long (seconds) the other reader of the run takes a snapshot for current without looking.
_SHARED = 2.0
_WAL_HEADER = 32
_UNSAFE = re.compile(rb"[^A-Za-z0-9/._~-]")


class Stale(UnreadableLog):
    """What was read proved to be no state the database was ever in; reading it again may help once."""


@frozen
class _File:
    device: int
    inode: int
    size: int
    mtime: int


@frozen
class Stamp:
    """What shows whether a database was written: both files, and the header of the write-ahead log."""

    file: _File
    wal: _File | None
    header: bytes

    @classmethod
    def of(cls, path: str) -> Stamp:
        """Raises OSError when there is no such database, `UnreadableLog` when it is not a regular file."""
        wal_path = f"{path}-wal"
        try:
            header = _head(wal_path)
        except FileNotFoundError:
            header = b""
        found = _stat(path)
        if found is None:
            raise FileNotFoundError(2, os.strerror(2), path)
        return cls(found, _stat(wal_path), header)

    @property
    def live(self) -> bool:
        """Whether there is a write-ahead log with something in it."""
        return self.wal is not None and self.wal.size > 0

    def holds(self, after: Stamp) -> bool:
        """Whether both files, copied between this stamp and `after`, make one state of the database."""
        if len(self.header) < _WAL_HEADER:
            return self == after
        return (
            self.header == after.header
            and _same_file(self.file, after.file)
            and self.wal is not None
            and after.wal is not None
            and _same_file(self.wal, after.wal)
        )


@define(eq=False)
class Snapshot:
    """A database to be read, at rest or as a snapshot; `stamp` is from before the snapshot was begun."""

    path: str
    stamp: Stamp
    copy: Copy | None = None
    taken: float = 0.0
    #: The readers that listed it.
    listed: set[str] = field(factory=set)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection whose texts are bytes; raises `Stale` when what was read is not to be relied on."""
        try:
            if self.copy is not None:
                yield _connected(self.copy)
                return
            self._unchanged()
            with closing(_connect(self.path, "immutable=1")) as connection:
                yield connection
            self._unchanged()
        except sqlite3.Error as error:
            raise Stale(reason_of(error)) from None

    def _unchanged(self) -> None:
        if Stamp.of(self.path) != self.stamp:
            raise Stale(CHANGED)


class SqliteSnapshots:
    """The databases of one run: each is copied at most once, unless it cannot be read."""

    def __init__(self, cache: str) -> None:
        self._folder = SnapshotFolder(cache)
        self._current: dict[str, Snapshot] = {}
        self._renewals: dict[str, int] = {}

    def now(self, path: str, harness: str) -> Snapshot:
        """The database as it is now, for a listing. Raises OSError or `UnreadableLog`."""
        database = self._current.get(path)
        if database is not None and not _current(database, harness):
            database = None
        if database is None:
            self._renewals[path] = 0
            database = self._current[path] = self._take(path)
        database.listed.add(harness)
        return database

    def read(
        self, database: Snapshot, work: Callable[[sqlite3.Connection], T]
    ) -> tuple[Snapshot, T]:
        """What `work` makes of a database, tried twice; with it the database that was read."""
        try:
            with database.reading() as connection:
                return database, work(connection)
        except Stale:
            database = self.renewed(database)
        with database.reading() as connection:
            return database, work(connection)

    def renewed(self, stale: Snapshot) -> Snapshot:
        """The database taken again after a reading that proved stale."""
        path = stale.path
        current = self._current.get(path, stale)
        if current is not stale:
            return current
        if stale.copy is not None:
            self._renewals[path] = self._renewals.get(path, 0) + 1
            if self._renewals[path] > _RENEWALS:
                return stale
        database = self._current[path] = self._take(path)
        database.listed |= stale.listed
        return database

    def _take(self, path: str) -> Snapshot:
        for _ in range(_TRIES):
            before = Stamp.of(path)
            if not before.live:
                return Snapshot(path, before)
            # The database first: what a checkpoint writes into it meanwhile is still in the log.
            try:
                copy = self._folder.copy([(path, ""), (f"{path}-wal", "-wal")])
            except FileNotFoundError:
                continue
            head = _head(f"{copy.path}-wal")
            if before.holds(Stamp.of(path)) and head.startswith(before.header):
                return Snapshot(path, before, copy, time.monotonic())
        raise UnreadableLog(CHANGED)


def quoted(path: str) -> str:
    """A path as an SQLite URI, whatever characters it holds."""
    escaped = _UNSAFE.sub(lambda found: b"%%%02X" % ord(found[0]), os.fsencode(path))
    return f"file://{escaped.decode()}"


def _current(database: Snapshot, harness: str) -> bool:
    shared = harness not in database.listed and time.monotonic() - database.taken < _SHARED
    return shared or Stamp.of(database.path) == database.stamp


def _connected(copy: Copy) -> sqlite3.Connection:
    process = os.getpid()
    if process not in copy.connections:
        copy.connections[process] = _connect(copy.path, "mode=ro")
    return copy.connections[process]


def _connect(path: str, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{quoted(path)}?{how}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = bytes
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _stat(path: str) -> _File | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableLog("not a regular file")
    return _File(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _same_file(one: _File, other: _File) -> bool:
    return (one.device, one.inode) == (other.device, other.inode)


def _head(path: str) -> bytes:
    descriptor = open_regular(path)
    try:
        return os.read(descriptor, _WAL_HEADER)
    finally:
        os.close(descriptor)
