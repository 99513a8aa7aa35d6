"""A database is read as it is now, and stays as it was (D8, D21; hard cases C39, C40)."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.log import Unreadable
from agentfeedback.reader import Home, Report
from agentfeedback_opencode import database as database_module
from agentfeedback_opencode import snapshot as snapshot_module
from agentfeedback_opencode.reader import OpenCodeV1

FIND = """
import os, signal, sys
from agentfeedback.reader import Home, Report
from agentfeedback_opencode.reader import OpenCodeV1
sessions = list(OpenCodeV1().find(Home(sys.argv[1], {}, sys.argv[2]), Report("opencode-v1")))
print(len(sessions), flush=True)
sys.stdin.read(1)
"""


def seen(directory: Path) -> dict[str, Any]:
    """All that can be seen of the files below a directory without opening one."""
    return {
        entry.name: tuple(
            getattr(entry.stat(follow_symlinks=False), f"st_{name}")
            for name in ("size", "mtime_ns", "ctime_ns", "atime_ns", "ino", "mode", "nlink")
        )
        for entry in os.scandir(directory)
    }


def folders(store: Any) -> list[str]:
    root = store.cache / "snapshots"
    return (
        sorted(entry.name for entry in os.scandir(root) if entry.is_dir()) if root.exists() else []
    )


def find_elsewhere(store: Any) -> subprocess.Popen[str]:
    """Another process that has listed the sessions and goes on living."""
    words = [sys.executable, "-c", FIND, str(store.home), str(store.cache)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PATH": ""}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    return process


def end(process: subprocess.Popen[str], number: int | None = None) -> None:
    if number is not None:
        os.kill(process.pid, number)
    process.communicate()


def test_rows_in_the_write_ahead_log_are_seen(store: Any) -> None:
    """What is only in the `-wal` is listed and read, from a database file that has no tables yet."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    assert os.path.getsize(f"{database.path}-wal") > 0
    assert store.read().counts().prompts == 1


def test_live_store_is_untouched(store: Any) -> None:
    """Bytes, times (of access too), inodes and names of a live store stay."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    names = [path.name for path in store.directory.iterdir()]
    bytes_before = {name: (store.directory / name).read_bytes() for name in names}
    for path in store.directory.iterdir():
        os.utime(path, ns=(1, path.stat().st_mtime_ns))  # a read would move it
    before = seen(store.directory)
    assert store.read().counts().prompts == 1
    assert seen(store.directory) == before
    assert {name: (store.directory / name).read_bytes() for name in names} == bytes_before


def test_no_lock_is_taken(store: Any) -> None:
    """While a live session is read, the harness may lock, checkpoint and restart as it likes, and it waits for nobody."""
    database = store.database()
    database.session()
    for number in range(3):
        database.user(f"m{number}", "go")
    database.connection.execute("PRAGMA busy_timeout = 0")
    log, batches = begun(store)
    database.connection.execute("BEGIN EXCLUSIVE")
    database.connection.execute("ROLLBACK")
    (busy, _, _) = database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0
    assert len(list(batches)) == 5
    log.close()


@pytest.mark.parametrize("empty_wal", [False, True])
def test_store_at_rest_is_untouched(
    store: Any, monkeypatch: pytest.MonkeyPatch, empty_wal: bool
) -> None:
    """Without a `-wal`, or with an empty one, the original is opened with `immutable=1` and nothing appears beside it."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    database.rest()
    store.open.clear()
    if empty_wal:
        (store.directory / "opencode.db-wal").touch()
    opened: list[str] = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        database_module.sqlite3,
        "connect",
        lambda name, **how: opened.append(name) or connect(name, **how),
    )
    before = seen(store.directory), database.path.read_bytes()
    assert store.read().counts().prompts == 1
    after = seen(store.directory), database.path.read_bytes()
    # SQLite opens the file by itself, so only its time of access may move.
    for stats in (before[0], after[0]):
        for name, values in stats.items():
            stats[name] = values[:3] + values[4:]
    assert after == before
    assert opened == [f"file://{database.path}?immutable=1"] * 3
    assert not store.cache.exists()


