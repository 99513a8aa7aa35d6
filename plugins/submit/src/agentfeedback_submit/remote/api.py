"""The API of a server, asked by the same methods as the one in process (`service.Service`; platform details 9).

A server's answer is checked before a command shows it: what has not the shape of the API is an
error of the server, not one of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from attrs import evolve

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.json_text import RECORD_DEPTH, NotJson, Number, parse
from agentfeedback_submissions import export, queries
from agentfeedback_submissions.filters import Filters
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import UNANSWERED, ApiError, ApiResponse
from agentfeedback_submissions.row import SubmissionRow
from agentfeedback_submissions.texts import time_form
from agentfeedback_submit.remote.client import Client
from agentfeedback_submit.remote.server import SUBMISSIONS

Scrub = Callable[[str], str]
_TEXTS = (
    "uid",
    "kind",
    "key",
    "summary",
    "machine",
    "model",
    "harness",
    "project",
    "occurred_at",
    "created_at",
    "processed_at",
    "verdict",
    "resolution",
    "ref",
    "processed_by",
    "redacted_at",
)
_ADVICE = {
    UNANSWERED: "check the url and the network",
    401: "set the key that the server was given",
    404: "check the url",
}
#: Seconds a page of an export or an import may take: megabytes, where other answers are a page of text.
_LONG = 60.0


class RemoteApi:
    """One server; `scrub` is for its texts."""

    def __init__(self, client: Client, scrub: Scrub) -> None:
        self.client = client
        self.scrub = scrub

    def named(self, uid: str) -> str | None:
        """A server finds no record by its uid. Raises `UsageError`."""
        raise UsageError(f"a server is not asked for {uid}", "name its reports by id")

    def get(self, name: str) -> ApiResponse:
        """One record."""
        return self._checked(self._ask("GET", f"{SUBMISSIONS}/{quote(name, safe='')}"), _record)

    def list(self, query: Query) -> ApiResponse:
        """A page of records."""
        return self._checked(self._ask("GET", SUBMISSIONS, query=query), _page)

    def mark_all(self, body: bytes) -> ApiResponse:
        """Mark records as processed, or take that back."""
        return self._checked(self._ask("POST", f"{SUBMISSIONS}/processed", body=body), _marked)

    def redact(self, name: str) -> ApiResponse:
        """Leave a tombstone."""
        return self._checked(self._ask("DELETE", f"{SUBMISSIONS}/{quote(name, safe='')}"), _record)

    def stats(self, query: Query) -> ApiResponse:
        """How many records there are, by column and by day or week."""
        return self._checked(self._ask("GET", "/api/v1/stats", query=query), _numbers)

    def import_(self, body: bytes, *, limit: int = export.IMPORT_LIMIT) -> ApiResponse:
        """Records of an export; a server takes no more than 32 MiB, whatever `limit` is."""
        if len(body) > export.IMPORT_LIMIT:
            raise AgentFeedbackError(
                f"a server takes at most {export.IMPORT_LIMIT} bytes of an export",
                "export it in parts, with --after",
            )
        reply = self._ask("POST", "/api/v1/import", body=body, type=export.TYPE, total=_LONG)
        return self._checked(reply, _imported)

    def everything(self, filters: Filters, after: int = 0) -> Iterator[SubmissionRow]:
        """All records of an export with a larger id, oldest first, page by page; each page is verified."""
        fixed = [("kind", filters.equal["kind"])] if "kind" in filters.equal else []
        if filters.since is not None:
            fixed.append(("since", time_form(filters.since)))
        while True:
            query = [*fixed, ("after_id", str(after)), ("limit", str(queries.PAGE))]
            reply = self._ask("GET", "/api/v1/export", query=query, total=_LONG)
            if not reply.ok:
                raise AgentFeedbackError(reply.body["message"], _ADVICE.get(reply.status, ""))
            try:
                rows = list(_rows(reply.text or b""))
            except (ApiError, NotJson, UnexpectedAnswer):
                raise _malformed() from None
            yield from rows
            if len(rows) < queries.PAGE:
                return
            if rows[-1].id <= after:
                raise _malformed()
            after = rows[-1].id

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: bytes | None = None,
        total: float = 0.0,
        type: str = "application/json",
    ) -> ApiResponse:
        reply = self.client.ask(method, path, query=query, body=body, type=type, total=total)
        return reply if reply.ok else self._refused(reply)

    def _refused(self, reply: ApiResponse) -> ApiResponse:
        """A refusal with a code and a sentence that can be shown."""
        told: dict[str, Any] = reply.body if isinstance(reply.body, dict) else {}
        error, message = told.get("error"), told.get("message")
        if not isinstance(error, str) or not isinstance(message, str) or not message:
            error, message = "unavailable", f"the server answers with status {reply.status}"
        return evolve(reply, body={"error": error, "message": self.scrub(message)[:2000]})

    def _checked(self, reply: ApiResponse, check: Callable[[Any], None]) -> ApiResponse:
        if not reply.ok:
            return reply
        try:
            check(reply.body)
        except UnexpectedAnswer:
            raise _malformed() from None
        return reply


class UnexpectedAnswer(Exception):
    """An answer that has not the shape of the API."""


def _malformed() -> AgentFeedbackError:
    return AgentFeedbackError("the server's answer is none of this API", "check the url")


def _rows(text: bytes) -> Iterator[SubmissionRow]:
    lines = text.split(b"\n")[1:-2]
    for row, line in zip(export.rows_of(text), lines, strict=True):
        record = parse(line, depth=RECORD_DEPTH).value
        _record(record)
        yield evolve(row, id=record["id"])


def _need(holds: object) -> None:
    if not holds:
        raise UnexpectedAnswer


def _number(place: Any, name: str, *, needed: bool = True) -> None:
    """Make a member a whole number."""
    _need(isinstance(place, dict))
    if name not in place:
        _need(not needed)
        return
    value = place[name]
    _need(isinstance(value, Number) and value.text.isdecimal() and len(value.text) < 19)
    place[name] = int(value.text)


def _record(record: Any) -> None:
    _number(record, "id")
    _number(record, "schema_version", needed=False)
    for name in _TEXTS:
        needed = name in ("kind", "created_at")
        _need(isinstance(record.get(name, None if needed else ""), str))
    for name in ("context", "payload"):
        _need(isinstance(record.get(name, {}), dict))


def _items(body: Any, name: str) -> list[Any]:
    found = body.get(name, [])
    _need(isinstance(found, list))
    return list(found)


def _page(body: Any) -> None:
    for name in ("total", "limit"):
        _number(body, name)
    for name in ("next_before_id", "next_after_id"):
        _number(body, name, needed=False)
    more = body.get("has_more")
    _need(isinstance(more, bool) and isinstance(body.get("submissions"), list))
    _need(not more or "next_before_id" in body or "next_after_id" in body)
    for record in body["submissions"]:
        _record(record)


def _marked(body: Any) -> None:
    for name in ("updated", "unchanged"):
        _number(body, name)


def _numbers(body: Any) -> None:
    for name in ("total", "unprocessed"):
        _number(body, name)
    _number(body, "other", needed="groups" in body)
    for item in (*_items(body, "groups"), *_items(body, "buckets")):
        _number(item, "count")
    for item in _items(body, "groups"):
        for name, value in item.items():
            if isinstance(value, Number):
                _number(item, name)
    for item in _items(body, "buckets"):
        _need(isinstance(item.get("start"), str))


def _imported(body: Any) -> None:
    for name in ("imported", "skipped", "conflicts"):
        _number(body, name)
    for item in _items(body, "warnings"):
        _need(isinstance(item, dict) and isinstance(item.get("message"), str))
