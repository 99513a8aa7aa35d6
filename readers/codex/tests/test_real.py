"""Real rollouts tell what truly happened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from agentfeedback.reader import Home, Report
from agentfeedback.tally import Tally
from agentfeedback.timeline import Timeline
from agentfeedback.wire import plain
from agentfeedback_codex.reader import Codex


def test_real_logs_tell_what_happened(real: Path, tmp_path: Path) -> None:
    """Prompts and failed calls of every real session are those that truly happened, in both tellers."""
    seen = 0
    for number, expected in enumerate(sorted(real.rglob("expected.json"))):
        home = tmp_path / str(number)
        shutil.copytree(expected.parent, home / ".codex")
        found = {s.id: s for s in Codex().find(Home(str(home)), Report("codex"))}
        for want in json.loads(expected.read_text()):
            listed = found[want["session_id"]]
            place = Codex().place(listed, strict=True)
            assert place.paths == (want["meta"]["cwd"],)
            timeline, tally = Timeline(clip=lambda text, size: text[:size]), Tally()
            for teller in (timeline, tally):
                log = Codex().open(listed)
                log.expected_first = place.first_line
                Codex().read(log, place, teller)
                log.close()
            assert plain(timeline.counts()) == plain(tally.counts())
            prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert prompts == [prompt["span"] for prompt in want["prompts"]], listed.path
            assert failures(timeline) == expected_failures(want), listed.path
            seen += 1
    assert seen > 0


def failures(timeline: Timeline) -> list[tuple[str, str, int | None]]:
    calls = [call for entry in timeline.entries for call in entry.calls]
    return sorted(
        (call.span, call.status, call.exit_code if call.status == "error" else None)
        for call in calls
        if call.status not in (None, "ok")
    )


def expected_failures(want: dict[str, Any]) -> list[tuple[str, str, int | None]]:
    word = {"completed": "ok", "failed": "error", "declined": "denied"}
    told = [(call["span"], call["status"], call["exit_code"]) for call in want["calls"]]
    for item in want["items_without_call"]:
        if item["source"] != "user_shell":
            status = word.get(item["status"], item["status"])
            told.append((item["id"], status, item["exit_code"]))
    return sorted(
        (span, status, code if status == "error" else None)
        for span, status, code in told
        if status not in ("ok", "no_result")
    )
