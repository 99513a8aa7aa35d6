"""What a killed writer left is completed, removed or set aside, before anything else is done.

Everything that takes two files is written so that the first one alone says what the second is. So
recovery never guesses, and a second recovery changes nothing.
"""

from __future__ import annotations

import os

from agentfeedback.foundation.files import TooLargeError
from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout, records, shapes
from agentfeedback_change_capture.spool.envelopes import claimed_envelopes
from agentfeedback_change_capture.spool.outcome import SpoolRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.spool.storage import Storage
    from agentfeedback_change_capture.spool.writer import Writer


def recover_names(storage: Storage) -> None:
    """Complete, remove or quarantine temporary files and unknown names of every folder."""
    for folder in (layout.ROOT, *layout.FOLDERS):
        if folder == layout.QUARANTINE:
            continue
        for name in sorted(storage.entries[folder]):
            if layout.is_known(folder, name):
                continue
            target = layout.temporary_target(name)
            if target is not None:
                _recover_temporary(storage, folder, name, target)
            elif folder != layout.ACKS:
                quarantine(storage, folder, name)


def quarantine(storage: Storage, folder: str, name: str) -> None:
    """Move an entry out of the way, under a name that says nothing."""
    storage.move(folder, name, layout.QUARANTINE, f"q_{os.urandom(16).hex()}")


def temporary_state(storage: Storage, folder: str, name: str, target: str) -> str:
    """Return what is to become of a temporary file: `complete`, `duplicate`, `ambiguous` or `malformed`."""
    if not layout.is_known(folder, target) or not storage.has(folder, name):
        return "malformed"
    try:
        data = storage.folders[folder].read(name, storage.largest(folder, target))
    except TooLargeError:
        return "malformed"
    if not records.is_complete(folder, target, data):
        return "malformed"
    if target not in storage.entries[folder]:
        return "complete"
    try:
        there = storage.folders[folder].read(target, storage.largest(folder, target))
    except TooLargeError:
        return "ambiguous"
    if there == data:
        return "duplicate"
    kind = records.kind_of(folder, target)
    if kind is not None and kind in shapes.MUTABLE:
        if not records.is_complete(folder, target, there):
            return "ambiguous"
        if records.decode(kind, data)["rev"] == records.decode(kind, there)["rev"] + 1:
            return "complete"
    return "ambiguous"


def _recover_temporary(storage: Storage, folder: str, name: str, target: str) -> None:
    state = temporary_state(storage, folder, name, target)
    if state == "complete":
        storage.move(folder, name, folder, target)
    elif state == "duplicate":
        storage.delete(folder, name)
    else:
        quarantine(storage, folder, name)


