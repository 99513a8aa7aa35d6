"""Claims: the first durable word on a call of a tool, and everything that follows from it.

A claim embeds the events and the action that it announces, so a hook that is killed right after it
loses nothing; and it binds its target, so a retry is never attributed elsewhere.
"""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import Stream, Target
from agentfeedback_change_capture.spool import event_building, layout
from agentfeedback_change_capture.spool.deferral import Deferral
from agentfeedback_change_capture.spool.outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.facts import Call, Fact
    from agentfeedback_change_capture.spool.sessions import SessionState
    from agentfeedback_change_capture.spool.writer import Writer

#: What the compaction index keeps of a claim, so that a later phase finds what it was bound to.
BINDINGS = (
    *("action_id", "adapter", "capture_mode", "observed_session", "recipe", "route", "rule"),
    *("setup_digest", "sharing", "source_digest", "source_issue", "target", "tool", "tool_use_id"),
)


def claim_name(occurrence: str) -> str:
    """Return the name of a claim."""
    return f"{identities.occurrence_file(occurrence)}.json"


class Known:
    """What a spool knows of one call: its claim, and what was compacted of it; either may be None."""

    __slots__ = ("claim", "compacted", "occurrence")

    def __init__(
        self, occurrence: str, claim: dict[str, Any] | None, compacted: dict[str, Any] | None
    ) -> None:
        self.occurrence = occurrence
        self.claim = claim
        self.compacted = compacted

    @property
    def is_new(self) -> bool:
        """Whether nothing is known."""
        return self.claim is None and self.compacted is None

    def fingerprint(self, phase: str) -> str | None:
        """Return the fingerprint of a phase that is retained; None where it is not."""
        part = None if self.claim is None else self.claim[phase]
        if part is not None and part["fingerprint"] is not None:
            found: str = part["fingerprint"]
            return found
        return None if self.compacted is None else self.compacted[f"{phase}_fingerprint"]

    def bindings(self) -> Mapping[str, Any] | None:
        """Return what the call is bound to, as members of a claim."""
        if self.claim is not None:
            return self.claim
        return None if self.compacted is None else self.compacted["claim"]

    def continued(self, fresh: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of the claim to write next; `fresh` is that of a call nothing is known of."""
        if self.claim is not None:
            return dict(self.claim)
        if self.compacted is None:
            return dict(fresh)
        closed = "turn_end" if self.compacted["closed"] else None
        return {**fresh, **self.compacted["claim"], "closed": closed}


class Claims:
    """Finds claims, and answers hooks that run again."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.storage = writer.storage
        self.origin = writer.origin
        self._deferral = Deferral(writer)

    def known(self, occurrence: str) -> Known:
        """Return what is known of a call."""
        name = claim_name(occurrence)
        claim = self.storage.record(layout.OBSERVATIONS, name)
        if claim is not None and claim["occurrence_id"] != occurrence:
            raise self.storage.malformed(layout.OBSERVATIONS, name, "of another call")
        return Known(occurrence, claim, self.writer.index.call(occurrence))

    def replayed(
        self, known: Known, observed: str, fact: Fact, call: Call, phase: str
    ) -> Outcome | None:
        """Return the answer to a phase that is retained, or was deferred; None for one to write."""
        event_id = self.event_id(observed, fact)
        before = known.fingerprint(phase)
        if before is not None:
            if before == call.fingerprint:
                return Outcome("duplicate", event_id)
            return self._deferral.conflict(observed, fact, event_id, call)
        if known.is_new and self._deferral.was_deferred(event_id):
            return Outcome("duplicate", event_id)
        return None

    def event_id(self, observed: str, fact: Fact) -> str:
        """Return the id of a call's event."""
        found = event_building.known_id(self.origin.scope, observed, fact)
        if found is None:
            raise ValueError(f"a {fact.event} of a call has no identity")
        return found

    def bound_stream(self, stream: Stream, known: Known) -> Stream:
        """Return the stream a call is bound to: the claim's, under the mode of this moment."""
        bindings = known.bindings()
        if bindings is None:
            return stream
        adapter = bindings["adapter"]
        return Stream(
            bindings["observed_session"],
            Target.of(bindings["target"]),
            stream.capture_mode,
            adapter["name"],
            adapter["version"],
        )

    def new_claim(
        self,
        stream: Stream,
        state: SessionState,
        call: Call,
        occurrence: str,
        recipe: dict[str, str] | None,
    ) -> dict[str, Any]:
        """Return the claim of a call that nothing is known of, without a phase yet."""
        return {
            "action_id": None,
            "adapter": {"name": stream.adapter, "version": stream.version},
            "capture_mode": stream.capture_mode,
            "closed": None,
            "observed_session": stream.observed,
            "occurrence_id": occurrence,
            "post": None,
            "pre": None,
            "recipe": recipe,
            "route": "native" if recipe is None else "managed",
            "rule": None,
            "setup_digest": None,
            "sharing": state.native["sharing"],
            "source_digest": None,
            "source_issue": None,
            "target": stream.target.record(),
            "tool": call.tool,
            "tool_use_id": call.tool_use_id,
        }
