"""Reports that could not be delivered, and those a server refused: files of the data folder.

An entry belongs to whoever renamed it last: `<name>.inflight-<unix ns>` is claimed until it is a
minute old. So of two processes one sends an entry, and a killed one leaves it to the next. Every
file is written beside its name, forced to disk and renamed; no file is removed before what takes
its place is on disk. An entry may therefore be sent twice, and its key then makes it a duplicate.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress

from attrs import evolve, frozen

from agentfeedback.foundation.files import NotRegularError, TooLargeError, regular_bytes
from agentfeedback.foundation.folder import Folder
from agentfeedback_submit.delivery.spool_entry import (
    EXPIRED,
    SpoolEntry,
    UnreadableEntry,
    file_time,
    read,
    written,
)

#: Nanoseconds after which a claim is stale, and a file left over is removed.
CLAIM, REJECTED_AGE, TEMPORARY_AGE = 60 * 10**9, 30 * 86_400 * 10**9, 86_400 * 10**9
#: Larger than any entry with a body that is taken.
_LARGEST = 16 << 20
_NAME = re.compile(r"(af1-[^/]+?\.json)(?:\.inflight-([0-9]{1,19}))?", re.ASCII)


@frozen
class SpoolFile:
    """An entry in the folder: its name, and the name of its file, which shows a claim."""

    name: str
    file: str
    claimed: int | None = None


@frozen
class Claim:
    """An entry this process has claimed."""

    name: str
    path: str


class Spool:
    """The folders `spool/` and `rejected/` below a data folder; `now` gives unix nanoseconds.

    Nothing is made before something is kept. Methods raise `OSError` where the disk does.
    """

    def __init__(self, data: str, *, now: Callable[[], int] = time.time_ns) -> None:
        self.data = data
        self.folder = os.path.join(data, "spool")
        self.rejected = os.path.join(data, "rejected")
        self._entries = Folder(self.folder)
        self._refused = Folder(self.rejected)
        self.now = now

    def files(self) -> list[SpoolFile]:
        """The entries there are, oldest first."""
        found = []
        for file in self._entries.names():
            match = _NAME.fullmatch(file)
            if match is not None:
                claimed = None if match[2] is None else int(match[2])
                found.append(SpoolFile(match[1], file, claimed))
        return sorted(found, key=lambda each: (each.name, each.file))

    def free(self, found: SpoolFile) -> bool:
        """Whether an entry may be claimed: by nobody's claim, or by a stale one's."""
        # A claim from the future is one from before the clock was set back.
        return found.claimed is None or abs(self.now() - found.claimed) >= CLAIM

    def look(self, found: SpoolFile) -> SpoolEntry | None:
        """An entry without a claim on it; None where it is gone. Raises `UnreadableEntry`."""
        return self._read(os.path.join(self.folder, found.file))

    def hold(self, entry: SpoolEntry) -> Claim:
        """Keep a new entry, claimed from the start."""
        now = self.now()
        name = f"af1-{file_time(now)}-{secrets.token_hex(4)}.json"
        file = f"{name}.inflight-{now}"
        self._entries.put(file, written(entry))
        return Claim(name, os.path.join(self.folder, file))

    def claim(self, found: SpoolFile) -> Claim | None:
        """Claim an entry; None where another was faster."""
        file = f"{found.name}.inflight-{self.now()}"
        # A claim lost with the machine was stale: nothing waits for the disk.
        if not Folder(self.folder, durable=False).move(found.file, file):
            return None
        return Claim(found.name, os.path.join(self.folder, file))

    def read(self, held: Claim, seen: SpoolEntry | None = None) -> SpoolEntry | None:
        """The entry of a claim; None where the claim was lost. Raises `UnreadableEntry`.

        `seen` is the entry as it was looked at: it is parsed again only where its file has changed.
        """
        return self._read(held.path, seen)

    def release(self, held: Claim, entry: SpoolEntry | None = None) -> None:
        """Give an entry back, as it is or with new members."""
        if not os.path.lexists(held.path):
            return  # our claim expired and another process took the entry
        if entry is not None:
            # Without room for the new members the entry is kept as it was.
            with suppress(OSError):
                self._entries.put(os.path.basename(held.path), written(entry), replace=True)
        self._entries.move(os.path.basename(held.path), held.name)

    def done(self, held: Claim) -> None:
        """Remove an entry whose report is kept elsewhere, or nowhere by rule."""
        self._entries.delete(os.path.basename(held.path))

    def refuse(
        self, entry: SpoolEntry, held: Claim | None, *, status: int = 0, response: str = ""
    ) -> None:
        """Move an entry to `rejected/` with what was answered; without a claim, put it there."""
        refused = evolve(entry, rejected_at=self.now(), status=status, response=response)
        name = (
            f"af1-{file_time(self.now())}-{secrets.token_hex(4)}.json"
            if held is None
            else held.name
        )
        try:
            self._refused.put(name, written(refused), replace=True)
        except OSError:
            if held is None:
                raise
            self.quarantine(held)
            return
        if held is not None:
            self.done(held)

    def quarantine(self, held: Claim) -> None:
        """Move the file of a claim to `rejected/` as it is."""
        self._entries.move(os.path.basename(held.path), held.name, self._refused)

    def restore(self) -> None:
        """Take back what a clock that was ahead made too old: entries put into `rejected/` at a time yet to come."""
        now = self.now()
        for name in filter(_NAME.fullmatch, self._refused.names()):
            path = os.path.join(self.rejected, name)
            try:
                if os.lstat(path).st_mtime_ns <= now:
                    continue
                entry = self._read(path)
            except (FileNotFoundError, UnreadableEntry):
                continue
            if entry is None or entry.last_error != EXPIRED or entry.expired(now):
                continue
            self._entries.put(name, written(evolve(entry, not_before=0, last_error="")))
            self._refused.delete(name)

    def tidy(self) -> None:
        """Remove what was refused long ago, and unfinished files of killed processes."""
        now = self.now()
        for folder in (self._entries, self._refused):
            folder.sweep(now - TEMPORARY_AGE)
        for name in filter(_NAME.fullmatch, self._refused.names()):
            path = os.path.join(self.rejected, name)
            with suppress(FileNotFoundError):
                found = os.lstat(path)
                # A rename keeps the time of a file's content, not that of its move.
                if now - max(found.st_mtime_ns, found.st_ctime_ns) >= REJECTED_AGE:
                    os.unlink(path)

    def counts(self) -> tuple[int, int]:
        """How many entries are kept, and how many are in `rejected/`."""
        rejected = sum(1 for name in self._refused.names() if _NAME.fullmatch(name))
        return len(self.files()), rejected

    def _read(self, path: str, seen: SpoolEntry | None = None) -> SpoolEntry | None:
        try:
            data = regular_bytes(path, _LARGEST, follow=False)
        except FileNotFoundError:
            return None
        except NotRegularError as error:
            raise UnreadableEntry(f"it is {error}") from None
        except TooLargeError:
            raise UnreadableEntry("it is too large") from None
        return seen if seen is not None and seen.source == data else read(data)
