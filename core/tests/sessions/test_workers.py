"""A worker may end at any time, or never start: every share is answered all the same, and no process stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.sessions.workers import shared_out

PARENT = os.getpid()


def children() -> list[str]:
    """The processes this one started and has not waited for."""
    return Path(f"/proc/self/task/{PARENT}/children").read_text().split()


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone")


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(), max_size=12), st.integers(min_value=1, max_value=4))
def test_each_share_is_answered_once(shares: list[int], count: int) -> None:
    """However many shares and processes, each share has one answer, from a process of its own."""
    answers = list(shared_out(lambda share: (share, os.getpid()), iter(shares), count))
    assert sorted(share for share, _ in answers) == sorted(shares)
    assert all(process != PARENT for _, process in answers)
    assert len({process for _, process in answers}) <= count
    assert not children()


@pytest.mark.parametrize("fatal", [{0}, {3}, {0, 1}, {0, 1, 2}, set(range(9))])
def test_a_worker_that_is_killed_costs_no_answer(fatal: set[int]) -> None:
    """What a killed worker held is done by the process that waits for it."""

    def work(share: int) -> int:
        if share in fatal and os.getpid() != PARENT:
            os.kill(os.getpid(), signal.SIGKILL)
        return share * share

    assert sorted(shared_out(work, range(9), 3)) == [share * share for share in range(9)]
    assert not children()


def test_an_answer_that_is_cut_short_is_none() -> None:
    """A worker killed while its answer is under way leaves no half of it."""

    class Fatal:
        def __reduce__(self) -> tuple[Callable[[], int], tuple[()]]:
            if os.getpid() != PARENT:
                os.kill(os.getpid(), signal.SIGKILL)
            return int, ()

    answers = list(shared_out(lambda share: (b"x" * 300_000, Fatal(), share), range(4), 2))
    assert sorted(answer[2] for answer in answers) == [0, 1, 2, 3]


@pytest.mark.parametrize("started", [0, 1])
def test_without_more_processes_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch, started: int
) -> None:
    """Where the system gives fewer processes than wanted, or none, the answers are the same."""
    fork, made = os.fork, []

    def refusing() -> int:
        if len(made) >= started:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        made.append(0)
        return fork()

    monkeypatch.setattr(os, "fork", refusing)
    assert sorted(shared_out(str, range(7), 4)) == [str(share) for share in range(7)]


def test_no_process_is_forked_beside_other_threads() -> None:
    """A thread may hold a lock that nobody in a forked process would ever let go."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        answers = list(shared_out(lambda share: (share, os.getpid()), range(5), 2))
    finally:
        done.set()
        thread.join()
    assert answers == [(share, PARENT) for share in range(5)]


def test_an_exception_of_the_work_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    """It reaches the caller as it was raised, no worker prints a traceback, and no process stays."""

    def work(share: int) -> int:
        if share == 2:
            raise ZeroDivisionError(share)
        return share

    with pytest.raises(ZeroDivisionError, match="2"):
        list(shared_out(work, range(5), 2))
    assert capfd.readouterr() == ("", "")
    assert not children()


def test_no_process_stays_when_the_caller_stops(tmp_path: Path) -> None:
    """A caller that takes one answer and goes on leaves no worker behind."""
    answers = shared_out(lambda share: share, range(100), 2)
    next(answers)
    assert len(children()) == 2
    answers.close()  # type: ignore[attr-defined]
    assert not children()


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    """No worker outlives a killed parent by more than the share it holds."""
    code = (
        "import os, sys, time\n"
        "from agentfeedback.sessions.workers import shared_out\n"
        "def work(share):\n"
        "    open(os.path.join(sys.argv[1], str(os.getpid())), 'w').close()\n"
        "    time.sleep(0.05)\n"
        "list(shared_out(work, range(10_000), 3))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    deadline = time.monotonic() + 20
    while len(list(tmp_path.iterdir())) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    workers = [path.name for path in tmp_path.iterdir()]
    assert len(workers) == 3
    while any(map(_runs, workers)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(_runs, workers))


def _runs(process: str) -> bool:
    try:
        # A process nobody has waited for yet is a zombie, and runs no more.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
