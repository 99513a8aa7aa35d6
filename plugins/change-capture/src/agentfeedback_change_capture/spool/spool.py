"""An open spool: the lock is held, what a killed writer left is in order, and facts can be added."""

from __future__ import annotations

from agentfeedback_change_capture.facts import Target
from agentfeedback_change_capture.spool import layout
from agentfeedback_change_capture.spool.appending import Facts
from agentfeedback_change_capture.spool.claims import Claims
from agentfeedback_change_capture.spool.deferral import Deferral
from agentfeedback_change_capture.spool.envelopes import Origin, Publisher
from agentfeedback_change_capture.spool.finishes import Finishes
from agentfeedback_change_capture.spool.index import CompactionIndex, finish_cleanup
from agentfeedback_change_capture.spool.limits import SpoolLimits
from agentfeedback_change_capture.spool.lookup import look_up
from agentfeedback_change_capture.spool.opening import open_checked
from agentfeedback_change_capture.spool.outbox import Outbox
from agentfeedback_change_capture.spool.recovery import Recovery, recover_names
from agentfeedback_change_capture.spool.sessions import read_session
from agentfeedback_change_capture.spool.starts import Starts
from agentfeedback_change_capture.spool.writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from agentfeedback_change_capture.facts import (
        Action,
        Call,
        CaptureMode,
        Ending,
        Fact,
        Namespace,
        Stream,
    )
    from agentfeedback_change_capture.spool.limits import Usage
    from agentfeedback_change_capture.spool.opening import Opened
    from agentfeedback_change_capture.spool.outbox import Pending
    from agentfeedback_change_capture.spool.outcome import Outcome


