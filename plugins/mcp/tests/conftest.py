"""A home of its own with sessions in it, the program to run there, and the SDK's own client beside it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import tests.support.machine
from tests.support.machine import Result
from tests.support.submissions_server import Server


class Machine(tests.support.machine.Machine):
    """A home of its own with sessions in it, a directory to work in, and a server to talk to."""

    def done(self, *words: str, stdin: bytes = b"") -> Result:
        """A command that succeeds."""
        result = self.call(*words, stdin=stdin)
        assert result.status == 0, result.err
        return result

    def json(self, *words: str, stdin: bytes = b"") -> Any:
        """The JSON of the last line that a command prints."""
        return self.done(*words, stdin=stdin).outcome

    def records(self) -> list[dict[str, Any]]:
        """Every stored record, oldest first."""
        return [json.loads(line) for line in self.done("export").out.splitlines()[1:-1]]

    def start(self) -> subprocess.Popen[bytes]:
        """A server to be spoken to by lines."""
        return subprocess.Popen(
            self.argv("mcp"),
            env=self.environ,
            cwd=self.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def spoken(self, *lines: bytes) -> tuple[list[dict[str, Any]], str]:
        """What a server answers to the handshake and these lines, until it ends; and its standard error."""
        with self.start() as process:
            out, err = process.communicate(b"\n".join((*HANDSHAKE, *lines)) + b"\n", timeout=60)
        assert process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()][1:], err.decode()

    def talk(self, story: Callable[[Client], Awaitable[None]], mode: Any = "auto") -> None:
        """Let the SDK's client talk to a server of its own."""

        async def told() -> None:
            with anyio.fail_after(60):
                async with Client(stdio_client(self.parameters), mode=mode) as client:
                    await story(client)

        anyio.run(told)

    @property
    def parameters(self) -> StdioServerParameters:
        program, *words = self.argv("mcp")
        return StdioServerParameters(
            command=program, args=words, env=self.environ, cwd=str(self.directory)
        )

    def line(self, type: str, span: str, content: Any, **more: Any) -> bytes:
        """A line of a session; members that are None are left out."""
        members = {
            "type": type,
            "uuid": span,
            "timestamp": "2026-10-08T07:00:09.250Z",
            "cwd": str(self.directory),
            "message": {"role": type, "model": "claude-opus-5-5", "content": content},
            **more,
        }
        return json.dumps({name: value for name, value in members.items() if value}).encode()

    def friction(self, id: str = "s1") -> None:
        """A session in which a call failed: spans u-1 to u-3."""
        use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
        result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True}
        self.claude(
            id,
            [
                self.line("user", "u-1", "build it"),
                self.line("assistant", "u-2", [use]),
                self.line("user", "u-3", [result | {"content": "Exit code 2\nno rule"}]),
            ],
        )


#: What opens a connection of the older protocol.
HANDSHAKE = (
    (
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
    ),
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home, home / "work/shop")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of the API on loopback."""
    found = Server(str(tmp_path))
    yield found
    found.shutdown()
    found.server_close()
