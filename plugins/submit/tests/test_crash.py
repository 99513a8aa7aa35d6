"""Killed at any step, `submit` loses no report that it told of, and filing again doubles none."""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.state import database
from agentfeedback.state.database import Database
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions
from agentfeedback_submit.delivery.deliver import deliver
from agentfeedback_submit.delivery.destination import Local
from agentfeedback_submit.filing.body import Body
from tests.support import killing

# Newer Pythons warn of a fork beside the threads a test runner may have started.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

KEYED = Body(b'{"kind":"note","key":"k","summary":"s","payload":{}}', "note", "k")
KEYLESS = Body(b'{"kind":"note","summary":"s","payload":{}}', "note", "")
FIRST = Body(b'{"kind":"note","key":"first","payload":{}}', "note", "first")


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder in memory where there is one: a kill spares what was written, synced or not."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="agentfeedback-", dir=memory) as folder:
        yield Path(folder)


def destination(path: Path) -> Local:
    return Local(Service(SqliteSubmissions(Database(str(path), "submissions"))))


def filing(path: Path, body: Body) -> Callable[[int], None]:
    def run(tell: int) -> None:
        outcome = deliver(body, destination(path))
        assert outcome.outcome == "submitted"
        os.write(tell, outcome.uid.encode())

    return run


def check(path: Path, body: Body, told: bytes, others: int) -> None:
    """The report is there when it was announced, and after filing it again it is there once."""
    if told:
        record = destination(path).service.submissions.by_uid(told.decode())
        assert record is not None
    again = deliver(body, destination(path))
    assert again.outcome == "duplicate" if told else again.outcome in ("submitted", "duplicate")
    assert not told or again.uid == told.decode()
    assert destination(path).service.list([]).body["total"] == others + 1
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()


def prepared(room: Path, run: int, *, fresh: bool) -> Path:
    folder = room / str(run)
    folder.mkdir()
    path = folder / "agentfeedback.db"
    if not fresh:
        deliver(FIRST, destination(path))
    return path


@pytest.mark.parametrize("body", [KEYED, KEYLESS], ids=["keyed", "keyless"])
@pytest.mark.parametrize("fresh", [True, False], ids=["first", "later"])
def test_killed_at_any_statement(room: Path, body: Body, fresh: bool) -> None:
    """Before and after every SQL statement, the creation of the database included."""
    for moment in killing.points():
        path = prepared(room, moment, fresh=fresh)

        def killed(tell: int, path: Path = path, moment: int = moment) -> None:
            database.sqlite3.connect = killing.Killer(moment).connect  # type: ignore[attr-defined]
            filing(path, body)(tell)

        process, read = killing.child(killed)
        _, status = os.waitpid(process, 0)
        with open(read, "rb") as pipe:
            told = pipe.read()
        check(path, body, told, others=0 if fresh else 1)
        if status != signal.SIGKILL:
            break
    assert status == 0 and told and moment > 10


@pytest.mark.parametrize("fresh", [True, False], ids=["first", "later"])
def test_killed_at_any_write(room: Path, fresh: bool) -> None:
    """Before and after every system call that writes."""
    killing.require_tracing()
    for kill_at in killing.points():
        path = prepared(room, kill_at, fresh=fresh)
        status, told, _ = killing.traced(filing(path, KEYED), kill_at)
        check(path, KEYED, told, others=0 if fresh else 1)
        if status != signal.SIGKILL:
            break
    assert status == 0 and told and kill_at > 10


def test_many_processes_file_one_report_once(room: Path) -> None:
    """Filing the same report at the same time from several processes makes one row."""
    path = room / "agentfeedback.db"

    def run(tell: int) -> None:
        for _ in range(5):
            os.write(tell, deliver(KEYLESS, destination(path)).uid.encode() + b"\n")

    running: list[tuple[int, int]] = [killing.child(run) for _ in range(4)]
    uids: set[Any] = set()
    for process, read in running:
        with open(read, "rb") as pipe:
            uids.update(pipe.read().split())
        assert os.waitpid(process, 0)[1] == 0
    assert len(uids) == 1 and destination(path).service.list([]).body["total"] == 1
