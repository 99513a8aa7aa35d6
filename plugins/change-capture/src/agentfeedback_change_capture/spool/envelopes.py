"""Envelopes: what may leave the machine, built from a claim or a fact in the same way each time.

An envelope that a claim embeds the content of has the same bytes whether the hook wrote it or a
recovery after the hook was killed.
"""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agentfeedback_change_capture.spool.index import CompactionIndex
    from agentfeedback_change_capture.spool.storage import Storage


class Origin:
    """Which spool it is: its observation scope and what it is bound to."""

    __slots__ = ("namespace", "scope")

    def __init__(self, scope: str, namespace: Mapping[str, str]) -> None:
        self.scope = scope
        self.namespace = {name: namespace[name] for name in ("hub", "repository", "worktree_id")}


class Attribution:
    """Whose envelope it is: adapter, observed session, target, mode, and whether its bodies may be shared."""

    __slots__ = ("adapter", "capture_mode", "observed", "sharing", "target")

    def __init__(
        self,
        observed: str,
        target: Mapping[str, Any],
        adapter: Mapping[str, str],
        capture_mode: str,
        sharing: bool,
    ) -> None:
        self.observed = observed
        self.target = target
        self.adapter = adapter
        self.capture_mode = capture_mode
        self.sharing = sharing

    @classmethod
    def of_claim(cls, claim: Mapping[str, Any], capture_mode: str) -> Attribution:
        """Return the attribution that a claim is bound to."""
        return cls(
            claim["observed_session"],
            claim["target"],
            claim["adapter"],
            capture_mode,
            claim["sharing"],
        )


class Made:
    """An envelope with its place, None for the next one; and the name of the receipt that embeds it."""

    __slots__ = ("action_file", "data", "envelope", "order")

    def __init__(
        self, envelope: dict[str, Any], order: int | None, action_file: str | None = None
    ) -> None:
        self.envelope = envelope
        self.order = order
        self.action_file = action_file
        self.data = envelope_bytes(envelope)

    def receipt(self) -> bytes:
        """Return the bytes of the receipt that embeds this envelope."""
        members = {"envelope": self.envelope, "receipt": self.envelope["action"]}
        return records.encode("action", members)


def made_events(
    origin: Origin, who: Attribution, events: Sequence[Mapping[str, Any]], order: int | None
) -> Made:
    """Return the envelope of a fact and its gaps."""
    return Made(_envelope("events", origin, who, {"events": list(events)}), order)


def made_action(origin: Origin, who: Attribution, phase: str, action: Mapping[str, Any]) -> Made:
    """Return the envelope of an action's start or finish."""
    name = layout.receipt_name(identities.action_file(action["action_id"]), phase)
    return Made(_envelope(f"action_{phase}", origin, who, {"action": action}), None, name)


def claimed_envelopes(claim: Mapping[str, Any], origin: Origin) -> Iterator[Made]:
    """Yield every envelope that a claim embeds, in the order they are written in."""
    if (pre := claim["pre"]) is not None:
        who = Attribution.of_claim(claim, claim["capture_mode"])
        if pre["events"]:
            yield made_events(origin, who, pre["events"], pre["envelope_order"])
        if pre["start"] is not None:
            yield made_action(origin, who, "start", pre["start"])
    if (post := claim["post"]) is not None:
        who = Attribution.of_claim(claim, post["capture_mode"])
        if post["events"]:
            yield made_events(origin, who, post["events"], post["envelope_order"])
        if post["finish"] is not None:
            yield made_action(origin, who, "finish", post["finish"])


def envelope_bytes(envelope: Mapping[str, Any]) -> bytes:
    """Return the bytes of an envelope that was built or read."""
    from agentfeedback.foundation.canonical import canonical

    return canonical(envelope) + b"\n"


def _envelope(
    kind: str, origin: Origin, who: Attribution, content: Mapping[str, Any]
) -> dict[str, Any]:
    return records.envelope(
        kind,
        {
            **origin.namespace,
            **content,
            "adapter": dict(who.adapter),
            "capture_mode": who.capture_mode,
            "generation": who.target["generation"],
            "native_ref": identities.native_ref(origin.scope, who.observed),
            "observation_scope": origin.scope,
            "session_id": who.target["session_id"],
            "sharing": who.sharing,
            "work_id": who.target["work_id"],
        },
    )


class Publisher:
    """Puts envelopes into the outbox, each once: by name it is known whether one is there already."""

    def __init__(self, storage: Storage, index: CompactionIndex, origin: Origin) -> None:
        self._storage = storage
        self._index = index
        self.origin = origin
        names = storage.names(layout.OUTBOX)
        self._primaries = {layout.envelope_primary(name) for name in names}
        highest = layout.envelope_order(names[-1]) if names else 0
        cursor = storage.record(layout.ROOT, layout.CURSOR)
        position = 0 if cursor is None else cursor["position"]
        self._next = 1 + max(highest, index.high_order, position)

    @property
    def next_order(self) -> int:
        """The next place, which is taken when an envelope is published."""
        return self._next

    def has(self, primary: str) -> bool:
        """Return whether an envelope of this primary id was written, or compacted since."""
        return primary[:32] in self._primaries or self._index.has_primary(primary[:32])

    def find(self, primary: str) -> str | None:
        """Return the name of the envelope in the outbox with a primary id."""
        if primary[:32] not in self._primaries:
            return None
        names = self._storage.entries[layout.OUTBOX]
        return next((name for name in names if name[17:49] == primary[:32]), None)

    def publish(self, envelope: Mapping[str, Any], order: int | None = None) -> None:
        """Write an envelope unless it was written before."""
        primary = records.envelope_primary(envelope)
        if self.has(primary):
            return
        place = self._next if order is None else order
        name = layout.envelope_name(place, primary)
        self._storage.put(layout.OUTBOX, name, envelope_bytes(envelope))
        self._storage.usage.unacknowledged += 1
        self._primaries.add(primary[:32])
        self._next = max(self._next, place + 1)
