"""Where submissions go: the database of this machine, or a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentfeedback.foundation.json_text import RECORD_DEPTH
from agentfeedback_submissions.response import DATABASE, ApiError, ApiResponse, Detail, request_id
from agentfeedback_submissions.service import Service
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote.server import LOCAL, SUBMISSIONS

if TYPE_CHECKING:
    from agentfeedback_submit.remote.client import Client


#: How many times its size a report's answer may have, where each of its values has warnings.
_WARNED = 40


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
        """Create a submission in process; whatever a damaged database makes of it is an answer."""
        try:
            return self.service.file(body.envelope)
        except Exception as error:  # noqa: BLE001 - the report is not lost with the database
            message = f"the local database is damaged ({type(error).__name__})"
            detail = Detail(f"{DATABASE}damaged", "", message)
            return ApiError("unavailable", message, (detail,)).reply(request_id())


class Remote:
    """A server; `until` is the time of `time.monotonic` at which the last answer has to be there."""

    def __init__(self, client: Client, until: float | None = None) -> None:
        self.client = client
        self.name = client.url
        self.until = until

    def send(self, body: Body) -> ApiResponse:
        """Create a submission there."""
        from agentfeedback_submit.remote.client import DEPTH, LARGEST, ORDINARY, VALUES

        # The answer holds the record, and up to a few warnings for each of its values: as much as
        # the body makes them, beyond what any answer may be.
        data = body.data
        opened = data.count(b"{") + data.count(b"[")
        many = opened + data.count(b",")
        return self.client.ask(
            "POST",
            SUBMISSIONS,
            body=data,
            until=self.until,
            most=min(LARGEST, ORDINARY + _WARNED * len(data)),
            values=VALUES + _WARNED * many,
            depth=max(DEPTH, min(RECORD_DEPTH + 3, opened + 10)),
        )
