"""Envelopes that wait for a Hub: which of them are acknowledged, and in what order they are offered."""

from __future__ import annotations

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.outcome import SpoolRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.spool.storage import Storage


class Pending:
    """An envelope without an acknowledgement.

    `kind` is one of `events`, `action_start`, `action_finish`, `usage`; `order` is its place in the
    spool, `sha256` the digest of `data`, the file's bytes.
    """

    __slots__ = ("data", "envelope", "kind", "name", "order", "sha256")

    def __init__(self, name: str, envelope: dict[str, Any], data: bytes) -> None:
        self.name = name
        self.order = layout.envelope_order(name)
        self.kind = records.envelope_kind(envelope)
        self.envelope = envelope
        self.data = data
        self.sha256 = identities.bytes_digest(data)


class Outbox:
    """The envelopes of a held spool, and their acknowledgements."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def acknowledged(self) -> dict[str, str]:
        """Return the digest of every acknowledged envelope, by name.

        Raises:
            SpoolRefused: An acknowledgement is not regular, malformed, or of other bytes. Nothing
                repairs it: what was accepted can no longer be said.
        """
        found: dict[str, str] = {}
        for name, entry in sorted(self._storage.entries[layout.ACKS].items()):
            if not layout.is_known(layout.ACKS, name):
                raise self._malformed(name, "an unknown name")
            if not entry.is_regular:
                # An empty folder of that name says nothing: the envelope stays pending.
                if entry.is_directory and self._storage.is_empty_folder(layout.ACKS, name):
                    continue
                raise self._malformed(name, "not a regular file")
            record = self._storage.record(layout.ACKS, name)
            if record is None:
                continue
            if self._storage.has(layout.OUTBOX, name):
                data = self._storage.read(layout.OUTBOX, name, layout.ENVELOPE_BYTES)
                if identities.bytes_digest(data) != record["envelope_sha256"]:
                    raise self._malformed(name, "the digest of another envelope")
                found[name] = record["envelope_sha256"]
        return found

    def pending(self, most: int) -> list[Pending]:
        """Return envelopes to offer, in order, those behind the last attempt first.

        Raises:
            SpoolRefused: An acknowledgement or one of these envelopes is malformed.
        """
        acknowledged = self.acknowledged()
        names = [name for name in self._storage.names(layout.OUTBOX) if name not in acknowledged]
        cursor = self._storage.record(layout.ROOT, layout.CURSOR)
        position = 0 if cursor is None else cursor["position"]
        behind = [name for name in names if layout.envelope_order(name) > position]
        before = [name for name in names if layout.envelope_order(name) <= position]
        return [Pending(name, *self._storage.envelope(name)) for name in [*behind, *before][:most]]

    def attempted(self, pending: Pending) -> None:
        """Remember which envelope was offered last, whatever came of it."""
        cursor = self._storage.record(layout.ROOT, layout.CURSOR)
        if cursor is None or cursor["position"] != pending.order:
            self._storage.update(layout.ROOT, layout.CURSOR, {"position": pending.order}, cursor)

    def acknowledge(self, pending: Pending, now: int) -> None:
        """Mark an envelope as accepted by these bytes; a second mark changes nothing."""
        if self._storage.has(layout.ACKS, pending.name):
            return
        members = {"acknowledged_at": now, "envelope_sha256": pending.sha256}
        self._storage.put(layout.ACKS, pending.name, records.encode("ack", members))
        self._storage.usage.unacknowledged -= 1

    def _malformed(self, name: str, problem: str) -> SpoolRefused:
        return self._storage.malformed(layout.ACKS, name, problem)
