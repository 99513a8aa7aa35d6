"""Real databases tell what truly happened, and one and the same log through all of their states."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

#: What the engine of OpenCode 2 inside V1 wrote, and its session whose last message is not complete.
ENGINE = "../opencode-v2-engine"
UNFINISHED = "ses_dd279b42dffe5qQUKCMSfOq54I"
STATES = ("00-after-first-run-exited", "10-live-pending-permission", "30-final-after-exit")


def laid(store: Any, real: Path, state: str) -> None:
    shutil.rmtree(store.directory, ignore_errors=True)
    shutil.copytree(real / state, store.directory)


def test_real_sessions_tell_what_happened(store: Any, opencode: Any, real: Path) -> None:
    """Prompts and calls of every real session are those that truly happened."""
    seen = 0
    for state in (*STATES, "1.3.2", ENGINE):
        laid(store, real, state)
        sessions, report = store.find("opencode-v2" if state == ENGINE else "opencode-v1")
        assert report.state == "present"
        wanted = json.loads((real / state / "expected.json").read_text())
        assert set(sessions) == {each["session_id"] for each in wanted if not each["parent_id"]}
        for want in wanted:
            if want["parent_id"]:
                continue
            timeline = store.told(sessions[want["session_id"]])
            prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert prompts == [prompt["span"] for prompt in want["prompts"]]
            calls = [call for entry in timeline.entries for call in entry.calls]
            told = [(c.span, c.tool, c.status or "no_result", c.exit_code) for c in calls]
            expected = [
                (c["span"], c["tool"], c["status"], c["exit_code"] or None) for c in want["calls"]
            ]
            # An assistant message that never was completed is not read while it is the last.
            assert told == expected if want["session_id"] != UNFINISHED else told == expected[:-1]
            seen += 1
    assert seen == 23 + 32 + 21


def test_real_logs_only_grow(store: Any, real: Path) -> None:
    """The virtual log of every later state extends that of the earlier ones byte for byte."""
    earlier: dict[str, list[bytes]] = {}
    for state in STATES:
        laid(store, real, state)
        sessions, _ = store.find()
        assert earlier.keys() <= sessions.keys()
        now = {id: store.lines_of(session) for id, session in sessions.items()}
        for id, lines in earlier.items():
            assert now[id][: len(lines)] == lines
        earlier = now
    assert len(earlier) == 12


def test_watermarks_live_on(store: Any, real: Path) -> None:
    """What was marked in an earlier state is processed in a later one, or changed by what was appended since."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(store.home)}

    def sessions(*words: str) -> Any:
        command = [sys.executable, "-m", "agentfeedback", "sessions", *words, "--json"]
        done = subprocess.run(command, env=environ, capture_output=True, check=True)
        return json.loads(done.stdout)

    laid(store, real, STATES[1])
    digested = sessions("digest", "--unprocessed", "--harness", "opencode-v1")["sessions"]
    assert len(digested) == 10
    sessions("mark", *(each["ref"] for each in digested), "--outcome", "nothing")
    laid(store, real, STATES[2])
    listed = sessions("list", "--harness", "opencode")["sessions"]
    states = {each["session_id"]: (each["state"], each.get("reason")) for each in listed}
    marked = {each["session_id"] for each in digested}
    live = "ses_dd43c1321ffeoqYzmsOwcAHERp"
    assert states.pop(live) == ("changed", "appended")
    for id, state in states.items():
        assert state == (("processed", None) if id in marked else ("new", None))
    again = sessions("digest", f"opencode:{live}")["sessions"][0]
    assert again["from_offset"] > 0
    assert again["counts"]["prompts"] > 0
    spans = {event["span"] for event in again["events"]}
    first = next(each for each in digested if each["session_id"] == live)
    assert not spans & {event["span"] for event in first["events"]}
