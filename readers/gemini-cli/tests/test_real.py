"""Real logs tell what truly happened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentfeedback.reading.reader import Home, Report
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.wire.encode import plain
from agentfeedback_gemini_cli.reader import GeminiCli


@pytest.mark.parametrize("version", ["0.54.4", ""])
def test_real_logs_tell_what_happened(real: Path, tmp_path: Path, version: str) -> None:
    """Prompts and calls of every real session are those that truly happened."""
    shutil.copytree(real / version / "home", tmp_path / ".gemini")
    found = {s.id: s for s in GeminiCli().find(Home(str(tmp_path)), Report("gemini-cli"))}
    expected = json.loads((real / version / "expected.json").read_text())
    assert expected
    for want in expected:
        if want["kind"] != "main":
            continue  # a sub-agent's log is in a folder that is not read
        listed = found[Path(want["file"]).stem]
        place = GeminiCli().place(listed, strict=True)
        timeline = Timeline(lambda text, size: text[:size], rewrites=True)
        tally = Tally.for_reader(GeminiCli.rewrites)
        for sink in (timeline, tally):
            log = GeminiCli().open(listed)
            GeminiCli().read(log, place, sink)
            log.close()
        assert plain(tally.counts()) == plain(timeline.counts())
        assert timeline.counts().unparsed == 0
        assert next(iter(timeline.cwds)) == place.paths[0]
        prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
        assert prompts == [prompt["span"] for prompt in want["prompts"]]
        calls = [call for entry in timeline.entries for call in entry.calls]
        assert [(call.span, call.tool, call.status, call.exit_code) for call in calls] == [
            (each["span"], each["tool"], each["status"], each["exit_code"] or None)
            for each in want["calls"]
        ]
