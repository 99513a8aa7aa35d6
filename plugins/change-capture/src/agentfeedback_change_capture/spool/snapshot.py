"""A bounded look at the files of a spool by path, for readers that take no lock and change nothing."""

from __future__ import annotations

import os
import stat

from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback_change_capture.spool import layout, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The largest index that is read here; one that is larger gives an issue.
_INDEX_BYTES = 1 << 26


class NotReadableError(AgentFeedbackError):
    """A path that is not a folder that can be read."""


class Snapshot:
    """What was under every name at one moment; what changed since gives an issue and no error.

    Raises:
        NotReadableError: The path is not a folder that can be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.issues: list[dict[str, str]] = []
        self.names: dict[str, dict[str, os.stat_result]] = {}
        self.folders: dict[str, os.stat_result | None] = {}
        self._left = layout.MOST_ENTRIES
        try:
            self.root = os.stat(path, follow_symlinks=False)
            if not stat.S_ISDIR(self.root.st_mode):
                raise NotADirectoryError(20, os.strerror(20))
            names = os.listdir(path)
        except OSError as error:
            raise NotReadableError(
                f"{path}: {reason_of(error)}", "name the folder of a spool"
            ) from None
        self._scan(names)

    def usage(self) -> dict[str, int]:
        """Return how many regular files there are, and their bytes."""
        regular = self.regular()
        return {"records": len(regular), "bytes": sum(found.st_size for found in regular)}

    def regular(self) -> list[os.stat_result]:
        """Return every regular file."""
        return [
            found
            for names in self.names.values()
            for found in names.values()
            if stat.S_ISREG(found.st_mode)
        ]

    def known(self, folder: str) -> list[str]:
        """Return the names of a folder's records, in order."""
        found = self.names[folder]
        return sorted(
            name
            for name in found
            if layout.is_known(folder, name) and stat.S_ISREG(found[name].st_mode)
        )

    def record(self, folder: str, name: str) -> dict[str, Any] | None:
        """Return a record; None, with an issue, for one that cannot be read."""
        if name not in self.names[folder]:
            return None
        limit = _INDEX_BYTES if name == layout.COMPACTION else layout.ORDER_BYTES
        data = self.bytes(folder, name, limit)
        kind = records.kind_of(folder, name)
        if data is None or kind is None:
            return None
        try:
            return records.decode(kind, data)
        except records.MalformedRecord:
            self.issue(folder, name, "malformed")
            return None

    def bytes(self, folder: str, name: str, limit: int) -> bytes | None:
        """Return the bytes of a file; None, with an issue, for one that cannot be read."""
        try:
            return regular_bytes(os.path.join(self.path, folder, name), limit, follow=False)
        except FileNotFoundError:
            self.issue(folder, name, "vanished")
        except OSError:
            self.issue(folder, name, "unreadable")
        return None

    def issue(self, folder: str, name: str, code: str) -> None:
        """Note once what is wrong with a file."""
        issue = {"path": os.path.join(folder, name) if folder else name, "code": code}
        if issue not in self.issues:
            self.issues.append(issue)

    def _scan(self, names: list[str]) -> None:
        self.names = {folder: {} for folder in (layout.ROOT, *layout.FOLDERS)}
        self._look(layout.ROOT, [name for name in names if name not in layout.FOLDERS])
        for folder in layout.FOLDERS:
            if folder not in names:
                self.folders[folder] = None
                continue
            path = os.path.join(self.path, folder)
            try:
                self.folders[folder] = os.stat(path, follow_symlinks=False)
                inside = os.listdir(path)
            except OSError:
                self.issue(folder, "", "unreadable")
                continue
            self._look(folder, inside)
        for folder, found in self.names.items():
            for name in found:
                if folder != layout.QUARANTINE and not layout.is_known(folder, name):
                    temporary = layout.temporary_target(name) is not None
                    self.issue(folder, name, "temporary" if temporary else "unknown_name")
        for name in self.names[layout.ACKS]:
            if name not in self.names[layout.OUTBOX] and layout.is_known(layout.ACKS, name):
                self.issue(layout.ACKS, name, "ack_orphan")

    def _look(self, folder: str, names: list[str]) -> None:
        for name in names[: self._left]:
            path = os.path.join(self.path, folder, name)
            try:
                self.names[folder][name] = os.stat(path, follow_symlinks=False)
            except OSError:
                self.issue(folder, name, "vanished")
        if len(names) > self._left:
            self.issue(folder, "", "too_many_entries")
        self._left -= min(self._left, len(names))
