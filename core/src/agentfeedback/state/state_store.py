"""Watermarks of sessions and the saved selection, kept in the data-directory database.

The file itself is `agentfeedback.state.database`'s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import fields

from agentfeedback.state.checksum import checksum, is_sound
from agentfeedback.state.migrations import MIGRATIONS, Step
from agentfeedback.state.watermark import Digested, NotDigested, SessionRow, WatermarkStore, fits

if TYPE_CHECKING:
    from sqlite3 import Connection

    from agentfeedback.state.database import Database
    from agentfeedback.wire.records import Selection

__all__ = ["MIGRATIONS", "Digested", "NotDigested", "StateStore", "WatermarkStore"]

#: What the messages of the database call what is kept here.
WHAT = "session state"
_COLUMNS = tuple(attribute.name for attribute in fields(SessionRow))
_ROWS = f"SELECT {', '.join(_COLUMNS)}, checksum FROM sessions_seen"
_ROW = f"{_ROWS} WHERE harness = ? AND session_id = ?"
_CHECKED = "UPDATE sessions_seen SET checksum = ? WHERE harness = ? AND session_id = ?"
_DIGESTED = """
    INSERT INTO sessions_seen (harness, session_id, path, mtime, size, head, digested_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (harness, session_id) DO UPDATE SET path = excluded.path,
        mtime = excluded.mtime, size = excluded.size, head = excluded.head,
        digested_at = excluded.digested_at
"""
_MARK = """
    UPDATE sessions_seen SET processed_at = ?, processed_size = size, processed_mtime = mtime,
        processed_head = head, outcome = ?, refs = ?
    WHERE harness = ? AND session_id = ? AND digested_at IS NOT NULL
"""
_FORGET = "DELETE FROM sessions_seen WHERE harness = ? AND session_id = ?"
_SELECTION = "SELECT value FROM triage_state WHERE key = 'selection'"
_SAVE = "INSERT OR REPLACE INTO triage_state (key, value) VALUES ('selection', ?)"

_SURROGATE = re.compile("[\ud800-\udfff]")
_INT64 = (1 << 63) - 1


class StateStore:
    """The core's `WatermarkStore`, in the SQLite file at `path`; `busy_ms` as for `Database`.

    Every failure is one `StoreError` that names the file, and leaves what was stored as it was.
    """

    def __init__(
        self, path: str, *, busy_ms: int | None = None, migrations: tuple[Step, ...] = MIGRATIONS
    ) -> None:
        self.path = path
        self._busy_ms = busy_ms
        self._migrations = migrations

    @cached_property
    def _database(self) -> Database:
        # Not before there is something to read or write: sqlite3 costs start-up time.
        from agentfeedback.state.database import BUSY_MS, Database

        busy = BUSY_MS if self._busy_ms is None else self._busy_ms
        return Database(self.path, WHAT, busy_ms=busy, migrations=self._migrations)

    def _is_missing(self) -> bool:
        try:
            os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False  # the database says what is wrong
        return False

    def rows(self) -> dict[tuple[str, str], SessionRow]:
        """Every row by `(harness, session id)`; a missing database is empty and stays so."""
        if self._is_missing():
            return {}
        with self._database.reading() as connection:
            if connection is None:
                return {}
            found = [self._row(values) for values in connection.execute(_ROWS)]
        return {(row.harness, row.session_id): row for row in found}

    def digested(self, marks: Sequence[Digested], at: int) -> None:
        """Record the watermarks of a run at `at` (unix microseconds), in one transaction.

        What was marked earlier stays. Nothing to record makes no database.
        """
        if not marks:
            return
        with self._database.writing() as connection:
            for mark in marks:
                name = (_text(mark.harness), _text(mark.session_id), _text(mark.path))
                # Some file systems hold times that no 64-bit count of nanoseconds reaches.
                mtime = max(-_INT64, min(mark.mtime, _INT64))
                self._found(connection, name[:2])  # a mark that is kept has to be sound
                connection.execute(_DIGESTED, (*name, mtime, mark.size, mark.head, at))
                _check(connection, name[:2])

    def mark(
        self, names: Sequence[tuple[str, str]], outcome: str, uids: Sequence[str], at: int
    ) -> None:
        """Copy each session's digest watermark into its marked one, in one transaction.

        Raises `NotDigested` for the first name without a digest; then none is marked.
        """
        import orjson

        refs = orjson.dumps([_text(uid) for uid in uids]).decode()
        with self._database.writing() as connection:
            for harness, session_id in names:
                name = (_text(harness), _text(session_id))
                self._found(connection, name)
                if connection.execute(_MARK, (at, outcome, refs, *name)).rowcount != 1:
                    raise NotDigested(harness, session_id)
                _check(connection, name)

    def forget(self, names: Sequence[tuple[str, str]]) -> list[bool]:
        """Drop rows, in one transaction; the result says for each name whether it had one.

        A missing database stays missing.
        """
        existed: dict[tuple[str, str], bool] = {}
        if names and self._database.exists():
            with self._database.writing() as connection:
                for name in dict.fromkeys(names):
                    key = (_text(name[0]), _text(name[1]))
                    existed[name] = connection.execute(_FORGET, key).rowcount > 0
        return [existed.get(name, False) for name in names]

    def selection(self) -> Selection | None:
        """The saved selection; a stored text of any other shape is a `StoreError`."""
        if self._is_missing():
            return None
        with self._database.reading() as connection:
            found = None if connection is None else connection.execute(_SELECTION).fetchone()
        if found is None:
            return None
        selection = _selection(_json(found[0]))
        if selection is None:
            raise self._database.failure(
                "the saved selection is damaged",
                "save it again with sessions status --set-selection",
            )
        return selection

    def save_selection(self, selection: Selection) -> None:
        """Replace the whole saved selection."""
        from agentfeedback.wire.encode import encode

        text = encode(selection).decode()
        with self._database.writing() as connection:
            connection.execute(_SAVE, (text,))

    def _found(self, connection: Connection, name: tuple[str, str]) -> None:
        """Raise StoreError where there is a row of this name, and it is damaged."""
        found = connection.execute(_ROW, name).fetchone()
        if found is not None:
            self._row(found)

    def _row(self, found: Sequence[object]) -> SessionRow:
        *values, kept = found
        members: dict[str, Any] = dict(zip(_COLUMNS, values, strict=True))
        refs = members.pop("refs")
        uids = [] if refs is None else _json(refs)
        row = SessionRow(**members, refs=tuple(uids)) if isinstance(uids, list) else None
        if row is None or not fits(row) or not is_sound(values, kept):
            ref = f"{values[0]}:{values[1]}"
            named = ref.isprintable() and ref.isascii() and " " not in ref
            raise self._database.failure(
                f"the row of {ref} in sessions_seen is damaged"
                if named
                else "a row of sessions_seen is damaged",
                f"run agentfeedback sessions forget {ref}, or agentfeedback doctor"
                if named
                else "run agentfeedback doctor, or move the file away to start again",
            )
        return row


def _check(connection: Connection, name: tuple[str, str]) -> None:
    """Keep the checksum of a row as it is now."""
    *values, _ = connection.execute(_ROW, name).fetchone()
    connection.execute(_CHECKED, (checksum(values), *name))


def _json(text: object) -> object:
    import orjson

    try:
        return orjson.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _selection(found: object) -> Selection | None:
    from agentfeedback.wire.records import Selection

    if not isinstance(found, dict):
        return None
    harnesses, since, limit = (found.get(name) for name in ("harnesses", "since", "limit"))
    if not isinstance(harnesses, list) or not all(isinstance(name, str) for name in harnesses):
        return None
    if not isinstance(since, str) or not isinstance(limit, int) or isinstance(limit, bool):
        return None
    return Selection(harnesses, since, limit) if limit >= 0 else None


def _text(text: str) -> str:
    """What SQLite can hold: an unpaired surrogate becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
