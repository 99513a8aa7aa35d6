"""Facts that are not a phase of an identified call: the events of a session."""

from __future__ import annotations

from agentfeedback_change_capture.spool import event_building
from agentfeedback_change_capture.spool.deferral import Deferral
from agentfeedback_change_capture.spool.envelopes import made_events
from agentfeedback_change_capture.spool.index import replay_digest
from agentfeedback_change_capture.spool.outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback_change_capture.facts import Fact, Stream
    from agentfeedback_change_capture.spool.writer import Writer


class Facts:
    """Retains facts, each once where its provider identifies it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._deferral = Deferral(writer)

    def append(self, stream: Stream, fact: Fact) -> Outcome:
        """Retain a fact that is not a phase of an identified call."""
        event_id = event_building.known_id(self._writer.origin.scope, stream.observed, fact)
        if event_id is not None:
            if (before := self._replayed(event_id)) is not None:
                return self._compare(stream, fact, event_id, before)
            if self._deferral.was_deferred(event_id):
                return Outcome("duplicate", event_id)
        self._writer.end_outage(stream, fact.observed_at)
        for with_bodies in (True, False):
            state = self._writer.state(stream)
            built = self._writer.build(stream, fact, state, with_bodies=with_bodies)
            self._writer.settle(state, stream)
            plan = self._writer.plan()
            state.add_to(plan)
            self._writer.add_artifacts(plan, built)
            made = made_events(
                self._writer.origin, self._writer.attribution(stream, state), built.events, None
            )
            plan.publish(made)
            if plan.fits("ordinary"):
                plan.write()
                return Outcome("new", built.event_id)
        return self._writer.pause(stream, fact.observed_at, "quota")

    def _replayed(self, event_id: str) -> str | None:
        """Return the replay digest of an event that is retained, or was and is compacted."""
        name = self._writer.publisher.find(event_id.removeprefix("evt_"))
        if name is None:
            return self._writer.index.replay_digest(event_id)
        envelope, _ = self._writer.storage.envelope(name)
        return replay_digest(envelope["events"][0])

    def _compare(self, stream: Stream, fact: Fact, event_id: str, before: str) -> Outcome:
        for with_bodies in (True, False):
            built = self._writer.build(
                stream, fact, self._writer.state(stream), with_bodies=with_bodies
            )
            if replay_digest(built.events[0]) == before:
                return Outcome("duplicate", event_id)
        return self._deferral.conflict(stream.observed, fact, event_id, None)
