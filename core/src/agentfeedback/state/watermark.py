"""Size and first-line hash against what was marked: the state of a session.

Pure: rows and sizes come in, a `LogStatus` goes out. `WatermarkStore` is what keeps the rows; the
core's own is `agentfeedback.state.state_store.StateStore`, and a plugin may supply another through the hook
`watermark_store`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from attrs import frozen

from agentfeedback.foundation.errors import AgentFeedbackError

if TYPE_CHECKING:
    from agentfeedback.wire.records import Selection


_REQUIRED: dict[str, type] = {
    "harness": str,
    "session_id": str,
    "path": str,
    "mtime": int,
    "size": int,
    "head": str,
}
_OPTIONAL: dict[str, type] = {
    "digested_at": int,
    "processed_at": int,
    "processed_size": int,
    "processed_mtime": int,
    "processed_head": str,
    "outcome": str,
}


@frozen
class SessionRow:
    """What is remembered of one session: its latest digest, and the digest that was last marked.

    Sizes are bytes of the log from its start, `mtime` and `processed_mtime` unix nanoseconds,
    `digested_at` and `processed_at` unix microseconds, heads the SHA-256 of the first line in
    lower-case hex, `refs` the uids filed from it.
    """

    harness: str
    session_id: str
    path: str
    mtime: int
    size: int
    head: str
    digested_at: int | None = None
    processed_at: int | None = None
    processed_size: int | None = None
    processed_mtime: int | None = None
    processed_head: str | None = None
    outcome: str | None = None
    refs: tuple[str, ...] = ()


@frozen
class Digested:
    """The watermark of one digest: `size` is the offset it covered, `mtime` in unix ns."""

    harness: str
    session_id: str
    path: str
    mtime: int
    size: int
    head: str


@frozen
class LogStatus:
    """How a log stands against its mark; `start` is where a digest of what is new begins."""

    state: Literal["new", "changed", "processed"]
    reason: str = ""
    start: int = 0


def fits(row: SessionRow) -> bool:
    """Whether each member of a row has the type it is declared with; one from elsewhere may have any."""
    return (
        all(isinstance(getattr(row, name), kind) for name, kind in _REQUIRED.items())
        and all(isinstance(getattr(row, name), kind | None) for name, kind in _OPTIONAL.items())
        and isinstance(row.refs, tuple)
        and all(isinstance(uid, str) for uid in row.refs)
    )


class NotDigested(AgentFeedbackError):
    """A session was to be marked that no digest has covered yet; nothing was marked."""

    def __init__(self, harness: str, session_id: str) -> None:
        ref = f"{harness}:{session_id}"
        super().__init__(
            f"{ref} was not digested yet", f"run agentfeedback sessions digest {ref} first"
        )
        self.harness = harness
        self.session_id = session_id
        self.ref = ref


class StorageOnly(NotDigested):
    """Sessions of this harness are never digested, so they cannot be marked; nothing was marked."""

    def __init__(self, harness: str, session_id: str) -> None:
        super().__init__(harness, session_id)
        self.problem, self.remedy = f"{harness} sessions are storage only", ""
        self.args = (self.problem, self.remedy)


class WatermarkStore(Protocol):
    """Keeps watermarks and the saved selection.

    Names are `(harness, session id)`, the harness never an alias.
    Every method raises `StoreError` when the store cannot be read or written, and has then changed
    nothing. Reading never creates a store.
    """

    def rows(self) -> dict[tuple[str, str], SessionRow]:
        """Every row by name; empty when nothing was ever stored."""
        ...

    def digested(self, marks: Sequence[Digested], at: int) -> None:
        """Record the watermarks of a run at `at` (unix microseconds), all or none.

        What was marked earlier stays.
        """
        ...

    def mark(
        self, names: Sequence[tuple[str, str]], outcome: str, uids: Sequence[str], at: int
    ) -> None:
        """Make each session's latest digest its marked one, all or none.

        Raises `NotDigested` for the first name that has no digest.
        """
        ...

    def forget(self, names: Sequence[tuple[str, str]]) -> list[bool]:
        """Drop rows, all or none; the result says for each name whether it had one."""
        ...

    def selection(self) -> Selection | None:
        """The saved selection."""
        ...

    def save_selection(self, selection: Selection) -> None:
        """Replace the saved selection."""
        ...


def compare(
    row: SessionRow | None, size: int, head: str, boundary: Callable[[int], bool] | None = None
) -> LogStatus:
    """The state of a log of `size` complete-line bytes whose first line hashes to `head`.

    Rotation is tested first, the mtime never. Row stores pass `boundary`, which says whether an
    offset in their virtual log is the start or end of a record: a marked size between two records
    means that marked rows were deleted since.
    """
    if row is None or row.processed_at is None or row.processed_size is None:
        return LogStatus("new")
    marked = row.processed_size
    if row.processed_head != head:
        return LogStatus("changed", "rotated")
    if size < marked:
        return LogStatus("changed", "truncated")
    if size == marked:
        return LogStatus("processed")
    if boundary is not None and not boundary(marked):
        return LogStatus("changed", "rotated")
    return LogStatus("changed", "appended", marked)
