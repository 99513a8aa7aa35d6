"""The session counters cache: whole or as before at every kill, never waited for too long, gone after seven days."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation import lock
from agentfeedback.harness_hooks import session_cache

WEEK = 7 * 86_400


def add(number: int) -> Callable[[dict[str, Any]], None]:
    def change(kept: dict[str, Any]) -> None:
        kept.setdefault("seen", []).append(number)

    return change


def soon() -> float:
    return time.monotonic() + 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(session_cache.session_folder(str(tmp_path / "cache"), "cursor"))


def test_a_file_is_named_by_its_session(folder):
    """The name is the id cut to 40 characters and the start of its hash, with nothing a file system minds."""
    id = "0123456789" * 5
    hashed = hashlib.sha256(id.encode()).hexdigest()[:16]
    assert f"{id[:40]}-{hashed}.json" == session_cache.file_name(id)
    odd = session_cache.file_name("a\nb:c\u20ac é")
    assert odd.startswith("a_b_c___-") and odd.isascii()
    assert session_cache.file_name("a_b") != session_cache.file_name("a:b")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"seen":', b"[" * 100_000])
def test_an_unreadable_file_starts_fresh(folder, content):
    """What is not a JSON object is nothing kept, and the next change writes a whole file."""
    session_cache.update(str(folder), "s", add(1), soon())
    [path] = folder.glob("*.json")
    path.write_bytes(content)
    assert session_cache.read(str(path)) is None
    session_cache.update(str(folder), "s", add(2), soon())
    assert [2] == (session_cache.read(str(path)) or {})["seen"]


def test_only_a_regular_file_of_bounded_size_is_read(folder, tmp_path):
    """A link, a pipe and an endless file are nothing kept; none is waited for."""
    folder.mkdir(parents=True)
    (tmp_path / "real.json").write_text("{}")
    (folder / "link.json").symlink_to(tmp_path / "real.json")
    os.mkfifo(folder / "pipe.json")
    (folder / "large.json").write_bytes(b" " * session_cache.LARGEST + b"{}")
    for name in ("link.json", "pipe.json", "large.json", "gone.json"):
        assert session_cache.read(str(folder / name)) is None
    assert {} == session_cache.read(str(tmp_path / "real.json"))


def _child(work: Callable[[], None]) -> int:
    """Run something in a fork; the signal that ended it, 0 when it ended by itself."""
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(pid, 0)[1])


def _kill_at(number: int, *, after: bool) -> None:
    """Kill this process before (or after) the system call of that number, of those that change files."""
    left = [number]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return call(*arguments, **more)
            finally:
                if left[0] == 0 and after:
                    os.kill(os.getpid(), signal.SIGKILL)

        return wrapper

    for name in ("open", "write", "close", "replace", "unlink", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))


@pytest.mark.parametrize("after", [False, True])
def test_killed_anywhere_old_or_new_is_there_and_the_next_goes_on(folder, after):
    """A writer killed at any of its system calls leaves the old content or the new, and no lock."""
    killed = 0
    for number in range(1, 40):
        kept = [json.loads(path.read_bytes())["seen"] for path in folder.glob("*.json")]
        before = kept[0] if kept else []

        def work(number: int = number) -> None:
            _kill_at(number, after=after)
            session_cache.update(str(folder), "s", add(number), soon())

        ended = _child(work)
        found = [json.loads(path.read_bytes())["seen"] for path in folder.glob("*.json")]
        assert (found[0] if found else []) in (before, [*before, number])
        if not ended:
            break
        killed += 1
        began = time.monotonic()
        session_cache.update(str(folder), "s", add(1000 + number), soon())
        assert time.monotonic() - began < 1
        [path] = folder.glob("*.json")
        assert 1000 + number == json.loads(path.read_bytes())["seen"][-1]
    assert 5 < killed < 38


def test_processes_at_once_lose_nothing(folder):
    """Of many processes that change one session, each change is there at the end."""
    children = []
    for number in range(24):
        pid = os.fork()
        if not pid:
            try:
                for step in range(10):
                    session_cache.update(str(folder), "s", add(number * 10 + step), soon() + 20)
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    [path] = folder.glob("*.json")
    assert list(range(240)) == sorted(json.loads(path.read_bytes())["seen"])


def test_a_lock_that_is_removed_while_waited_for_is_no_lock(tmp_path):
    """Who waits for a lock file that its holder removes takes the new one, never the removed one."""
    path = str(tmp_path / "x.lock")
    held: list[bool] = []

    def wait() -> None:
        with lock.FileLock(path, soon()), open(path) as again:
            try:
                fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held.append(False)
            except BlockingIOError:
                held.append(True)

    # A thread: a fork would share the lock.
    waiter = threading.Thread(target=wait)
    with lock.FileLock(path, soon()) as first:
        waiter.start()
        time.sleep(0.2)
        first.remove()
    waiter.join()
    assert [True] == held


def test_a_held_lock_is_an_error_at_the_deadline(tmp_path):
    """A deadline in the past asks once; a later one is kept to."""
    path = str(tmp_path / "x.lock")
    with lock.FileLock(path, 0):
        for patience in (0.0, 0.2):
            began = time.monotonic()
            with pytest.raises(TimeoutError), lock.FileLock(path, began + patience):
                pass
            assert patience <= time.monotonic() - began < patience + 1


def _aged(path: Path, seconds: float) -> None:
    at = time.time() - seconds
    os.utime(path, (at, at))


def test_files_nobody_changes_go_after_seven_days(folder, tmp_path):
    """Pruning removes old files with their locks and leftovers, and nothing younger or foreign."""
    cache = str(tmp_path / "cache")
    for id in ("old", "young", "crashed"):
        session_cache.update(str(folder), id, add(1), soon())
    old, young, crashed = (
        folder / session_cache.file_name(id) for id in ("old", "young", "crashed")
    )
    _aged(old, WEEK + 60)
    _aged(young, WEEK - 60)
    Path(f"{young}.lock").touch()
    _aged(Path(f"{young}.lock"), WEEK * 2)
    unfinished = folder / f".{crashed.name}.unfinished"
    crashed.rename(unfinished)
    _aged(unfinished, WEEK * 2)
    (folder / "foreign.txt").write_text("x")
    _aged(folder / "foreign.txt", WEEK * 9)
    session_cache.prune(cache, soon())
    assert {young.name, f"{young.name}.lock", "foreign.txt"} == set(os.listdir(folder))


def test_pruning_is_done_at_most_once_a_day(folder, tmp_path):
    """The second of a day does nothing; the next day's does."""
    cache = str(tmp_path / "cache")
    session_cache.prune(cache, soon())
    session_cache.update(str(folder), "s", add(1), soon())
    path = folder / session_cache.file_name("s")
    _aged(path, WEEK * 2)
    session_cache.prune(cache, soon())
    assert path.exists()
    _aged(tmp_path / "cache/sessions/.pruned", 90_000)
    session_cache.prune(cache, soon())
    assert [] == os.listdir(folder)


