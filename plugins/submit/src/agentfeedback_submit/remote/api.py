"""The API of a server, asked by the same methods as the one in process (`service.Service`).

A server's answer is checked before a command shows it: what has not the shape of the API is an
error of the server, not one of the program.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn
from urllib.parse import quote

from attrs import evolve

from agentfeedback.config.resolve import VARIABLES
from agentfeedback.foundation import times
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.json_text import RECORD_DEPTH, Number
from agentfeedback.scrub import cut
from agentfeedback_submissions import export, queries
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import UNANSWERED, ApiError, ApiResponse
from agentfeedback_submissions.shape import MisfitError, fitted
from agentfeedback_submit.remote.client import LARGEST, ORDINARY, Client, StreamBroken
from agentfeedback_submit.remote.server import SUBMISSIONS
from agentfeedback_submit.remote.shapes import Imported, MarkedIds, Page, Record, Stats

Scrub = Callable[[str], str]
#: How much of a server's message is shown, in bytes of UTF-8.
_MESSAGE = 2000
_CURSORS = ("next_before_id", "next_after_id")
#: Seconds an import may take: megabytes, where other bodies are a page of text.
_LONG = 60.0


class RemoteApi:
    """One server; `scrub` is for its texts. Every method raises `AgentFeedbackError` for a server that does not answer as wanted."""

    def __init__(self, client: Client, scrub: Scrub) -> None:
        self.client = client
        self.scrub = scrub

    def named(self, uid: str) -> str | None:
        """A server finds no record by its uid. Raises `UsageError`."""
        raise UsageError(f"a server is not asked for {uid}", "name its reports by id")

    def get(self, name: str) -> ApiResponse:
        """One record; 404 where there is none."""
        return self._one("GET", name)

    def list(self, query: Query) -> ApiResponse:
        """A page of records."""
        if wrong := _checked_here(queries.listing, query):
            return wrong
        reply = self._checked(self._ask("GET", SUBMISSIONS, query=query, most=LARGEST), Page)
        # A cursor that does not go on is null, or is not there: both say the same.
        cursors = {name: reply.body.pop(name, None) for name in _CURSORS}
        return evolve(reply, body={**reply.body, **cursors})

    def mark_all(self, body: bytes) -> ApiResponse:
        """Mark records as processed, or take that back."""
        if wrong := _checked_here(queries.batch, body):
            return wrong
        reply = self._checked(self._ask("POST", f"{SUBMISSIONS}/processed", body=body), MarkedIds)
        found = [*reply.body["updated"], *reply.body["unchanged"], *reply.body["not_found"]]
        if sorted(found) != sorted(set(queries.batch(body)[0])):
            raise _malformed("it does not name each report that was asked for once")
        return reply

    def redact(self, name: str) -> ApiResponse:
        """Leave a tombstone."""
        return self._one("DELETE", name)

    def stats(self, query: Query) -> ApiResponse:
        """How many records there are, by column and by day or week."""
        if wrong := _checked_here(queries.numbers, query):
            return wrong
        return self._checked(self._ask("GET", "/api/v1/stats", query=query), Stats)

    def import_(self, body: bytes, *, limit: int = export.IMPORT_LIMIT) -> ApiResponse:
        """Records of an export; a server takes no more than 32 MiB, whatever `limit` is."""
        if len(body) > export.IMPORT_LIMIT:
            raise AgentFeedbackError(
                f"a server takes at most {export.IMPORT_LIMIT} bytes of an export",
                "export it in parts, with --after",
            )
        reply = self._ask(
            "POST", "/api/v1/import", body=body, type=export.TYPE, total=_LONG, most=LARGEST
        )
        return self._checked(reply, Imported)

    def exported(self, query: Query) -> Iterator[bytes]:
        """An export as the server writes it, passed on as it comes.

        It is verified on the way: raises `AgentFeedbackError` at its end unless it was whole.
        """
        queries.exported(query)
        with self.client.stream("GET", "/api/v1/export", query=query) as answer:
            if isinstance(answer, ApiResponse):
                self._refuse(answer)
            try:
                yield from export.Verified(answer)
            except ApiError as error:
                raise AgentFeedbackError(
                    f"the export of {self.client.url} is not whole: {self.scrub(error.message)}",
                    "run the command again",
                ) from None
            except StreamBroken as error:
                raise self._not_reached(error.reason) from None

    def _one(self, method: str, name: str) -> ApiResponse:
        path = f"{SUBMISSIONS}/{quote(name, safe='')}"
        reply = self.client.ask(method, path, most=LARGEST, depth=RECORD_DEPTH + 1)
        if reply.status == 404 and _is_missing(reply.body, name):
            message = f"there is no submission {name}"
            return evolve(reply, body={"error": "not_found", "message": message})
        if not reply.ok:
            self._refuse(reply)
        return self._checked(reply, Record)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: bytes | None = None,
        total: float = 0.0,
        type: str = "application/json",
        most: int = ORDINARY,
    ) -> ApiResponse:
        reply = self.client.ask(
            method,
            path,
            query=query,
            body=body,
            type=type,
            total=total,
            most=most,
            depth=RECORD_DEPTH + 3,
        )
        if not reply.ok:
            self._refuse(reply)
        return reply

    def _refuse(self, reply: ApiResponse) -> NoReturn:
        """Raise what a person should know of an answer that is not what was asked for."""
        url, status = self.client.url, reply.status
        body: dict[str, Any] = reply.body if isinstance(reply.body, dict) else {}
        message = body.get("message")
        if status == UNANSWERED:
            raise self._not_reached(str(body.get("error")))
        if status in (401, 403):
            raise AgentFeedbackError(
                f"{url} refuses the key ({status})", f"correct api_key or {VARIABLES['api_key']}"
            )
        if status == 429:
            seconds = int(reply.headers.get("Retry-After", "0"))
            after = times.table_form(time.time_ns() + seconds * 10**9) if seconds else ""
            raise AgentFeedbackError(
                f"{url} asks to wait", f"try again after {after}" if after else "try again later"
            )
        if 500 <= status < 600:
            raise AgentFeedbackError(f"{url} fails ({status})", "try again later")
        if status in (400, 409, 413) and isinstance(message, str) and message:
            raise AgentFeedbackError("\n".join(map(self._shown, (message, *_details(body)))))
        raise AgentFeedbackError(
            f"{url} is not an agentfeedback server ({status})",
            f"correct url or {VARIABLES['url']}",
        )

    def _not_reached(self, reason: str) -> AgentFeedbackError:
        return AgentFeedbackError(
            f"{self.client.url} cannot be reached ({reason})",
            "check the network and the url, or use --local",
        )

    def _shown(self, text: str) -> str:
        return cut(self.scrub(text), _MESSAGE)

    def _checked(self, reply: ApiResponse, shape: type[Any]) -> ApiResponse:
        """A reply whose body has the shape; members that the shape does not name stay as they are."""
        body = reply.body
        if shape is Page and isinstance(body, dict):
            unset = {name for name in _CURSORS if name in body and body[name] is None}
            body = {name: value for name, value in body.items() if name not in unset}
        try:
            fitted(body, shape)
        except MisfitError as error:
            raise _malformed(str(error)) from None
        body = _with_numbers(self.client.without_key(body))
        if shape is Page and body["has_more"] and not body.keys() & set(_CURSORS):
            raise _malformed("has_more is true, and there is no cursor")
        if shape is Stats and not all(
            isinstance(value, str | int)
            for item in body.get("groups", ())
            for value in item["keys"].values()
        ):
            raise _malformed("groups have values that are not of a column")
        return evolve(reply, body=body)


def _checked_here(read: Callable[[Any], Any], given: Any) -> ApiResponse | None:
    """The refusal of what no server would take: the command line is wrong then, in either mode alike."""
    try:
        read(given)
    except ApiError as refusal:
        return refusal.reply("")
    return None


def _is_missing(body: Any, name: str) -> bool:
    """Whether an answer with status 404 says that there is no such record, not that there is no such route."""
    if not isinstance(body, dict) or body.get("error") != "not_found":
        return False
    message = body.get("message")
    return isinstance(message, str) and name in re.split(r"[^0-9A-Za-z_-]+", message)


def _details(body: dict[str, Any]) -> list[str]:
    details = body.get("details")
    messages = [
        item.get("message")
        for item in (details if isinstance(details, list) else ())
        if isinstance(item, dict)
    ]
    return [each for each in messages if isinstance(each, str) and each != body["message"]]


def _malformed(problem: str) -> AgentFeedbackError:
    return AgentFeedbackError(
        f"the server's answer is not one of this API: {problem}",
        f"correct url or {VARIABLES['url']}",
    )


def _with_numbers(value: Any) -> Any:
    """A tree whose whole numbers are integers, those that a payload spells in another way left alone."""
    if isinstance(value, dict):
        return {name: _with_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_numbers(item) for item in value]
    if isinstance(value, Number) and value.text.isdecimal() and len(value.text) < 19:
        return int(value.text)
    return value
