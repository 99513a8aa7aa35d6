"""The folders of an open spool: what is in them, what it adds up to, and the one way to write to them."""

from __future__ import annotations

import os

from agentfeedback.foundation.files import NotRegularError, TooLargeError
from agentfeedback.foundation.held_folder import Entry, HeldFolder
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.limits import SpoolLimits, Usage, admits
from agentfeedback_change_capture.spool.outcome import SpoolRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.spool.limits import Admission


_ALL = (layout.ROOT, *layout.FOLDERS)


class Storage:
    """The root and its folders by descriptor, each entry by name, and the usage they add up to.

    Only the holder of the spool's lock has one, so what it knows of the folders stays true.
    """

    __slots__ = ("entries", "folders", "limits", "path", "usage")

    def __init__(self, path: str, root: HeldFolder) -> None:
        self.path = path
        self.folders = {layout.ROOT: root}
        self.entries: dict[str, dict[str, Entry]] = {folder: {} for folder in _ALL}
        self.usage = Usage()
        self.limits = SpoolLimits()

    def close(self) -> None:
        """Give all descriptors back."""
        for folder in self.folders.values():
            folder.close()

    def scan(self) -> None:
        """Look at every entry again and count what is used.

        Raises:
            OverflowError: There are more entries than a scan looks at.
        """
        left = layout.MOST_ENTRIES
        for name, folder in self.folders.items():
            found = folder.entries(left)
            left -= len(found)
            self.entries[name] = found
        for name in layout.FOLDERS:
            self.entries[layout.ROOT].pop(name, None)
        regular = [
            entry for found in self.entries.values() for entry in found.values() if entry.is_regular
        ]
        self.usage.records = len(regular)
        self.usage.bytes = sum(entry.size for entry in regular)

    def look_at(self, folder: str, name: str) -> None:
        """Look at one entry, for a reader without the lock that needs no other."""
        found = self.folders[folder].stat(name)
        if found is not None:
            self.entries[folder][name] = Entry.of(found)

    def has(self, folder: str, name: str) -> bool:
        """Return whether there is a regular file of a name."""
        entry = self.entries[folder].get(name)
        return entry is not None and entry.is_regular

    def names(self, folder: str) -> list[str]:
        """Return the names of a folder's records, in order."""
        return sorted(
            name
            for name, entry in self.entries[folder].items()
            if entry.is_regular and layout.is_known(folder, name)
        )

    def newest(self, folder: str, most: int | None) -> list[str]:
        """Return the names of the records that were changed last, oldest of them first; all for None."""
        names = self.names(folder)
        if most is None or len(names) <= most:
            return names
        entries = self.entries[folder]
        return sorted(names, key=lambda name: (entries[name].changed, name))[-most:]

    def read(self, folder: str, name: str, limit: int) -> bytes:
        """Return the bytes of a record.

        Raises:
            SpoolRefused: It is not a regular file of at most `limit` bytes.
            OSError: It cannot be read.
        """
        try:
            return self.folders[folder].read(name, limit)
        except (NotRegularError, TooLargeError) as error:
            raise self.malformed(folder, name, str(error)) from error

    def record(self, folder: str, name: str) -> dict[str, Any] | None:
        """Return the members of a record, None where there is none.

        Raises:
            SpoolRefused: It is malformed; it stays where it is.
        """
        if name not in self.entries[folder]:
            return None
        kind = records.kind_of(folder, name)
        assert kind is not None
        data = self.read(folder, name, self.largest(folder, name))
        try:
            return records.decode(kind, data)
        except records.MalformedRecord as error:
            raise self.malformed(folder, name, str(error)) from error

    def glance(self, folder: str, name: str) -> Any:
        """Return a record as it is, unchecked; None for one that is not JSON of this program."""
        try:
            return records.unchecked(self.read(folder, name, self.largest(folder, name)))
        except records.MalformedRecord:
            return None

    def envelope(self, name: str) -> tuple[dict[str, Any], bytes]:
        """Return an envelope of the outbox and its bytes.

        Raises:
            SpoolRefused: It is malformed; it stays where it is.
        """
        data = self.read(layout.OUTBOX, name, layout.ENVELOPE_BYTES)
        try:
            return records.decode_envelope(data), data
        except records.MalformedRecord as error:
            raise self.malformed(layout.OUTBOX, name, str(error)) from error

    def largest(self, folder: str, name: str) -> int:
        """Return how many bytes a record may have."""
        if folder == layout.ARTIFACTS:
            return self.limits.artifact_bytes
        if folder == layout.OUTBOX:
            return layout.ENVELOPE_BYTES
        if folder == layout.ACTIONS:
            return layout.RECEIPT_BYTES
        if name == layout.ORDER:
            return layout.ORDER_BYTES
        if name == layout.COMPACTION:
            return self.limits.replay_bytes
        return layout.RECORD_BYTES

    def malformed(self, folder: str, name: str, problem: str) -> SpoolRefused:
        """Return the error for a record that is in its place and not what it should be."""
        return SpoolRefused(
            "malformed",
            os.path.join(self.path, layout.label(folder, name)),
            f"a malformed record: {problem}",
            "export the spool before you change anything in it",
        )

    def is_empty_folder(self, folder: str, name: str) -> bool:
        """Return whether there is nothing in a folder that stands where a record should."""
        inside = HeldFolder(name, self.folders[folder])
        try:
            return inside.is_empty()
        finally:
            inside.close()

    def put(self, folder: str, name: str, data: bytes, *, replace: bool = False) -> None:
        """Write a record that was admitted.

        Raises:
            FileExistsError: There is another of this name and `replace` is false.
            OSError: It cannot be written.
        """
        held = self.folders[folder]
        held.put(name, data, layout.temporary(name, os.urandom(8)), replace=replace)
        found = held.stat(name)
        if found is not None:
            self._count(folder, name, Entry.of(found))

    def update(
        self, folder: str, name: str, members: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> None:
        """Write the next revision of a record that changes."""
        self.put(folder, name, mutable(folder, name, members, before), replace=True)

    def delete(self, folder: str, name: str, *, flush: bool = True) -> None:
        """Remove a record, where there is one."""
        self.folders[folder].delete(name, flush=flush)
        self._count(folder, name, None)

    def move(self, folder: str, name: str, to: str, new: str) -> None:
        """Rename an entry into another folder."""
        self.folders[folder].move(name, self.folders[to], new)
        entry = self.entries[folder].get(name)
        self._count(folder, name, None)
        self._count(to, new, entry)

    def admits(self, admission: Admission, records: int, bytes: int) -> bool:
        """Return whether an operation fits; it is asked before the first write of the operation."""
        return admits(self.limits, self.usage, admission, records, bytes)

    def _count(self, folder: str, name: str, entry: Entry | None) -> None:
        before = self.entries[folder].pop(name, None)
        if before is not None and before.is_regular:
            self.usage.records -= 1
            self.usage.bytes -= before.size
        if entry is not None:
            self.entries[folder][name] = entry
            if entry.is_regular:
                self.usage.records += 1
                self.usage.bytes += entry.size


def mutable(
    folder: str, name: str, members: Mapping[str, Any], before: Mapping[str, Any] | None
) -> bytes:
    """Return the bytes of the next revision of a record; `before` is the one it replaces."""
    kind = records.kind_of(folder, name)
    assert kind is not None
    rest = {key: value for key, value in members.items() if key not in ("rev", "schema", "sum")}
    return records.encode_mutable(kind, rest, 1 if before is None else before["rev"] + 1)
