"""The records of sessions: the next number of a stream, and what is known of a session that was observed.

There is one stream of sequence numbers for each id. A session that stands behind an alias has two
records: that of its observed id, and that of the canonical id, whose stream its events are in.
"""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import SHARED
from agentfeedback_change_capture.spool import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentfeedback_change_capture.spool.plan import Plan
    from agentfeedback_change_capture.spool.storage import Storage


def session_name(session: str) -> str:
    """Return the name of a session's record."""
    return f"{identities.session_file(session)}.json"


def read_session(storage: Storage, session: str) -> dict[str, Any] | None:
    """Return the record of a session; None where there is none."""
    found = storage.record(layout.SESSIONS, session_name(session))
    if found is not None and found["id"] != session:
        raise storage.malformed(layout.SESSIONS, session_name(session), "of another session")
    return found


class SessionState:
    """The records that one operation changes: of the observed session and of the stream it writes to."""

    def __init__(self, storage: Storage, observed: str, stream: str, capture_mode: str) -> None:
        self._before: dict[str, dict[str, Any] | None] = {}
        self._records: dict[str, dict[str, Any]] = {}
        self.observed = observed
        self.stream = stream
        for session in (stream, observed):
            found = read_session(storage, session)
            self._before[session] = found
            self._records[session] = _copied(session, found)
        record = self._records[observed]
        if record["native"] is None:
            record["native"] = {
                "capture_mode_at_start": capture_mode,
                "end_seen": False,
                "late_gap_recorded": False,
                "occurrences": {},
                # A session that did not begin under the mode keeps its bodies local for ever.
                "sharing": capture_mode == SHARED,
                "start": "none",
            }
        self.native: dict[str, Any] = record["native"]

    def forget_lost_start(self, is_retained: Callable[[str], bool]) -> None:
        """Take back what was noted of the session's start by a hook that was killed before its envelope.

        Otherwise an account would begin in the middle and not say so.
        """
        event = self.native.get("start_event")
        if event is not None and not is_retained(event.removeprefix("evt_")):
            self.native["start"] = "none"
            self.native["late_gap_recorded"] = False
            del self.native["start_event"]
            self.native.pop("start_sequence", None)

    def take(self) -> int:
        """Return the next number of the stream, and take it."""
        record = self._records[self.stream]
        taken: int = record["next_sequence"]
        record["next_sequence"] = taken + 1
        return taken

    def number(self, event: str) -> int:
        """Return the next number of an event that has no identity, and take it."""
        counts = self.native["occurrences"]
        taken: int = counts.get(event, 1)
        counts[event] = taken + 1
        return taken

    def add_to(self, plan: Plan) -> None:
        """Write what changed; the stream's number is taken before anything refers to it."""
        for session, record in self._records.items():
            before = self._before[session]
            if before is None or _copied(session, before) != record:
                plan.update(layout.SESSIONS, session_name(session), record, before)


def _copied(session: str, found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None:
        return {"id": session, "native": None, "next_sequence": 1}
    native = found["native"]
    if native is not None:
        native = {**native, "occurrences": dict(native["occurrences"])}
    return {"id": session, "native": native, "next_sequence": found["next_sequence"]}
