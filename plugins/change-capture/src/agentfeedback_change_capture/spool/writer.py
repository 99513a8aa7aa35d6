"""How facts become durable: each operation is planned, admitted and written, under the spool's lock."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import Stream, Target
from agentfeedback_change_capture.spool import event_building, layout
from agentfeedback_change_capture.spool.envelopes import Attribution, made_events
from agentfeedback_change_capture.spool.outcome import Outcome, SpoolFull
from agentfeedback_change_capture.spool.plan import Plan
from agentfeedback_change_capture.spool.sessions import SessionState, read_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.facts import Fact
    from agentfeedback_change_capture.spool.envelopes import Origin, Publisher
    from agentfeedback_change_capture.spool.event_building import Built
    from agentfeedback_change_capture.spool.index import CompactionIndex
    from agentfeedback_change_capture.spool.storage import Storage

#: What the records of an outage's end may add, at most: a session's record, and its bytes.
_OUTAGE_ROOM = (1, 1024)
_OUTAGE_GAP = ("capture_interrupted", "deferred")


class Writer:
    """What every operation needs: the storage, what was compacted, the outbox, and whose spool it is."""

    def __init__(
        self, storage: Storage, index: CompactionIndex, publisher: Publisher, origin: Origin
    ) -> None:
        self.storage = storage
        self.index = index
        self.publisher = publisher
        self.origin = origin

    def plan(self) -> Plan:
        """Return an operation that writes nothing yet."""
        return Plan(self.storage, self.publisher)

    def state(self, stream: Stream) -> SessionState:
        """Return the session records that a fact of a stream changes."""
        state = SessionState(
            self.storage, stream.observed, stream.target.session_id, stream.capture_mode
        )
        state.forget_lost_start(self.publisher.has)
        return state

    def build(self, stream: Stream, fact: Fact, state: SessionState, *, with_bodies: bool) -> Built:
        """Return the events of a fact, numbered."""
        return event_building.build(
            self.origin.scope,
            stream,
            fact,
            state,
            self.storage.limits.artifact_bytes,
            with_bodies=with_bodies,
        )

    def attribution(self, stream: Stream, state: SessionState) -> Attribution:
        """Return whose the envelopes of a stream are."""
        return Attribution(
            stream.observed,
            stream.target.record(),
            {"name": stream.adapter, "version": stream.version},
            stream.capture_mode,
            state.native["sharing"],
        )

    def add_artifacts(self, plan: Plan, built: Built) -> None:
        """Write the artifacts that events refer to, those that are there already left out."""
        for name, data in built.artifacts.items():
            if not self.storage.has(layout.ARTIFACTS, name):
                plan.add(layout.ARTIFACTS, name, data)

    def keep_artifact(self, data: bytes) -> str:
        """Retain bytes under their digest, which is returned.

        Raises:
            SpoolFull: They do not fit.
        """
        name = identities.bytes_digest(data)
        if not self.storage.has(layout.ARTIFACTS, name):
            plan = self.plan()
            plan.add(layout.ARTIFACTS, name, data)
            if len(data) > self.storage.limits.artifact_bytes or not plan.fits("ordinary"):
                raise SpoolFull(
                    f"{self.storage.path}: {len(data)} bytes do not fit", "raise its limits"
                )
            plan.write()
        return name

    def settle(self, state: SessionState, stream: Stream, *, started: bool = False) -> None:
        """Note the target; an ordinary fact that is retained ends a pause for want of room."""
        state.native["target"] = stream.target.record()
        pause = state.native.get("pause")
        if pause is not None and pause["open"] and (started or pause["cause"] == "quota"):
            state.native["pause"] = {**pause, "open": False}

    def pause(self, stream: Stream, observed_at: int, cause: str) -> Outcome:
        """Record once that capture stopped, in the room that is kept for it.

        A pause that a killed hook took a number for, and no more, is said now.
        """
        state = self.state(stream)
        pause = state.native.get("pause")
        again = pause is not None and pause["open"] and pause["cause"] == cause
        if not again:
            pause = {
                "cause": cause,
                "number": 1 if pause is None else pause["number"] + 1,
                "open": True,
                "sequence": state.take(),
            }
            state.native["pause"] = pause
        assert pause is not None
        event_id = identities.gap_event(
            self.origin.scope, stream.observed, "capture_interrupted", cause, pause["number"]
        )
        if self.publisher.has(event_id.removeprefix("evt_")):
            return Outcome("dropped", event_id)
        event = event_building.gap_event(
            event_id, "capture_interrupted", cause, observed_at, pause["sequence"]
        )
        plan = self.plan()
        state.add_to(plan)
        plan.publish(made_events(self.origin, self.attribution(stream, state), [event], None))
        if not plan.fits("pause"):
            return Outcome("dropped", event_id)
        plan.write()
        return Outcome("paused", event_id)

    def end_outage(self, stream: Stream, observed_at: int) -> None:
        """Make an outage visible under the target it began with, then forget it.

        Where the stream goes on under the same target and id, the hole in its numbers says it.
        """
        record = read_session(self.storage, stream.observed)
        native = None if record is None else record["native"]
        outage = None if native is None else native.get("outage")
        if native is None or outage is None:
            return
        if not self.storage.admits("finishing", *_OUTAGE_ROOM):
            return  # it is said when there is room again
        target = native.get("target")
        unchanged = target == stream.target.record() and target["session_id"] == stream.observed
        if target is not None and (outage.get("closed") or not unchanged):
            old = self._of_target(stream, Target.of(target))
            if not self.publish_outage(old, self._closed(old, outage, observed_at)):
                return
        state = self.state(stream)
        del state.native["outage"]
        plan = self.plan()
        state.add_to(plan)
        plan.write()

    def _closed(self, old: Stream, outage: dict[str, Any], observed_at: int) -> dict[str, Any]:
        if outage.get("closed"):
            return outage
        state = self.state(old)
        closed = {**outage, "closed": True, "observed_at": observed_at, "sequence": state.take()}
        state.native["outage"] = closed
        plan = self.plan()
        state.add_to(plan)
        plan.write()
        return closed

    def publish_outage(self, old: Stream, outage: dict[str, Any]) -> bool:
        """Write the gap of a closed outage under its own target; return whether it is there."""
        event_id = identities.gap_event(
            self.origin.scope,
            old.target.session_id,
            *_OUTAGE_GAP,
            [outage["first"], outage["last"]],
        )
        if self.publisher.has(event_id.removeprefix("evt_")):
            return True
        event = event_building.gap_event(
            event_id,
            *_OUTAGE_GAP,
            outage["observed_at"],
            outage["sequence"],
            count=outage["count"],
        )
        plan = self.plan()
        who = self.attribution(old, self.state(old))
        plan.publish(made_events(self.origin, who, [event], None))
        if not plan.fits("pause"):
            return False
        plan.write()
        return True

    def _of_target(self, stream: Stream, target: Target) -> Stream:
        return Stream(stream.observed, target, stream.capture_mode, stream.adapter, stream.version)
