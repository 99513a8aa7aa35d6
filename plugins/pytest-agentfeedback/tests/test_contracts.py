"""The core's own gate and store keep the contracts, and the kit's machine has a home of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.config.paths import Paths
from agentfeedback.config.shape import Collect, Config
from agentfeedback.sessions.builtin import Builtin
from agentfeedback.state.state_store import StateStore
from agentfeedback.state.watermark import WatermarkStore
from pytest_agentfeedback import GateContract, Machine, WatermarkStoreContract


class TestCollectGate(GateContract):
    """The gate of `[collect]`."""

    allowed = ("/srv/app/shop", "/srv/app", "/srv/clientsfriend")
    refused = ("/srv/clients", "/srv/clients/x", "/srv/clients/x/../y")

    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path) -> None:
        self.environ = {"HOME": str(tmp_path)}

    def gate(self) -> Any:
        config = Config(collect=Collect(deny_paths=["/srv/clients"]))
        return Builtin(config, Paths.of(self.environ))


class TestStateStore(WatermarkStoreContract):
    """The local database."""

    def store(self, folder: Path) -> WatermarkStore:
        return StateStore(str(folder / "data/agentfeedback.db"))


def test_the_machine_sees_nothing_of_the_real_home(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process and in one of its own: the environment, the home and the directory are the machine's."""
    monkeypatch.setenv("AGENTFEEDBACK_COLLECT", "off")
    code = (
        "import os, json; print(json.dumps([os.environ['HOME'], os.getcwd(), sorted(os.environ)]))"
    )
    home, directory, names = machine.python(code).json
    assert (home, directory) == (str(machine.home), str(machine.directory))
    assert "AGENTFEEDBACK_COLLECT" not in names
    listed = machine.sessions("list")
    assert listed["sessions"] == [] and machine.state("codex:s1") == ("not listed", "")
    assert machine.run("sessions", "list", "--json").json == listed
    assert all(str(machine.home) in store["location"] for store in listed["stores"])


def test_the_machine_reads_what_is_written_there(machine: Machine) -> None:
    """Its files, its configuration, and plugins installed in it."""
    machine.config("not = [toml")
    refused = machine.call("sessions", "list")
    assert refused.status != 0 and "config.toml" in refused.err
    machine.config("")
    log = b'{"type":"user","uuid":"u1","cwd":"/srv/app","message":{"role":"user","content":"hi"}}\n'
    machine.write(".claude/projects/-srv-app/s1.jsonl", log)
    assert machine.state("claude-code:s1") == ("new", "")
    machine.plugin("team", "raise RuntimeError('loaded')\n")
    assert "team" in machine.run("plugins").text


@pytest.mark.parametrize(
    ("stdin", "read"), [(b"\x00raw", b"\x00raw"), ({"a": 1}, b'{"a": 1}')], ids=["bytes", "JSON"]
)
def test_standard_input_is_what_was_given(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, stdin: object, read: bytes
) -> None:
    """Bytes as they are, anything else as JSON; afterwards everything is as it was before."""
    seen = []

    def main(words: list[str]) -> int:
        seen.append((words, sys.stdin.buffer.read(), os.getcwd(), os.environ["X"]))
        print("out")
        print("err", file=sys.stderr)
        return 3

    monkeypatch.setattr("agentfeedback.cli.main.main", main)
    before = (dict(os.environ), os.getcwd(), sys.stdin)
    result = machine.call("a", "b", stdin=stdin, X="y")
    assert seen == [(["a", "b"], read, str(machine.directory), "y")]
    assert (result.status, result.text, result.err) == (3, "out\n", "err\n")
    assert (dict(os.environ), os.getcwd(), sys.stdin) == before
