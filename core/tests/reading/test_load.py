"""One log read with its reader: what goes wrong is a refusal with the session's state and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfeedback.reading.load import SessionRefused, load
from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Place, Reader, Session
from agentfeedback.reading.record import Record
from agentfeedback.reading.sink import Sink
from agentfeedback.reading.tally import Tally


class Entries(Reader):
    """Every record is an entry."""

    harness = "own"

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        for _ in log.records(Record, timeline):
            timeline.entry()


def loaded(tmp_path: Path, content: bytes, first: bytes | None) -> Tally:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    tally = Tally()
    load(Entries(), Session("own", "s", str(path), 0, len(content)), Place(first_line=first), tally)
    return tally


def test_the_line_the_policy_was_asked_about_is_the_line_that_is_read(tmp_path: Path) -> None:
    """A log whose first line is another one is refused, and nothing of it is reported."""
    assert loaded(tmp_path, b'{"a":1}\n{}\n', b'{"a":1}').entries == 2
    assert loaded(tmp_path, b'{"a":1}\n{}\n', None).entries == 2
    for other in (b'{"a":2}', b'{"a":1} ', b""):
        tally = Tally()
        path = tmp_path / "s.jsonl"
        with pytest.raises(SessionRefused) as refused:
            load(Entries(), Session("own", "s", str(path), 0, 11), Place(first_line=other), tally)
        assert refused.value.state == "unreadable"
        assert refused.value.reason == "the session changed since its policy was checked"
        assert tally.entries == 0
