"""The parameters of the API's routes read strictly: unknown, empty and repeated ones are refused. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.json_text import NotJson, Number, parse
from agentfeedback_submissions.filters import EQUAL, TIMES, Filters, Page
from agentfeedback_submissions.response import ApiError, invalid
from agentfeedback_submissions.store import Mark
from agentfeedback_submissions.texts import lowered, microseconds, token, trimmed

Query = Sequence[tuple[str, str]]

FILTERS = (
    *EQUAL,
    "schema_version",
    "exclude_kind",
    "processed",
    "redacted",
    "since",
    "until",
    "on",
    "q",
)
LIST = (*FILTERS, "before_id", "after_id", "limit", "include")
STATS = (*FILTERS, "by", "top", "bucket")
EXPORT = ("kind", "since", "after_id", "limit")
GROUPS = (
    "kind",
    "project",
    "category",
    "fix_status",
    "machine",
    "model",
    "harness",
    "verdict",
    "schema_version",
    "origin",
)
#: The largest page, and the largest one that shows payloads.
PAGE, PAGE_WITH_PAYLOAD = 500, 100
QUERY_BYTES = 200
BATCH = 500
#: How many bytes of UTF-8 each text of a mark may have.
MARK_LIMITS = {"verdict": 64, "resolution": 2000, "ref": 200, "processed_by": 200}
_INTEGER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_LARGEST = 2**63 - 1


@frozen
class ListQuery:
    """What a list was asked for."""

    filters: Filters
    page: Page
    payload: bool


@frozen
class StatsQuery:
    """What numbers were asked for: grouped by columns, the `top` groups of them, and by day or week."""

    filters: Filters
    by: tuple[str, ...]
    top: int
    bucket: str


def listing(query: Query) -> ListQuery:
    """The parameters of a list. Raises `ApiError`."""
    given = _read(query, LIST)
    include = given.word("include", ("payload",))
    limit = given.integer("limit", 1, PAGE_WITH_PAYLOAD if include else PAGE)
    before, after = given.integer("before_id", 1), given.integer("after_id", 0)
    if before is not None and after is not None:
        raise invalid("out_of_range", "?before_id", "before_id and after_id are both given")
    return ListQuery(_filters(given), Page(limit or 50, before, after), bool(include))


def numbers(query: Query) -> StatsQuery:
    """The parameters of the numbers. Raises `ApiError`."""
    given = _read(query, STATS)
    by = tuple(given.text("by").split(",")) if given.text("by") else ()
    if len(by) > 3 or len(set(by)) != len(by):
        raise invalid("out_of_range", "?by", "by takes at most three different columns")
    for name in by:
        if name not in GROUPS:
            raise invalid("out_of_range", "?by", f"by takes {', '.join(GROUPS)}")
    top = given.integer("top", 0, 50)
    bucket = given.word("bucket", ("day", "week"))
    return StatsQuery(_filters(given), by, 10 if top is None else top, bucket)


def exported(query: Query) -> tuple[Filters, Page]:
    """The parameters of an export; the page's limit is 0 where none is given: all of them. Raises `ApiError`."""
    given = _read(query, EXPORT)
    page = Page(given.integer("limit", 1, PAGE) or 0, None, given.integer("after_id", 0) or 0)
    return _filters(given), page


def identifier(text: str) -> int:
    """An id of a path; raises `not_found` unless the text is a plain positive integer."""
    if not _INTEGER.fullmatch(text) or not 0 < int(text) <= _LARGEST:
        raise ApiError("not_found", f"there is no submission {text!r}")
    return int(text)


def mark(body: bytes) -> Mark:
    """The mark of a PATCH; an empty body marks as processed. Raises `ApiError`."""
    return _mark(_object(body) if body.strip() else {})


def batch(body: bytes) -> tuple[list[int], Mark]:
    """The ids and the mark of a batch. Raises `ApiError`."""
    members = _object(body)
    ids = members.pop("ids", None)
    if ids is None:
        raise invalid("required", "/ids", "ids is required")
    if not isinstance(ids, list):
        raise invalid("type_mismatch", "/ids", "ids is not an array")
    if not 1 <= len(ids) <= BATCH:
        raise invalid("out_of_range", "/ids", f"ids takes 1 to {BATCH} ids")
    found = []
    for index, item in enumerate(ids):
        if not isinstance(item, Number) or not _INTEGER.fullmatch(item.text) or item.text == "0":
            raise invalid("type_mismatch", f"/ids/{index}", "an id is a positive integer")
        if int(item.text) > _LARGEST:
            raise invalid("out_of_range", f"/ids/{index}", "no id is as large")
        found.append(int(item.text))
    return found, _mark(members)


