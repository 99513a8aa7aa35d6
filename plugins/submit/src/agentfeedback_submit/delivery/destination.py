"""Where submissions go: the database of this machine, or a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submissions.service import Service
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote.server import LOCAL, SUBMISSIONS

if TYPE_CHECKING:
    from agentfeedback_submit.remote.client import Client


class Destination(Protocol):
    """Where submissions go: `name` is `local` or a base URL."""

    @property
    def name(self) -> str:
        """What a spool entry is bound to."""

    def send(self, body: Body) -> ApiResponse:
        """Create a submission. A missing answer is a response too; nothing is raised."""


class Local:
    """The database of this machine."""

    name = LOCAL

    def __init__(self, service: Service) -> None:
        self.service = service

    def send(self, body: Body) -> ApiResponse:
        """Create a submission in process."""
        return self.service.file(body.envelope)


class Remote:
    """A server; `until` is the time of `time.monotonic` at which the last answer has to be there."""

    def __init__(self, client: Client, until: float | None = None) -> None:
        self.client = client
        self.name = client.url
        self.until = until

    def send(self, body: Body) -> ApiResponse:
        """Create a submission there."""
        return self.client.ask("POST", SUBMISSIONS, body=body.data, until=self.until)
