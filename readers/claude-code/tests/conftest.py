"""A transcript written line by line, and what the reader tells of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Place
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.reading.timeline_entries import Call
from agentfeedback_claude_code.reader import ClaudeCode


class _Bytes(Log):
    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = content

    def blocks(self) -> Iterator[bytes]:
        yield self._content


class Written:
    """Lines of a transcript; every method that adds one gives the `uuid` of its entry."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def line(self, type: str, **members: Any) -> str:
        number = len(self.lines) + 1
        uuid = f"u{number}"
        entry = {
            "type": type,
            "uuid": uuid,
            "timestamp": f"2026-11-30T09:00:{number % 60:02d}.000Z",
            "cwd": "/srv/app/work",
            **members,
        }
        self.lines.append(json.dumps(entry, ensure_ascii=False).encode())
        return uuid

    def user(self, content: Any, **members: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **members)

    def assistant(self, *blocks: Any, id: str = "msg_1", model: str = "m-1", **members: Any) -> str:
        message = {"id": id, "model": model, "role": "assistant", "content": list(blocks)}
        return self.line("assistant", message=message, **members)

    def call(self, id: str = "t1", tool: str = "Bash", message_id: str = "msg_1") -> str:
        block = {"type": "tool_use", "id": id, "name": tool, "input": {"command": "make"}}
        return self.assistant(block, id=message_id)

    def result(
        self, content: Any, is_error: bool | None = True, id: str = "t1", **members: Any
    ) -> str:
        block = {"type": "tool_result", "tool_use_id": id, "content": content}
        if is_error is not None:
            block["is_error"] = is_error
        return self.user([block], **members)

    def queued(self, prompt: Any, *, attachment: dict[str, Any] | None = None, **more: Any) -> str:
        members = {"type": "queued_command", "commandMode": "prompt", "prompt": prompt}
        return self.line("attachment", attachment={**members, **(attachment or {})}, **more)

    def told(self, start: int = 0) -> Timeline:
        """The full timeline from an offset on; the counts of a whole one are those of a tally of the same lines."""
        content = b"".join(line + b"\n" for line in self.lines)
        timeline = Timeline(clip=lambda text, length: text[:length], start=start)
        ClaudeCode().read(_Bytes(content), Place(), timeline)
        if start:
            return timeline
        tally = Tally.for_reader(ClaudeCode.rewrites)
        ClaudeCode().read(_Bytes(content), Place(), tally)
        assert str(tally.counts()) == str(timeline.counts())
        return timeline

    def prompts(self) -> list[tuple[str, str]]:
        """Span and first line of each prompt."""
        return [(e.span, e.summary) for e in self.told().entries if e.kind == "prompt"]

    def calls(self) -> list[Call]:
        return [call for entry in self.told().entries for call in entry.calls]


@pytest.fixture
def log() -> Written:
    return Written()


@pytest.fixture(scope="session")
def new_log() -> type[Written]:
    """Makes an empty transcript: for tests that write many."""
    return Written


@pytest.fixture(scope="session")
def real(real: Path) -> Path:
    """The folder of stores Claude Code wrote, one for each version, with what truly happened."""
    return real / "claude-code"
