"""What capture asks of a Hub, as an interface: everything else is the same with any Hub, or with none."""

from __future__ import annotations

from agentfeedback_change_capture.facts import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Protocol

    from agentfeedback_change_capture.spool.outbox import Pending

    class Hub(Protocol):
        """A Hub that answers in time, or a value that says it did not. No method raises for what a Hub does."""

        def resolve(self, observed: str, worktree_id: str, deadline: float) -> Resolution:
            """Return where a session belongs now; resolving associates nothing.

            `deadline` is a time of `time.monotonic`, in seconds, here and below.
            """

        def accept(self, envelope: bytes, kind: str, deadline: float) -> Answer:
            """Offer an envelope as it is on the disk; events are idempotent, so it may be offered again."""

        def settle_bodies(self, pending: Pending, bodies: dict[str, str], deadline: float) -> bool:
            """Send the shared bodies of an accepted envelope that the Hub still lacks.

            `bodies` are the paths of the local artifacts by digest. Returns whether every one was
            uploaded or finally refused: only then may the envelope be acknowledged.
            """

    #: Why a target is not known: the Hub did not answer, or knows none that is authorised.
    Cause = Literal["unavailable", "no_target"]


class Resolution:
    """A target, or the cause why there is none."""

    __slots__ = ("cause", "target")

    def __init__(self, target: Target | None, cause: Cause = "no_target") -> None:
        self.target = target
        self.cause: Cause = cause


class Answer:
    """A Hub's answer to an envelope: its HTTP status, 0 for none (no connection, no time left)."""

    __slots__ = ("status",)

    def __init__(self, status: int) -> None:
        self.status = status


class NoHub:
    """The Hub of a machine that reaches none: nothing is resolved, nothing leaves."""

    def resolve(self, observed: str, worktree_id: str, deadline: float) -> Resolution:
        """Return that it is unavailable."""
        return Resolution(None, "unavailable")

    def accept(self, envelope: bytes, kind: str, deadline: float) -> Answer:
        """Return that there was no answer."""
        return Answer(0)

    def settle_bodies(self, pending: Pending, bodies: dict[str, str], deadline: float) -> bool:
        """Return that nothing is settled."""
        return False
