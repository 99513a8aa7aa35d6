"""Reading on several processes gives what reading in one gives, in the same order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.reading.load import LogFacts, SessionRefused
from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Home, Place, Reader, Report, Session
from agentfeedback.reading.record import Record
from agentfeedback.reading.sink import Sink
from agentfeedback.sessions import scan


class Line(Record):
    cwd: str | None = None


class Plain(Reader):
    harness = "plain"
    format = "plain-lines"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        report.store(home.path)
        for entry in report.files(home.path, root=True):
            session = report.session(entry, entry.name)
            if session is not None:
                yield session

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        for record in log.records(Line, timeline):
            if record.cwd == "/raise":
                raise ValueError(record.cwd)
            timeline.entry(cwd=record.cwd)


class Admitting:
    """Stands in for the examiner: lets everything pass and shows what it is given."""

    def admit(self, reader: Reader, session: Session, known: Place | None) -> Place:
        if session.id.startswith("denied"):
            raise SessionRefused("denied", "deny_paths")
        return Place()

    def refused(self, session: Session, refused: SessionRefused) -> object:
        return (session.id, refused.state, refused.reason, refused.fault)

    def judge(self, session: Session, row: object, facts: LogFacts) -> object:
        return (session.id, facts.counts.entries, facts.cwds, facts.size, facts.head)


def test_processes_and_one_process_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused, failing, unreadable and good sessions keep their place and their answer."""
    for number in range(30):
        lines = [f'{{"cwd":"/srv/{number}/{line}"}}\n' for line in range(number * 7 % 50 + 1)]
        (tmp_path / f"s{number:02d}").write_text("".join(lines))
    (tmp_path / "denied1").write_text("{}\n")
    (tmp_path / "fails").write_text('{"cwd":"/raise"}\n')
    (tmp_path / "empty").write_text("")
    (tmp_path / "gone").write_text("{}\n")
    reader, report = Plain(), Report("plain")
    candidates = [(reader, session) for session in reader.find(Home(str(tmp_path)), report)]
    (tmp_path / "gone").unlink()
    steps: list[int] = []

    def run() -> list[object]:
        steps.append(0)

        def step() -> None:
            steps[-1] += 1

        return list(scan.scan(Admitting(), candidates, {}, {}, step))  # type: ignore[arg-type]

    alone = run()
    monkeypatch.setattr(scan, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(scan, "_cores", lambda: 3)
    monkeypatch.setattr(scan, "_SHARE", 200)
    parent = os.getpid()
    assert run() == alone
    assert os.getpid() == parent
    assert steps == [len(candidates)] * 2
    states = {item[0]: item[1:] for item in alone}  # type: ignore[index]
    assert states["denied1"] == ("denied", "deny_paths", "")
    assert states["fails"] == ("unreadable", "reader plain failed: ValueError", "ValueError")
    assert states["empty"] == ("unsupported-format", "", "")
    assert states["gone"] == ("unreadable", "no such file or directory", "")
    assert states["s03"][0] == 22


@settings(max_examples=50)
@given(st.lists(st.integers(min_value=0, max_value=9 << 20), max_size=60))
def test_shares_hold_every_session_once(sizes: list[int]) -> None:
    """However sizes fall, each index is in one share and none is empty."""
    tasks = {
        index: scan._Task(Plain(), Session("plain", str(index), "/x", 0, size), Place())
        for index, size in enumerate(sizes)
    }
    shares = list(scan._shares(sorted(tasks, key=lambda index: -sizes[index]), tasks))
    assert all(shares)
    assert sorted(index for share in shares for index in share) == list(tasks)
