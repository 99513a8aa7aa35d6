"""Receipts of actions: what was bound before a tool ran, and how it ended; pure."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool.envelopes import claimed_envelopes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.facts import Action, Ending
    from agentfeedback_change_capture.spool.envelopes import Origin

ASSURANCE = "caller_asserted"


def started(
    action: Action, action_id: str, occurrence: str, scope: str, *, tool: str, order: int, at: int
) -> dict[str, Any]:
    """Return the start of a native action; `at` is in Unix seconds."""
    return {
        "action_id": action_id,
        "assurance": ASSURANCE,
        "observed_order": order,
        "occurrence": identities.shared_occurrence(occurrence, scope),
        "recipe_digest": action.recipe_digest,
        "route": "native",
        "rule": action.rule,
        "setup_digest": action.setup_digest,
        "source": action.source,
        "started_at": at,
        "tool": tool,
    }


def start_digest(claim: Mapping[str, Any], origin: Origin) -> str | None:
    """Return the digest of the envelope of a claim's start; None for a claim without one."""
    for made in claimed_envelopes({**claim, "post": None}, origin):
        if made.action_file is not None:
            return identities.bytes_digest(made.data)
    return None


def ended(
    start: Mapping[str, Any], start_sha256: str | None, ending: Ending, at: int
) -> dict[str, Any]:
    """Return the finish of an action by what its ending showed; `at` is in Unix seconds."""
    drift, freshness = _compared(start, ending)
    finish = {
        "action_id": start["action_id"],
        "assurance": ASSURANCE,
        "coverage": start["rule"]["coverage"],
        "drift": drift,
        "evidence": [],
        "execution": ending.execution,
        "finished_at": at,
        "freshness": freshness,
        "start_sha256": start_sha256,
        "verification": ending.verification,
    }
    if ending.exit_code is not None:
        finish["exit_code"] = ending.exit_code
    if ending.recipe_digest not in (None, start["recipe_digest"]):
        finish["input_changed"] = True
    return finish


def not_observed(
    action_id: str, rule: Mapping[str, str], start_sha256: str | None, cause: str, at: int
) -> dict[str, Any]:
    """Return the finish of an action whose end nothing showed; only a rule that verifies had a check to miss."""
    return {
        "action_id": action_id,
        "assurance": ASSURANCE,
        "cause": cause,
        "coverage": rule["coverage"],
        "drift": "unknown",
        "evidence": [],
        "execution": "incomplete",
        "finished_at": at,
        "freshness": "unknown",
        "start_sha256": start_sha256,
        "verification": "incomplete" if rule["kind"] == "verification" else "unknown",
    }


def _compared(start: Mapping[str, Any], ending: Ending) -> tuple[str, str]:
    """Return drift and freshness: the setup is compared first, since another one makes any source stale."""
    if ending.setup_digest != start["setup_digest"]:
        return "unknown", "stale"
    known = ending.source is not None and ending.source["type"] != "unavailable"
    if not known or start["source"]["type"] == "unavailable":
        return "unknown", "unknown"
    if ending.source == start["source"]:
        return "none_observed", "current"
    return "changed", "stale"
