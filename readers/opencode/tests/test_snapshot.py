"""A database is read as it is now, and stays as it was."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.reader import Home, Report
from agentfeedback.reading.sqlite import database as database_module
from agentfeedback.reading.sqlite import snapshot as snapshot_module
from agentfeedback_opencode.reader import OpenCodeV1

FIND = """
import os, signal, sys
from agentfeedback.reading.reader import Home, Report
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
    """The snapshot is in folders only the user may enter, and goes with the run; so do folders made for it."""
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
    """Folders that another run takes away while this one is about to use them are made again."""
    store.database().session()
    make = snapshot_module.SnapshotFolder._make
    ended: list[str] = []

    def made(self: Any) -> list[str]:
        missing = make(self)
        if len(ended) < 3:
            ended.append(self._root)
            os.rmdir(self._root)
        return missing

    monkeypatch.setattr(snapshot_module.SnapshotFolder, "_make", made)
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
