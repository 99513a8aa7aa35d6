"""The shapes of a server's answers, as far as commands read them. Pure."""

from __future__ import annotations

from attrs import field, frozen


@frozen(eq=False)
class Record:
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
class Page:
    submissions: list[Record]
    total: int
    limit: int
    has_more: bool
    next_before_id: int = 0
    next_after_id: int = 0


@frozen(eq=False)
class MarkedIds:
    updated: list[int]
    unchanged: list[int]
    not_found: list[int]


@frozen(eq=False)
class Group:
    keys: dict  # type: ignore[type-arg]
    total: int
    open: int
    processed: int


@frozen(eq=False)
class Recurring:
    content_hash: str
    count: int
    first_id: int
    last_id: int
    summary: str = ""
    kind: str = ""
    project: str = ""


@frozen(eq=False)
class Bucket:
    bucket: str
    total: int
    open: int


@frozen(eq=False)
class Stats:
    total: int
    open: int
    processed: int
    redacted: int
    recurring: list[Recurring]
    groups: list[Group] = field(factory=list)
    series: list[Bucket] = field(factory=list)


@frozen(eq=False)
class Conflict:
    line: int
    uid: str
    existing_id: int


@frozen(eq=False)
class Warning:
    line: int
    code: str
    pointer: str
    message: str


@frozen(eq=False)
class Imported:
    imported: int
    skipped: int
    conflicts: list[Conflict]
    warnings: list[Warning] = field(factory=list)
