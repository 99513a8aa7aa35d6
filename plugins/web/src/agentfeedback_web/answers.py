"""Answers over HTTP: JSON, and refusals with one shape of error body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from agentfeedback.foundation.canonical import compact

JSON = "application/json"


class HttpError(Exception):
    """A request that is refused: its status, an error code, a sentence, and further members of the body."""

    def __init__(
        self,
        status: int,
        error: str,
        message: str,
        members: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, error, message, members, headers)
        self.status = status
        self.error = error
        self.message = message
        self.members = members or {}
        self.headers = headers or {}

    def response(self, request_id: str) -> Response:
        """The refusal as an answer."""
        body = {"error": self.error, "message": self.message, "request_id": request_id}
        return json(body | dict(self.members), self.status, self.headers)


def json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A tree of JSON, numbers as they are spelled."""
    return Response(compact(body), status, dict(headers or {}), media_type=JSON)


def not_found(message: str = "there is no such route") -> HttpError:
    """404."""
    return HttpError(404, "not_found", message)


def unavailable(message: str) -> HttpError:
    """503, to be tried again in a second."""
    return HttpError(503, "unavailable", message, headers={"Retry-After": "1"})


def too_large(message: str, members: Mapping[str, Any] | None = None) -> HttpError:
    """413."""
    return HttpError(413, "request_too_large", message, members)


def bad_request(message: str) -> HttpError:
    """400 for a body that cannot be read at all."""
    return HttpError(400, "bad_request", message)


def invalid(code: str, pointer: str, message: str) -> HttpError:
    """400 for one member (a JSON pointer) or parameter (`?name`)."""
    detail = {"code": code, "pointer": pointer, "message": message}
    return HttpError(400, "validation_error", message, {"details": [detail]})
