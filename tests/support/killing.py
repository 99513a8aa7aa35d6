"""Kills a fork of the test at a chosen point: before or after an SQL statement, or a system call that writes.

The second needs Linux, where the system lets a process trace its child. `tell` is the end of a pipe on which a run says what it has finished.

The suite kills at every fifth point; `nox -s crash`, which sets AGENTFEEDBACK_CRASH=all, at every one.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest


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


#: From one point to the next: odd, so that a kill before a call and one after it take turns.
STRIDE = 1 if os.environ.get("AGENTFEEDBACK_CRASH") == "all" else 5


def points(step: int = 1) -> Iterator[int]:
    """The points to be killed at, from the first on and without end; `step` is 2 where each write has two."""
    return itertools.count(1, step * STRIDE)


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


TRACEME, SYSCALL, SETOPTIONS, SYSCALL_INFO = 0, 24, 0x4200, 0x420E
SYSCALL_STOP = signal.SIGTRAP | 0x80
#: write pwrite64 writev ftruncate fallocate fsync fdatasync rename* unlink* mkdir* f/chmod* open*
_WRITING = {
    "x86_64": {1, 18, 20, 77, 285, 74, 75, 82, 264, 316, 87, 263, 83, 258, 90, 91, 268, 2, 257},
    "aarch64": {64, 68, 66, 46, 47, 82, 83, 38, 276, 35, 34, 52, 53, 56},
}
WRITING: frozenset[int] = frozenset(_WRITING.get(platform.machine(), ()))
#: The same without open*: most of those only read, and the calls around one that creates are stops too.
CHANGING = WRITING - {2, 257} if platform.machine() == "x86_64" else WRITING - {56}


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


def traced(
    run: Callable[[int], None], kill_at: int, *, calls: frozenset[int] = WRITING
) -> tuple[int, bytes, int]:
    """Run until the `kill_at`-th stop at one of these calls: the wait status, what was reported, the stops.

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
            status, stops = follow(process, kill_at, calls)
        except OSError:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise
        return status, pipe.read(), stops


def follow(process: int, kill_at: int, calls: frozenset[int]) -> tuple[int, int]:
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
                writing = information.number in calls
            stops += writing
            if writing and stops == kill_at:
                os.kill(process, signal.SIGKILL)
                return os.waitpid(process, 0)[1], stops


def require_tracing() -> None:
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
