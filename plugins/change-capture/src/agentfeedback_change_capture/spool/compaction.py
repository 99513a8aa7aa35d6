"""Compaction: what a Hub accepted is replaced by what a replay needs to be answered."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.claims import BINDINGS
from agentfeedback_change_capture.spool.envelopes import claimed_envelopes
from agentfeedback_change_capture.spool.index import ARRAYS, finish_cleanup, replay_digest
from agentfeedback_change_capture.spool.outcome import SpoolFull
from agentfeedback_change_capture.spool.storage import mutable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.spool.outbox import Outbox
    from agentfeedback_change_capture.spool.writer import Writer


class Compaction:
    """One compaction: what is selected, the index that replaces it, and the removal."""

    def __init__(self, writer: Writer, outbox: Outbox) -> None:
        self._storage = writer.storage
        self._index = writer.index
        self._origin = writer.origin
        self._acknowledged = outbox.acknowledged()
        self._by_primary = {
            layout.envelope_primary(name): name for name in self._storage.names(layout.OUTBOX)
        }
        self._events: list[dict[str, Any]] = []
        self._full: list[dict[str, Any]] = []
        self._actions: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self._cleanup: dict[str, list[str]] = {name: [] for name in index_cleanup()}
        self._busy = {each["action_id"] for each in self._all(layout.ATTEMPTS)}
        self._claimed: set[str] = set()

    def run(self) -> dict[str, int]:
        """Compact, and return the counts of what was replaced and freed.

        Raises:
            SpoolFull: The index would pass its bounds; nothing was changed.
        """
        storage = self._storage
        before = storage.usage.records, storage.usage.bytes
        self._select()
        if any(self._cleanup.values()):
            record = self._replacement()
            self._admit(record)
            storage.update(layout.ROOT, layout.COMPACTION, record, self._index.record)
            found = storage.record(layout.ROOT, layout.COMPACTION)
            assert found is not None
            self._index.record = found
            finish_cleanup(storage, self._index)
        entry = storage.entries[layout.ROOT][layout.COMPACTION]
        return {
            "events": len(self._events),
            "actions": len(self._actions),
            "full_envelopes": len(self._full),
            "reclaimed_records": before[0] - storage.usage.records,
            "reclaimed_bytes": before[1] - storage.usage.bytes,
            "index_records": sum(len(self._index.record[name]) for name in ARRAYS),
            "index_bytes": entry.size,
        }

    def _select(self) -> None:
        for claim in self._all(layout.OBSERVATIONS):
            self._select_claim(claim)
        for name in sorted(self._acknowledged):
            if layout.envelope_primary(name) not in self._claimed:
                envelope, _ = self._storage.envelope(name)
                if records.envelope_kind(envelope) in ("events", "usage"):
                    self._replace(envelope, name, full=_is_kept_whole(envelope))
        for name in self._storage.names(layout.ACKS):
            orphan = not self._storage.has(layout.OUTBOX, name)
            if orphan and self._index.has_primary(layout.envelope_primary(name)):
                self._cleanup["acks"].append(name)

    def _select_claim(self, claim: dict[str, Any]) -> None:
        """Select a call whose end is known, or closed, and all of whose envelopes were accepted."""
        made = list(claimed_envelopes(claim, self._origin))
        primaries = {records.envelope_primary(each.envelope)[:32] for each in made}
        action_id = claim["action_id"] or identities.action_id(
            claim["observed_session"], claim["tool_use_id"]
        )
        receipts = self._receipts(action_id)
        for record in receipts.values():
            primaries.add(records.envelope_primary(record["envelope"])[:32])
        self._claimed |= primaries
        ended = claim["closed"] or claim["post"] is not None
        unfinished = layout.receipt_name("", "start") in receipts and len(receipts) < 2
        if not ended or unfinished or action_id in self._busy:
            return
        names = [self._by_primary.get(primary) for primary in primaries]
        if any(name is not None and name not in self._acknowledged for name in names):
            return
        managed = claim["route"] == "managed"
        for name in sorted(name for name in names if name is not None):
            envelope, _ = self._storage.envelope(name)
            if records.envelope_kind(envelope) == "events":
                self._replace(envelope, name, full=managed)
            else:
                self._remove_envelope(name)
        self._keep_action(action_id, receipts)
        self._keep_call(claim)
        if claim["source_digest"] is not None:
            self._remove_source(f"{claim['source_digest']}.json", claim)

    def _receipts(self, action_id: str) -> dict[str, dict[str, Any]]:
        action = identities.action_file(action_id)
        found = {}
        for phase in ("start", "finish"):
            record = self._storage.record(layout.ACTIONS, layout.receipt_name(action, phase))
            if record is not None:
                found[layout.receipt_name("", phase)] = record
        return found

    def _keep_action(self, action_id: str, receipts: dict[str, dict[str, Any]]) -> None:
        finish = receipts.get(layout.receipt_name("", "finish"))
        if finish is None:
            return
        start = receipts.get(layout.receipt_name("", "start"))
        self._actions.append(
            {
                "action_id": action_id,
                "finish": finish["receipt"],
                "observation_scope": self._origin.scope,
                "order": 0 if start is None else start["receipt"]["observed_order"],
                "start": None if start is None else start["receipt"],
            }
        )
        action = identities.action_file(action_id)
        self._cleanup["receipts"] += [f"{action}{suffix}" for suffix in sorted(receipts)]
        self._cleanup["orders"].append(action_id)

    def _keep_call(self, claim: dict[str, Any]) -> None:
        occurrence = claim["occurrence_id"]
        known = self._index.call(occurrence)
        kept = {
            "claim": {name: claim[name] for name in BINDINGS},
            "closed": claim["closed"] is not None,
            "managed": claim["route"] == "managed",
            "occurrence_id": occurrence,
        }
        for phase in ("pre", "post"):
            part = claim[phase]
            name = f"{phase}_fingerprint"
            kept[name] = None if part is None else part["fingerprint"]
            if kept[name] is None and known is not None:
                kept[name] = known[name]
        self._calls[occurrence] = kept
        self._cleanup["observations"].append(f"{identities.occurrence_file(occurrence)}.json")

    def _remove_source(self, name: str, claim: dict[str, Any]) -> None:
        """Remove a source record that no open start and no deferred fact names."""
        digest = claim["source_digest"]
        others = (
            each
            for folder in (layout.OBSERVATIONS, layout.DEFERRED)
            for each in self._all(folder)
            if each.get("occurrence_id") != claim["occurrence_id"]
        )
        if self._storage.has(layout.SOURCES, name) and not any(
            each["source_digest"] == digest for each in others
        ):
            self._cleanup["sources"].append(name)

    def _replace(self, envelope: dict[str, Any], name: str, *, full: bool) -> None:
        if full:
            self._full.append(envelope)
        else:
            self._events += [
                {"event_id": event["event_id"], "replay_digest": replay_digest(event)}
                for event in envelope["events"]
            ]
        self._remove_envelope(name)

    def _remove_envelope(self, name: str) -> None:
        self._cleanup["acks"].append(name)
        self._cleanup["envelopes"].append(name)

    def _replacement(self) -> dict[str, Any]:
        record = self._index.record
        calls = [each for each in record["occurrences"] if each["occurrence_id"] not in self._calls]
        orders = [layout.envelope_order(name) for name in self._cleanup["envelopes"]]
        return {
            "actions": [*record["actions"], *self._actions],
            "cleanup": self._cleanup,
            "events": [*record["events"], *self._events],
            "full": [*record["full"], *self._full],
            "high_order": max([record["high_order"], *orders]),
            "occurrences": [*calls, *self._calls.values()],
        }

    def _admit(self, record: dict[str, Any]) -> None:
        limits = self._storage.limits
        entries = sum(len(record[name]) for name in ARRAYS)
        size = len(mutable(layout.ROOT, layout.COMPACTION, record, self._index.record))
        if entries > limits.replay_records or size > limits.replay_bytes:
            raise SpoolFull(
                f"{self._storage.path}: the replay index would have {entries} entries in {size}"
                f" bytes, above its {limits.replay_records} entries and {limits.replay_bytes} bytes",
                "export the spool, or configure larger limits",
            )

    def _all(self, folder: str) -> list[dict[str, Any]]:
        found = (self._storage.record(folder, name) for name in self._storage.names(folder))
        return [each for each in found if each is not None]


def index_cleanup() -> tuple[str, ...]:
    """Return the names of what a compaction removes."""
    return ("acks", "envelopes", "observations", "orders", "receipts", "sources")


def _is_kept_whole(envelope: dict[str, Any]) -> bool:
    """Return whether a replay needs the whole envelope: usage, and gaps of a provider's history."""
    if records.envelope_kind(envelope) == "usage":
        return True
    causes = (event.get("gap", {}).get("cause", "") for event in envelope["events"])
    return any(cause.startswith("history_") for cause in causes)
