"""The API of a server, asked by the same methods as the one in process (`service.Service`).

A server's answer is checked before a command shows it: what has not the shape of the API is an
error of the server, not one of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from attrs import evolve, field, frozen

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.json_text import Number
from agentfeedback.scrub import cut
from agentfeedback_submissions import export, queries
from agentfeedback_submissions.filters import Filters
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import UNANSWERED, ApiError, ApiResponse
from agentfeedback_submissions.row import SubmissionRow
from agentfeedback_submissions.shape import MisfitError, fitted
from agentfeedback_submissions.texts import time_form
from agentfeedback_submit.remote.client import Client
from agentfeedback_submit.remote.server import SUBMISSIONS

Scrub = Callable[[str], str]
#: How much of a server's message is shown, in bytes of UTF-8.
_MESSAGE = 2000
_CURSORS = {"next_before_id", "next_after_id"}
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
        return self._checked(self._ask("GET", f"{SUBMISSIONS}/{quote(name, safe='')}"), _Record)

    def list(self, query: Query) -> ApiResponse:
        """A page of records."""
        return self._checked(self._ask("GET", SUBMISSIONS, query=query), _Page)

    def mark_all(self, body: bytes) -> ApiResponse:
        """Mark records as processed, or take that back."""
        return self._checked(self._ask("POST", f"{SUBMISSIONS}/processed", body=body), _Marked)

    def redact(self, name: str) -> ApiResponse:
        """Leave a tombstone."""
        return self._checked(self._ask("DELETE", f"{SUBMISSIONS}/{quote(name, safe='')}"), _Record)

    def stats(self, query: Query) -> ApiResponse:
        """How many records there are, by column and by day or week."""
        return self._checked(self._ask("GET", "/api/v1/stats", query=query), _Stats)

    def import_(self, body: bytes, *, limit: int = export.IMPORT_LIMIT) -> ApiResponse:
        """Records of an export; a server takes no more than 32 MiB, whatever `limit` is."""
        if len(body) > export.IMPORT_LIMIT:
            raise AgentFeedbackError(
                f"a server takes at most {export.IMPORT_LIMIT} bytes of an export",
                "export it in parts, with --after",
            )
        reply = self._ask("POST", "/api/v1/import", body=body, type=export.TYPE, total=_LONG)
        return self._checked(reply, _Imported)

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
                rows = export.rows_of(reply.text or b"")
            except ApiError as error:
                raise _malformed(cut(self.scrub(error.message), _MESSAGE)) from None
            yield from rows
            if len(rows) < queries.PAGE:
                return
            if rows[-1].id <= after:
                raise _malformed("its records are not those after the last ones")
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
        body: dict[str, Any] = reply.body if isinstance(reply.body, dict) else {}
        error, message = body.get("error"), body.get("message")
        if not isinstance(error, str) or not isinstance(message, str) or not message:
            error, message = "unavailable", f"the server answers with status {reply.status}"
        return evolve(reply, body={"error": error, "message": cut(self.scrub(message), _MESSAGE)})

    def _checked(self, reply: ApiResponse, shape: type[Any]) -> ApiResponse:
        """A reply whose body has the shape; members that the shape does not name stay as they are."""
        if not reply.ok:
            return reply
        body = reply.body
        if shape is _Page and isinstance(body, dict):
            # A cursor that does not go on is null, or is not there: both say the same.
            unset = {name for name in _CURSORS if name in body and body[name] is None}
            body = {name: value for name, value in body.items() if name not in unset}
        try:
            fitted(body, shape)
        except MisfitError as error:
            raise _malformed(str(error)) from None
        body = _with_numbers(body)
        if shape is _Page and body["has_more"] and not _CURSORS & body.keys():
            raise _malformed("has_more is true, and there is no cursor")
        if shape is _Stats and "groups" in body and "other" not in body:
            raise _malformed("other is missing")
        if shape is _Stats and not all(
            isinstance(value, str | int)
            for item in body.get("groups", ())
            for value in item.values()
        ):
            raise _malformed("groups have values that are not of a column")
        return evolve(reply, body=body)


def _malformed(problem: str) -> AgentFeedbackError:
    return AgentFeedbackError(
        f"the server's answer is not one of this API: {problem}", "check the url"
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


@frozen(eq=False)
class _Record:
    """A record, as far as commands read it."""

    id: int
    kind: str
    created_at: str
    schema_version: int = 1
    uid: str = ""
    key: str = ""
    summary: str = ""
    machine: str = ""
    model: str = ""
    harness: str = ""
    project: str = ""
    occurred_at: str = ""
    processed_at: str = ""
    verdict: str = ""
    resolution: str = ""
    ref: str = ""
    processed_by: str = ""
    redacted_at: str = ""
    context: dict = field(factory=dict)  # type: ignore[type-arg]
    payload: dict = field(factory=dict)  # type: ignore[type-arg]


@frozen(eq=False)
class _Page:
    submissions: list[_Record]
    total: int
    limit: int
    has_more: bool
    next_before_id: int = 0
    next_after_id: int = 0


@frozen(eq=False)
class _Marked:
    updated: int
    unchanged: int


@frozen(eq=False)
class _Group:
    count: int


@frozen(eq=False)
class _Bucket:
    start: str
    count: int


@frozen(eq=False)
class _Stats:
    total: int
    unprocessed: int
    other: int = 0
    groups: list[_Group] = field(factory=list)
    buckets: list[_Bucket] = field(factory=list)


@frozen(eq=False)
class _Warning:
    message: str


@frozen(eq=False)
class _Imported:
    imported: int
    skipped: int
    conflicts: int
    warnings: list[_Warning] = field(factory=list)
