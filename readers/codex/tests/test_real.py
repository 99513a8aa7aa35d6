"""Real rollouts tell what truly happened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from agentfeedback.reading.reader import Home, Report
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.wire.encode import plain
from agentfeedback_codex.reader import Codex


def test_real_logs_tell_what_happened(real: Path, tmp_path: Path) -> None:
    """Prompts and failed calls of every real session are those that truly happened, in both sinks."""
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
            for sink in (timeline, tally):
                log = Codex().open(listed)
                log.expected_first = place.first_line
                Codex().read(log, place, sink)
                log.close()
            assert plain(timeline.counts()) == plain(tally.counts())
            prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert prompts == [prompt["span"] for prompt in want["prompts"]], listed.path
            told = failures(timeline)
            assert told == expected_failures(want, dict(told)), listed.path
            seen += 1
    assert seen > 0


Ending = tuple[str, int | None]


def failures(timeline: Timeline) -> list[tuple[str, Ending]]:
    """The calls that did not succeed: span, and status with the exit code of an error."""
    calls = [call for entry in timeline.entries for call in entry.calls]
    return sorted(
        (call.span, (call.status, call.exit_code if call.status == "error" else None))
        for call in calls
        if call.status not in (None, "ok")
    )


def expected_failures(want: dict[str, Any], told: dict[str, Ending]) -> list[tuple[str, Ending]]:
    """The calls that truly did not succeed; where the log cannot tell, another status may be right too."""
    word = {"completed": "ok", "failed": "error", "declined": "denied"}
    truth = [
        (call["span"], call["status"], call["exit_code"], call.get("also") or ())
        for call in want["calls"]
    ]
    for item in want["items_without_call"]:
        if item["source"] != "user_shell":
            status = word.get(item["status"], item["status"])
            truth.append((item["id"], status, item["exit_code"], ()))
    found = []
    for span, status, code, also in truth:
        if told.get(span, ("ok", None))[0] in also:
            status = told[span][0]
        if status not in ("ok", "no_result"):
            found.append((span, (status, code if status == "error" else None)))
    return sorted(found)
