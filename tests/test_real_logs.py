"""The laws of a reading, and what `doctor --formats` knows, on the logs that real harnesses wrote.

What truly happened in them is compared by each reader's own tests.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.reading.drift import Survey
from agentfeedback.reading.log import Log, RowLog, Watch
from agentfeedback.reading.reader import Home, Place, Reader, Report, Session
from agentfeedback.reading.sink import Sink
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.wire.encode import plain
from pytest_agentfeedback import laws
from pytest_agentfeedback.recorder import Recorder, Recording

#: By harness: the stores among the real logs, and where such a store is in a home.
STORES = {
    "claude-code": ("claude-code/*/", ".claude"),
    "codex": ("codex/*/", ".codex"),
    "copilot": ("copilot/**/home/", ".copilot"),
    "gemini-cli": ("gemini-cli/**/home/", ".gemini"),
    "opencode-v1": ("opencode-v1/*/", ".local/share/opencode"),
    "opencode-v2": ("opencode-v2-engine/", ".local/share/opencode"),
}
#: Bytes of the longest log that is cut, and into how many pieces.
LONGEST, PIECES = 1 << 20, 8

#: How calls ended is counted with the result: counts of it add up where both are one record.
IN_ONE_RECORD = {"opencode-v1", "opencode-v2"}
ENDINGS = {"tool_errors", "denials", "interrupts"}

Sessions = Callable[[Reader], Iterator[Session]]


def reader_of(harness: str) -> Reader:
    reader = Host({}).reader(harness)
    assert reader is not None
    return reader


@pytest.fixture
def sessions(real: Path, tmp_path: Path) -> Sessions:
    """The real sessions of a reader's harness, in a home for each of its stores."""

    def found(reader: Reader) -> Iterator[Session]:
        stores, place = STORES[reader.harness]
        for number, store in enumerate(sorted(real.glob(stores))):
            home = tmp_path / str(number)
            shutil.copytree(store, home / place)
            report = Report(reader.harness)
            yield from reader.find(Home(str(home), {}, str(home / ".cache")), report)
            assert (report.state, report.problems) == ("present", [])

    return found


def read(reader: Reader, session: Session, sink: Sink, watch: Watch | None = None) -> None:
    log = reader.open(session)
    try:
        place = reader.place(session, strict=False)
        log.expected_first, log.watch = place.first_line, watch
        reader.read(log, place, sink)
    finally:
        log.close()


def recorded(reader: Reader, log: Log, place: Place) -> Recording:
    recorder = Recorder(rewrites=reader.rewrites)
    reader.read(log, place, recorder)
    return recorder.recording()


def counted(reader: Reader, lines: list[bytes], place: Place, start: int = 0) -> dict[str, int]:
    timeline = Timeline(lambda text, _: text, start=start, rewrites=reader.rewrites)
    reader.read(RowLog(iter(lines)), place, timeline)
    left_out = set() if reader.harness in IN_ONE_RECORD else ENDINGS
    return {name: n for name, n in plain(timeline.counts()).items() if name not in left_out}


def begins_message(line: bytes) -> bool:
    """Whether a log may end before this line: rows of OpenCode come message by message."""
    return json.loads(line).get("kind") != "part"


@pytest.mark.parametrize("harness", STORES)
def test_reader_names_the_versions_it_was_verified_with(harness: str) -> None:
    """A reader hands over what it knows of its format, with at least one version it was verified with."""
    known = reader_of(harness).known()
    assert known is not None and known.verified


@pytest.mark.parametrize("harness", STORES)
def test_nothing_is_unknown(sessions: Sessions, harness: str) -> None:
    """No real record has a type or a member its reader does not know, and all versions in them are verified ones."""
    reader = reader_of(harness)
    known = reader.known()
    assert known is not None
    whole = Survey(known)
    for session in sessions(reader):
        survey = Survey(known)
        read(reader, session, Tally.for_reader(reader.rewrites), survey.see)
        whole.add(survey)
    assert whole.records > 100
    assert (dict(whole.types), dict(whole.fields)) == ({}, {})
    assert set(whole.versions) <= set(known.verified)
    assert bool(whole.versions) == bool(known.version)


@pytest.mark.parametrize("harness", STORES)
def test_the_laws_hold(sessions: Sessions, harness: str) -> None:
    """The laws hold for each real log.

    It is reported the same twice and counted the same by a tally. Cut anywhere, its beginning reports what
    the whole one reports of it, and the counts before and after the cut add up.
    """
    reader = reader_of(harness)
    faults, cuts = [], 0
    for session in sessions(reader):
        whole, again = (Recorder(rewrites=reader.rewrites) for _ in range(2))
        lines: list[bytes] = []
        read(reader, session, whole, lines.extend)
        read(reader, session, again)
        tally = Tally.for_reader(reader.rewrites)
        read(reader, session, tally)
        told = whole.recording()
        assert told.facts() == again.recording().facts()
        faults += laws.count_faults(tally.counts(), told.counts)
        faults += laws.span_faults(told) + laws.time_faults(told) + laws.result_faults(told)
        if sum(map(len, lines)) > LONGEST:
            continue
        place = reader.place(session, strict=False)
        total = counted(reader, lines, place)
        assert total.items() <= plain(told.counts).items()
        starts = [n for n, line in enumerate(lines) if n and begins_message(line)]
        for cut in starts[:: max(1, len(starts) // PIECES)]:
            size = sum(len(line) + 1 for line in lines[:cut])
            part = recorded(reader, RowLog(iter(lines[:cut])), place)
            faults += laws.prefix_faults(part, told, size)
            before = counted(reader, lines[:cut], place)
            after = counted(reader, lines, place, size)
            assert {name: before[name] + after[name] for name in total} == total
            cuts += 1
    assert faults == []
    assert cuts > 20