def test_a_file_that_is_used_while_it_is_pruned_stays(folder, tmp_path, monkeypatch):
    """Its age is looked at once more under its lock: a hook may have written it since it was listed."""
    cache = str(tmp_path / "cache")
    session_cache.update(str(folder), "s", add(1), soon())
    path = folder / session_cache.file_name("s")
    _aged(path, WEEK * 2)
    waits = session_cache.FileLock.__enter__

    def used(self):
        found = waits(self)
        _aged(path, 0)
        return found

    monkeypatch.setattr(session_cache.FileLock, "__enter__", used)
    session_cache.prune(cache, soon())
    assert path.exists()


def test_a_clock_that_jumps_ahead_ages_nothing(folder, tmp_path, monkeypatch):
    """One pruning a week ahead removes nothing, nor does the next when the clock is right again; the days go on from there."""
    cache = str(tmp_path / "cache")
    session_cache.prune(cache, soon())
    session_cache.update(str(folder), "s", add(1), soon())
    path = folder / session_cache.file_name("s")
    right = time.time
    for ahead in (WEEK + 3600, 0, WEEK * 9, 90_000):
        monkeypatch.setattr(time, "time", lambda ahead=ahead: right() + ahead)
        session_cache.prune(cache, soon())
        assert path.exists()
    monkeypatch.setattr(time, "time", right)
    _aged(path, WEEK + 7200)
    _aged(tmp_path / "cache/sessions/.pruned", 90_000)
    session_cache.prune(cache, soon())
    assert not path.exists()


def test_pruning_leaves_a_file_in_use_and_keeps_its_deadline(folder, tmp_path):
    """A session whose lock is held stays, and past the deadline nothing is removed."""
    cache = str(tmp_path / "cache")
    session_cache.update(str(folder), "s", add(1), soon())
    path = folder / session_cache.file_name("s")
    _aged(path, WEEK * 2)
    with lock.FileLock(f"{path}.lock", soon()):
        session_cache.prune(cache, soon())
    assert path.exists()
    os.unlink(tmp_path / "cache/sessions/.pruned")
    session_cache.prune(cache, 0)
    assert path.exists()
