"""What a hook asks a spool before it takes its lock: is this call known, and what is it bound to?"""

from __future__ import annotations

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout
from agentfeedback_change_capture.spool.claims import Known, claim_name
from agentfeedback_change_capture.spool.index import CompactionIndex
from agentfeedback_change_capture.spool.opening import committed, open_folders


def look_up(path: str, observed: str, tool_use_id: str) -> Known | None:
    """Return what a spool knows of a call, read without a lock; None for a spool that cannot be read.

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
            return Known(occurrence, claim, CompactionIndex(storage).call(occurrence))
        finally:
            storage.close()
    except (AgentFeedbackError, OSError):
        return None