class Spool:
    """A spool that is held by this process until `close`, or for a `with` block.

    When a method raises OSError, what it wrote before stays, and the spool has to be opened again:
    recovery completes it.
    """

    def __init__(self, opened: Opened, *, thorough: bool) -> None:
        """Recover a spool that was opened; `open` is the way to one."""
        self._opened = opened
        storage = self._storage = opened.storage
        self.origin = Origin(opened.scope, opened.namespace)
        self._outbox = Outbox(storage)
        self._read_limits()
        recover_names(storage)
        self._read_limits()
        self._index()
        finish_cleanup(storage, self._writer.index)
        self._index()
        Recovery(self._writer, thorough=thorough).run()
        self._count_promises()

    @classmethod
    def open(
        cls, path: str, namespace: Namespace | None, deadline: float, *, thorough: bool = False
    ) -> Spool:
        """Take the lock, check that it is the committed spool, and recover.

        `deadline` is a time of `time.monotonic` in seconds. Only a command that was given nothing
        but a path has no namespace. `thorough` looks at every claim and receipt, not only at the
        newest 64, which are more than a killed hook can have left unfinished.

        Raises:
            SpoolRefused: Not a committed spool of this namespace that is safe to use; nothing in
                it was changed.
            SpoolBusy: Another process held the lock until the deadline.
            OSError: It cannot be read or written.
        """
        opened = open_checked(path, namespace, deadline)
        try:
            return cls(opened, thorough=thorough)
        except BaseException:
            opened.close()
            raise

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
        self._opened.close()

    @property
    def spool_id(self) -> str:
        """The random id that the spool was committed with."""
        found: str = self._opened.format["spool_id"]
        return found

    @property
    def limits(self) -> SpoolLimits:
        """The bounds of the spool."""
        return self._storage.limits

    @property
    def usage(self) -> Usage:
        """What the spool holds and has promised."""
        return self._storage.usage

    def set_limits(self, limits: SpoolLimits) -> None:
        """Raise the bounds of the spool.

        Raises:
            ValueError: One of them is below what it is.
        """
        if not limits.admits_all_of(self._storage.limits):
            raise ValueError("the limits of a spool can only be raised")
        before = self._storage.record(layout.ROOT, layout.LIMITS)
        if limits.record() != self._storage.limits.record():
            self._storage.update(layout.ROOT, layout.LIMITS, limits.record(), before)
            self._storage.limits = limits

    def bind_checkout(self, root: str, device: int, inode: int) -> None:
        """Note which checkout the spool serves, and make the lock that its recipes take."""
        if not self._storage.has(layout.ROOT, layout.CHECKOUT_LOCK):
            self._storage.put(layout.ROOT, layout.CHECKOUT_LOCK, b"")
        members = {
            "device": device,
            "inode": inode,
            "repository": self.origin.namespace["repository"],
            "root": root,
            "worktree_id": self.origin.namespace["worktree_id"],
        }
        before = self._storage.record(layout.ROOT, layout.CHECKOUT)
        if before is None or any(before[name] != value for name, value in members.items()):
            self._storage.update(layout.ROOT, layout.CHECKOUT, members, before)

    def keep_artifact(self, data: bytes) -> str:
        """Retain bytes under their digest, which is returned.

        Raises:
            SpoolFull: They do not fit.
        """
        return self._writer.keep_artifact(data)

    def sharing(self, observed: str) -> bool | None:
        """Return whether a session's bodies may be shared; None for a session that nothing is retained of."""
        native = self._native(observed)
        return None if native is None else native["sharing"]

    def last_target(self, observed: str) -> Target | None:
        """Return the target that a session was last attributed to."""
        native = self._native(observed)
        target = None if native is None else native.get("target")
        return None if target is None else Target.of(target)

    def knows(self, observed: str) -> bool:
        """Return whether anything of a session is retained or deferred."""
        return self._native(observed) is not None

    def append(self, stream: Stream, fact: Fact) -> Outcome:
        """Retain a fact that is not a phase of an identified call, with the gaps that qualify it."""
        return Facts(self._writer).append(stream, fact)

    def start(
        self,
        stream: Stream,
        fact: Fact,
        call: Call,
        action: Action | None,
        *,
        recipe: dict[str, str] | None = None,
    ) -> Outcome:
        """Claim a call of a tool, retain its start and, for a configured tool, start its action.

        A call that has a claim keeps it, whatever `stream` says: the same facts are a duplicate,
        others a conflict. `recipe` has `id` and `digest` of the recipe that a managed call runs;
        such a call starts no action here.
        """
        return Starts(self._claims).start(stream, fact, call, action, recipe)

    def finish(
        self,
        stream: Stream,
        fact: Fact,
        call: Call,
        ending: Callable[[dict[str, str]], Ending] | None = None,
    ) -> Outcome:
        """Retain the end of a call, and finish its action where its claim started one.

        The claim's target is used where there is a claim, whatever `stream` says. `ending` gets the
        rule of the claim and is asked only for an action that is open.
        """
        return Finishes(self._claims).finish(stream, fact, call, ending)

    def close_starts(
        self, observed: str, observed_at: int, *, agent_id: str | None = "", most: int = 32
    ) -> int:
        """Close starts of a session that a turn has ended without, oldest first; return how many.

        `agent_id` chooses those of one subagent, None those of no subagent, `""` all.
        """
        return Finishes(self._claims).close_starts(
            observed, observed_at, agent_id=agent_id, most=most
        )

    def defer(
        self,
        observed: str,
        fact: Fact,
        cause: str,
        capture_mode: CaptureMode,
        *,
        call: Call | None = None,
        recipe_digest: str | None = None,
    ) -> Outcome:
        """Keep a sanitised fact of a session that has no target now, with a reserved sequence number.

        `cause` is `unavailable` or `no_target`. Of the fact only its event, boundary and time are
        kept; the session's sharing is fixed by `capture_mode` if it is its first fact.
        """
        return Deferral(self._writer).defer(
            observed,
            fact,
            cause,
            call=call,
            recipe_digest=recipe_digest,
            capture_mode=capture_mode,
        )

    def pending(self, most: int = 10) -> list[Pending]:
        """Return envelopes to deliver, in order, those behind the last attempt first.

        Raises:
            SpoolRefused: An acknowledgement, or one of these envelopes, is malformed.
        """
        return self._outbox.pending(most)

    def attempted(self, pending: Pending) -> None:
        """Remember that an envelope was offered, whatever came of it: the next turn begins behind it."""
        self._outbox.attempted(pending)

    def acknowledge(self, pending: Pending, now: int) -> None:
        """Mark an envelope as accepted: it is not delivered again. `now` is in Unix seconds."""
        self._outbox.acknowledge(pending, now)

    def compact(self) -> dict[str, int]:
        """Replace what a Hub accepted by the index entries that replays need; return what was done.

        Raises:
            SpoolFull: The index would pass its bounds; nothing was changed.
            SpoolRefused: An acknowledgement is malformed; nothing was changed.
        """
        from agentfeedback_change_capture.spool.compaction import Compaction

        done = Compaction(self._writer, self._outbox).run()
        self._index()
        self._count_promises()
        return done

    def prune(self, names: list[str]) -> tuple[list[str], list[str]]:
        """Remove files from the quarantine by their opaque names; return those removed and those missing."""
        gone = [name for name in names if self._storage.has(layout.QUARANTINE, name)]
        for name in gone:
            self._storage.delete(layout.QUARANTINE, name)
        return gone, [name for name in names if name not in gone]

    def _index(self) -> None:
        """Read what was compacted, and which envelopes there are."""
        index = CompactionIndex(self._storage)
        publisher = Publisher(self._storage, index, self.origin)
        self._writer = Writer(self._storage, index, publisher, self.origin)
        self._claims = Claims(self._writer)

    def _native(self, observed: str) -> dict[str, Any] | None:
        record = read_session(self._storage, observed)
        found: dict[str, Any] | None = None if record is None else record["native"]
        return found

    def _read_limits(self) -> None:
        limits = self._storage.record(layout.ROOT, layout.LIMITS)
        if limits is None:
            raise self._storage.malformed(layout.ROOT, layout.LIMITS, "it is missing")
        try:
            self._storage.limits = SpoolLimits(
                **{name: limits[name] for name in SpoolLimits.__slots__}
            )
        except ValueError as error:
            raise self._storage.malformed(layout.ROOT, layout.LIMITS, str(error)) from error

    def _count_promises(self) -> None:
        storage = self._storage
        acknowledged = {
            name for name in storage.names(layout.ACKS) if storage.has(layout.OUTBOX, name)
        }
        storage.usage.unacknowledged = len(storage.names(layout.OUTBOX)) - len(acknowledged)
        receipts = storage.names(layout.ACTIONS)
        finished = {name[:32] for name in receipts if name.endswith(".finish.json")}
        started = {name[:32] for name in receipts if name.endswith(".start.json")}
        storage.usage.open_actions = len(started - finished)


__all__ = ["Spool", "look_up"]
