"""The lock: one at a time, waited for until a deadline, and gone with its holder."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from agentfeedback.foundation.lock import FileLock


def soon() -> float:
    return time.monotonic() + 10


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".lock")


def test_a_held_lock_is_not_had_before_the_deadline(path: str) -> None:
    """A deadline that has passed is an answer at once, and nothing stays open."""
    with FileLock(path, soon()):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        with pytest.raises(TimeoutError) as raised:
            FileLock(path, time.monotonic() - 1).acquire()
        assert raised.value.filename == path
        if before:
            assert len(os.listdir("/proc/self/fd")) == before
    with FileLock(path, time.monotonic() - 1):
        pass


def test_the_next_one_has_it_when_it_is_let_go(path: str) -> None:
    """Another thread waits, and gets it although the first removes the file."""
    got: list[bool] = []
    held = FileLock(path, soon())
    held.acquire()

    def wait() -> None:
        with FileLock(path, soon()):
            got.append(os.path.exists(path))

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not got
    held.remove()
    held.release()
    waiting.join()
    assert got == [True]


def test_a_lock_file_that_was_replaced_is_not_the_lock(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was locked and is no longer at the path is let go, and the file that is there is locked."""
    real = FileLock._wait
    times: list[int] = []

    def replaced(self: FileLock, descriptor: int) -> None:
        real(self, descriptor)
        times.append(descriptor)
        if len(times) == 1:
            os.unlink(path)
        elif len(times) == 2:
            os.rename(os.path.dirname(path) + "/other", path)

    Path(path).parent.joinpath("other").touch()
    monkeypatch.setattr(FileLock, "_wait", replaced)
    with FileLock(path, soon()):
        assert len(times) == 3
        monkeypatch.undo()
        with pytest.raises(TimeoutError):
            FileLock(path, time.monotonic()).acquire()


@pytest.mark.parametrize("name", ["missing/.lock", "link", "pipe"])
def test_what_is_not_a_lock_file_is_an_error(tmp_path: Path, name: str) -> None:
    """No folder, a link: the system's own error, at once. Nothing waits at a pipe."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe")
    lock = FileLock(str(tmp_path / name), soon())
    if name == "pipe":
        with lock:
            return
    with pytest.raises(OSError):
        lock.acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_without_create_a_missing_file_is_left_missing(path: str) -> None:
    """Who only looks makes nothing."""
    with pytest.raises(FileNotFoundError):
        FileLock(path, soon(), create=False).acquire()
    assert not os.path.exists(path)
