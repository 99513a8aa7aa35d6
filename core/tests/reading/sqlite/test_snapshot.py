"""Private copies of a live database: whose they are, when they are one state of it, and what is left of a killed run."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.sqlite.database import SqliteSnapshots, Stamp
from agentfeedback.reading.sqlite.snapshot import SnapshotFolder
from agentfeedback.reading.sqlite.sweep import sweep


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Path]:
    """A database that its owner has open, with something in the write-ahead log."""
    path = tmp_path / "live.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("CREATE TABLE t (a)")
        owner.execute("INSERT INTO t VALUES (1)")
        yield path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_snapshot_folder_is_closed_to_others(live: Path, tmp_path: Path) -> None:
    """Whatever the umask, and however open the folder was before."""
    cache = tmp_path / "cache"
    (cache / "snapshots").mkdir(parents=True, mode=0o777)
    os.chmod(cache / "snapshots", 0o755)
    before = os.umask(0)
    try:
        snapshots = SqliteSnapshots(str(cache))
        taken = snapshots.now(str(live), "x")
    finally:
        os.umask(before)
    assert taken.copy is not None
    copy = Path(taken.copy.path)
    assert mode(cache / "snapshots") == mode(copy.parent) == 0o700
    assert mode(copy) == mode(Path(f"{copy}-wal")) == 0o600
    with snapshots.now(str(live), "x").reading() as connection:
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_a_folder_that_is_somebody_elses_is_not_used(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a link in its place: the copy would be where another user chose."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "snapshots").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(UnreadableLog, match="cannot be kept"):
        SqliteSnapshots(str(cache)).now(str(live), "x")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_two_files_are_one_state_only_under_one_log(live: Path) -> None:
    """Another file, another log, or a log that was restarted meanwhile is another state; one that only grew is not."""
    stamp = Stamp.of(str(live))
    assert stamp.live and stamp.wal is not None and stamp.holds(Stamp.of(str(live)))
    assert stamp.holds(evolve(stamp, wal=evolve(stamp.wal, size=stamp.wal.size + 4096, mtime=9)))
    for after in (
        evolve(stamp, header=b"x" * 32),
        evolve(stamp, header=b""),
        evolve(stamp, file=evolve(stamp.file, inode=stamp.file.inode + 1)),
        evolve(stamp, wal=evolve(stamp.wal, inode=stamp.wal.inode + 1)),
        evolve(stamp, wal=None),
    ):
        assert not stamp.holds(after)


def test_a_copy_of_a_restarted_log_is_not_taken(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header of the log that was copied is compared with the one from before: between both it may have changed twice."""
    copied = SnapshotFolder.copy
    times = [0]

    def restarted(self: Any, files: Any) -> Any:
        times[0] += 1
        made = copied(self, files)
        with open(f"{made.path}-wal", "r+b") as file:
            file.seek(16)
            file.write(b"another!")
        return made

    monkeypatch.setattr(SnapshotFolder, "copy", restarted)
    with pytest.raises(UnreadableLog, match="changed during the read"):
        SqliteSnapshots(str(tmp_path / "cache")).now(str(live), "x")
    assert times[0] == 20


KILLED = """
import os, signal, sys
from agentfeedback.reading.sqlite.database import SqliteSnapshots
snapshots = SqliteSnapshots(sys.argv[1])
taken = snapshots.now(sys.argv[2], "x")
assert os.path.exists(taken.copy.path)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_leaves_goes_with_the_next(live: Path, tmp_path: Path) -> None:
    """Whatever the next run reads; what a living one holds stays."""
    cache = tmp_path / "cache"
    subprocess.run([sys.executable, "-B", "-c", KILLED, str(cache), str(live)], check=False)
    left = [path for path in (cache / "snapshots").rglob("*") if path.suffix == ".db"]
    assert len(left) == 1
    holder = SqliteSnapshots(str(cache / "other"))
    assert holder.now(str(live), "x").copy is not None
    sweep(str(cache))
    assert not (cache / "snapshots").exists() or list((cache / "snapshots").iterdir()) == []
    sweep(str(cache / "other"))
    assert list((cache / "other/snapshots").rglob("*.db")) != []
    sweep(str(tmp_path / "nowhere"))
