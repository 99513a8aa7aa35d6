"""What a list is narrowed by, and the page of it that is wanted. Pure."""

from __future__ import annotations

from attrs import frozen

#: Filters that compare one column with one text.
EQUAL = (
    "key",
    "kind",
    "machine",
    "model",
    "project",
    "harness",
    "category",
    "origin",
    "fix_status",
    "verdict",
    "content_hash",
)
TIMES = ("created_at", "occurred_at")


@frozen
class Page:
    """At most `limit` rows: the newest, those before an id (newest first), or those after one (oldest first)."""

    limit: int = 50
    before_id: int | None = None
    after_id: int | None = None

    @property
    def ascending(self) -> bool:
        """Whether rows come oldest first."""
        return self.after_id is not None


@frozen(eq=False)
class Filters:
    """Which rows match: those that meet every member that is set.

    `equal` are texts by name, each one of `EQUAL`: a column, or a member of the payload or context.
    `since` and `until` (both included) are unix microseconds of the column `on`, one of `TIMES`.
    `q` is a text in the summary or the payload's JSON, without regard to case in ASCII.
    """

    equal: dict[str, str]
    schema_version: int | None = None
    exclude_kind: tuple[str, ...] = ()
    processed: bool | None = None
    redacted: bool | None = None
    since: int | None = None
    until: int | None = None
    on: str = "created_at"
    q: str = ""
