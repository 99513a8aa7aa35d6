"""Real transcripts tell what truly happened."""

from __future__ import annotations

import json
from pathlib import Path

from agentfeedback.reading.reader import Home, Report, Session
from agentfeedback.reading.timeline import Timeline
from agentfeedback_claude_code.reader import ClaudeCode


def told(session: Session) -> Timeline:
    timeline, reader = Timeline(clip=lambda text, length: text[:length]), ClaudeCode()
    log = reader.open(session)
    try:
        reader.read(log, reader.place(session, strict=True), timeline)
    finally:
        log.close()
    return timeline


def test_real_sessions_tell_what_happened(real: Path) -> None:
    """Prompts, calls and their statuses are those that `expected.json` says truly happened."""
    seen = 0
    for store in sorted(real.iterdir()):
        found = {}
        home = Home(str(store), {"CLAUDE_CONFIG_DIR": str(store)})
        for session in ClaudeCode().find(home, Report("claude-code")):
            found[session.id] = told(session)
        for expected in json.loads((store / "expected.json").read_text()):
            if expected.get("parent_id"):
                continue
            timeline = found[expected["session_id"]]
            spans = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert sorted(spans) == sorted(prompt["span"] for prompt in expected["prompts"])
            calls = {call.span: call for entry in timeline.entries for call in entry.calls}
            assert len(calls) == len(expected["calls"])
            for want in expected["calls"]:
                call = calls[want["span"]]
                status = "no_result" if call.status is None else call.status
                assert status in {want["status"], *want.get("also", [])}
                if want["status"] == "error":
                    assert call.exit_code == want["exit_code"]
                seen += 1
    assert seen