def test_original_of_a_live_database_is_never_opened(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a `-wal` SQLite opens the copy alone, once for all sessions and both readers."""
    database = store.database()
    for number in range(3):
        database.session(f"ses_{number}")
    opened: list[str] = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        database_module.sqlite3,
        "connect",
        lambda name, **how: opened.append(name) or connect(name, **how),
    )
    home = Home(str(store.home), {}, str(store.cache))
    reader = OpenCodeV1()
    sessions = list(reader.find(home, Report("opencode-v1")))
    for session in sessions:
        store.told(session)
    database.session("ses_later")  # the other reader of the run takes the same snapshot
    store.find_in(home, "opencode-v2")
    assert len(opened) == 1
    assert opened[0].startswith(f"file://{store.cache}/snapshots/")
    # The same reader asks again: a new state, a new snapshot.
    assert len(list(reader.find(home, Report("opencode-v1")))) == 4
    assert len(opened) == 2


def test_read_only_directory(store: Any) -> None:
    """A store that cannot be written to is read all the same."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    for path in store.directory.iterdir():
        path.chmod(0o400)
    store.directory.chmod(0o500)
    try:
        assert store.read().counts().prompts == 1
    finally:
        store.directory.chmod(0o700)


def test_odd_paths(tmp_path: Path, opencode: Any) -> None:
    """Paths with `?`, `#`, `%` and blanks are read, at rest and live."""
    store = opencode.Store(tmp_path / "a b?mode=rw#c%20%zz&'é")
    database = store.database("opencode-x?y#z%2e .db")
    database.session()
    database.user("m1", "go")
    assert store.read().counts().prompts == 1
    database.rest()
    assert store.read().counts().prompts == 1


def test_snapshot_is_owner_only_and_goes(store: Any) -> None:
    """The snapshot lies in folders only the user may enter, and goes with the run; so do folders made for it."""
    old = os.umask(0)
    try:
        store.database().session()
        sessions, _ = store.find()
        (name,) = folders(store)
        root = store.cache / "snapshots"
        modes = {stat.S_IMODE(path.stat().st_mode) for path in (root, root / name)}
        assert modes == {0o700}
        files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (root / name).iterdir()}
        assert {"1.db", "1.db-wal"} <= set(files)
        assert not any(mode & 0o077 for name, mode in files.items() if "shm" not in name)
    finally:
        os.umask(old)
    del sessions
    gc.collect()
    assert not store.cache.exists()


def test_snapshot_goes_at_exit(store: Any) -> None:
    """A process that ends leaves no snapshot, whether its sessions were dropped or not."""
    store.database().session()
    process = find_elsewhere(store)
    assert len(folders(store)) == 1
    end(process)
    assert process.returncode == 0
    assert not store.cache.exists()


def test_snapshot_of_a_killed_run(store: Any) -> None:
    """What a killed run leaves goes at the next run, that of a living one stays."""
    store.database().session()
    killed = find_elsewhere(store)
    living = find_elsewhere(store)
    end(killed, signal.SIGKILL)
    assert len(folders(store)) == 2
    sessions, _ = store.find()
    assert len(folders(store)) == 2  # its own and that of the living
    del sessions
    gc.collect()
    assert len(folders(store)) == 1
    end(living)
    assert folders(store) == []


def test_killed_run_is_cleaned_by_a_run_that_copies_nothing(store: Any) -> None:
    """The next run removes what was left even where every database is at rest by then."""
    database = store.database()
    database.session()
    end(find_elsewhere(store), signal.SIGKILL)
    assert len(folders(store)) == 1
    database.rest()
    assert list(store.find()[0]) == ["ses_1"]
    assert folders(store) == []


