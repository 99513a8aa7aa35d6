"""Logs of a few lines for the tests, and what the reader tells of them."""

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
from agentfeedback_gemini_cli.reader import GeminiCli

CONTEXT = "<session_context>\nThis is fake context.\n</session_context>"


class Bytes(Log):
    """A log that is in memory."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content

    def blocks(self) -> Iterator[bytes]:
        yield self.content


class Written:
    """The lines of one log; the methods that add a message give its `id`."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def line(self, **members: Any) -> None:
        self.lines.append(json.dumps(members, ensure_ascii=False).encode() + b"\n")

    def metadata(self, **members: Any) -> None:
        time = "2026-11-30T09:00:00.000Z"
        self.line(**{"sessionId": "s1", "startTime": time, "kind": "main", **members})

    def set(self, **members: Any) -> None:
        self.line(**{"$set": members})

    def message(self, type: Any, content: Any, id: str | None = None, **members: Any) -> str:
        number = len(self.lines) + 1
        id = id or f"m{number}"
        time = f"2026-11-30T09:01:{number % 60:02d}.000Z"
        self.line(**{"id": id, "timestamp": time, "type": type, "content": content, **members})
        return id

    def user(self, *texts: str, id: str | None = None) -> str:
        return self.message("user", [{"text": text} for text in texts], id)

    def responses(self, id: str | None = None) -> str:
        return self.message("user", [response("x")], id)

    def gemini(self, content: Any = "", *calls: Any, id: str | None = None, **more: Any) -> str:
        if calls:
            more["toolCalls"] = list(calls)
        return self.message("gemini", content, id, **{"model": "m-1", **more})

    def context_again(self, *texts: str) -> str:
        return self.user(CONTEXT, *texts)

    def told(self) -> Timeline:
        """The full timeline; a tally of the same lines counts the same."""
        return told_of(b"".join(self.lines))

    def prompts(self) -> list[str]:
        return [entry.span for entry in self.told().entries if entry.kind == "prompt"]

    def calls(self) -> list[Call]:
        return [call for entry in self.told().entries for call in entry.calls]


def response(text: Any, member: str = "output") -> dict[str, Any]:
    return {"functionResponse": {"id": "t1", "name": "x", "response": {member: text}}}


def tool(
    text: Any = None,
    status: Any = "success",
    *,
    name: Any = "read_file",
    id: Any = "t1",
    member: str = "output",
    **members: Any,
) -> dict[str, Any]:
    """An item of `toolCalls`."""
    call = {"id": id, "name": name, "args": {"command": "make"}, "status": status, **members}
    return call if text is None else {"result": [response(text, member)], **call}


def told_of(content: bytes, start: int = 0, place: Place | None = None) -> Timeline:
    timeline = Timeline(lambda text, size: text[:size], start=start, rewrites=True)
    tally = Tally.for_reader(GeminiCli.rewrites)
    for sink in (timeline, tally):
        log = Bytes(content)
        GeminiCli().read(log, place or Place(("/srv/app",)), sink)
    if not start:
        assert plain(tally.counts()) == plain(timeline.counts())
    assert (tally.first, tally.last) == (timeline.first, timeline.last)
    assert list(tally.cwds) == list(timeline.cwds)
    return timeline


class Store:
    """A home with a store of Gemini CLI."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / ".gemini" / "tmp"

    def add(
        self, name: str = "session-1.jsonl", project: str = "p", root: bytes | None = b"/srv/app"
    ) -> Path:
        chats = self.root / project / "chats"
        chats.mkdir(parents=True, exist_ok=True)
        (chats / name).write_bytes(b'{"sessionId":"s"}\n')
        if root is not None:
            (chats.parent / ".project_root").write_bytes(root)
        return chats / name

    def find(self, **environ: str) -> tuple[list[Session], Report]:
        report = Report("gemini-cli")
        return list(GeminiCli().find(Home(str(self.home), environ), report)), report


@pytest.fixture
def log() -> Written:
    return Written()


@pytest.fixture(scope="session")
def tell() -> Callable[..., Timeline]:
    """What the reader tells of any bytes."""
    return told_of


@pytest.fixture(scope="session")
def call() -> Callable[..., dict[str, Any]]:
    """Makes an item of `toolCalls`."""
    return tool


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="session")
def real(real: Path) -> Path:
    """The folder of logs Gemini CLI wrote, with what truly happened."""
    return real / "gemini-cli"
