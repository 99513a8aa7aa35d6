"""A database by URL: SQLite in a file of its own, or PostgreSQL.

Of two transactions that write one comes first, as SQLite has it; on PostgreSQL an advisory lock sees to
that, so that ids ascend in the order in which rows become visible, and who follows new rows misses none.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from agentfeedback.foundation.errors import AgentFeedbackError, StoreError, reason_of
from agentfeedback.foundation.files import directory

#: How long a transaction waits for others, in seconds.
BUSY_S = 5.0
_WRITING = "agentfeedback_writing"
# Two noncharacters: no text that people write holds them.
_ESCAPE, _NUL = "\U0010ffff", "\U0010fffe"


class Text(sa.types.TypeDecorator[str]):
    """Text that may hold U+0000, which PostgreSQL refuses; compared and ordered by code point."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[str]:
        """Without a collation PostgreSQL orders and folds case by the locale of the database."""
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """The text as it is stored."""
        return None if value is None else escaped(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """The text as it was."""
        if value is None or _ESCAPE not in value:
            return value
        pieces = value.split(_ESCAPE + _ESCAPE)
        return _ESCAPE.join(piece.replace(_ESCAPE + _NUL, "\0") for piece in pieces)


def escaped(value: str) -> str:
    """A text without U+0000, and without lone surrogates, which no encoding of a database has."""
    value = value.replace(_ESCAPE, _ESCAPE + _ESCAPE).replace("\0", _ESCAPE + _NUL)
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


#: Ids, sizes and times: 64 bits. SQLite counts only its own INTEGER up.
Long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class Database:
    """One database; connections are kept, and any thread may use it.

    `what` is the word for what it keeps, as messages have it. `application_id` marks the SQLite file: one
    that another program marked is refused. A URL without a scheme is not taken for a path.

    Raises:
        AgentFeedbackError: The URL cannot be used.
    """

    def __init__(self, url: str, what: str, *, application_id: int) -> None:
        self.what = what
        self._id = application_id
        self._turn = threading.Lock()
        try:
            parsed = make_url(url)
        except (ArgumentError, ValueError):
            raise AgentFeedbackError("the database URL is malformed", _EXAMPLE) from None
        if parsed.drivername in ("postgres", "postgresql"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        backend = parsed.get_backend_name()
        if backend not in ("sqlite", "postgresql"):
            raise AgentFeedbackError(f"{backend} is not a database that is supported", _EXAMPLE)
        self.sqlite = backend == "sqlite"
        if self.sqlite and not parsed.database:
            raise AgentFeedbackError("the database URL names no file", _EXAMPLE)
        #: The URL as it may be shown: without a password.
        self.shown = parsed.render_as_string(hide_password=True)
        self._path = parsed.database or ""
        self._lock = zlib.crc32(what.encode())
        timeout = {"timeout": BUSY_S} if self.sqlite else {"connect_timeout": int(BUSY_S)}
        try:
            self.engine = sa.create_engine(
                parsed,
                connect_args=timeout,
                pool_size=8,
                max_overflow=16,
                pool_timeout=BUSY_S,
                hide_parameters=True,  # texts of errors would quote what is stored
            )
        except ArgumentError:
            raise AgentFeedbackError("the database URL is malformed", _EXAMPLE) from None
        except ModuleNotFoundError as error:
            raise AgentFeedbackError(
                f"the driver of {backend} is missing ({error.name})",
                "pip install 'agentfeedback-web[postgres]'",
            ) from None
        event.listen(self.engine, "connect", _prepare if self.sqlite else _bounded)
        if self.sqlite:
            event.listen(self.engine, "begin", _begin)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one state of the database throughout. Raises `StoreError`."""
        level = {} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        with (
            self._naming(),
            self.engine.connect() as connection,
            connection.execution_options(**level).begin(),
        ):
            yield connection

    @contextmanager
    def looking(self) -> Iterator[sa.Connection]:
        """A connection for one query alone, which needs no transaction around it. Raises `StoreError`."""
        level = {} if self.sqlite else {"isolation_level": "AUTOCOMMIT"}
        with self._naming(), self.engine.connect() as connection:
            yield connection.execution_options(**level)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A connection in the one transaction that writes: committed at the end, rolled back on any error.

        Raises `StoreError`; then nothing was changed.
        """
        if not self._turn.acquire(timeout=BUSY_S):
            raise self.failure("it is busy")
        try:
            with (
                self._naming(),
                self.engine.connect() as connection,
                connection.execution_options(**{_WRITING: True}).begin(),
            ):
                if not self.sqlite:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(self._lock)))
                yield connection
        finally:
            self._turn.release()

    def prepare(self) -> None:
        """Make the file of SQLite, readable by its owner alone, or refuse one that is not ours. Raises `StoreError`."""
        if not self.sqlite:
            return
        try:
            directory(os.path.dirname(os.path.abspath(self._path)))
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise self.failure(reason_of(error)) from error
        with self.writing() as connection:
            found = connection.exec_driver_sql("PRAGMA application_id").scalar()
            count = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar()
            if found != self._id and (found or count):
                raise self.failure("it is the file of another program")
            connection.exec_driver_sql(f"PRAGMA application_id = {self._id}")

    def close(self) -> None:
        """Close the connections that are kept."""
        self.engine.dispose()

    def failure(self, reason: str) -> StoreError:
        """The error of a database that cannot be used."""
        return StoreError(f"the {self.what} in {self.shown} cannot be used: {reason}")

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            # The whole text may quote rows.
            raise self.failure(str(error.orig).partition("\n")[0]) from error
        except SQLAlchemyError as error:
            raise self.failure(type(error).__name__) from error


_EXAMPLE = "write it like sqlite:////var/lib/agentfeedback/server.db or postgresql://user@host/name"


def _prepare(connection: object, record: object) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined]  # `_begin` begins, not the driver
    cursor = connection.cursor()  # type: ignore[attr-defined]
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        # Otherwise what was deleted stays readable in the file's free pages.
        "secure_delete = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _bounded(connection: object, record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute(f"SET lock_timeout = '{int(BUSY_S * 1000)}ms'")
    cursor.close()
    connection.commit()  # type: ignore[attr-defined]


def _begin(connection: sa.Connection) -> None:
    writing = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
