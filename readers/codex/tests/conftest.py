"""Rollouts of a few lines for the tests, and the timeline that the reader tells of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Home, Place, Report, Session
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback_codex.reader import Codex

NAME = "rollout-2026-03-01T10-00-00-{id}.jsonl"


class Bytes(Log):
    """A log that is in memory."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content

    def blocks(self) -> Iterator[bytes]:
        yield self.content


class Rollout:
    """Builds lines of a rollout, and reads them as the engine would."""

    def line(self, type: Any, payload: Any, **more: Any) -> bytes:
        members = {"timestamp": "2026-03-01T10:00:00.000Z", "type": type, "payload": payload}
        return json.dumps(members | more, ensure_ascii=False).encode() + b"\n"

    def meta(self, cwd: Any = "/srv/app", **more: Any) -> bytes:
        return self.line("session_meta", {"id": "s1", "cwd": cwd, "source": "cli"} | more)

    def event(self, type: str, **members: Any) -> bytes:
        return self.line("event_msg", {"type": type, **members})

    def item(self, type: str, id: Any = "c1", turn_id: str = "t1", **members: Any) -> bytes:
        item = {"type": type, "id": id, **members}
        return self.event("item_completed", turn_id=turn_id, item=item)

    def call(self, name: str = "exec_command", arguments: Any = "{}", **more: Any) -> bytes:
        members = {"type": "function_call", "name": name, "arguments": arguments, "call_id": "c1"}
        return self.line("response_item", members | more)

    def output(self, output: Any, **more: Any) -> bytes:
        members = {"type": "function_call_output", "call_id": "c1", "output": output}
        return self.line("response_item", members | more)

    def aborted(self, reason: str = "interrupted", turn_id: str = "t1") -> bytes:
        return self.event("turn_aborted", turn_id=turn_id, reason=reason)

    def read(self, *lines: bytes, start: int = 0) -> Timeline:
        timeline = Timeline(clip=lambda text, size: text[:size], start=start)
        Codex().read(Bytes(b"".join(lines)), Place(), timeline)
        return timeline

    def tally(self, *lines: bytes) -> Tally:
        tally = Tally.for_reader(Codex.rewrites)
        Codex().read(Bytes(b"".join(lines)), Place(), tally)
        return tally

    def calls(self, *lines: bytes) -> list[tuple[str, str, str | None, int | None]]:
        entries = self.read(*lines).entries
        found = [call for entry in entries for call in entry.calls]
        return [(call.span, call.tool, call.status, call.exit_code) for call in found]

    def ended(self, *lines: bytes, tool: str = "exec_command") -> tuple[Any, Any, str]:
        """Status, exit code and excerpt of the one call of a rollout that makes it first."""
        timeline = self.read(self.call(tool), *lines)
        (call,) = [call for entry in timeline.entries for call in entry.calls]
        return call.status, call.exit_code, call.excerpt

    def prompts(self, *lines: bytes) -> list[tuple[str, str]]:
        entries = self.read(*lines).entries
        return [(entry.span, entry.summary) for entry in entries if entry.kind == "prompt"]


class Store:
    """A Codex home in a temporary folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / ".codex"

    def add(self, place: str, id: str = "s1", suffix: str = "", content: bytes = b"{}\n") -> Path:
        return self.put(f"{place}/{NAME.format(id=id)}{suffix}", content)

    def put(self, name: str, content: bytes = b"{}\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def find(self, environ: dict[str, str] | None = None) -> tuple[list[Session], Report]:
        report = Report("codex")
        return list(Codex().find(Home(str(self.home), environ or {}), report)), report

    def place(self, content: bytes, *, strict: bool = True, suffix: str = "") -> Place:
        self.add("sessions", suffix=suffix, content=content)
        (session,) = self.find()[0]
        return Codex().place(session, strict=strict)


@pytest.fixture(scope="session")
def rollout() -> Rollout:
    return Rollout()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(scope="session")
def real(real: Path) -> Path:
    """The folder of rollouts Codex wrote, with what truly happened."""
    return real / "codex"
