"""A home of its own, sessions in it, and the program to run there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tests.support.machine
from tests.support.machine import Result
from tests.support.submissions_server import Server


class Machine(tests.support.machine.Machine):
    """A home of its own, and a directory to work in."""

    def submit(self, *words: str, stdin: object = b"", **environ: str) -> Result:
        return self.call("submit", *words, stdin=stdin, **environ)

    def records(self) -> list[dict[str, Any]]:
        """Every stored record, oldest first."""
        result = self.call("export")
        assert result.status == 0, result.err
        return [json.loads(line) for line in result.text.splitlines()[1:-1]]

    def said(self, span: str, **more: Any) -> bytes:
        """A line of a session in which the assistant speaks; `model=None` and the like leave a member out."""
        model = more.pop("model", "claude-opus-5-5")
        message = {"role": "assistant", "content": [{"type": "text", "text": "on it"}]}
        members = {
            "type": "assistant",
            "uuid": span,
            "timestamp": "2026-10-08T07:00:09.250Z",
            "cwd": str(self.directory),
            "message": message | ({"model": model} if model else {}),
            **more,
        }
        return json.dumps({name: value for name, value in members.items() if value}).encode()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home, home / "work/shop")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of the API on loopback; what it answers is chosen by its URL (`tests/support/submissions_server.py`)."""
    found = Server(str(tmp_path))
    yield found
    found.shutdown()
    found.server_close()
