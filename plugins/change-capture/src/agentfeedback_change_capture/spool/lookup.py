"""What a hook asks a spool before it takes its lock: is this call known, and what is it bound to?"""

from __future__ import annotations

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import Target
from agentfeedback_change_capture.spool import layout
from agentfeedback_change_capture.spool.claims import Known, claim_name
from agentfeedback_change_capture.spool.index import CompactionIndex
from agentfeedback_change_capture.spool.opening import committed, open_folders
from agentfeedback_change_capture.spool.outcome import Claim


def look_up(path: str, observed: str, tool_use_id: str) -> Claim | None:
    """Return what a spool knows of a call, read without a lock; None for nothing, or where it cannot be read.

    It grants no authority: what is done with the call looks again under the lock. A claim that is
    replaced while it is read is the one before or the one after.
    """
    occurrence = identities.occurrence_id(observed, tool_use_id)
    try:
        storage = open_folders(path)
        try:
            committed(storage)
            for folder, name in (
                (layout.OBSERVATIONS, claim_name(occurrence)),
                (layout.ROOT, layout.COMPACTION),
            ):
                storage.look_at(folder, name)
            claim = storage.record(layout.OBSERVATIONS, claim_name(occurrence))
            return _claim(Known(occurrence, claim, CompactionIndex(storage).call(occurrence)))
        finally:
            storage.close()
    except (AgentFeedbackError, OSError):
        return None


def _claim(known: Known) -> Claim | None:
    bindings = known.bindings()
    if bindings is None:
        return None
    pre = None if known.claim is None else known.claim["pre"]
    subagent = pre["events"][0].get("subagent") if pre is not None else None
    closed = bindings.get("closed") if known.compacted is None else known.compacted["closed"]
    return Claim(
        Target.of(bindings["target"]),
        bindings["route"],
        bindings["rule"],
        pre=known.fingerprint("pre"),
        post=known.fingerprint("post"),
        closed=bool(closed),
        agent_id=None if subagent is None else subagent["agent_id"],
    )
