"""Killed at any point: the store is always as before a call or as after it.

Each run is a fork of the test that is killed by SIGKILL; what it had finished it told on a pipe.
Two traces choose the points: every SQL statement (anywhere), and every system call that writes,
before it happens and after (Linux, where the system lets a process trace its child).
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agentfeedback.state import database
from agentfeedback.state.state_store import Digested, StateStore
from agentfeedback.state.watermark import SessionRow
from agentfeedback.wire.records import Selection
from tests.support import killing
from tests.support.killing import Killer, child, traced

# Newer Pythons warn of a fork beside the threads a test runner may have started.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

A, B, C = ("codex", "a"), ("codex", "b"), ("claude-code", "c")
Snapshot = tuple[dict[tuple[str, str], SessionRow], str]


def digest(name: tuple[str, str], size: int) -> Digested:
    return Digested(*name, "/srv/app/log.jsonl", size, size, "aa")


#: What a killed process was doing, call by call; each call changes several rows or all of a text.
CALLS: tuple[Callable[[StateStore], object], ...] = (
    lambda store: store.digested([digest(A, 1), digest(B, 1)], at=1),
    lambda store: store.mark([A, B], "filed", ["u"], at=2),
    lambda store: store.save_selection(Selection(["codex"], "7d", 5)),
    lambda store: store.digested([digest(A, 2), digest(B, 2), digest(C, 2)], at=3),
    lambda store: store.forget([A, C]),
    lambda store: store.save_selection(Selection()),
)


def snapshot(store: StateStore) -> Snapshot:
    return store.rows(), repr(store.selection())


class Scene:
    """One of `CALLS`, the database as it was before it, and the states before and after it."""

    def __init__(self, number: int, folder: Path) -> None:
        self.call = CALLS[number]
        self.folder = folder
        self.before = folder / "before.db"
        store = StateStore(str(self.before))
        for call in CALLS[:number]:
            call(store)
        self.old = snapshot(store)
        whole = StateStore(self.path(0))
        self.call(whole)
        self.new = snapshot(whole)
        assert self.old != self.new

    def path(self, run: int) -> str:
        """A database of its own for one run: missing where the call is the first one."""
        folder = self.folder / str(run)
        folder.mkdir()
        if self.before.exists():
            shutil.copy(self.before, folder / "state.db")
        return str(folder / "state.db")

    def run(self, path: str) -> Callable[[int], None]:
        def run(tell: int) -> None:
            self.call(StateStore(path))
            os.write(tell, b".")

        return run

    def check(self, path: str, told: bytes) -> None:
        """The next run sees the call whole or not at all, whole when it was finished, and works."""
        store = StateStore(path)
        assert snapshot(store) in ([self.new] if told else [self.old, self.new])
        store.digested([digest(C, 9)], at=9)
        assert store.rows()[C].size == 9
        with closing(sqlite3.connect(path)) as connection:
            assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder in memory where there is one: a kill spares what was written, synced or not."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="agentfeedback-", dir=memory) as folder:
        yield Path(folder)


@pytest.fixture(params=range(len(CALLS)))
def scene(request: pytest.FixtureRequest, room: Path) -> Scene:
    return Scene(request.param, room)


@contextmanager
def reader_beside(path: str) -> Iterator[None]:
    """Another process that has the database open and reads it all the while."""

    def read(tell: int) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM sessions_seen").fetchall()
        os.write(tell, b".")
        signal.pause()

    process, told = child(read)
    try:
        assert b"." == os.read(told, 1)
        yield
    finally:
        os.close(told)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


# Every statement.


def test_killed_at_any_statement_loses_nothing(scene: Scene) -> None:
    """Killed before or after any statement, creation included, a call leaves old or new state."""
    for moment in killing.points():
        path = scene.path(moment)
        run = scene.run(path)

        def killed(tell: int, run: Callable[[int], None] = run, moment: int = moment) -> None:
            database.sqlite3.connect = Killer(moment).connect  # type: ignore[attr-defined]
            run(tell)

        process, read = child(killed)
        _, status = os.waitpid(process, 0)
        with open(read, "rb") as pipe:
            told = pipe.read()
        scene.check(path, told)
        if status != signal.SIGKILL:
            break
    assert (0, b".") == (status, told)
    assert moment > 20


# Every system call that writes.


@pytest.fixture(scope="module")
def tracing() -> None:
    killing.require_tracing()


def test_a_trace_kills_before_and_after_a_write(tracing: None) -> None:
    """The first stop at a write is before it, the second after it: so the trace proves something."""

    def run(tell: int) -> None:
        os.write(tell, b".")

    assert (signal.SIGKILL, b"", 1) == traced(run, 1)
    assert (signal.SIGKILL, b".", 2) == traced(run, 2)


def test_killed_at_any_write_loses_nothing(scene: Scene, tracing: None) -> None:
    """Killed before or after any writing system call, a call leaves the old or the new state."""
    for kill_at in killing.points():
        path = scene.path(kill_at)
        status, told, stops = traced(scene.run(path), kill_at)
        scene.check(path, told)
        if status != signal.SIGKILL:
            break
    assert (0, b".") == (status, told)
    assert stops > 10


def test_killed_beside_a_reader_loses_nothing(room: Path, tracing: None) -> None:
    """The same holds while another process has the database open, so that nothing is recovered."""
    scene = Scene(3, room)
    for kill_at in killing.points():
        path = scene.path(kill_at)
        with reader_beside(path):
            status, told, stops = traced(scene.run(path), kill_at)
            scene.check(path, told)
        if status != signal.SIGKILL:
            break
    assert (0, b".") == (status, told)
    assert stops > 4
