"""What the harness, or another program, does to a database while it is read."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.sqlite import database as database_module
from agentfeedback.reading.sqlite import snapshot as snapshot_module
from agentfeedback_opencode.reader import OpenCodeV1


def copying(monkeypatch: pytest.MonkeyPatch, before: Any, times: int = 1) -> list[str]:
    """Run `before(target)` ahead of each of the first `times` copies of a write-ahead log."""
    copied: list[str] = []
    copy = snapshot_module._copy

    def wrapped(path: str, target: str) -> None:
        if path.endswith("-wal"):
            copied.append(target)
            if len(copied) <= times:
                before(target)
        copy(path, target)

    monkeypatch.setattr(snapshot_module, "_copy", wrapped)
    return copied


def restarted(database: Any) -> None:
    """Bring the write-ahead log into the database and begin it again."""
    database.connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
    database.user(f"m{time.monotonic_ns()}", "meanwhile")


def test_restarted_log_is_copied_again(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write-ahead log restarted between the two copies discards both; a state that was is read."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    copied = copying(monkeypatch, lambda _: restarted(database))
    assert store.read().counts().prompts == 2
    assert len(copied) == 2


def test_twenty_tries(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is restarted every time makes the store unreadable after twenty tries."""
    database = store.database()
    database.session()
    copied = copying(monkeypatch, lambda _: restarted(database), times=100)
    _, report = store.find()
    assert (report.state, report.reason) == ("unreadable", "the database changed during the read")
    assert len(copied) == 20


