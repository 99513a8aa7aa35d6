"""The API in process: one method per route, each answering as the route does.

A command, an MCP tool and a server all ask here, so outcomes are the same in every mode. No method
raises for what a caller may have got wrong: that is an answer too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from attrs import asdict

from agentfeedback.foundation.errors import NewerStoreError, StoreError
from agentfeedback_submissions import kinds, queries
from agentfeedback_submissions.envelope import EnvelopeRefused, Normalised, normalise
from agentfeedback_submissions.export import (
    FIRST_LINE,
    IMPORT_LIMIT,
    TYPE,
    Asked,
    lines,
    read_export,
)
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import (
    DATABASE,
    SCHEMA_TOO_NEW,
    ApiError,
    ApiResponse,
    Detail,
    request_id,
)
from agentfeedback_submissions.row import SubmissionRow
from agentfeedback_submissions.store import Mark, SubmissionStore
from agentfeedback_submissions.texts import time_form


class Service:
    """The API over one store of submissions. `id` of each request is made where none is given."""

    def __init__(self, submissions: SubmissionStore) -> None:
        self.submissions = submissions

    def create(self, body: bytes, id: str = "") -> ApiResponse:
        """`POST /submissions`: 201 for a new one, 200 for a repeated one, 409 for other content under its key."""
        return self.file(lambda: normalise(body), id)

    def file(self, envelope: Callable[[], Normalised], id: str = "") -> ApiResponse:
        """`create` for a body that somebody else normalises: `envelope` gives it, or raises `EnvelopeRefused`."""
        return self._answer(id, lambda: self._create(envelope))

    def get(self, name: str, id: str = "") -> ApiResponse:
        """`GET /submissions/{name}`."""
        return self._answer(id, lambda: ApiResponse(200, self._row(name).record()))

    def named(self, uid: str) -> str | None:
        """The id of the record with a uid, in lower case. Raises `StoreError`."""
        row = self.submissions.by_uid(uid)
        return None if row is None else str(row.id)

    def list(self, query: Query, id: str = "") -> ApiResponse:
        """`GET /submissions`: a page, newest first, or oldest first after an id."""
        return self._answer(id, lambda: self._list(query))

    def mark(self, name: str, body: bytes = b"", id: str = "") -> ApiResponse:
        """`PATCH /submissions/{name}`: mark as processed, or take the mark back."""

        def answer() -> ApiResponse:
            mark = queries.mark(body)
            done = self.submissions.mark([queries.identifier(name)], mark)
            if not done.rows:
                raise _missing(name)
            return ApiResponse(200, done.rows[0].record())

        return self._answer(id, answer)

    def mark_all(self, body: bytes, id: str = "") -> ApiResponse:
        """`POST /submissions/processed`: the same for up to 500 ids."""

        def answer() -> ApiResponse:
            ids, mark = queries.batch(body)
            done = self.submissions.mark(ids, mark)
            changed = set(done.changed)
            shown = _shown(mark)
            shown |= {
                "updated": sorted(changed),
                "unchanged": sorted({row.id for row in done.rows} - changed),
                "not_found": sorted(done.missing),
            }
            return ApiResponse(200, shown)

        return self._answer(id, answer)

    def redact(self, name: str, id: str = "") -> ApiResponse:
        """`DELETE /submissions/{name}`: leave a tombstone."""

        def answer() -> ApiResponse:
            row = self.submissions.redact(queries.identifier(name))
            if row is None:
                raise _missing(name)
            return ApiResponse(200, row.record())

        return self._answer(id, answer)

    def stats(self, query: Query, id: str = "") -> ApiResponse:
        """`GET /stats`: how many there are, by column and by day or week."""
        return self._answer(id, lambda: self._stats(query))

    def export(self, query: Query, id: str = "") -> ApiResponse:
        """`GET /export` as one answer; a server streams `exported` instead."""

        def answer() -> ApiResponse:
            text = b"".join(self.exported(query))
            return ApiResponse(200, None, headers={"Content-Type": TYPE}, text=text)

        return self._answer(id, answer)

    def exported(self, query: Query) -> Iterator[bytes]:
        """The lines of `GET /export`, read page by page.

        Raises `ApiError` here, and `StoreError` while the lines are taken.
        """
        filters, page = queries.exported(query)
        rows = self.everything(filters, page.after_id or 0)
        asked = Asked(filters.equal.get("kind"), filters.since, page.after_id or None)
        return lines(islice(rows, page.limit or None), time.time_ns() // 1000, asked)

    def everything(self, filters: Filters, after: int = 0) -> Iterator[SubmissionRow]:
        """All rows with a larger id that match, oldest first, read page by page."""
        while True:
            found = self.submissions.page(filters, Page(queries.PAGE, None, after))
            yield from found.rows
            if not found.more:
                return
            after = found.cursor

    def import_(self, body: bytes, id: str = "", *, limit: int = IMPORT_LIMIT) -> ApiResponse:
        """`POST /import`: an export of at most `limit` bytes, taken whole or not at all."""

        def answer() -> ApiResponse:
            if len(body) > limit:
                raise ApiError("request_too_large", f"an import takes at most {limit} bytes")
            read = read_export(body)
            done = self.submissions.insert_all(read.rows)
            shown: dict[str, Any] = {
                "imported": len(done.rows),
                "skipped": done.skipped,
                "conflicts": [
                    {
                        "line": FIRST_LINE + each.position,
                        "uid": read.rows[each.position].uid,
                        "existing_id": each.existing_id,
                        "reason": "key_mismatch",
                    }
                    for each in done.conflicts
                ],
                "warnings": [
                    {"line": line, **warning.plain()}
                    for line, warnings in read.warnings.items()
                    for warning in warnings
                ],
            }
            if done.rows:
                shown |= {"first_id": done.rows[0].id, "last_id": done.rows[-1].id}
            return ApiResponse(200, shown)

        return self._answer(id, answer)

    def schema(self, kind: str, version: str = "1", id: str = "") -> ApiResponse:
        """`GET /schemas/{kind}/{version}`: the guide of a shipped kind."""

        def answer() -> ApiResponse:
            guide = kinds.GUIDES.get(
                (kind, int(version) if version.isdecimal() and len(version) < 9 else 0)
            )
            if guide is None:
                raise ApiError("not_found", f"there is no schema of {kind} v{version}")
            return ApiResponse(200, kinds.schema(guide))

        return self._answer(id, answer)

    def _create(self, normalised: Callable[[], Normalised]) -> ApiResponse:
        try:
            envelope = normalised()
        except EnvelopeRefused as refused:
            raise ApiError(refused.code, refused.message) from None
        created = self.submissions.create(envelope)
        row = created.row
        if created.outcome == "mismatch":
            message = f"the key {row.key} of kind {row.kind} already names other content"
            detail = Detail("key_reused", "/key", message, row.id)
            raise ApiError("replay_mismatch", message, (detail,))
        return ApiResponse(
            201 if created.outcome == "new" else 200,
            {
                "submission": row.record(),
                "warnings": [warning.plain() for warning in envelope.warnings],
            },
            headers={"Location": f"/api/v1/submissions/{row.id}"},
        )

    def _row(self, name: str) -> SubmissionRow:
        row = self.submissions.get(queries.identifier(name))
        if row is None:
            raise _missing(name)
        return row

    def _list(self, query: Query) -> ApiResponse:
        asked = queries.listing(query)
        found = self.submissions.page(asked.filters, asked.page)
        rows = found.rows
        shown: dict[str, Any] = {
            "submissions": [row.record(payload=asked.payload) for row in rows],
            "limit": asked.page.limit,
            "total": found.total,
            "has_more": found.more,
            "next_before_id": None,
            "next_after_id": None,
        }
        if found.more:
            cursor = "next_after_id" if asked.page.ascending else "next_before_id"
            shown[cursor] = found.cursor
        return ApiResponse(200, shown)

    def _stats(self, query: Query) -> ApiResponse:
        asked = queries.numbers(query)
        found = self.submissions.counts(asked.filters, asked.by, asked.bucket, asked.top)
        shown: dict[str, Any] = {
            "total": found.total,
            "open": found.open,
            "processed": found.total - found.open,
            "redacted": found.redacted,
        }
        if asked.by:
            shown["groups"] = [_group(asked.by, group) for group in found.groups]
        shown["recurring"] = [
            {name: value for name, value in asdict(each).items() if value is not None}
            for each in found.recurring
        ]
        if asked.bucket:
            shown["series"] = [
                {"bucket": time_form(at)[:10], "total": total, "open": open}
                for at, total, open in found.series
            ]
        return ApiResponse(200, shown)

    def _answer(self, id: str, answer: Callable[[], ApiResponse]) -> ApiResponse:
        id = id or request_id()
        try:
            reply = answer()
        except ApiError as refusal:
            return refusal.reply(id)
        except NewerStoreError as error:
            detail = Detail(SCHEMA_TOO_NEW, "", str(error))
            return ApiError("unavailable", str(error), (detail,)).reply(id)
        except StoreError as error:
            detail = Detail(f"{DATABASE}{error.fault or 'unusable'}", "", str(error))
            return ApiError("unavailable", str(error), (detail,)).reply(id)
        return ApiResponse(reply.status, reply.body, id, reply.headers, reply.text)


def _missing(name: str) -> ApiError:
    return ApiError("not_found", f"there is no submission {name}")


def _shown(mark: Mark) -> dict[str, Any]:
    shown: dict[str, Any] = {"processed": mark.processed}
    if mark.members.get("verdict"):
        shown["verdict"] = mark.members["verdict"]
    return shown


def _group(by: tuple[str, ...], found: tuple[Any, ...]) -> dict[str, Any]:
    *values, total, open = found
    keys = dict(zip(by, values, strict=True))
    return {"keys": keys, "total": total, "open": open, "processed": total - open}
