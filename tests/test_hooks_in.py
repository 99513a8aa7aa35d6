"""The real payloads of harnesses, each given to the hook it would be given to."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support.machine import Machine


def _call(machine: Machine, harness: str, event: str, payload: bytes) -> None:
    done = subprocess.run(
        machine.argv("hook", harness, event),
        input=payload,
        env=machine.environ,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_real_payloads_are_taken_in_silence(real: Path, tmp_path: Path) -> None:
    """Every event of every harness seen ends with status 0 and no output; only the wired ones leave a trace."""
    paths = sorted((real / "hooks").glob("*/*.jsonl"))
    assert paths
    for number, path in enumerate(paths):
        machine = Machine(tmp_path / str(number))
        machine.home.mkdir()
        harness = path.parent.name.rpartition("-")[0]
        with path.open("rb") as lines:
            payload = next(lines, b"")
        _call(machine, harness, path.stem, payload)
        ran = machine.home / f".cache/agentfeedback/hooks/{harness}.json"
        assert ran.exists() == (path.stem == "Stop"), path
        assert not (machine.home / ".cache/agentfeedback/sessions").exists()
        assert not (machine.home / ".cache/agentfeedback/log").exists()


def test_the_end_of_a_turn_is_noted_for_every_harness_that_is_wired(machine: Machine) -> None:
    """The turn-end event of each harness is served, and its run is noted."""
    for harness, event in (
        ("claude-code", "Stop"),
        ("codex", "Stop"),
        ("copilot", "agentStop"),
        ("cursor", "stop"),
    ):
        _call(machine, harness, event, b"{}")
        noted = machine.home / f".cache/agentfeedback/hooks/{harness}.json"
        assert event == json.loads(noted.read_bytes())["event"]
