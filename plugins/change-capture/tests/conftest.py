"""A home, a checkout that is connected, and a Hub that answers from memory."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentfeedback_change_capture.delivery.hub import Resolution
from agentfeedback_change_capture.facts import Target
from agentfeedback_change_capture.setup import capture, clients
from agentfeedback_change_capture.setup.bindings import Binding

PROGRAM = "/opt/agentscm"
HUB, REPOSITORY = "https://hub.example", "demo/app"


class MemoryHub:
    """A Hub that knows a target for every session, while it is not away."""

    def __init__(self) -> None:
        self.away: str = ""
        self.generation = 1
        #: The canonical id of sessions that are aliases; any other is its own.
        self.aliases: dict[str, str] = {}
        self.asked: list[str] = []

    def resolve(self, observed: str, worktree_id: str, deadline: float) -> Resolution:
        self.asked.append(observed)
        if self.away:
            return Resolution(None, self.away)  # type: ignore[arg-type]
        canonical = self.aliases.get(observed, observed)
        return Resolution(Target("wrk_1", self.generation, canonical))


class Checkout:
    """A connected checkout in a home of its own; nothing of the real home is in `environ`."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.root = home / "shop"
        self.spool = home / "spools/shop"
        self.spool.parent.mkdir(mode=0o700)
        self.hub = MemoryHub()
        self.environ = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        for name in list(os.environ):
            if name.startswith(("XDG_", "CLAUDE_", "GIT_")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(home))
        self.make(self.root)
        clients.record(str(self.root), HUB, REPOSITORY, "token", "ada", self.environ)

    def make(self, root: Path) -> Path:
        """Make a checkout without a commit."""
        subprocess.run(["git", "init", "-q", str(root)], check=True, env=self.environ)
        return root

    @property
    def config(self) -> Path:
        return self.home / ".config/agentscm"

    @property
    def settings(self) -> Path:
        return self.root / ".claude/settings.local.json"

    def configure(self, **given: Any) -> Binding:
        """Configure the checkout, with every required member."""
        members = {
            "spool": str(self.spool),
            "worktree_id": "checkout_1",
            "base_ref": "origin/main",
            "setup_digest": "a" * 64,
            "action_rules": ["Bash=execution:partial:process_exit_code"],
        } | given
        return self.again(**members)

    def again(self, **given: Any) -> Binding:
        """Configure the checkout with these members over what is saved."""
        done = capture.configure_checkout(str(self.root), given, self.environ, program=PROGRAM)
        return done.binding

    def enable(self, root: str = "", **given: Any) -> Any:
        """Turn capture on in one step, as the page and the tray do."""
        return capture.enable_capture(
            root or str(self.root), self.environ, program=PROGRAM, **given
        )

    def bindings(self) -> Any:
        """Return the file of bindings, as it is."""
        return json.loads((self.config / "change-capture.json").read_bytes())

    def send(self, event: str | bytes, /, **members: Any) -> tuple[str, list[str]]:
        """Run the hook in this process; return what it answers and what it warns of."""
        from agentfeedback_change_capture.adapter import hook

        if isinstance(event, bytes):
            data = event
        else:
            payload = {
                "session_id": "s-1",
                "cwd": str(self.root),
                "hook_event_name": event,
                **members,
            }
            data = json.dumps(payload).encode()
        import time

        words = ["--root", str(self.root), "--runner", f"{PROGRAM} change-capture run-recipe"]
        return hook.serve(words, time.monotonic(), data=data, hub=self.hub)  # type: ignore[arg-type]

    def records(self, folder: str) -> list[dict[str, Any]]:
        """Return the JSON records of a folder of the spool, by name."""
        paths = sorted((self.spool / folder).iterdir())
        return [json.loads(path.read_bytes()) for path in paths]

    def events(self) -> list[dict[str, Any]]:
        """Return every retained event, in the order of the envelopes."""
        return [
            event
            for envelope in self.records("outbox")
            if envelope["schema"] == "agentscm.capture.events/1"
            for event in envelope["events"]
        ]

    def actions(self, phase: str) -> list[dict[str, Any]]:
        """Return the actions of all envelopes of a phase, `start` or `finish`."""
        schema = f"agentscm.capture.action_{phase}/1"
        return [each["action"] for each in self.records("outbox") if each["schema"] == schema]

    def bytes(self) -> bytes:
        """Return everything that is in the spool, names included."""
        pieces = []
        for path in sorted(self.spool.rglob("*")):
            pieces.append(str(path.relative_to(self.spool)).encode())
            if path.is_file():
                pieces.append(path.read_bytes())
        return b"\n".join(pieces)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of what is written do not wait for the disk; those of crashes look at every flush."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    return Checkout(tmp_path, monkeypatch)
