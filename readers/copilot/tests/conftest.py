"""Event logs of a few lines for the tests, and what the reader tells of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Home, Place, Report, Session
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.reading.timeline_entries import Call
from agentfeedback.wire.encode import plain
from agentfeedback_copilot.reader import Copilot


class Bytes(Log):
    """A log that is in memory."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content

    def blocks(self) -> Iterator[bytes]:
        yield self.content


class Events:
    """The events of one session; every method that adds one gives the `id` of its event."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def add(self, type: Any, data: Any = None, **members: Any) -> str:
        number = len(self.lines) + 1
        id = f"e{number}"
        time = f"2026-11-30T09:00:{number % 60:02d}.000Z"
        event = {"type": type, "data": data or {}, "id": id, "timestamp": time, **members}
        self.lines.append(json.dumps(event, ensure_ascii=False).encode() + b"\n")
        return id

    def prompt(self, content: Any, **data: Any) -> str:
        return self.add("user.message", {"content": content, **data})

    def start(self, id: Any = "c1", tool: Any = "bash", **data: Any) -> str:
        data = {"arguments": {"command": "make"}, **data}
        return self.add("tool.execution_start", {"toolCallId": id, "toolName": tool, **data})

    def complete(
        self, content: Any = "", id: Any = "c1", *, success: Any = True, **data: Any
    ) -> str:
        data = {"success": success, "result": {"content": content}, **data}
        return self.add("tool.execution_complete", {"toolCallId": id, **data})

    def permission(self, kind: Any, id: str = "c1") -> str:
        return self.add("permission.completed", {"toolCallId": id, "result": {"kind": kind}})

    def told(self, place: Place | None = None) -> Timeline:
        """The full timeline; a tally of the same lines counts the same."""
        return told_of(b"".join(self.lines), place)

    def calls(self) -> list[Call]:
        return [call for entry in self.told().entries for call in entry.calls]

    def call(self) -> Call:
        """The only call."""
        (call,) = self.calls()
        return call


def told_of(content: bytes, place: Place | None = None) -> Timeline:
    timeline = Timeline(clip=lambda text, size: text[:size])
    tally = Tally.for_reader(Copilot.rewrites)
    for sink in (timeline, tally):
        Copilot().read(Bytes(content), place or Place(), sink)
    assert plain(tally.counts()) == plain(timeline.counts())
    assert (tally.first, tally.last, list(tally.cwds)) == (
        timeline.first,
        timeline.last,
        list(timeline.cwds),
    )
    return timeline


class Store:
    """A home with a store of Copilot CLI."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / ".copilot" / "session-state"

    def add(
        self, id: str, content: bytes = b'{"type":"x"}\n', workspace: bytes | None = None
    ) -> Path:
        folder = self.root / id
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_bytes(content)
        if workspace is not None:
            (folder / "workspace.yaml").write_bytes(workspace)
        return folder

    def find(self, **environ: str) -> tuple[list[Session], Report]:
        report = Report("copilot")
        return list(Copilot().find(Home(str(self.home), environ), report)), report

    def place(self, workspace: bytes | None) -> Place:
        """The place of a session with this `workspace.yaml`."""
        self.add("s", workspace=workspace)
        ((session,), _) = self.find()
        return Copilot().place(session, strict=True)


@pytest.fixture
def log() -> Events:
    return Events()


@pytest.fixture(scope="session")
def tell() -> Callable[[bytes], Timeline]:
    """What the reader tells of any bytes."""
    return told_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="session")
def real(real: Path) -> Path:
    """The folder of logs Copilot CLI wrote, with what truly happened."""
    return real / "copilot"
