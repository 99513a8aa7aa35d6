"""A server in this process, with a key, on a database and a folder of its own."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from agentfeedback_server.app import Server
from agentfeedback_server.settings import Settings
from agentfeedback_web import logs
from tests.support.databases import postgres


class Running:
    """A server that answers: `client` has a key of the organisation `default`; `log` is what it wrote."""

    def __init__(self, settings: Settings) -> None:
        self.log = io.StringIO()
        self.server = Server(settings, logs.log("debug", self.log))
        _, self.key = self.server.access.add("default", "of the tests")
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


@pytest.fixture(params=["sqlite", "postgres"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    """A server on each of the two databases."""
    with ExitStack() as stack:
        url = f"sqlite:///{tmp_path}/server.db"
        if request.param == "postgres":
            url = stack.enter_context(postgres())
        found = Running(Settings(url, str(tmp_path / "objects")))
        stack.callback(found.server.close)
        with found.client:
            yield found


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Running]:
    """A server on SQLite, for what is the same on both."""
    found = Running(Settings(f"sqlite:///{tmp_path}/server.db", str(tmp_path / "objects")))
    with found.client:
        yield found
    found.server.close()
