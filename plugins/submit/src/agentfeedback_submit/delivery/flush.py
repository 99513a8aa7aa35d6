"""Sends what is in the spool to one destination, oldest first."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from attrs import define, evolve, field

from agentfeedback.wire.encode import omitted
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submit.delivery.classify import Classification, classify, positive
from agentfeedback_submit.delivery.deliver import Scrub, refuse, tried_once
from agentfeedback_submit.delivery.destination import Destination
from agentfeedback_submit.delivery.outcome_log import Line
from agentfeedback_submit.delivery.spool import Claim, Spool, SpoolFile
from agentfeedback_submit.delivery.spool_entry import EXPIRED, SpoolEntry, UnreadableEntry
from agentfeedback_submit.remote.server import LOCAL

#: Nanoseconds: no wait is longer, ours or one that a server asked for.
LONGEST_WAIT = 86_400 * 10**9
#: Hears what became of each entry.
Tell = Callable[[Line], None]


@define(eq=False)
class Flushed:
    """What one pass did.

    `pending` are the entries left for this destination; those of them that had to wait are
    `deferred`.
    """

    flushed: int = 0
    duplicates: int = 0
    pending: int = 0
    rejected: int = 0
    mismatched: int = 0
    expired: int = 0
    deferred: int = 0
    other_destination: int = 0
    stopped: str = omitted("")


@define(eq=False)
class FlushRun:
    """One pass over the spool. `until` is a time of `time.monotonic` after which nothing more is sent."""

    spool: Spool
    destination: Destination
    tell: Tell
    scrub: Scrub = str
    until: float | None = None
    done: Flushed = field(factory=Flushed)
    #: How many entries are here for each other destination.
    others: Counter[str] = field(factory=Counter)

    def run(self) -> Flushed:
        """Send what is due. Raises `OSError` where the spool cannot be used; no report is lost then."""
        self.spool.restore()
        for found in self.spool.files():
            self._entry(found)
        self.spool.tidy()
        return self.done

    def _entry(self, found: SpoolFile) -> None:
        try:
            entry = self.spool.look(found)
            if entry is None:
                return  # another process has it
        except UnreadableEntry:
            entry = None
        except PermissionError:
            self.done.pending += 1
            return
        if not self.spool.free(found):
            self._left(entry)
            return
        if entry is not None and not self._goes(entry):
            return
        held = self.spool.claim(found)
        if held is None:
            return
        try:
            entry = self.spool.read(held, entry)
        except UnreadableEntry:
            self.spool.quarantine(held)
            self.done.rejected += 1
            self.tell(Line(outcome="rejected", reason="unreadable_entry"))
            return
        if entry is None:
            return
        # Another process may have tried it since it was looked at.
        if not self._goes(entry):
            self.spool.release(held)
            return
        self._claimed(held, entry)

    def _left(self, entry: SpoolEntry | None) -> None:
        if entry is not None and entry.destination != self.destination.name:
            self.done.other_destination += 1
            self.others[entry.destination] += 1
        else:
            self.done.pending += 1

    def _goes(self, entry: SpoolEntry) -> bool:
        """Whether an entry is to be dealt with now; counts it where it is not."""
        now = self.spool.now()
        if entry.expired(now):
            return True
        if entry.destination != self.destination.name:
            self._left(entry)
            return False
        if self.done.stopped:
            self.done.pending += 1
            return False
        # A time beyond the longest wait was set by a clock that was ahead.
        if now < entry.not_before <= now + LONGEST_WAIT:
            self.done.pending += 1
            self.done.deferred += 1
            return False
        if self.until is not None and time.monotonic() >= self.until:
            self.done.pending += 1
            self.done.stopped = "time"
            return False
        return True

    def _claimed(self, held: Claim, entry: SpoolEntry) -> None:
        if entry.expired(self.spool.now()):
            self.spool.refuse(evolve(entry, last_error=EXPIRED), held)
            self.done.expired += 1
            self.tell(_line("expired", entry, entry.last_error))
            return
        reply = self.destination.send(entry.body)
        verdict = classify(reply, entry.body.kind, entry.body.key, self.scrub)
        if verdict.action == "spool":
            self.spool.release(held, tried_once(entry, verdict, reply, self.spool.now()))
            self.done.pending += 1
            # A database that is busy or broken is so for the next entry, too.
            if verdict.stops or self.destination.name == LOCAL:
                self.done.stopped = verdict.reason
            self.tell(_line("spooled", entry, verdict.reason, reply))
            return
        if verdict.action in ("reject", "mismatch"):
            self._refuse(held, entry, verdict, reply)
            return
        self.spool.done(held)
        if reply.status == 201:
            self.done.flushed += 1
        else:
            self.done.duplicates += 1
        line = _line("flushed", entry, "" if reply.status == 201 else "duplicate", reply)
        line.id = positive(reply.body["submission"]["id"])
        self.tell(line)

    def _refuse(
        self, held: Claim, entry: SpoolEntry, verdict: Classification, reply: ApiResponse
    ) -> None:
        try:
            refuse(self.spool, entry, held, reply, self.scrub)
        except OSError:
            # It would be refused again at once: it waits until there is a place for it.
            waits = evolve(verdict, reason="rejected_unwritable", waits=True)
            self.spool.release(held, tried_once(entry, waits, reply, self.spool.now()))
            self.done.pending += 1
            self.tell(_line("spooled", entry, "rejected_unwritable", reply))
            return
        if verdict.action == "mismatch":
            # Anybody may have answered, and this is the only copy: it is kept beside the answer.
            self.done.mismatched += 1
        else:
            self.done.rejected += 1
        word = "mismatch" if verdict.action == "mismatch" else "rejected"
        self.tell(_line(word, entry, verdict.reason, reply))


def _line(outcome: str, entry: SpoolEntry, reason: str, reply: ApiResponse | None = None) -> Line:
    return Line(
        outcome=outcome,
        kind=entry.body.kind,
        key=entry.body.key,
        request_id=reply.request_id if reply is not None else "",
        reason=reason,
        session_id=entry.body.session_id,
    )
