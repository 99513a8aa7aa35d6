"""The start of a call: its claim, its event, and for a configured tool the start of its action."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import actions, layout
from agentfeedback_change_capture.spool.claims import claim_name
from agentfeedback_change_capture.spool.envelopes import Attribution, made_action, made_events
from agentfeedback_change_capture.spool.limits import FINISH_BYTES, FINISH_RECORDS
from agentfeedback_change_capture.spool.outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.facts import Action, Call, Fact, Stream
    from agentfeedback_change_capture.spool.claims import Claims, Known
    from agentfeedback_change_capture.spool.plan import Plan


class Starts:
    """Retains starts."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._writer = claims.writer
        self._storage = claims.storage

    def start(
        self,
        stream: Stream,
        fact: Fact,
        call: Call,
        action: Action | None,
        recipe: dict[str, str] | None,
    ) -> Outcome:
        """Claim a call and retain its start; a managed one, which has a recipe, starts no action here."""
        occurrence = identities.occurrence_id(stream.observed, call.tool_use_id)
        known = self._claims.known(occurrence)
        answer = self._claims.replayed(known, stream.observed, fact, call, "pre")
        if answer is not None:
            return answer
        if known.is_new:
            self._writer.end_outage(stream, fact.observed_at)
        bound = self._claims.bound_stream(stream, known)
        # A start that comes after its own end is an event and nothing more.
        wanted = action if known.is_new and recipe is None else None
        ledger = self._storage.record(layout.ROOT, layout.ORDER)
        assert ledger is not None
        most = min(layout.MOST_ACTIVE, self._storage.limits.records // 4)
        starts = wanted if len(ledger["active"]) < most else None
        for with_bodies in (True, False):
            plan = self._writer.plan()
            event_id = self._planned(
                plan, known, bound, fact, call, recipe, action, starts, ledger, with_bodies
            )
            promised = (FINISH_RECORDS, FINISH_BYTES) if starts is not None else (0, 0)
            if plan.fits("ordinary", *promised):
                plan.write()
                self._storage.usage.open_actions += starts is not None
                if wanted is not None and starts is None:
                    self._writer.pause(bound, fact.observed_at, "order_ledger_full")
                return Outcome("new", event_id)
        return self._writer.pause(bound, fact.observed_at, "quota")

    def _planned(
        self,
        plan: Plan,
        known: Known,
        bound: Stream,
        fact: Fact,
        call: Call,
        recipe: dict[str, str] | None,
        action: Action | None,
        starts: Action | None,
        ledger: dict[str, Any],
        with_bodies: bool,
    ) -> str:
        state = self._writer.state(bound)
        built = self._writer.build(bound, fact, state, with_bodies=with_bodies)
        if known.is_new:
            self._writer.settle(state, bound, started=starts is not None)
        state.add_to(plan)
        self._writer.add_artifacts(plan, built)
        claim = known.continued(
            self._claims.new_claim(bound, state, call, known.occurrence, recipe)
        )
        order = self._writer.publisher.next_order
        claim["pre"] = {
            "envelope_order": order,
            "events": built.events,
            "fingerprint": call.fingerprint,
            "recipe_digest": None if action is None else action.recipe_digest,
            "start": None,
        }
        if starts is not None:
            self._bind(claim, starts, ledger["next_order"], fact.observed_at)
            plan.update(layout.ROOT, layout.ORDER, _longer(ledger, claim), ledger)
        who = Attribution.of_claim(claim, claim["capture_mode"])
        plan.update(layout.OBSERVATIONS, claim_name(known.occurrence), claim, known.claim)
        plan.publish(made_events(self._claims.origin, who, built.events, order))
        if starts is not None:
            plan.publish(made_action(self._claims.origin, who, "start", claim["pre"]["start"]))
        return built.event_id

    def _bind(self, claim: dict[str, Any], action: Action, order: int, at: int) -> None:
        action_id = identities.action_id(claim["observed_session"], claim["tool_use_id"])
        claim["action_id"] = action_id
        claim["rule"] = action.rule
        claim["setup_digest"] = action.setup_digest
        if action.source["type"] == "unavailable":
            claim["source_issue"] = action.source["cause"]
        else:
            claim["source_digest"] = identities.digest(action.source)
        claim["pre"]["start"] = actions.started(
            action,
            action_id,
            claim["occurrence_id"],
            self._claims.origin.scope,
            tool=claim["tool"],
            order=order,
            at=at,
        )


def _longer(ledger: dict[str, Any], claim: dict[str, Any]) -> dict[str, Any]:
    entry = {
        "action_id": claim["action_id"],
        "occ32": identities.occurrence_file(claim["occurrence_id"]),
        "order": ledger["next_order"],
        "session_id": claim["observed_session"],
        "state": "started",
    }
    return {"active": [*ledger["active"], entry], "next_order": ledger["next_order"] + 1}
