"""A home with Cursor transcripts in it, hooks as Cursor calls them, and the program run there."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import pytest_agentfeedback.machine
from agentfeedback.plugins.host import Host
from agentfeedback.sessions.engine import Engine
from agentfeedback.wire.encode import plain

LINES = (
    b'{"role":"user","message":{"content":[{"type":"text","text":"<user_query>fix it</user_query>"}]}}\n'
    b'{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Shell","input":{"command":"false"}}]}}\n'
)
_watched: list[list[str]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _watched:
        path = arguments[0]
        if isinstance(path, (str, bytes)):
            _watched[-1].append(os.fsdecode(path))


sys.addaudithook(_audit)


@contextmanager
def opened() -> Iterator[list[str]]:
    """The names of all files opened meanwhile."""
    _watched.append([])
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


class Machine(pytest_agentfeedback.machine.Machine):
    """One home, with a project and what Cursor and its hooks leave there."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.project = home / "app"
        self.project.mkdir(parents=True)

    @property
    def index(self) -> Path:
        return self.home / ".cache/agentfeedback/sessions/cursor"

    def listed(self, *words: str) -> dict[str, Any]:
        """The Cursor sessions listed, by id."""
        listing = self.sessions("list", "--harness", "cursor", *words)
        return {session["session_id"]: session for session in listing["sessions"]}

    def list_later(self) -> list[dict[str, Any]]:
        """The Cursor sessions by a clock ten seconds ahead, to which files written just now are settled."""
        engine = Engine(
            self.environ,
            host=Host(self.environ),
            now=lambda: time.time_ns() + 10_000_000_000,
        )
        found: list[dict[str, Any]] = plain(engine.listing("cursor", None, unprocessed=False))[
            "sessions"
        ]
        return found

    def transcript(self, id: str, data: bytes = LINES, *, ide: bool = False) -> Path:
        folder = self.home / ".cursor/projects/home-u-app/agent-transcripts"
        path = (folder / id if ide else folder) / f"{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def hook(self, event: str = "stop", **payload: Any) -> None:
        """Call a hook; it never prints and never fails."""
        with (
            _standard_input(json.dumps(payload).encode()),
            mock.patch.object(sys, "dont_write_bytecode", sys.dont_write_bytecode),
        ):
            done = self.call("hook", "cursor", event)
        assert (0, b"", "") == (done.status, done.out, done.err)

    def session(self, id: str, data: bytes = LINES, **payload: Any) -> Path:
        """A session whose transcript a hook named."""
        path = self.transcript(id, data)
        roots = {"workspace_roots": [str(self.project)]}
        self.hook(conversation_id=id, transcript_path=str(path), **{**roots, **payload})
        return path

    def kept(self, id: str) -> dict[str, Any]:
        for path in self.index.glob("*.json"):
            kept = json.loads(path.read_bytes())
            if kept["conversation_id"] == id:
                return dict(kept)
        return {}


@contextmanager
def _standard_input(data: bytes) -> Iterator[None]:
    saved = os.dup(0)
    reading, writing = os.pipe()
    try:
        os.write(writing, data)
        os.close(writing)
        os.dup2(reading, 0)
        yield
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(reading)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve() / "home")


@pytest.fixture
def watch() -> Any:
    return opened
