"""Killed before or after any write, or run many at once, the program loses no session and reports each in full.

The store alone is killed at every statement and write by the core's tests; here it is the whole
program, from its command line to its last write, with the tracer those tests have.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentfeedback.sessions import facts_cache
from tests.support import killing
from tests.support.machine import Machine, call, failed, meta, prompt, typed

ALL = ["claude-code:s1", "claude-code:s2", "codex:s3"]
SPANS = {"u1", "a1", "u3", "v1", "L"}


@pytest.fixture(scope="module")
def tracing() -> None:
    """Skip where a process may not trace its child."""
    killing.require_tracing()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts of logs are kept however new these are: else runs before and after some seconds write other things."""
    monkeypatch.setattr(facts_cache, "_SETTLED", -1_000_000_000)


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder in memory where there is one: a kill spares what was written, synced or not."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="agentfeedback-", dir=memory) as folder:
        yield Path(folder)


class Scene:
    """A machine with three sessions, in its state before a command; each run gets a copy of the state."""

    def __init__(self, room: Path, *before: tuple[str, ...]) -> None:
        home = room / "home"
        home.mkdir()
        self.machine = Machine(home)
        self.machine.claude(
            "s1", [prompt("u1"), call("a1", "t1"), failed("u2", "t1"), prompt("u3")]
        )
        self.machine.claude("s2", [prompt("v1")])
        self.machine.codex("s3", [meta(), typed("go on")])
        for words in before:
            assert self.machine.call("sessions", *words).status == 0
        self.data = home / ".local/share"
        self.saved = room / "saved"
        if self.data.exists():
            shutil.copytree(self.data, self.saved)

    def reset(self) -> None:
        """The state as it was before; no facts are kept, so that each run writes the same."""
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.rmtree(self.machine.home / ".cache", ignore_errors=True)
        if self.saved.exists():
            shutil.copytree(self.saved, self.data)

    def command(self, *words: str) -> Callable[[int], None]:
        """Runs the command line in a fork, and tells when its output is written."""

        def run(tell: int) -> None:
            from agentfeedback.cli.main import main

            os.environ.clear()
            os.environ.update(self.machine.environ)
            sys.stdout = io.TextIOWrapper(io.BytesIO())
            assert main(["sessions", *words]) == 0
            os.write(tell, b".")

        return run

    def states(self) -> dict[str, str]:
        return {item["ref"]: item["state"] for item in self.machine.sessions("list")["sessions"]}

    def finish(self) -> list[str]:
        """Digest and mark until nothing is left; the spans reported."""
        spans = []
        while sessions := self.machine.sessions("digest", "--unprocessed")["sessions"]:
            spans += [event["span"] for item in sessions for event in item["events"]]
            self.machine.sessions(
                "mark", *[item["ref"] for item in sessions], "--outcome", "nothing"
            )
        assert set(self.states().values()) == {"processed"}
        return [span if span[0] != "L" else "L" for span in spans]


def killed_at_each_write(scene: Scene, *words: str) -> Iterator[bool]:
    """Run the command once per write, killed before it; yields whether it was done by then.

    What is on the disk after one write is what is there before the next, and after the last one
    the run ends: so these are all states there are. The tracer stops before and after each write.
    """
    for at in killing.points(2):
        scene.reset()
        status, told, stops = killing.traced(scene.command(*words), at, calls=killing.CHANGING)
        yield bool(told)
        if status != signal.SIGKILL:
            break
    assert (status, told) == (0, b".")
    assert at - 2 * killing.STRIDE <= stops < at and stops > 20


def test_digest_killed_at_any_write_loses_no_session(
    tracing: None, settled: None, room: Path
) -> None:
    """A digest killed at any write, the creation of the database included, marks nothing: the next one reports all."""
    scene = Scene(room)
    scene.machine.call("sessions", "list")
    for _ in killed_at_each_write(scene, "digest", "--unprocessed"):
        assert scene.states() == dict.fromkeys(ALL, "new")
        assert sorted(scene.finish()) == sorted(SPANS)


def test_mark_killed_at_any_write_marks_all_or_none(
    tracing: None, settled: None, room: Path
) -> None:
    """A mark killed at any write has marked every session or none, all when it had answered; the next run does the rest."""
    scene = Scene(room, ("digest", "--unprocessed"))
    seen = set()
    for done in killed_at_each_write(scene, "mark", *ALL, "--outcome", "filed"):
        states = scene.states()
        assert list(states) and len(set(states.values())) == 1
        marked = states == dict.fromkeys(ALL, "processed")
        assert marked or not done
        seen.add(marked)
        assert sorted(scene.finish()) == ([] if marked else sorted(SPANS))
    assert seen == {True, False}


def test_digest_killed_between_marks_reports_what_is_new_alone(
    tracing: None, settled: None, room: Path
) -> None:
    """A later digest killed at any write keeps what was marked: what is new is reported, and nothing twice."""
    scene = Scene(room, ("digest", "--unprocessed"), ("mark", *ALL, "--outcome", "nothing"))
    with (scene.machine.home / ".claude/projects/-srv-app-shop/s1.jsonl").open("ab") as file:
        file.write(prompt("w1") + b"\n")
    for _ in killed_at_each_write(scene, "digest", "--unprocessed"):
        assert scene.states() == dict.fromkeys(ALL, "processed") | {ALL[0]: "changed"}
        assert scene.finish() == ["w1"]


def test_digests_and_marks_at_once_are_serialisable(tmp_path: Path) -> None:
    """Of many digests and marks at once each succeeds whole; after them each session is as one of them left it."""
    scene = Scene(tmp_path)
    machine = scene.machine
    outcomes = ("filed", "nothing", "skipped")
    commands = [("digest", "--unprocessed", "--json")] * 3
    commands += [("mark", *ALL, "--outcome", outcome, "--json") for outcome in outcomes]
    first = machine.run("sessions", "digest", "--unprocessed")
    assert first.status == 0
    running = [
        subprocess.Popen(
            machine.argv("sessions", *words), env=machine.environ, stdout=-1, stderr=-1
        )
        for words in commands
    ]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"") and out
    from agentfeedback.state.state_store import StateStore

    rows = StateStore(str(machine.database)).rows()
    marks = {(row.outcome, row.processed_at) for row in rows.values()}
    assert len(rows) == 3 and len(marks) == 1 and marks.pop()[0] in outcomes
    assert set(scene.states().values()) == {"processed"}


def test_first_runs_at_once_make_one_database(tmp_path: Path) -> None:
    """Commands that find no database and start together all succeed, and none of what they stored is lost."""
    scene = Scene(tmp_path)
    machine = scene.machine
    running = [
        subprocess.Popen(
            machine.argv("sessions", "digest", ref), env=machine.environ, stdout=-1, stderr=-1
        )
        for ref in (*ALL, *ALL)
    ]
    for process in running:
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
    assert machine.call("sessions", "mark", *ALL, "--outcome", "nothing").status == 0
    assert set(scene.states().values()) == {"processed"}
