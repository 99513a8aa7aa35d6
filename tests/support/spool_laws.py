"""What has to hold of a spool after any crash, looked up in its files without the code that wrote them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support import disk

_CHANGING = ("sessions/", "observations/", "attempts/", "history/")
_CHANGING_NAMES = {"limits.json", "order.json", "compaction.json", "cursor.json", "checkout.json"}


class Records:
    """The records of a spool, as JSON where they are JSON."""

    def __init__(self, spool: Path) -> None:
        self.files = {name: data for name, data in disk.current(spool).items() if data is not None}
        self.index = self.json("compaction.json")
        self.envelopes = self.below("outbox/")
        self.claims = self.below("observations/")
        self.receipts = self.below("actions/")

    def json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.files[name])
        return found

    def below(self, folder: str) -> dict[str, dict[str, Any]]:
        return {name: self.json(name) for name in self.files if name.startswith(folder)}

    def everything_said(self) -> list[dict[str, Any]]:
        """Envelopes of the outbox, and those that compaction kept whole."""
        return [*self.envelopes.values(), *self.index["full"]]

    def event_ids(self) -> set[str]:
        """Every event that is retained, or was and is compacted."""
        told = {
            each["event_id"] for one in self.everything_said() for each in one.get("events", ())
        }
        return told | {each["event_id"] for each in self.index["events"]}

    def action_phases(self) -> set[tuple[str, str]]:
        """Every action's start and finish that is retained, or was and is compacted."""
        told = {
            (each["action"]["action_id"], "finish" if "execution" in each["action"] else "start")
            for each in self.everything_said()
            if "action" in each
        }
        for each in self.index["actions"]:
            told |= {
                (each["action_id"], phase)
                for phase in ("start", "finish")
                if each[phase] is not None
            }
        return told


def check(spool: Path, before: disk.State, *, removes: tuple[str, ...] = ()) -> Records:
    """Compare a recovered spool with what was durable before, and with itself.

    `removes` are the folders that the operation may take records from.
    """
    now = Records(spool)
    _nothing_is_lost(now, before, removes)
    _everything_has_its_other_half(now)
    _numbers_are_unique(now)
    _it_fits(now)
    return now


def _nothing_is_lost(now: Records, before: disk.State, removes: tuple[str, ...]) -> None:
    for name, data in before.items():
        if data is None or name.rpartition("/")[2].startswith(".t."):
            continue
        if name in now.files and name not in _CHANGING_NAMES and not name.startswith(_CHANGING):
            assert now.files[name] == data, f"{name} was changed"
        elif name in now.files:
            old, new = json.loads(data), now.json(name)
            assert new["rev"] > old["rev"] or now.files[name] == data, f"{name} went back"
        elif name.rpartition("/")[2] == "debris":
            continue
        else:
            assert name.startswith(removes) if removes else False, f"{name} is lost"
    quarantined = {
        hashlib.sha256(data).hexdigest()
        for name, data in now.files.items()
        if name.startswith("quarantine/")
    }
    for name, data in before.items():
        if data is not None and name.rpartition("/")[2] == "debris":
            assert hashlib.sha256(data).hexdigest() in quarantined, f"{name} was destroyed"


def _everything_has_its_other_half(now: Records) -> None:
    actions = now.action_phases()
    for receipt in now.receipts.values():
        phase = "finish" if "execution" in receipt["receipt"] else "start"
        assert (receipt["receipt"]["action_id"], phase) in actions
    compacted = {each["action_id"] for each in now.index["actions"]}
    kept = {each["receipt"]["action_id"] for each in now.receipts.values()}
    active = [each["action_id"] for each in now.json("order.json")["active"]]
    assert len(active) == len(set(active)) and not compacted & set(active)
    for action, phase in actions:
        assert action in kept or action in compacted, "an envelope without its receipt"
        assert phase == "finish" or action in active or action in compacted
    for attempt in now.below("attempts/").values():
        assert (attempt["action_id"], "finish") not in actions, "an attempt that has ended is there"
    events = now.event_ids()
    for claim in now.claims.values():
        for part in (claim["pre"], claim["post"]):
            if part is None:
                continue
            assert {each["event_id"] for each in part["events"]} <= events
            for phase in ("start", "finish"):
                if part.get(phase) is not None:
                    assert (part[phase]["action_id"], phase) in actions
    for envelope in now.envelopes.values():
        bodies = [body for each in envelope.get("events", ()) for body in each.get("bodies", ())]
        setups = [
            each["setup"]["artifact"] for each in envelope.get("events", ()) if "setup" in each
        ]
        for body in (*bodies, *setups):
            if body["availability"] == "local":
                data = now.files[f"artifacts/{body['sha256']}"]
                assert hashlib.sha256(data).hexdigest() == body["sha256"]
    for name in now.files:
        if name.startswith("acks/"):
            data = now.files[f"outbox/{name.partition('/')[2]}"]
            assert now.json(name)["envelope_sha256"] == hashlib.sha256(data).hexdigest()


def _numbers_are_unique(now: Records) -> None:
    taken: Counter[tuple[str, int]] = Counter()
    events: Counter[str] = Counter()
    for envelope in now.everything_said():
        for event in envelope.get("events", ()):
            taken[envelope["session_id"], event["sequence"]] += 1
            events[event["event_id"]] += 1
    deferred = now.below("deferred/").values()
    for each in deferred:
        if each["sequence"] is not None:
            taken[each["observed_session"], each["sequence"]] += 1
    assert not [each for each, count in taken.items() if count > 1], "a number was taken twice"
    assert not [each for each, count in events.items() if count > 1], "an event is there twice"
    following = {each["id"]: each["next_sequence"] for each in now.below("sessions/").values()}
    assert all(number < following[session] for session, number in taken)
    phases: Counter[tuple[str, bool]] = Counter(
        (each["action"]["action_id"], "execution" in each["action"])
        for each in now.everything_said()
        if "action" in each
    )
    assert not [each for each, count in phases.items() if count > 1], "a start or finish twice"
    orders = Counter(each["order"] for each in now.json("order.json")["active"])
    assert all(count == 1 for count in orders.values())
    assert all(order < now.json("order.json")["next_order"] for order in orders)
    places = Counter(name[7:23] for name in now.envelopes)
    assert all(count == 1 for count in places.values()), "two envelopes in one place"


def _it_fits(now: Records) -> None:
    limits = now.json("limits.json")
    loose = [name for name in now.files if name.startswith("quarantine/")]
    assert len(now.files) - len(loose) <= limits["records"]
    size = sum(len(data) for name, data in now.files.items() if name not in loose)
    assert size <= limits["bytes"]
    assert not [name for name in now.files if name.rpartition("/")[2].startswith(".t.")]