def test_log_that_goes_while_it_is_copied(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that ends meanwhile leaves a database at rest, which is then read as such."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    store.open.clear()
    copying(monkeypatch, lambda _: database.rest())
    assert store.read().counts().prompts == 1


def garble(path: str) -> None:
    """Destroy the copy of the database whose write-ahead log is to be copied to `path`."""
    path = path.removesuffix("-wal")
    content = bytearray(Path(path).read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    Path(path).write_bytes(content)


def checkpointed(store: Any) -> Any:
    database = store.database()
    database.session()
    for number in range(30):
        database.user(f"m{number:02d}", "go " + "x" * 900)
    database.connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
    database.session("ses_2")
    return database


def test_malformed_on_the_first_try(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that reads as malformed counts as a changed read, and is taken once more."""
    checkpointed(store)
    copied = copying(monkeypatch, garble)
    assert store.read().counts().prompts == 30
    assert len(copied) == 2


def test_malformed_for_ever(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that stays malformed is unreadable, with SQLite's word for it, and not copied for ever."""
    checkpointed(store)
    copied = copying(monkeypatch, garble, times=100)
    _, report = store.find()
    assert (report.state, report.reason) == ("unreadable", "database disk image is malformed")
    assert len(copied) == 2


def test_malformed_session(store: Any) -> None:
    """Sessions whose rows cannot be read are unreadable one by one, and the database is not copied for each."""
    database = store.database()
    for number in range(8):
        database.session(f"ses_{number}")
        database.message(f"m{number}", {"role": "user"}, session=f"ses_{number}")
    database.rest()
    store.open.clear()
    with sqlite3.connect(database.path) as connection:
        query = (
            "SELECT rootpage FROM sqlite_master WHERE name = 'message_session_time_created_id_idx'"
        )
        (page,) = connection.execute(query).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray(database.path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    database.path.write_bytes(content)
    sessions, _ = store.find()
    assert len(sessions) == 8
    for session in sessions.values():
        with pytest.raises(UnreadableLog, match="malformed"):
            store.told(session)


def at_rest(store: Any) -> Any:
    database = store.database()
    database.session()
    for number in range(3):
        database.user(f"m{number}", "go")
    database.rest()
    store.open.clear()
    return database


def changed(database: Any, statement: str) -> None:
    connection = sqlite3.connect(database.path)
    with connection:
        connection.execute(statement)
    connection.close()


def begun(store: Any) -> tuple[Any, Iterator[bytes]]:
    log = OpenCodeV1().open(store.find()[0]["ses_1"])
    lines = log.complete_lines()
    next(lines)
    return log, lines


def test_no_lock_is_taken(store: Any) -> None:
    """While a live session is read, the harness may lock, checkpoint and restart as it likes, and it waits for nobody."""
    database = store.database()
    database.session()
    for number in range(3):
        database.user(f"m{number}", "go")
    database.connection.execute("PRAGMA busy_timeout = 0")
    log, lines = begun(store)
    database.connection.execute("BEGIN EXCLUSIVE")
    database.connection.execute("ROLLBACK")
    (busy, _, _) = database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0
    assert len(list(lines)) == 5
    log.close()


def test_write_during_a_read_at_rest(store: Any) -> None:
    """A write after the first lines repeats the read: they come out the same, so it goes on with the new state."""
    database = at_rest(store)
    log, lines = begun(store)
    row = "'m3', 'ses_1', 1900000000000, 0, '{\"role\":\"user\"}'"
    changed(database, f"INSERT INTO message VALUES ({row})")
    changed(database, "INSERT INTO part VALUES ('p3', 'm3', 'ses_1', 0, 0, '{\"type\":\"text\"}')")
    ids = [json.loads(line)["id"] for line in lines]
    log.close()
    assert ids == ["prt_m0_0", "m1", "prt_m1_0", "m2", "prt_m2_0", "m3", "p3"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE message SET data = '{}' WHERE id = 'm0'",
        "DELETE FROM message",
    ],
)
def test_write_that_changes_what_was_read(store: Any, statement: str) -> None:
    """Where the lines given out are no longer those of the log, the session is unreadable."""
    database = at_rest(store)
    log, lines = begun(store)
    changed(database, statement)
    with pytest.raises(UnreadableLog, match="the database changed during the read"):
        list(lines)
    log.close()


def test_second_write_during_a_read(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that changes in the repeated read too is unreadable."""
    database = at_rest(store)
    log, lines = begun(store)
    changed(database, "CREATE TABLE x (y)")
    take = database_module.SqliteSnapshots._take

    def taken(self: Any, path: str) -> Any:
        found = take(self, path)
        changed(database, "CREATE TABLE z (y)")
        return found

    monkeypatch.setattr(database_module.SqliteSnapshots, "_take", taken)
    with pytest.raises(UnreadableLog, match="the database changed during the read"):
        list(lines)
    log.close()


def test_harness_that_starts_during_a_read(store: Any) -> None:
    """A read at rest that the harness's start overtakes goes on from a snapshot."""
    database = at_rest(store)
    log, lines = begun(store)
    live = sqlite3.connect(database.path, isolation_level=None)
    live.execute("INSERT INTO event VALUES ('e', 'x')")
    assert os.path.getsize(f"{database.path}-wal") > 0
    assert len(list(lines)) == 5
    log.close()
    live.close()


def test_vanished_database(store: Any) -> None:
    """A database that went after it was listed raises the system's error, which is the session's reason."""
    database = at_rest(store)
    session = store.find()[0]["ses_1"]
    database.path.unlink()
    with pytest.raises(FileNotFoundError):
        store.told(session)


def test_live_writer(store: Any) -> None:
    """Snapshots under a writer that commits and checkpoints without a pause are each a state that was."""
    database = store.database()
    database.session()
    database.rest()
    store.open.clear()
    words = [sys.executable, str(Path(__file__).parent / "writer.py"), str(database.path)]
    writer = subprocess.Popen(words)
    try:
        before = 0
        taken = 0
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline or taken < 5:
            sessions, report = store.find()
            if report.state == "unreadable":  # restarted under every try
                assert report.reason == "the database changed during the read"
                continue
            lines = store.lines_of(sessions["ses_1"])
            ids = [json.loads(line)["id"] for line in lines]
            count = len(lines) // 2
            want = [f"{kind}{n:08d}" for n in range(1, count + 1) for kind in "mp"]
            assert ids == want
            assert count >= before
            before = count
            taken += 1
        assert before > 0
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
    shutil.rmtree(store.directory)
