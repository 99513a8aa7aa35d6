"""The kit's machine with sessions of Claude Code and Codex in it, and lines of their logs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest_agentfeedback.machine
from pytest_agentfeedback.machine import Result

__all__ = ["Machine", "Result"]


def later() -> int:
    """Ten seconds from now, in nanoseconds since the epoch: the facts of a file written just now are kept then."""
    return time.time_ns() + 10_000_000_000


class Machine(pytest_agentfeedback.machine.Machine):
    """A home of its own with sessions in it, and the program to run there."""

    def list_later(self) -> Any:
        """The JSON of `sessions list` by a clock ten seconds ahead, to which files written just now are settled."""
        from agentfeedback.plugins.host import Host
        from agentfeedback.sessions.engine import Engine
        from agentfeedback.wire.encode import plain

        engine = Engine(self.environ, host=Host(self.environ), now=later)
        return plain(engine.listing(None, None, unprocessed=False))

    def together(self, *lines: tuple[str, ...]) -> list[Result]:
        """Run command lines one after another in one process of their own, each with a `Host` of its own.

        For tests of what plugins on the path do to each of several commands: most of the time of a
        process is its start.
        """
        done = self.python(_TOGETHER.format(lines=[list(words) for words in lines]))
        assert done.status == 0, done.err
        return [
            Result(status, out.encode(), err.encode())
            for status, out, err in json.loads(done.out.splitlines()[-1])
        ]

    def claude(
        self, id: str, lines: list[bytes], *, folder: str = "-srv-app-shop", end: bytes = b"\n"
    ) -> Path:
        """Write a Claude Code session of these lines."""
        path = self.home / ".claude/projects" / folder / f"{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(lines) + end if lines else b"")
        return path

    def codex(self, id: str, lines: list[bytes], *, day: str = "2026/11/03") -> Path:
        """Write a Codex rollout of these lines."""
        path = self.home / ".codex/sessions" / day / f"rollout-2026-11-03T10-00-00-{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


_TOGETHER = """
import io, json, sys
from agentfeedback.cli.main import main
found = []
out, err = sys.stdout, sys.stderr
for words in {lines!r}:
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    try:
        status = main(words)
    except SystemExit as end:
        status = end.code
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    found.append([status, *(each.buffer.getvalue().decode() for each in (sys.stdout, sys.stderr))])
sys.stdout, sys.stderr = out, err
print(json.dumps(found))
"""


def line(**members: Any) -> bytes:
    """One record of a log."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def prompt(span: str, text: str = "fix it", cwd: str = "/srv/app/shop", second: int = 0) -> bytes:
    """A Claude Code prompt."""
    return line(
        type="user",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd=cwd,
        message={"role": "user", "content": text},
    )


def call(span: str, id: str, command: str = "make", second: int = 0) -> bytes:
    """A Claude Code tool call."""
    return line(
        type="assistant",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd="/srv/app/shop",
        message={
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}
            ],
        },
    )


def failed(span: str, id: str, text: str = "Exit code 2\nno rule", second: int = 0) -> bytes:
    """The failed result of a Claude Code tool call."""
    return line(
        type="user",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd="/srv/app/shop",
        message={
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": True}
            ],
        },
    )


def meta(cwd: Any = "/srv/app/shop", second: int = 0, **more: Any) -> bytes:
    """The first line of a Codex rollout."""
    return codex_line("session_meta", second, id="s1", cwd=cwd, source="cli", **more)


def codex_line(kind: str, second: int = 0, **payload: Any) -> bytes:
    """A line of a Codex rollout."""
    return line(timestamp=f"2026-11-03T10:00:{second:02d}.000Z", type=kind, payload=payload)


def typed(text: str = "fix it", second: int = 0) -> bytes:
    """A Codex prompt."""
    return codex_line("event_msg", second, type="user_message", message=text)
