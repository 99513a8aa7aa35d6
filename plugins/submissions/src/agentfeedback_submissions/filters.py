"""What a list is narrowed by, and the page of it that is wanted (platform details 9). Pure: it makes SQL, and runs none."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from agentfeedback_submissions.kinds import HIDDEN

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
    """Which rows match. `since` (included) and `until` (not included) are unix microseconds of the column `on`.

    A client's own test reports match only where `hidden` says so, or where their kind is asked for.
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
    hidden: bool = False

    def where(self, page: Page | None = None) -> tuple[str, list[Any]]:
        """The WHERE clause with its values, also bounded by a page's cursor when one is given."""
        clauses: list[str] = []
        values: list[Any] = []

        def add(clause: str, *given: Any) -> None:
            clauses.append(clause)
            values.extend(given)

        for name, value in self.equal.items():
            add(f"{name} = ?", value)
        if self.schema_version is not None:
            add("schema_version = ?", self.schema_version)
        hidden = () if self.hidden or self.equal.get("kind") == HIDDEN else (HIDDEN,)
        for kind in (*self.exclude_kind, *hidden):
            add("kind <> ?", kind)
        for column, wanted in (("processed_at", self.processed), ("redacted_at", self.redacted)):
            if wanted is not None:
                add(f"{column} IS {'NOT ' if wanted else ''}NULL")
        if self.since is not None:
            add(f"{self.on} >= ?", self.since)
        if self.until is not None:
            add(f"{self.on} < ?", self.until)
        if self.q:
            like = f"%{_escaped(self.q)}%"
            add("(summary LIKE ? ESCAPE '\\' OR payload LIKE ? ESCAPE '\\')", like, like)
        if page is not None and page.before_id is not None:
            add("id < ?", page.before_id)
        if page is not None and page.after_id is not None:
            add("id > ?", page.after_id)
        return f" WHERE {' AND '.join(clauses)}" if clauses else "", values


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
