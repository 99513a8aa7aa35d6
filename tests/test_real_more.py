"""Logs that four further agents wrote tell what truly happened in them."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.reading.reader import Home, Report
from agentfeedback.reading.timeline import Timeline

#: By harness: where its store is in a home.
PLACES = {"pi": ".pi", "qwen-code": ".qwen", "cline": ".cline", "aider": "projects"}
#: Exit codes that the truth knows and no log holds.
UNLOGGED = {("aider", "365"): None}


@pytest.fixture(scope="session")
def real_more() -> Path:
    """The folder of these logs; `AGENTFEEDBACK_REAL_MORE` names it, else `shared/real-more` beside the checkout is tried."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "real-more"
    folder = Path(os.environ.get("AGENTFEEDBACK_REAL_MORE") or beside)
    if not folder.is_dir():
        pytest.skip("no logs of real harnesses here; AGENTFEEDBACK_REAL_MORE names their folder")
    return folder


@pytest.mark.parametrize("harness", PLACES)
def test_real_logs_tell_what_happened(real_more: Path, tmp_path: Path, harness: str) -> None:
    """Each prompt, each call, how it ended and its exit code, in every session of every version."""
    reader = Host({}).reader(harness)
    assert reader is not None
    seen = 0
    for version in sorted((real_more / harness).glob("*/expected.json")):
        home = tmp_path / version.parent.name
        shutil.copytree(version.parent / "home", home / PLACES[harness])
        sessions = {each.id: each for each in reader.find(Home(str(home)), Report(harness))}
        for want in json.loads(version.read_text()):
            if want.get("parent_id"):
                assert want["session_id"] not in sessions  # of a sub-agent
                continue
            session = sessions.pop(want["session_id"])
            timeline = Timeline(clip=lambda text, size: text[:size])
            log = reader.open(session)
            reader.read(log, reader.place(session, strict=True), timeline)
            log.close()
            prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert prompts == [prompt["span"] for prompt in want["prompts"]], session.id
            calls = [call for entry in timeline.entries for call in entry.calls]
            told = Counter(
                (call.span, call.tool, call.status or "no_result", call.exit_code) for call in calls
            )
            expected = Counter(_expected(harness, call, told) for call in want["calls"])
            assert told == expected, session.id
            seen += 1
        assert not sessions
    assert seen


def _expected(harness: str, call: dict[str, Any], told: Counter[Any]) -> tuple[Any, ...]:
    span, tool, code = call["span"], call["tool"], call["exit_code"]
    if call["status"] != "error" or (harness, span) in UNLOGGED:
        code = None
    # Where the log cannot tell what happened, several statuses are right.
    also = [(span, tool, status, None) for status in call.get("also", [])]
    return next((each for each in also if each in told), (span, tool, call["status"], code))
