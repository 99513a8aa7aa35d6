"""The data-directory database as a file: created, recognised, migrated, opened.

Nothing is opened until `reading` or `writing` is entered, and nothing stays open after: each
block has a connection of its own. So the file may be moved away under a long-lived process, a
`Database` may be carried through a fork or used from any thread, and no lock outlives a block.

A symbolic link in place of the file is followed, a dangling one to where it points: SQLite's
journal files are beside the file it names.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from agentfeedback.foundation.errors import NewerStoreError, StoreError, reason_of
from agentfeedback.state.faults import START_AGAIN, code, fault, remedy
from agentfeedback.state.migrations import MIGRATIONS, Step

APPLICATION_ID = 0x61667079
BUSY_MS = 5000

_UNSAFE = re.compile(rb"[^A-Za-z0-9/._~-]")


class Database:
    """One SQLite file at `path`: mode 0600, in folders made 0700 where they are missing.

    `what` is the owner's word for what it keeps there, as messages have it: `session state`. `busy_ms`
    is how long a block waits for other processes. Every failure inside a block is one `StoreError`
    that names the file and the remedy, and the block has then changed nothing.
    """

    def __init__(
        self,
        path: str,
        what: str,
        *,
        busy_ms: int = BUSY_MS,
        migrations: tuple[Step, ...] = MIGRATIONS,
    ) -> None:
        self.path = path
        self._what = what
        self._busy = busy_ms / 1000
        self._migrations = migrations

    def exists(self) -> bool:
        """Whether there is a database; an empty file, which a killed run may leave, does not count."""
        with self._naming(self._unopened):
            try:
                found = os.stat(self.path)
            except (FileNotFoundError, NotADirectoryError):
                return False
        return found.st_size > 0 or not stat.S_ISREG(found.st_mode)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection to read from; None, and nothing is made, when there is no database.

        One that cannot be written is read as it is, or from a private copy that goes with the block.
        """
        if not self.exists():
            yield None
            return
        with self._opened_to_read() as connection, self._naming(self.failure):
            yield connection

    @contextmanager
    def _opened_to_read(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._open()
        except StoreError as error:
            if error.fault != "unwritable":
                raise
            with self._copied(error) as copy:
                yield copy
            return
        with closing(connection):
            yield connection

    @contextmanager
    def _copied(self, refusal: StoreError) -> Iterator[sqlite3.Connection]:
        """A database in a place that cannot be written: in place while it is at rest and of this version, else copied."""
        import shutil
        import tempfile

        path = os.path.realpath(self.path)
        with tempfile.TemporaryDirectory(prefix="agentfeedback-") as folder:
            try:
                live = os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
                copy = os.path.join(folder, "copy.db")
                if not live:
                    connection = self._database(path, "immutable=1")
                    if self._version(connection) < len(self._migrations):
                        connection.close()
                        live = True
                if live:
                    for tail in ("", "-wal"):
                        if os.path.exists(path + tail):
                            shutil.copyfile(path + tail, copy + tail)
                    connection = Database(copy, self._what, migrations=self._migrations)._open()
            except (OSError, sqlite3.Error):
                raise refusal from None
            with closing(connection):
                yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a write transaction: committed at the end, rolled back on any error.

        Makes the database when there is none.
        """
        with self._naming(self._unopened):
            _create(os.path.realpath(self.path))
        with closing(self._open()) as connection, self._naming(self.failure):
            # Whatever raises below leaves by the close, which rolls back.
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def failure(self, reason: str, remedy: str = START_AGAIN) -> StoreError:
        """The error of a database that opens but cannot be read or written."""
        return StoreError(
            f"the {self._what} in {self.path} cannot be read or written: {reason}", remedy
        )

    def _unopened(self, reason: str, remedy: str) -> StoreError:
        return StoreError(f"the local database {self.path} cannot be opened: {reason}", remedy)

    @contextmanager
    def _naming(self, failure: Callable[[str, str], StoreError]) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError) as error:
            # A damaged schema comes as a message that cannot be decoded.
            odd = isinstance(error, UnicodeError)
            reason = "its schema is damaged" if odd else reason_of(error)
            found = failure(reason, START_AGAIN if odd else remedy(error))
            found.fault = fault(error)
            raise found from error

    def _open(self) -> sqlite3.Connection:
        with self._naming(self._unopened):
            path = os.path.realpath(self.path)
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise self._unopened("it is not a regular file", "move it away")
            deadline = time.monotonic() + self._busy
            while True:
                try:
                    self._recognise(path)
                    return self._connect(path)
                except sqlite3.OperationalError as error:
                    # SQLite's own wait does not cover a change of the journal mode.
                    if code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                        raise
                    time.sleep(0.01)

    def _recognise(self, path: str) -> None:
        """Refuse a foreign or newer database by means that write nothing in or beside it."""
        if not os.path.getsize(path):
            return
        # Not by reading the file: closing a descriptor of it would drop the locks that other
        # connections of this process hold on it.
        with closing(self._database(path, "immutable=1")) as connection:
            try:
                own = _value(connection, "PRAGMA application_id") == APPLICATION_ID
            except sqlite3.DatabaseError as error:
                if code(error) not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                    raise
                # Read without a lock, a database that is being written may look malformed.
                own = code(error) == sqlite3.SQLITE_CORRUPT
        if not own:
            raise self._foreign()
        # What fails here fails again in the open that follows, or was another process' doing.
        with suppress(FileNotFoundError, sqlite3.OperationalError):
            if os.path.getsize(f"{path}-wal"):
                # Closing a read-only connection leaves the write-ahead log as it is.
                with closing(self._database(path, "mode=ro")) as connection:
                    self._version(connection)

    def _connect(self, path: str) -> sqlite3.Connection:
        connection = self._database(path, "mode=rw")
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            if not _value(connection, "PRAGMA page_count"):
                _claim(connection)
            if _value(connection, "PRAGMA application_id") != APPLICATION_ID:
                raise self._foreign()
            if _value(connection, "PRAGMA journal_mode") != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            while self._version(connection) < len(self._migrations):
                self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        version = self._version(connection)
        if version < len(self._migrations):
            if version == 0:
                connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
                connection.execute("INSERT INTO schema_version VALUES (0)")
            for statement in _statements(self._migrations[version].sql):
                connection.execute(statement)
            connection.execute("UPDATE schema_version SET version = ?", (version + 1,))
        connection.execute("COMMIT")

    def _version(self, connection: sqlite3.Connection) -> int:
        table = "SELECT count(*) FROM sqlite_master WHERE name = 'schema_version'"
        if not _value(connection, table):
            return 0
        found = connection.execute("SELECT version FROM schema_version").fetchall()
        version = found[0][0] if len(found) == 1 else None
        if not isinstance(version, int) or version < 1:
            raise self._unopened("its table schema_version holds no version", START_AGAIN)
        known = len(self._migrations)
        if version > known:
            newer = self._unopened(
                f"it has version {version}, newer than {known}", "update agentfeedback"
            )
            raise NewerStoreError(newer.problem, newer.remedy)
        return version

    def _foreign(self) -> StoreError:
        return self._unopened("it is not a database of agentfeedback", "move the file away")

    def _database(self, path: str, how: str) -> sqlite3.Connection:
        quoted = _UNSAFE.sub(lambda found: b"%%%02X" % ord(found[0]), os.fsencode(path)).decode()
        return sqlite3.connect(
            f"file://{quoted}?{how}", uri=True, timeout=self._busy, isolation_level=None
        )


def _create(path: str) -> None:
    """An empty file of mode 0600 whatever the umask, where there is none; SQLite fills it."""
    if os.path.exists(path):
        return
    _make_folder(os.path.dirname(path))
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _make_folder(path: str) -> None:
    if os.path.isdir(path):
        return
    _make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    os.chmod(path, 0o700)


def _claim(connection: sqlite3.Connection) -> None:
    """Write the application id, before the write-ahead log: so it is in the file itself."""
    connection.execute("BEGIN IMMEDIATE")
    if not _value(connection, "PRAGMA application_id"):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def _value(connection: sqlite3.Connection, query: str) -> int | str:
    value: int | str = connection.execute(query).fetchone()[0]
    return value