class _Given:
    """Parameters by name, each given at most once but `exclude_kind`."""

    def __init__(self, values: dict[str, list[str]]) -> None:
        self.values = values

    def text(self, name: str) -> str:
        return self.values.get(name, [""])[0]

    def word(self, name: str, words: Iterable[str]) -> str:
        value = self.text(name)
        if value and value not in words:
            raise invalid("out_of_range", f"?{name}", f"{name} takes {', '.join(words)}")
        return value

    def integer(self, name: str, least: int, most: int = _LARGEST) -> int | None:
        value = self.text(name)
        if not value:
            return None
        if not _INTEGER.fullmatch(value):
            raise invalid("type_mismatch", f"?{name}", f"{name} is not a whole number")
        if not least <= int(value) <= most:
            raise invalid("out_of_range", f"?{name}", f"{name} takes {least} to {most}")
        return int(value)

    def truth(self, name: str) -> bool | None:
        value = self.text(name)
        if value not in ("", "true", "false"):
            raise invalid("type_mismatch", f"?{name}", f"{name} is true or false")
        return value == "true" if value else None

    def time(self, name: str) -> int | None:
        value = self.text(name)
        at = microseconds(value)
        if value and at is None:
            raise invalid("invalid_format", f"?{name}", f"{name} is not an RFC 3339 time")
        return at


def _read(query: Query, allowed: Sequence[str]) -> _Given:
    values: dict[str, list[str]] = {}
    for name, value in query:
        values.setdefault(name, []).append(value)
    for name in sorted(values):
        if name not in allowed:
            raise invalid("unknown_field", f"?{name}", f"there is no parameter {name}")
        if len(values[name]) > 1 and name != "exclude_kind":
            raise invalid("duplicate_key", f"?{name}", f"{name} is given more than once")
        if "" in values[name]:
            raise invalid("empty", f"?{name}", f"{name} is empty")
    return _Given(values)


def _filters(given: _Given) -> Filters:
    equal = {name: given.text(name) for name in EQUAL if name in given.values}
    for name in ("kind", "harness"):
        if name in equal:
            equal[name] = token(equal[name])
    if len(given.text("q").encode("utf-8", "replace")) > QUERY_BYTES:
        raise invalid("out_of_range", "?q", f"q takes at most {QUERY_BYTES} bytes")
    return Filters(
        equal,
        given.integer("schema_version", 1),
        tuple(token(kind) for kind in given.values.get("exclude_kind", ())),
        given.truth("processed"),
        given.truth("redacted"),
        given.time("since"),
        given.time("until"),
        given.word("on", TIMES) or "created_at",
        given.text("q"),
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = parse(body)
    except NotJson as error:
        raise ApiError("bad_request", f"the body is refused: {error}") from None
    if not isinstance(document.value, dict):
        raise ApiError("bad_request", "the body is not a JSON object")
    if document.duplicates:
        name = document.duplicates[0][0]
        raise invalid("duplicate_key", f"/{name}", f"{name} is given more than once")
    return document.value


def _mark(members: dict[str, Any]) -> Mark:
    for name in sorted(members):
        if name != "processed" and name not in MARK_LIMITS:
            raise invalid("unknown_field", f"/{name}", f"a mark has no member {name}")
    processed = members.pop("processed", True)
    if not isinstance(processed, bool):
        raise invalid("type_mismatch", "/processed", "processed is true or false")
    texts = {name: _mark_text(name, members[name]) for name in sorted(members)}
    if texts and not processed:
        raise invalid("out_of_range", f"/{next(iter(texts))}", "what is not processed has no mark")
    return Mark(processed, texts)


def _mark_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        shown = canonical(value).decode()[:40]
        raise invalid("type_mismatch", f"/{name}", f"{name} is not a string: {shown}")
    text = trimmed(value)
    if not text and name == "resolution":
        raise invalid("empty", f"/{name}", f"{name} is empty")
    if len(text.encode()) > MARK_LIMITS[name]:
        raise invalid("out_of_range", f"/{name}", f"{name} takes {MARK_LIMITS[name]} bytes")
    if name == "verdict" and (text != token(text) or text != lowered(text)):
        raise invalid("invalid_format", "/verdict", "a verdict is one word in lower case")
    return text
