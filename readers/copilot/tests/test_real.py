"""Real event logs tell what truly happened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentfeedback.reading.reader import Home, Report
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.wire.encode import plain
from agentfeedback_copilot.reader import Copilot


@pytest.mark.parametrize("version", ["1.0.64", ""])
def test_real_logs_tell_what_happened(real: Path, tmp_path: Path, version: str) -> None:
    """Prompts, calls and aborts of every real session are those that truly happened."""
    shutil.copytree(real / version / "home", tmp_path / ".copilot")
    found = {s.id: s for s in Copilot().find(Home(str(tmp_path)), Report("copilot"))}
    expected = json.loads((real / version / "expected.json").read_text())
    assert expected
    for want in expected:
        listed = found[want["session_id"]]
        place = Copilot().place(listed, strict=True)
        timeline, tally = Timeline(clip=lambda text, size: text[:size]), Tally()
        for sink in (timeline, tally):
            log = Copilot().open(listed)
            Copilot().read(log, place, sink)
            log.close()
        assert plain(tally.counts()) == plain(timeline.counts())
        assert timeline.cwds.keys() >= set(place.paths) > set()
        prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
        assert prompts == [prompt["span"] for prompt in want["prompts"]]
        calls = [call for entry in timeline.entries for call in entry.calls]
        assert [
            (call.span, call.tool, call.status or "no_result", call.exit_code) for call in calls
        ] == [
            (each["span"], each["tool"], each["status"], each["exit_code"] or None)
            for each in want["calls"]
        ]
        interrupts = [entry.span for entry in timeline.entries if entry.kind == "interrupt"]
        if "aborts" in want:
            assert interrupts == [abort["id"] for abort in want["aborts"]]
