"""Killed at any point: the store is always as before a call or as after it.

Each run is a fork of the test that is killed by SIGKILL; what it had finished it told on a pipe.
Two traces choose the points: every SQL statement (anywhere), and every system call that writes,
before it happens and after (Linux, where the system lets a process trace its child).
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentfeedback import database
from agentfeedback.store import Digested, StateStore
from agentfeedback.watermark import Row
from agentfeedback.wire import Selection

# Newer Pythons warn of a fork beside the threads a test runner may have started.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

A, B, C = ("codex", "a"), ("codex", "b"), ("claude-code", "c")
Snapshot = tuple[dict[tuple[str, str], Row], str]


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
        row = store.row(*C)
        assert row is not None and row.size == 9
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


def child(run: Callable[[int], None]) -> tuple[int, int]:
    """Start `run` in a fork, with the end of a pipe to tell on: its process id, the other end."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.close(read)
            run(write)
            status = 0
        except BaseException:  # noqa: BLE001 - a fork must never return into the test
            traceback.print_exc()
        os._exit(status)
    os.close(write)
    return process, read


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


class Killer:
    """Kills this process at the n-th moment; there is one before and one after each statement."""

    def __init__(self, at: int) -> None:
        self.left = at

    def moment(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def connect(self, *arguments: Any, **more: Any) -> sqlite3.Connection:
        moment = self.moment

        class Traced(sqlite3.Connection):
            def execute(self, *arguments: Any) -> sqlite3.Cursor:
                moment()
                cursor = super().execute(*arguments)
                moment()
                return cursor

            def close(self) -> None:
                moment()
                super().close()
                moment()

        return _CONNECT(*arguments, factory=Traced, **more)


_CONNECT = sqlite3.connect


def test_killed_at_any_statement_loses_nothing(scene: Scene) -> None:
    """Killed before or after any statement, creation included, a call leaves old or new state."""
    moment, status = 0, int(signal.SIGKILL)
    while status == signal.SIGKILL:
        moment += 1
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
    assert (0, b".") == (status, told)
    assert moment > 20


# Every system call that writes.

TRACEME, SYSCALL, SETOPTIONS, SYSCALL_INFO = 0, 24, 0x4200, 0x420E
SYSCALL_STOP = signal.SIGTRAP | 0x80
#: write pwrite64 writev ftruncate fallocate fsync fdatasync rename* unlink* mkdir* f/chmod* open*
WRITING = {
    "x86_64": {1, 18, 20, 77, 285, 74, 75, 82, 264, 316, 87, 263, 83, 258, 90, 91, 268, 2, 257},
    "aarch64": {64, 68, 66, 46, 47, 82, 83, 38, 276, 35, 34, 52, 53, 56},
}.get(platform.machine(), set())


class Call(ctypes.Structure):
    """The head of Linux's `ptrace_syscall_info`; `op` is 1 on entry and 2 on exit."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("arch", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 8),
    )


@cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    library.ptrace.restype = ctypes.c_long
    return library


def ptrace(request: int, process: int, address: int, data: Any) -> int:
    done: int = _libc().ptrace(request, process, address, data)
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def traced(run: Callable[[int], None], kill_at: int) -> tuple[int, bytes, int]:
    """Run until the `kill_at`-th stop at a writing call: the wait status, what was told, the stops.

    There is a stop before each such call and one after it. An `OSError` says that the system does
    not let a process trace its child.
    """

    def stopped_first(tell: int) -> None:
        ptrace(TRACEME, 0, 0, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        run(tell)

    process, read = child(stopped_first)
    with open(read, "rb") as pipe:
        _, status = os.waitpid(process, 0)
        if not os.WIFSTOPPED(status):
            raise OSError("the child could not ask to be traced")
        try:
            status, stops = follow(process, kill_at)
        except OSError:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise
        return status, pipe.read(), stops


def follow(process: int, kill_at: int) -> tuple[int, int]:
    stops, writing, information = 0, False, Call()
    ptrace(SETOPTIONS, process, 0, 1)
    while True:
        ptrace(SYSCALL, process, 0, None)
        _, status = os.waitpid(process, 0)
        if not os.WIFSTOPPED(status):
            return status, stops
        if os.WSTOPSIG(status) == SYSCALL_STOP:
            ptrace(SYSCALL_INFO, process, ctypes.sizeof(information), ctypes.addressof(information))
            if information.op == 1:
                writing = information.number in WRITING
            stops += writing
            if writing and stops == kill_at:
                os.kill(process, signal.SIGKILL)
                return os.waitpid(process, 0)[1], stops


@pytest.fixture(scope="module")
def tracing() -> None:
    """Skip where a process may not trace its child, or the numbers of its calls are not known."""
    if sys.platform != "linux" or not WRITING:
        pytest.skip("tracing of system calls is written for Linux on x86_64 and aarch64")

    def run(tell: int) -> None:
        os.write(tell, b".")

    try:
        status, told, stops = traced(run, 0)
    except OSError as error:
        pytest.skip(f"this system does not let a process trace its child: {error}")
    assert (0, b".", 2) == (status, told, stops)


def test_a_trace_kills_before_and_after_a_write(tracing: None) -> None:
    """The first stop at a write lies before it, the second after it: so the trace proves something."""

    def run(tell: int) -> None:
        os.write(tell, b".")

    assert (signal.SIGKILL, b"", 1) == traced(run, 1)
    assert (signal.SIGKILL, b".", 2) == traced(run, 2)


def test_killed_at_any_write_loses_nothing(scene: Scene, tracing: None) -> None:
    """Killed before or after any writing system call, a call leaves the old or the new state."""
    kill_at, status = 0, int(signal.SIGKILL)
    while status == signal.SIGKILL:
        kill_at += 1
        path = scene.path(kill_at)
        status, told, stops = traced(scene.run(path), kill_at)
        scene.check(path, told)
    assert (0, b".", kill_at - 1) == (status, told, stops)
    assert stops > 10


def test_killed_beside_a_reader_loses_nothing(room: Path, tracing: None) -> None:
    """The same holds while another process has the database open, so that nothing is recovered."""
    scene = Scene(3, room)
    kill_at, status = 0, int(signal.SIGKILL)
    while status == signal.SIGKILL:
        kill_at += 1
        path = scene.path(kill_at)
        with reader_beside(path):
            status, told, stops = traced(scene.run(path), kill_at)
            scene.check(path, told)
    assert (0, b".", kill_at - 1) == (status, told, stops)
    assert stops > 4
