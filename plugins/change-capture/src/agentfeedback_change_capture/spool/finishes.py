"""The end of a call: its event, and the finish of what its claim started, also where no end was seen."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import actions, layout
from agentfeedback_change_capture.spool.claims import claim_name
from agentfeedback_change_capture.spool.envelopes import Attribution, made_action, made_events
from agentfeedback_change_capture.spool.limits import FINISH_BYTES, FINISH_RECORDS
from agentfeedback_change_capture.spool.outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentfeedback_change_capture.facts import Call, Ending, Fact, Stream
    from agentfeedback_change_capture.spool.claims import Claims, Known
    from agentfeedback_change_capture.spool.plan import Plan

#: What a managed run that did not start would have checked is not known.
_MANAGED = {"kind": "verification", "coverage": "unknown"}
_OPEN = (b'"closed":null', b'"post":null')


class Finishes:
    """Retains ends, and closes starts that have none."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._writer = claims.writer
        self._storage = claims.storage

    def finish(
        self,
        stream: Stream,
        fact: Fact,
        call: Call,
        ending: Callable[[dict[str, str]], Ending] | None,
    ) -> Outcome:
        """Retain the end of a call under what its claim is bound to.

        Where the event does not fit, the finish of a started action is retained all the same, in the
        room that was kept for it.
        """
        observed = stream.observed
        occurrence = identities.occurrence_id(observed, call.tool_use_id)
        known = self._claims.known(occurrence)
        answer = self._claims.replayed(known, observed, fact, call, "post")
        if answer is not None:
            return answer
        bound = self._claims.bound_stream(stream, known)
        if known.is_new:
            self._writer.end_outage(bound, fact.observed_at)
        for with_event, with_bodies in ((True, True), (True, False), (False, False)):
            plan = self._writer.plan()
            finishes = self._planned(
                plan,
                known,
                bound,
                fact,
                call,
                ending,
                with_event=with_event,
                with_bodies=with_bodies,
            )
            if not with_event and not finishes:
                break
            # What was kept free for this finish is used by it now.
            kept = (-FINISH_RECORDS, -FINISH_BYTES) if finishes else (0, 0)
            if plan.fits("ordinary" if with_event else "finishing", *kept):
                plan.write()
                self._storage.usage.open_actions -= finishes
                if not with_event:
                    self._writer.pause(bound, fact.observed_at, "quota")
                event_id = self._claims.event_id(observed, fact)
                return Outcome("new" if with_event else "paused", event_id)
        return self._writer.pause(bound, fact.observed_at, "quota")

    def _planned(
        self,
        plan: Plan,
        known: Known,
        bound: Stream,
        fact: Fact,
        call: Call,
        ending: Callable[[dict[str, str]], Ending] | None,
        *,
        with_event: bool,
        with_bodies: bool,
    ) -> bool:
        """Plan the end of a call; return whether it finishes an action that was open."""
        state = self._writer.state(bound)
        fresh = self._claims.new_claim(bound, state, call, known.occurrence, None)
        claim = known.continued(fresh)
        post: dict[str, Any] = {
            "capture_mode": bound.capture_mode,
            "envelope_order": None,
            "events": [],
            "finish": _retained(known),
            "fingerprint": call.fingerprint,
        }
        if with_event:
            built = self._writer.build(bound, fact, state, with_bodies=with_bodies)
            if known.is_new:
                self._writer.settle(state, bound)
            state.add_to(plan)
            self._writer.add_artifacts(plan, built)
            post["events"] = built.events
            post["envelope_order"] = self._writer.publisher.next_order
        finish = None
        if post["finish"] is None:
            finish = post["finish"] = self._finish(known, claim, ending, fact.observed_at)
        claim["post"] = post
        who = Attribution.of_claim(claim, bound.capture_mode)
        plan.update(layout.OBSERVATIONS, claim_name(known.occurrence), claim, known.claim)
        if with_event:
            plan.publish(
                made_events(self._claims.origin, who, post["events"], post["envelope_order"])
            )
        if finish is not None:
            plan.publish(made_action(self._claims.origin, who, "finish", finish))
        return finish is not None and claim["route"] == "native"

    def _finish(
        self,
        known: Known,
        claim: dict[str, Any],
        ending: Callable[[dict[str, str]], Ending] | None,
        at: int,
    ) -> dict[str, Any] | None:
        if known.compacted is not None or claim["pre"] is None:
            return None
        if claim["route"] == "managed":
            return self._not_started(claim, at)
        start = claim["pre"]["start"]
        if start is None:
            return None
        if ending is None:
            raise ValueError(f"the action {start['action_id']} needs an ending")
        digest = actions.start_digest(claim, self._claims.origin)
        return actions.ended(start, digest, ending(claim["rule"]), at)

    def _not_started(self, claim: dict[str, Any], at: int) -> dict[str, Any] | None:
        """Return the one receipt of a managed run that ended before anything of it started."""
        action_id = identities.action_id(claim["observed_session"], claim["tool_use_id"])
        start = layout.receipt_name(identities.action_file(action_id), "start")
        attempts = (
            self._storage.record(layout.ATTEMPTS, name)
            for name in self._storage.names(layout.ATTEMPTS)
        )
        running = any(each is not None and each["action_id"] == action_id for each in attempts)
        if running or self._storage.has(layout.ACTIONS, start):
            return None
        return actions.not_observed(action_id, _MANAGED, None, "managed_not_started", at)

    def close_starts(self, observed: str, at: int, *, agent_id: str | None, most: int) -> int:
        """Close what a turn ended without, oldest first; return how many."""
        closed = 0
        for name in self._open_names():
            claim = self._storage.record(layout.OBSERVATIONS, name)
            if claim is None or not _ended_without(claim, observed, agent_id):
                continue
            if closed == most:
                break
            closed += self._close(name, claim, at)
        return closed

    def _open_names(self) -> list[str]:
        """Return the claims that are open, oldest first; most have an end, so the bytes are looked at first."""
        found = [
            name
            for name in self._storage.names(layout.OBSERVATIONS)
            if all(
                mark in self._storage.read(layout.OBSERVATIONS, name, layout.RECORD_BYTES)
                for mark in _OPEN
            )
        ]
        entries = self._storage.entries[layout.OBSERVATIONS]
        return sorted(found, key=lambda name: (entries[name].changed, name))

    def _close(self, name: str, claim: dict[str, Any], at: int) -> bool:
        plan = self._writer.plan()
        start = claim["pre"]["start"]
        closed = {**claim, "closed": "turn_end"}
        if start is not None:
            digest = actions.start_digest(claim, self._claims.origin)
            finish = actions.not_observed(
                start["action_id"], start["rule"], digest, "completion_not_observed", at
            )
            closed["post"] = {
                "capture_mode": claim["capture_mode"],
                "envelope_order": None,
                "events": [],
                "finish": finish,
                "fingerprint": None,
            }
        plan.update(layout.OBSERVATIONS, name, closed, claim)
        if start is not None:
            who = Attribution.of_claim(claim, claim["capture_mode"])
            plan.publish(made_action(self._claims.origin, who, "finish", finish))
        if not plan.fits("finishing"):
            return False
        plan.write()
        self._storage.usage.open_actions -= start is not None
        return True


def _retained(known: Known) -> dict[str, Any] | None:
    """Return the finish that a turn's end gave an action, which a later ending keeps."""
    post = None if known.claim is None else known.claim["post"]
    found: dict[str, Any] | None = None if post is None else post["finish"]
    return found


def _ended_without(claim: dict[str, Any], observed: str, agent_id: str | None) -> bool:
    """Return whether a claim is open, native, and of this session and subagent (`""`: of any)."""
    if claim["closed"] or claim["post"] is not None or claim["pre"] is None:
        return False
    if claim["observed_session"] != observed or claim["route"] == "managed":
        return False
    if agent_id == "":
        return True
    subagent = claim["pre"]["events"][0].get("subagent")
    return (None if subagent is None else subagent["agent_id"]) == agent_id
