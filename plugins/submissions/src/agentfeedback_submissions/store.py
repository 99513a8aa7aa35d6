"""What keeps submissions: the protocol of a store, and the values its methods take and give. Pure.

`SqliteSubmissions` keeps them in the local database; a server has a store of its own. What a new
row, a marked one and a tombstone hold is not a store's to decide: `row` has those rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import field, frozen

from agentfeedback_submissions.row import SubmissionRow

if TYPE_CHECKING:
    from agentfeedback_submissions.envelope import Normalised
    from agentfeedback_submissions.filters import Filters, Page

#: How long a submission without a key is taken for an earlier one of equal content, in seconds.
DEDUPE_WINDOW_S = 86_400
#: How many groups are counted, those with the most rows.
MOST_GROUPS = 100


@frozen(eq=False)
class Created:
    """The row of a create: a new one, the one it repeats, or one with other content under its key."""

    row: SubmissionRow
    outcome: Literal["new", "duplicate", "mismatch"]


@frozen
class Mark:
    """What a row is marked with.

    `members` may have `verdict`, `resolution`, `ref` and `processed_by`; one that is missing keeps
    its value, one that is empty loses it. A mark that is not `processed` clears all of them.
    """

    processed: bool = True
    members: Mapping[str, str] = field(factory=dict)


@frozen(eq=False)
class FoundPage:
    """A page of rows, how many rows match in all, and whether `more` follow in its direction.

    `last` is the id of its last row where that is left out of the rows, being damaged.
    """

    rows: Sequence[SubmissionRow] = ()
    total: int = 0
    more: bool = False
    last: int = 0

    @property
    def cursor(self) -> int:
        """The id from which on the next page goes."""
        return self.last or self.rows[-1].id


@frozen
class Recurring:
    """Content that was filed more than once; the texts are those of the newest row."""

    content_hash: str
    count: int
    first_id: int
    last_id: int
    summary: str | None = None
    kind: str | None = None
    project: str | None = None


@frozen(eq=False)
class Counts:
    """How many rows match, how many of them are `open` (not processed), and how many are tombstones.

    `groups` are the values of the columns asked for, then total and open; most rows first, then by
    value; a row without one of the values is in none. `recurring` comes with the most rows first,
    then the newest. `series` are the start of a day or week in UTC (unix microseconds), total and
    open, in order of time.
    """

    total: int = 0
    open: int = 0
    redacted: int = 0
    groups: Sequence[tuple[Any, ...]] = ()
    recurring: Sequence[Recurring] = ()
    series: Sequence[tuple[int, int, int]] = ()


@frozen(eq=False)
class Marked:
    """The rows as they are now, in the order of their ids as given; which changed, which are missing."""

    rows: Sequence[SubmissionRow] = ()
    changed: Sequence[int] = ()
    missing: Sequence[int] = ()


@frozen
class Conflict:
    """A row of an import, by its position in it, whose kind and key a row with other content has."""

    position: int
    existing_id: int


@frozen(eq=False)
class Inserted:
    """The rows of an import with their new ids, how many were not taken, and which of those are conflicts."""

    rows: Sequence[SubmissionRow] = ()
    skipped: int = 0
    conflicts: Sequence[Conflict] = ()


class SubmissionStore(Protocol):
    """Keeps submissions. Ids are positive, ascend in the order of creation and are never reused.

    Each method sees one state of the store and is atomic: of two at a time one comes first, also
    between processes. Every method raises `StoreError` when the store cannot be used, `NewerStoreError`
    when a newer program made it, and has then changed nothing. One object may be used by several
    threads. `tests.support.submission_store` holds all of this against a store.
    """

    def create(self, envelope: Normalised) -> Created:
        """Keep a submission, unless one that it repeats is there.

        With a key it repeats the row of that kind and key: a duplicate where the content hash is
        the same, else a mismatch. Without one it repeats the newest row, keyed or not, of equal
        content hash that is not processed and younger than `DEDUPE_WINDOW_S`.
        """
        ...

    def get(self, id: int) -> SubmissionRow | None:
        """One row by its id, from 1 to 2**63 - 1; None where there is none."""
        ...

    def by_uid(self, uid: str) -> SubmissionRow | None:
        """One row by its uid in lower case; None where there is none."""
        ...

    def page(self, filters: Filters, page: Page) -> FoundPage:
        """The rows that match, at most `page.limit` of them; the total does not count the cursor."""
        ...

    def counts(
        self, filters: Filters, groups: Sequence[str] = (), bucket: str = "", top: int = 0
    ) -> Counts:
        """Count the rows that match: by the columns `groups`, and by `bucket`, `day` or `week`.

        Of groups there are at most `MOST_GROUPS`, of recurring content at most `top`. Weeks start on
        Monday. Buckets are of the time `filters.on`; a row without it is in none.
        """
        ...

    def mark(self, ids: Sequence[int], mark: Mark) -> Marked:
        """Mark rows, all in one transaction; an id given twice counts once. Missing ids stop nothing."""
        ...

    def redact(self, id: int) -> SubmissionRow | None:
        """Turn a row into a tombstone and return it; None where there is none.

        Nothing of the content stays in the store. A tombstone is returned as it is.
        """
        ...

    def insert_all(self, rows: Sequence[SubmissionRow]) -> Inserted:
        """Insert the rows of an export under new ids, in their order, all in one transaction.

        A row whose uid is there is skipped, and so is one whose kind and key another row has: where
        the content hash is another one too, it is a conflict. Neither changes the row that is there.
        """
        ...
