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

from agentfeedback.state.migrations import MIGRATIONS, Step
from agentfeedback.state.watermark import Digested, NotDigested, SessionRow, WatermarkStore, fits

if TYPE_CHECKING:
    from agentfeedback.state.database import Database
    from agentfeedback.wire.records import Selection

__all__ = ["MIGRATIONS", "Digested", "NotDigested", "StateStore", "WatermarkStore"]

#: What the messages of the database call what is kept here.
WHAT = "session state"
_COLUMNS = tuple(attribute.name for attribute in fields(SessionRow))
_ROWS = f"SELECT {', '.join(_COLUMNS)} FROM sessions_seen"
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
                connection.execute(_DIGESTED, (*name, mtime, mark.size, mark.head, at))

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
                if connection.execute(_MARK, (at, outcome, refs, *name)).rowcount != 1:
                    raise NotDigested(harness, session_id)

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

    def _row(self, values: Sequence[object]) -> SessionRow:
        members: dict[str, Any] = dict(zip(_COLUMNS, values, strict=True))
        refs = members.pop("refs")
        uids = [] if refs is None else _json(refs)
        row = SessionRow(**members, refs=tuple(uids)) if isinstance(uids, list) else None
        if row is None or not fits(row):
            raise self._database.failure("a row of sessions_seen is damaged")
        return row


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
