"""A home of its own, sessions in it, and the program to run there."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.cli.main import main
from tests.support.submissions_server import Server


class Result:
    """What one command line did."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out.decode()
        self.err = err.decode()

    @property
    def outcome(self) -> dict[str, Any]:
        """The outcome line: the last one of standard output."""
        found: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return found


class Machine:
    """A home of its own, and a directory to work in."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.directory = home / "work/shop"
        self.directory.mkdir(parents=True)
        self.environ = {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
        }

    @property
    def database(self) -> Path:
        return self.home / ".local/share/agentfeedback/agentfeedback.db"

    def run(self, *words: str, stdin: object = None, **environ: str) -> Result:
        """Run the program's `main` in this process, in the machine's directory; objects go to stdin as JSON."""
        data = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
        out, err = io.BytesIO(), io.BytesIO()
        before, place, input = dict(os.environ), os.getcwd(), sys.stdin
        os.environ.clear()
        os.environ.update({**self.environ, **environ})
        os.chdir(self.directory)
        sys.stdin = io.TextIOWrapper(io.BytesIO(data))
        try:
            with (
                redirect_stdout(io.TextIOWrapper(out)) as told,
                redirect_stderr(io.TextIOWrapper(err)) as noted,
            ):
                status = main(list(words))
                told.flush()
                noted.flush()
                return Result(status, out.getvalue(), err.getvalue())
        finally:
            sys.stdin = input
            os.chdir(place)
            os.environ.clear()
            os.environ.update(before)

    def submit(self, *words: str, stdin: object = None, **environ: str) -> Result:
        return self.run("submit", *words, stdin=stdin, **environ)

    def records(self) -> list[dict[str, Any]]:
        """Every stored record, oldest first."""
        result = self.run("export")
        assert result.status == 0, result.err
        return [json.loads(line) for line in result.out.splitlines()[1:-1]]

    def config(self, text: str) -> None:
        folder = self.home / ".config/agentfeedback"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text)

    def claude(self, id: str, *lines: bytes) -> None:
        """Write a Claude Code session."""
        path = self.home / ".claude/projects/-srv-app-shop" / f"{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in lines))

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
    return Machine(home)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of the API on loopback; what it answers is chosen by its URL (`tests/support/submissions_server.py`)."""
    found = Server(str(tmp_path))
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def git() -> str:
    found = shutil.which("git")
    if found is None:
        pytest.skip("git is not installed")
    return found
