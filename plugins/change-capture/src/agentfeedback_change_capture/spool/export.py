"""Export: an archive of a spool, every byte verified, which nobody can resume.

It is built in a private folder of its own and put in place before any evidence is in it, by a rename
that replaces nothing. Everything is written relative to retained descriptors; nothing is ever
deleted by a path that somebody may have replaced.
"""

from __future__ import annotations

import hashlib
import os
import stat

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import open_regular, to_disk, write_all
from agentfeedback.foundation.held_folder import HeldFolder
from agentfeedback.foundation.lock import FileLock
from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout
from agentfeedback_change_capture.spool.outcome import SpoolRefused
from agentfeedback_change_capture.spool.rename_exclusive import clear_access_list, rename_exclusive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LARGEST = 64 << 20
_BLOCK = 1 << 20
_INSIDE = "owned-output"
_ANCHORS = 8
_MANIFEST = "export.json"


class ExportFailed(AgentFeedbackError):
    """An export that did not end; the problem names every folder it may have left, and nothing is deleted."""


def export(source: str, destination: str, deadline: float) -> dict[str, Any]:
    """Copy a spool into a folder that does not exist yet; return what was made.

    `deadline` is how long to wait for a writer, as a time of `time.monotonic` in seconds. The spool
    is not changed, and is copied whatever state it is in.

    Raises:
        ExportFailed: It could not be done; what was left is named.
        SpoolRefused: The spool is not a folder that can be read.
    """
    run = _Export(source, destination)
    try:
        return run.run(deadline)
    except (OSError, OverflowError, _Refused) as error:
        raise ExportFailed(
            f"{destination}: {reason_of(error)}{run.left()}",
            "look at what is named before you remove it" if run.left() else "nothing was made",
        ) from error
    finally:
        run.close()


class _Refused(Exception):
    """What an export may not do."""


