"""Facts of a session that has no target now: kept sanitised, local, and never attributed later."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import Stream, Target
from agentfeedback_change_capture.spool import event_building, layout, records
from agentfeedback_change_capture.spool.outcome import Outcome
from agentfeedback_change_capture.spool.sessions import SessionState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.facts import Call, CaptureMode, Fact
    from agentfeedback_change_capture.spool.writer import Writer


class Deferral:
    """Writes deferred facts; each has a receipt order of its own, since clocks do not count."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._storage = writer.storage

    def defer(
        self,
        observed: str,
        fact: Fact,
        cause: str,
        *,
        call: Call | None,
        recipe_digest: str | None,
        capture_mode: CaptureMode,
    ) -> Outcome:
        """Keep a fact with a number of the observed stream, so that its absence can be seen."""
        scope = self._writer.origin.scope
        event_id = event_building.known_id(scope, observed, fact)
        if event_id is not None and self._find(event_id) is not None:
            return Outcome("duplicate", event_id)
        state = SessionState(self._storage, observed, observed, capture_mode)
        if event_id is None:
            number = state.number(fact.event)
            event_id = identities.numbered_event(scope, observed, fact.event, number)
        order = self._next_order()
        outage = state.native.get("outage")
        if outage is not None and outage.get("closed"):
            # A killed hook closed it: its gap is written before another outage takes its place.
            old = Stream(observed, Target.of(state.native["target"]), capture_mode)
            if self._writer.publish_outage(old, outage):
                outage = None
        state.native["outage"] = {
            "count": 1 if outage is None else outage["count"] + 1,
            "first": order if outage is None else outage["first"],
            "last": order,
        }
        if fact.ends:
            state.native["end_seen"] = True
        record = _record(
            observed,
            fact,
            cause,
            call=call,
            recipe_digest=recipe_digest,
            receipt_order=order,
            sequence=state.take(),
            target=state.native.get("target"),
        )
        plan = self._writer.plan()
        state.add_to(plan)
        plan.add(
            layout.DEFERRED,
            layout.deferred_name(order, event_id),
            records.encode("deferred", record),
        )
        if not plan.fits("ordinary"):
            return Outcome("dropped", event_id)
        plan.write()
        return Outcome("new", event_id)

    def conflict(self, observed: str, fact: Fact, event_id: str, call: Call | None) -> Outcome:
        """Keep a diagnostic of a conflict, once for each occurrence and phase; it takes no number."""
        if self._find(event_id) is not None:
            return Outcome("conflict", event_id)
        order = self._next_order()
        record = _record(
            observed,
            fact,
            "conflict",
            call=call,
            recipe_digest=None,
            receipt_order=order,
            sequence=None,
            target=None,
        )
        plan = self._writer.plan()
        plan.add(
            layout.DEFERRED,
            layout.deferred_name(order, event_id),
            records.encode("deferred", record),
        )
        if plan.fits("ordinary"):
            plan.write()
        return Outcome("conflict", event_id)

    def was_deferred(self, event_id: str) -> bool:
        """Return whether a fact was deferred for want of a target."""
        name = self._find(event_id)
        record = None if name is None else self._storage.record(layout.DEFERRED, name)
        return record is not None and record["cause"] != "conflict"

    def _find(self, event_id: str) -> str | None:
        wanted = event_id[4:20]
        names = self._storage.names(layout.DEFERRED)
        return next((name for name in names if name[13:29] == wanted), None)

    def _next_order(self) -> int:
        names = self._storage.names(layout.DEFERRED)
        return 1 + (int(names[-1][:12]) if names else 0)


def _record(
    observed: str,
    fact: Fact,
    cause: str,
    *,
    call: Call | None,
    recipe_digest: str | None,
    receipt_order: int,
    sequence: int | None,
    target: dict[str, Any] | None,
) -> dict[str, Any]:
    occurrence = None if call is None else identities.occurrence_id(observed, call.tool_use_id)
    return {
        "boundary": fact.members.get("boundary"),
        "cause": cause,
        "event": fact.event,
        "observed_at": fact.observed_at,
        "observed_session": observed,
        "occurrence_id": occurrence,
        "receipt_order": receipt_order,
        "recipe_digest": recipe_digest,
        "sequence": sequence,
        # Source is not captured yet, so no deferred start is bound to any.
        "source_digest": None,
        "target": target,
        "tool": None if call is None else call.tool,
    }
