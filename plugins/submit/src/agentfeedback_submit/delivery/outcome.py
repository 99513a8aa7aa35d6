"""The outcome of a submission: the one JSON object that is the last line of standard output."""

from __future__ import annotations

from typing import Any, Literal

from attrs import define

from agentfeedback.wire.encode import omitted

Word = Literal[
    "submitted", "duplicate", "spooled", "valid", "disabled", "mismatch", "rejected", "error"
]
_DONE = frozenset(("submitted", "duplicate", "spooled", "valid", "disabled"))


@define(eq=False)
class SubmitOutcome:
    """Members without a value are left out; `warnings` are those of this client, then those of the receiver."""

    outcome: Word
    kind: str = omitted("")
    key: str = omitted("")
    id: int | None = omitted()
    uid: str = omitted("")
    request_id: str = omitted("")
    reason: str = omitted("")
    message: str = omitted("")
    warnings: list[dict[str, Any]] = omitted(factory=list)

    @property
    def exit_status(self) -> int:
        """0 when the report is kept or must not be, 1 when it is not."""
        return 0 if self.outcome in _DONE else 1
