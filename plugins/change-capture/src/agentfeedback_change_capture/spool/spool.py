"""An open spool: the lock is held, everything a killed writer left is put in order, and facts can be added."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from agentfeedback_change_capture.facts import (
        Action,
        Call,
        Ending,
        Fact,
        Namespace,
        Stream,
        Target,
    )
    from agentfeedback_change_capture.spool.limits import SpoolLimits
    from agentfeedback_change_capture.spool.outbox import Pending
    from agentfeedback_change_capture.spool.outcome import Claim, Outcome


def initialise(path: str, namespace: Namespace, limits: SpoolLimits, *, created_at: int) -> str:
    """Make a spool in an absent or empty folder and return its id; `format.json`, written last, commits it.

    A crash before that leaves a folder that every operation but inspection and export refuses.

    Raises:
        SpoolRefused: The folder is not empty, not ours, or open to others; nothing was changed.
        OSError: It cannot be written.
    """
    raise NotImplementedError


def look_up(path: str, observed: str, tool_use_id: str) -> Claim | None:
    """Return what a spool knows of one call, read without a lock and without any authority.

    For a hook that has to know, before it asks for a target, whether it is a retry; the operation
    that follows looks again under the lock.
    """
    raise NotImplementedError


class Spool:
    """A spool that is held by this process until `close`, or for a `with` block."""

    @classmethod
    def open(
        cls, path: str, namespace: Namespace, deadline: float, *, thorough: bool = False
    ) -> Spool:
        """Take the lock, check that it is the committed spool, and recover.

        `deadline` is a time of `time.monotonic` in seconds. `thorough` looks at every claim and
        receipt, not only at the newest 64, which are all that a killed hook can have left unfinished.

        Raises:
            SpoolRefused: Not a committed spool of this namespace that is safe to use.
            SpoolBusy: Another process held the lock until the deadline.
            OSError: It cannot be read or written.
        """
        raise NotImplementedError

    def __enter__(self) -> Spool:  # noqa: PYI034 - importing typing costs too much start-up time in a hook
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock."""
        raise NotImplementedError

    def sharing(self, observed: str) -> bool | None:
        """Return whether a session's bodies may be shared; None for a session that nothing is retained of."""
        raise NotImplementedError

    def append(self, stream: Stream, fact: Fact) -> Outcome:
        """Retain a fact that is not a phase of an identified tool call, with the gaps that qualify it."""
        raise NotImplementedError

    def start(self, stream: Stream, fact: Fact, call: Call, action: Action | None) -> Outcome:
        """Claim a call of a tool, retain its start and, for a configured tool, start its action.

        A call that has a claim keeps it, whatever `stream` says: the same facts are a duplicate,
        others a conflict.
        """
        raise NotImplementedError

    def finish(
        self,
        stream: Stream | None,
        fact: Fact,
        call: Call,
        ending: Callable[[dict[str, str]], Ending] | None = None,
    ) -> Outcome:
        """Retain the end of a call, and finish its action where its claim started one.

        The claim's target is used where there is a claim; `stream` may be None only then. `ending`
        gets the rule of the claim.

        Raises:
            LookupError: There is no claim and no stream.
        """
        raise NotImplementedError

    def close_starts(
        self, observed: str, observed_at: int, *, agent_id: str | None = "", most: int = 32
    ) -> int:
        """Close starts of a session that a turn has ended without, oldest first; return how many.

        `agent_id` chooses those of one subagent, None those of no subagent, `""` all.
        """
        raise NotImplementedError

    def defer(
        self,
        observed: str,
        fact: Fact,
        cause: str,
        *,
        call: Call | None = None,
        recipe_digest: str | None = None,
        sharing: bool = False,
    ) -> Outcome:
        """Keep a sanitised fact of a session that has no target now, with a reserved sequence number."""
        raise NotImplementedError

    def pending(self, most: int = 10) -> list[Pending]:
        """Return envelopes to deliver, in order, those behind the last attempt first."""
        raise NotImplementedError

    def attempted(self, pending: Pending) -> None:
        """Remember that an envelope was offered, whatever came of it: the next turn begins behind it."""
        raise NotImplementedError

    def acknowledge(self, pending: Pending, now: int) -> None:
        """Mark an envelope as accepted: it is not delivered again."""
        raise NotImplementedError

    def last_target(self, observed: str) -> Target | None:
        """Return the target that a session was last attributed to."""
        raise NotImplementedError
