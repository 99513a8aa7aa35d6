"""The compaction index: what is known of facts whose records were removed after a Hub accepted them.

It is written before anything it replaces is removed, so a replayed hook finds an answer at any
moment. It is never pruned: when its bound is reached, compaction refuses.
"""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.spool.storage import Storage

ARRAYS = ("events", "full", "actions", "occurrences")


class CompactionIndex:
    """The index of a spool, its tables by id made when they are asked for."""

    __slots__ = ("_actions", "_calls", "_events", "_primaries", "record")

    def __init__(self, storage: Storage) -> None:
        found = storage.record(layout.ROOT, layout.COMPACTION)
        if found is None:
            raise storage.malformed(layout.ROOT, layout.COMPACTION, "it is missing")
        self.record = found
        self._events: dict[str, str] | None = None
        self._calls: dict[str, dict[str, Any]] | None = None
        self._actions: dict[str, dict[str, Any]] | None = None
        self._primaries: set[str] | None = None

    @property
    def high_order(self) -> int:
        """The largest order of an envelope that was removed."""
        high: int = self.record["high_order"]
        return high

    def replay_digest(self, event_id: str) -> str | None:
        """Return the replay digest of a removed event; None for an event that is not here."""
        if self._events is None:
            self._events = {
                each["event_id"]: each["replay_digest"] for each in self.record["events"]
            }
            for envelope in self.record["full"]:
                for event in envelope.get("events", ()):
                    self._events[event["event_id"]] = replay_digest(event)
        return self._events.get(event_id)

    def call(self, occurrence: str) -> dict[str, Any] | None:
        """Return what is kept of a removed claim."""
        if self._calls is None:
            self._calls = {each["occurrence_id"]: each for each in self.record["occurrences"]}
        return self._calls.get(occurrence)

    def action(self, action_id: str) -> dict[str, Any] | None:
        """Return the compact receipts of a finished action."""
        if self._actions is None:
            self._actions = {each["action_id"]: each for each in self.record["actions"]}
        return self._actions.get(action_id)

    def has_primary(self, primary: str) -> bool:
        """Return whether an envelope of this beginning of a primary id was removed."""
        if self._primaries is None:
            self._primaries = {each["event_id"][4:36] for each in self.record["events"]}
            for envelope in self.record["full"]:
                self._primaries.add(records.envelope_primary(envelope)[:32])
            for each in self.record["actions"]:
                for phase in ("start", "finish"):
                    self._primaries.add(records.action_primary(phase, each["action_id"])[:32])
        return primary in self._primaries


def replay_digest(event: Mapping[str, Any]) -> str:
    """Return the digest of what a replayed event has to repeat: neither its place nor a time of receipt."""
    left_out = {"sequence"}
    if event["time_source"] == "receipt":
        left_out.add("observed_at")
    return identities.digest({name: event[name] for name in event if name not in left_out})


def finish_cleanup(storage: Storage, index: CompactionIndex) -> None:
    """Remove what the index replaces, in an order that recovery can continue at any moment."""
    cleanup = index.record["cleanup"]
    if not any(cleanup.values()):
        return
    for folder, names in _REMOVED:
        for name in cleanup[names]:
            storage.delete(folder, name, flush=False)
        storage.folders[folder].flush()
    if cleanup["orders"]:
        ledger = storage.record(layout.ROOT, layout.ORDER)
        if ledger is not None:
            left = [each for each in ledger["active"] if each["action_id"] not in cleanup["orders"]]
            if left != ledger["active"]:
                storage.update(layout.ROOT, layout.ORDER, {**ledger, "active": left}, ledger)
    members = {**index.record, "cleanup": {name: [] for name in cleanup}}
    storage.update(layout.ROOT, layout.COMPACTION, members, index.record)
    index.record["cleanup"] = members["cleanup"]


_REMOVED = (
    (layout.OBSERVATIONS, "observations"),
    (layout.ACKS, "acks"),
    (layout.OUTBOX, "envelopes"),
    (layout.ACTIONS, "receipts"),
    (layout.SOURCES, "sources"),
)
