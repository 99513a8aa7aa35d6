"""What one operation writes, in the order in which it does: it is admitted whole, before its first write."""

from __future__ import annotations

from agentfeedback_change_capture.spool import layout
from agentfeedback_change_capture.spool.limits import ACK_BYTES, ACK_RECORDS
from agentfeedback_change_capture.spool.storage import mutable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.spool.envelopes import Made, Publisher
    from agentfeedback_change_capture.spool.limits import Admission
    from agentfeedback_change_capture.spool.storage import Storage


class Plan:
    """Records and envelopes to write, and what they add to a spool."""

    def __init__(self, storage: Storage, publisher: Publisher) -> None:
        self._storage = storage
        self._publisher = publisher
        self._writes: list[tuple[str, str, bytes, bool]] = []
        self._envelopes: dict[int, Made] = {}
        self.records = 0
        self.bytes = 0

    def add(self, folder: str, name: str, data: bytes, *, replace: bool = False) -> None:
        """Write a record; one that is there with these bytes costs nothing."""
        before = self._storage.entries[folder].get(name)
        if not any((folder, name) == (one[0], one[1]) for one in self._writes):
            self.records += before is None
            self.bytes += len(data) - (before.size if before is not None else 0)
        self._writes.append((folder, name, data, replace))

    def update(
        self, folder: str, name: str, members: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> None:
        """Write the next revision of a record that changes."""
        self.add(folder, name, mutable(folder, name, members, before), replace=True)

    def publish(self, made: Made) -> None:
        """Write an envelope, and the receipt that embeds it before it."""
        if made.action_file is not None:
            self.add(layout.ACTIONS, made.action_file, made.receipt())
        self._envelopes[len(self._writes)] = made
        self._writes.append((layout.OUTBOX, "", b"", False))
        self.records += 1 + ACK_RECORDS
        self.bytes += len(made.data) + ACK_BYTES

    def fits(self, admission: Admission, records: int = 0, bytes: int = 0) -> bool:
        """Return whether everything fits; `records` and `bytes` are promised on top of what is written."""
        return self._storage.admits(admission, self.records + records, self.bytes + bytes)

    def write(self) -> None:
        """Write everything, each record on the disk before the next.

        Raises:
            OSError: A record cannot be written; those before it stay.
        """
        for at, (folder, name, data, replace) in enumerate(self._writes):
            made = self._envelopes.get(at)
            if made is not None:
                self._publisher.publish(made.envelope, made.order)
            else:
                self._storage.put(folder, name, data, replace=replace)
