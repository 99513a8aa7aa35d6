"""A server in this process, with a key, on a database and a folder of its own."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from agentfeedback_server.app import Server
from agentfeedback_server.settings import Settings
from agentfeedback_web import logs, serve
from tests.support.buckets import bucket
from tests.support.databases import postgres
from tests.support.machine import Machine


class Running:
    """A server that answers: `client` has a key of the organisation `default`; `log` is what it wrote."""

    def __init__(self, settings: Settings) -> None:
        self.log = io.StringIO()
        self.server = Server(settings, logs.log("debug", self.log))
        _, self.key = self.server.access.add(settings.organisation, "of the tests")
        self.client = self.with_key(self.key)

    def with_key(self, key: str) -> TestClient:
        """A client with another key."""
        headers = {"X-Api-Key": key} if key else {}
        return TestClient(
            self.server.app(), "http://server", headers=headers, raise_server_exceptions=False
        )

    def consent(self, organisation: str = "default") -> str:
        """Let sessions be processed, and return the id of the period."""
        return self.server.tenants.of(organisation).consent.enable()

    def lines(self) -> list[dict[str, Any]]:
        """The log, line by line."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def file(self, **members: Any) -> Any:
        """File a submission and return the answer's body."""
        reply = self.client.post("/api/v1/submissions", json={"kind": "note", **members})
        assert reply.status_code in (200, 201), reply.text
        return reply.json()["submission"]


@pytest.fixture(scope="session")
def buckets() -> Iterator[str]:
    """The URL of a bucket on an S3 server, below a prefix."""
    with bucket() as url:
        yield url


@pytest.fixture(params=["sqlite and a folder", "postgres and a bucket"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    """A server on each of the two databases, and on each kind of objects."""
    with ExitStack() as stack:
        if request.param.startswith("sqlite"):
            settings = Settings(f"sqlite:///{tmp_path}/server.db", str(tmp_path / "objects"))
        else:
            objects = request.getfixturevalue("buckets").replace("/prefix", f"/{token_hex(6)}")
            settings = Settings(stack.enter_context(postgres()), objects)
        found = Running(settings)
        stack.callback(found.server.close)
        with found.client:
            yield found


@contextmanager
def listening(running: Running) -> Iterator[str]:
    """The server on a socket of loopback, in a thread of this process; yields its URL."""
    with serve.listening("127.0.0.1", 0) as sock:
        server = uvicorn.Server(serve.configuration(running.server.app(), 1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine that knows of no server."""
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    return Machine(home, home / "work/shop")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Running]:
    """A server on SQLite, for what is the same on both."""
    found = Running(Settings(f"sqlite:///{tmp_path}/server.db", str(tmp_path / "objects")))
    with found.client:
        yield found
    found.server.close()