class Recovery:
    """Completes claims and receipts: their envelopes, and the ledger of active actions."""

    def __init__(self, writer: Writer, *, thorough: bool) -> None:
        self._storage = writer.storage
        self._index = writer.index
        self._publisher = writer.publisher
        self._most = None if thorough else layout.NEWEST

    def run(self) -> None:
        """Complete the ledger, then claims, then receipts; then drop attempts that have finished."""
        self._ledger()
        for name in self._storage.newest(layout.OBSERVATIONS, self._most):
            if not self._is_published(layout.OBSERVATIONS, name):
                claim = self._storage.record(layout.OBSERVATIONS, name)
                if claim is not None:
                    self._complete(claim)
        for name in self._storage.newest(layout.ACTIONS, self._most):
            if not self._is_published(layout.ACTIONS, name):
                receipt = self._storage.record(layout.ACTIONS, name)
                if receipt is not None:
                    self._publisher.publish(receipt["envelope"])
        self._attempts()

    def _is_published(self, folder: str, name: str) -> bool:
        """Return whether everything is there that a record announces, by names alone.

        Nearly every record is complete, and reading one strictly takes most of a hook's time.
        """
        record = self._storage.glance(folder, name)
        try:
            if folder == layout.ACTIONS:
                phases = [{name[33:-5]: record["receipt"]}]
            else:
                phases = [record[phase] for phase in ("pre", "post") if record[phase] is not None]
            return all(
                self._is_there(part, each)
                for part in phases
                for each in ("events", "start", "finish")
            )
        except (KeyError, TypeError, IndexError):
            return False

    def _is_there(self, part: dict[str, Any], each: str) -> bool:
        said = part.get(each)
        if not said:
            return True
        if each == "events":
            return self._publisher.has(said[0]["event_id"].removeprefix("evt_"))
        action_id = said["action_id"]
        file = layout.receipt_name(identities.action_file(action_id), each)
        return self._publisher.has(records.action_primary(each, action_id)) and (
            self._storage.has(layout.ACTIONS, file) or self._index.action(action_id) is not None
        )

    def _complete(self, claim: dict[str, Any]) -> None:
        for made in claimed_envelopes(claim, self._publisher.origin):
            if made.action_file is None:
                self._publisher.publish(made.envelope, made.order)
                continue
            action_id = made.envelope["action"]["action_id"]
            kept = self._storage.has(layout.ACTIONS, made.action_file)
            if not kept and self._index.action(action_id) is None:
                self._storage.put(layout.ACTIONS, made.action_file, made.receipt())
            self._publisher.publish(made.envelope)

    def _ledger(self) -> None:
        storage = self._storage
        ledger = storage.record(layout.ROOT, layout.ORDER)
        if ledger is None:
            raise storage.malformed(layout.ROOT, layout.ORDER, "it is missing")
        attempts = {each["action_id"]: each for each in self._all(layout.ATTEMPTS)}
        active = [
            each
            for each in ledger["active"]
            if each["action_id"] in attempts or self._is_alive(each)
        ]
        known = {each["action_id"] for each in active}
        next_order = ledger["next_order"]
        for action_id, attempt in attempts.items():
            next_order = max(next_order, attempt["order"] + 1)
            if action_id not in known:
                known.add(action_id)
                active.append(_reserved(attempt))
        files = {identities.action_file(action) for action in known}
        for name in storage.names(layout.ACTIONS):
            if name.endswith(".start.json") and name[:32] not in files:
                record = storage.record(layout.ACTIONS, name)
                if record is None or self._index.action(record["receipt"]["action_id"]):
                    continue
                receipt = record["receipt"]
                next_order = max(next_order, receipt["observed_order"] + 1)
                active.append(self._adopted(receipt))
        if active != ledger["active"] or next_order != ledger["next_order"]:
            storage.update(
                layout.ROOT, layout.ORDER, {"active": active, "next_order": next_order}, ledger
            )

    def _adopted(self, receipt: dict[str, Any]) -> dict[str, Any]:
        """Return the ledger's entry of a start whose own entry is missing; its claim says whose it is."""
        for claim in self._all(layout.OBSERVATIONS):
            if claim["action_id"] == receipt["action_id"]:
                return {
                    "action_id": receipt["action_id"],
                    "occ32": identities.occurrence_file(claim["occurrence_id"]),
                    "order": receipt["observed_order"],
                    "session_id": claim["observed_session"],
                    "state": "started",
                }
        raise SpoolRefused(
            "malformed",
            os.path.join(self._storage.path, layout.ACTIONS),
            f"the receipt of {receipt['action_id']} has no claim",
            "export the spool before you change anything in it",
        )

    def _is_alive(self, entry: dict[str, Any]) -> bool:
        """Return whether the claim or the receipt is there that a ledger's entry was reserved for."""
        start = layout.receipt_name(identities.action_file(entry["action_id"]), "start")
        return (
            self._storage.has(layout.OBSERVATIONS, f"{entry['occ32']}.json")
            or self._storage.has(layout.ACTIONS, start)
            or self._index.action(entry["action_id"]) is not None
        )

    def _attempts(self) -> None:
        for name in self._storage.names(layout.ATTEMPTS):
            attempt = self._storage.record(layout.ATTEMPTS, name)
            if attempt is None:
                continue
            action = identities.action_file(attempt["action_id"])
            if (
                self._storage.has(layout.ACTIONS, layout.receipt_name(action, "finish"))
                or self._index.action(attempt["action_id"]) is not None
            ):
                self._storage.delete(layout.ATTEMPTS, name)

    def _all(self, folder: str) -> list[dict[str, Any]]:
        found = (self._storage.record(folder, name) for name in self._storage.names(folder))
        return [each for each in found if each is not None]


def _reserved(attempt: dict[str, Any]) -> dict[str, Any]:
    return {
        "action_id": attempt["action_id"],
        "occ32": identities.occurrence_file(attempt["occurrence_id"]),
        "order": attempt["order"],
        "session_id": attempt["observed_session"],
        "state": "reserved",
    }
