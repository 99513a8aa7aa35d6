"""Where submissions are for the tools of this machine: its own database, or the server that is configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from agentfeedback.foundation.json_text import RECORD_DEPTH
from agentfeedback.plugins.host import Host
from agentfeedback_mcp.tools.call import Api, working_directory
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submit.context import SubmitContext
from agentfeedback_submit.remote.client import LARGEST, Client
from agentfeedback_submit.remote.server import SUBMISSIONS

#: Records in an answer, each as deep as a record may be.
_DEPTH = RECORD_DEPTH + 3


class LocalBacking:
    """The mode that configuration and environment choose when it is made."""

    def __init__(self, environ: Mapping[str, str], host: Host) -> None:
        self._run = SubmitContext(environ, host, working_directory())

    def api(self) -> Api:
        """The API in process, or that of the server."""
        server = self._run.server()
        return self._run.service if server is None else _Routes(Client(server))

    def scrubbed(self, tree: Any) -> Any:
        """A tree of JSON without secrets of known formats."""
        return self._run.engine.scrubber.tree(tree)


class _Routes:
    """The routes of a server, whose answers go on as they are."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def list(self, query: Query) -> ApiResponse:
        return self._client.ask("GET", SUBMISSIONS, query=query, most=LARGEST, depth=_DEPTH)

    def get(self, name: str) -> ApiResponse:
        path = f"{SUBMISSIONS}/{quote(name, safe='')}"
        return self._client.ask("GET", path, most=LARGEST, depth=_DEPTH)

    def stats(self, query: Query) -> ApiResponse:
        return self._client.ask("GET", "/api/v1/stats", query=query)

    def mark_all(self, body: bytes) -> ApiResponse:
        return self._client.ask("POST", f"{SUBMISSIONS}/processed", body=body)

    def schema(self, kind: str, version: str) -> ApiResponse:
        return self._client.ask("GET", f"/api/v1/schemas/{quote(kind, safe='')}/{version}")