@pytest.mark.parametrize("how", ["before", "while"])
def test_no_room(store: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Without room for the snapshot the store is unreadable with that reason, and nothing is left behind."""
    database = store.database()
    database.session()
    if how == "before":
        full = os.statvfs(store.directory)
        values = list(full)
        values[4] = 0  # blocks a user may still fill
        monkeypatch.setattr(snapshot_module.os, "statvfs", lambda _: os.statvfs_result(values))
    else:

        def write(*_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(snapshot_module.os, "write", write)
    sessions, report = store.find()
    monkeypatch.undo()
    assert (sessions, report.state) == ({}, "unreadable")
    assert report.reason.startswith("no room for its snapshot")
    assert [(path, reason) for path, reason, _ in report.problems] == [
        (str(database.path), report.reason)
    ]
    gc.collect()
    assert not store.cache.exists()


def test_cache_that_cannot_be_used(store: Any) -> None:
    """A cache folder that is a file makes the store unreadable; a link is not followed."""
    store.database().session()
    store.cache.write_text("")
    assert store.find()[1].state == "unreadable"
    store.cache.unlink()
    store.cache.mkdir()
    (store.home.parent / "elsewhere").mkdir()
    (store.cache / "snapshots").symlink_to(store.home.parent / "elsewhere")
    _, report = store.find()
    assert (report.state, report.reason) == (
        "unreadable",
        "its snapshot cannot be kept: operation not permitted",
    )
    assert list((store.home.parent / "elsewhere").iterdir()) == []


def test_other_run_that_ends_meanwhile(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that another run takes away while this one is about to lie there are made again."""
    store.database().session()
    make = snapshot_module.Folder._make
    ended: list[str] = []

    def made(self: Any) -> list[str]:
        missing = make(self)
        if len(ended) < 3:
            ended.append(self._root)
            os.rmdir(self._root)
        return missing

    monkeypatch.setattr(snapshot_module.Folder, "_make", made)
    assert list(store.find()[0]) == ["ses_1"]
    assert len(ended) == 3


def test_without_a_cache_folder(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without a cache folder has its snapshots in the system's folder of temporary files."""
    store.database().session()
    temporary = store.home.parent / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(snapshot_module.tempfile, "gettempdir", lambda: str(temporary))
    store.cache = ""
    sessions, _ = store.find()
    assert list(sessions) == ["ses_1"]
    assert [path.name for path in temporary.iterdir()] == [f"agentfeedback-{os.getuid()}"]


# -- what changes meanwhile ------------------------------------------------------------------------


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
    """Bring the write-ahead log into the database and begin it anew."""
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
        with pytest.raises(Unreadable, match="malformed"):
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


def begun(store: Any) -> tuple[Any, Iterator[list[bytes]]]:
    log = OpenCodeV1().open(store.find()[0]["ses_1"])
    batches = log._line_batches()
    next(batches)
    return log, batches


def test_write_during_a_read_at_rest(store: Any) -> None:
    """A write after the first lines repeats the read: they come out the same, so it goes on with the new state."""
    database = at_rest(store)
    log, batches = begun(store)
    row = "'m3', 'ses_1', 1900000000000, 0, '{\"role\":\"user\"}'"
    changed(database, f"INSERT INTO message VALUES ({row})")
    changed(database, "INSERT INTO part VALUES ('p3', 'm3', 'ses_1', 0, 0, '{\"type\":\"text\"}')")
    ids = [json.loads(line)["id"] for batch in batches for line in batch]
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
    log, batches = begun(store)
    changed(database, statement)
    with pytest.raises(Unreadable, match="the database changed during the read"):
        list(batches)
    log.close()


def test_second_write_during_a_read(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that changes in the repeated read too is unreadable."""
    database = at_rest(store)
    log, batches = begun(store)
    changed(database, "CREATE TABLE x (y)")
    take = database_module.Databases._take

    def taken(self: Any, path: str) -> Any:
        found = take(self, path)
        changed(database, "CREATE TABLE z (y)")
        return found

    monkeypatch.setattr(database_module.Databases, "_take", taken)
    with pytest.raises(Unreadable, match="the database changed during the read"):
        list(batches)
    log.close()


def test_harness_that_starts_during_a_read(store: Any) -> None:
    """A read at rest that the harness's start overtakes goes on from a snapshot."""
    database = at_rest(store)
    log, batches = begun(store)
    live = sqlite3.connect(database.path, isolation_level=None)
    live.execute("INSERT INTO event VALUES ('e', 'x')")
    assert os.path.getsize(f"{database.path}-wal") > 0
    assert len([line for batch in batches for line in batch]) == 5
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
