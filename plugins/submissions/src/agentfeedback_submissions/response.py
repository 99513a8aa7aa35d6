"""What the API answers, in process and over HTTP alike. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from agentfeedback.foundation.canonical import compact

STATUS = {
    "bad_request": 400,
    "validation_error": 400,
    "unauthorized": 401,
    "not_found": 404,
    "method_not_allowed": 405,
    "replay_mismatch": 409,
    "request_too_large": 413,
    "rate_limited": 429,
    "internal_error": 500,
    "unavailable": 503,
}
#: The code of a detail that says why a database is unavailable: it was made by a newer program.
SCHEMA_TOO_NEW = "schema_too_new"
#: What the codes of details begin with that say why a database is unavailable.
DATABASE = "database_"
#: The status of a reply that never came.
UNANSWERED = 0


@frozen(eq=False)
class ApiResponse:
    """One answer: the status of HTTP, the headers that belong to it, and the body as a tree of JSON.

    The header `Retry-After`, where there is one, is a whole number of seconds.
    `text` takes the place of the body where it is not a JSON object (an export).
    """

    status: int
    body: Any
    request_id: str = ""
    headers: Mapping[str, str] = field(factory=dict)
    text: bytes | None = None

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300

    def encoded(self) -> bytes:
        """The body as it is sent."""
        return compact(self.body) if self.text is None else self.text


@frozen
class Detail:
    """What is wrong with one member or parameter; `?name` points at a parameter."""

    code: str
    pointer: str
    message: str
    existing_id: int | None = None

    def plain(self) -> dict[str, Any]:
        """The detail as it is shown."""
        shown: dict[str, Any] = {
            "code": self.code,
            "pointer": self.pointer,
            "message": self.message,
        }
        if self.existing_id is not None:
            shown["existing_id"] = self.existing_id
        return shown


class ApiError(Exception):
    """A request that is refused: an error code of the API, a sentence, and what it is about."""

    def __init__(self, code: str, message: str, details: Sequence[Detail] = ()) -> None:
        super().__init__(code, message, details)
        self.code = code
        self.message = message
        self.details = details

    def reply(self, request_id: str) -> ApiResponse:
        """The refusal as an answer."""
        body: dict[str, Any] = {
            "error": self.code,
            "message": self.message,
            "request_id": request_id,
        }
        if self.details:
            body["details"] = [detail.plain() for detail in self.details]
        headers = {"Retry-After": "1"} if self.code == "unavailable" else {}
        return ApiResponse(STATUS[self.code], body, request_id, headers)


def invalid(code: str, pointer: str, message: str) -> ApiError:
    """A `validation_error` about one member or parameter."""
    return ApiError("validation_error", message, (Detail(code, pointer, message),))


def unanswered(reason: Literal["network", "timeout"]) -> ApiResponse:
    """In place of an answer that did not come, with a word that says why."""
    return ApiResponse(UNANSWERED, {"error": reason, "message": _UNANSWERED[reason]})


_UNANSWERED = {
    "network": "the server cannot be reached",
    "timeout": "the server did not answer in time",
}


def request_id() -> str:
    """A new id of a request: 32 hex digits."""
    return secrets.token_hex(16)