class _Export:
    def __init__(self, source: str, destination: str) -> None:
        self._source = source
        self._destination = destination
        self._parent_path, self._name = os.path.split(destination)
        self._held: list[HeldFolder] = []
        self._lock: FileLock | None = None
        self._made: list[tuple[str, HeldFolder]] = []
        self._anchor_path = ""

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        for folder in self._held:
            folder.close()

    def left(self) -> str:
        """Say what was made, by the name it had and by identity."""
        words = []
        for path, folder in self._made:
            found = folder.itself()
            here = "is there"
            try:
                there = os.stat(path, follow_symlinks=False)
                if not os.path.samestat(there, found):
                    here = "was replaced; where it is now is not known"
            except OSError:
                here = "is not at this name; where it is now is not known"
            words.append(f"{path} (device {found.st_dev}, inode {found.st_ino}) {here}")
        if not words and self._anchor_path and os.path.lexists(self._anchor_path):
            words.append(f"{self._anchor_path} (not opened, so its identity is not known)")
        return f"; left behind: {', '.join(words)}" if words else ""

    def run(self, deadline: float) -> dict[str, Any]:
        source = self._open(self._source)
        parent = self._open(self._parent_path)
        if parent.stat(self._name) is not None:
            raise _Refused("it exists already")
        self._refuse_nested(source)
        consistent = self._lock_source(source, deadline)
        output = self._installed(parent)
        files = self._copied(source, output)
        found = source.itself()
        manifest = {
            "consistent": consistent,
            "files": files,
            "nonresumable": True,
            "schema": "agentscm.spool.export/1",
            "source": {"device": found.st_dev, "inode": found.st_ino},
        }
        data = canonical(manifest) + b"\n"
        output.make(_MANIFEST, data)
        parent.flush()
        return {
            "destination": self._destination,
            "files": len(files),
            "bytes": sum(each["bytes"] for each in files),
            "manifest_sha256": identities.bytes_digest(data),
            "anchor": self._anchor_path,
        }

    def _open(self, path: str) -> HeldFolder:
        try:
            folder = HeldFolder(path)
        except OSError as error:
            raise SpoolRefused(
                "missing", path, reason_of(error), "name a folder that can be read"
            ) from error
        self._held.append(folder)
        return folder

    def _refuse_nested(self, source: HeldFolder) -> None:
        """Refuse an archive inside of what it copies, whatever links the path goes through."""
        wanted = source.itself()
        descriptor = os.open(self._parent_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            while True:
                here = os.fstat(descriptor)
                if os.path.samestat(here, wanted):
                    raise _Refused("it is inside the spool")
                above = os.open(
                    "..", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor
                )
                descriptor, below = above, descriptor
                os.close(below)
                if os.path.samestat(os.fstat(above), here):
                    return
        finally:
            os.close(descriptor)

    def _lock_source(self, source: HeldFolder, deadline: float) -> bool:
        """Keep writers out where the spool is committed and safe; return whether that is so."""
        from agentfeedback_change_capture.spool.opening import committed, open_folders

        try:
            storage = open_folders(self._source)
        except (SpoolRefused, OSError):
            return False
        try:
            committed(storage)
        except (SpoolRefused, OSError):
            return False
        finally:
            storage.close()
        lock = FileLock(
            layout.SPOOL_LOCK, deadline, create=False, shared=True, above=source.descriptor
        )
        lock.acquire()
        self._lock = lock
        return True

    def _installed(self, parent: HeldFolder) -> HeldFolder:
        """Make the archive's folder in an anchor that nobody else can write to, and put it in place."""
        anchor = self._anchor(parent)
        output = anchor.make_folder(_INSIDE)
        self._held.append(output)
        self._made.append((os.path.join(self._anchor_path, _INSIDE), output))
        anchor.flush()
        parent.flush()
        rename_exclusive(_INSIDE, anchor.descriptor, self._name, parent.descriptor)
        self._made[-1] = (self._destination, output)
        parent.flush()
        anchor.flush()
        return output

    def _anchor(self, parent: HeldFolder) -> HeldFolder:
        for _ in range(_ANCHORS):
            name = f".agentscm-export-{os.urandom(16).hex()}"
            self._anchor_path = os.path.join(self._parent_path, name)
            try:
                anchor = parent.make_folder(name)
            except FileExistsError:
                continue
            self._held.append(anchor)
            self._made.append((self._anchor_path, anchor))
            found = anchor.itself()
            if found.st_uid != os.geteuid() or found.st_mode & 0o077:
                raise _Refused("the folder it is built in is not private")
            clear_access_list(anchor.descriptor)
            again = HeldFolder(name, parent)
            self._held.append(again)
            if not os.path.samestat(again.itself(), found) or not again.is_empty():
                raise _Refused("the folder it is built in was changed by somebody else")
            return anchor
        raise _Refused("no name for the folder it is built in is free")

    def _copied(self, source: HeldFolder, output: HeldFolder) -> list[dict[str, Any]]:
        files: list[dict[str, Any]] = []
        left = layout.MOST_ENTRIES
        for folder in (layout.ROOT, *layout.FOLDERS):
            if folder and source.stat(folder) is None:
                continue
            inside = HeldFolder(folder, source) if folder else source
            if folder:
                self._held.append(inside)
            entries = inside.entries(left)
            left -= len(entries)
            into = output.make_folder(folder) if folder else output
            if folder:
                self._held.append(into)
            for name, entry in sorted(entries.items()):
                if entry.is_regular:
                    copied = self._copy(inside, into, name)
                    files.append({"path": layout.label(folder, name), **copied})
            into.flush()
        output.flush()
        return files

    def _copy(self, inside: HeldFolder, into: HeldFolder, name: str) -> dict[str, Any]:
        descriptor = open_regular(name, inside.descriptor)
        try:
            size = os.fstat(descriptor).st_size
            if size > _LARGEST:
                raise _Refused(f"{name} is larger than {_LARGEST} bytes")
            target = os.open(name, _NEW, 0o600, dir_fd=into.descriptor)
            try:
                copied = _digest(descriptor, target)
                to_disk(target)
            finally:
                os.close(target)
            os.lseek(descriptor, 0, os.SEEK_SET)
            if (
                _digest(descriptor, None) != copied
                or stat.S_IFMT(os.fstat(descriptor).st_mode) != stat.S_IFREG
            ):
                raise _Refused(f"{name} changed while it was copied")
        finally:
            os.close(descriptor)
        return {"bytes": copied[1], "sha256": copied[0]}


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def _digest(descriptor: int, target: int | None) -> tuple[str, int]:
    """Return the digest and length of a file from where it is read on, copied to `target`."""
    found, length = hashlib.sha256(), 0
    while piece := os.read(descriptor, _BLOCK):
        length += len(piece)
        if length > _LARGEST:
            raise _Refused(f"a file grew past {_LARGEST} bytes")
        found.update(piece)
        if target is not None:
            write_all(target, piece)
    return found.hexdigest(), length
