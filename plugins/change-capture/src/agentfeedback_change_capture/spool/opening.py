"""What has to be true of a spool before anything in it may be used: nothing is changed until it is."""

from __future__ import annotations

import os
import stat

from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.files import NotRegularError, TooLargeError
from agentfeedback.foundation.held_folder import HeldFolder
from agentfeedback.foundation.lock import FileLock
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.outcome import SpoolBusy, SpoolRefused
from agentfeedback_change_capture.spool.storage import Storage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.facts import Namespace

_FORMAT_BYTES = 4096
#: Where something that is not a file may stand under a record's name: a mark that says nothing or stops
#: delivery, and what was set aside.
_MAY_BE_ODD = (layout.ACKS, layout.QUARANTINE)


class Opened:
    """A spool whose identity was checked, with its lock held."""

    __slots__ = ("format", "lock", "namespace", "scope", "storage")

    def __init__(
        self,
        storage: Storage,
        lock: FileLock,
        format: dict[str, Any],
        namespace: dict[str, Any],
        scope: str,
    ) -> None:
        self.storage = storage
        self.lock = lock
        self.format = format
        self.namespace = namespace
        self.scope = scope

    def close(self) -> None:
        """Release the lock and the folders."""
        try:
            self.lock.release()
        finally:
            self.storage.close()


def open_checked(path: str, namespace: Namespace | None, deadline: float) -> Opened:
    """Open a spool, check it, take its lock, check it again and look at every entry.

    `namespace` is None for a command that was given nothing but a path.
    """
    storage = open_folders(path)
    try:
        format = committed(storage)
        _identity(storage, format)
        lock = FileLock(
            layout.SPOOL_LOCK,
            deadline,
            create=False,
            above=storage.folders[layout.ROOT].descriptor,
        )
        try:
            lock.acquire()
        except TimeoutError as error:
            raise SpoolBusy(f"{path}: another process holds the spool", "try again") from error
        try:
            _identity(storage, format)
            bound, scope = _bound(storage, namespace)
            _scanned(storage)
        except BaseException:
            lock.release()
            raise
        return Opened(storage, lock, format, bound, scope)
    except BaseException:
        storage.close()
        raise


def open_folders(path: str) -> Storage:
    """Open the root and every folder of it, all owned by the effective user and closed to others."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise SpoolRefused("missing", path, "there is no spool", "run configure") from None
    _private_folder(path, found)
    root = HeldFolder(path)
    storage = Storage(path, root)
    try:
        _private_folder(path, root.itself())
        for name in layout.FOLDERS:
            inside = os.path.join(path, name)
            there = root.stat(name)
            if there is None:
                raise _uncommitted(path)
            _private_folder(inside, there)
            storage.folders[name] = HeldFolder(name, root)
            _private_folder(inside, storage.folders[name].itself())
    except BaseException:
        storage.close()
        raise
    return storage


def committed(storage: Storage) -> dict[str, Any]:
    """Return the commit of a spool.

    Raises:
        SpoolRefused: There is none that is valid: a partial initialisation, an earlier format,
            or somebody else's folder.
    """
    root = storage.folders[layout.ROOT]
    there = root.stat(layout.FORMAT)
    if there is None:
        raise _uncommitted(storage.path)
    if not (stat.S_ISREG(there.st_mode) and there.st_mode & 0o7777 == 0o600):
        raise _unsafe(os.path.join(storage.path, layout.FORMAT))
    if there.st_uid != os.geteuid():
        raise _unsafe(os.path.join(storage.path, layout.FORMAT))
    try:
        data = root.read(layout.FORMAT, _FORMAT_BYTES)
    except (NotRegularError, TooLargeError) as error:
        raise _uncommitted(storage.path) from error
    if not records.is_complete(layout.ROOT, layout.FORMAT, data):
        raise _uncommitted(storage.path)
    return records.decode("format", data)


def _identity(storage: Storage, format: dict[str, Any]) -> None:
    """Compare root and locks with the commit: inodes, and that all are on one device.

    The number of the device is not compared: it changes over reboots on some file systems.
    """
    root = storage.folders[layout.ROOT].itself()
    found = [(root.st_ino, root.st_dev)]
    for name in (layout.SPOOL_LOCK, layout.MANAGED_LOCK):
        there = storage.folders[layout.ROOT].stat(name)
        if there is None or not stat.S_ISREG(there.st_mode):
            raise _moved(storage.path)
        found.append((there.st_ino, there.st_dev))
    inodes = [format[name] for name in ("spool_inode", "spool_lock_inode", "managed_lock_inode")]
    if [inode for inode, _ in found] != inodes or len({device for _, device in found}) != 1:
        raise _moved(storage.path)
    here = os.stat(storage.path, follow_symlinks=False)
    if not os.path.samestat(here, root):
        raise _moved(storage.path)


def _bound(storage: Storage, namespace: Namespace | None) -> tuple[dict[str, Any], str]:
    root = storage.folders[layout.ROOT]
    read = {}
    for name in (layout.NAMESPACE, layout.SCOPE):
        try:
            read[name] = records.decode(name.partition(".")[0], root.read(name, _FORMAT_BYTES))
        except (records.MalformedRecord, OSError) as error:
            raise storage.malformed(layout.ROOT, name, reason_of(error)) from error
    bound = read[layout.NAMESPACE]
    if namespace is not None and any(
        bound[name] != getattr(namespace, name) for name in ("hub", "repository", "worktree_id")
    ):
        raise SpoolRefused(
            "namespace",
            storage.path,
            f"the spool is bound to {bound['repository']} on {bound['hub']},"
            f" worktree {bound['worktree_id']}",
            "name the spool of this checkout",
        )
    return bound, read[layout.SCOPE]["observation_scope"]


def _scanned(storage: Storage) -> None:
    try:
        storage.scan()
    except OverflowError:
        raise SpoolRefused(
            "too_many",
            storage.path,
            f"more than {layout.MOST_ENTRIES} entries",
            "only inspect and export work on it",
        ) from None
    for folder, found in storage.entries.items():
        for name, entry in found.items():
            if entry.is_regular:
                if not entry.is_private:
                    raise _unsafe(os.path.join(storage.path, layout.label(folder, name)))
            elif layout.is_known(folder, name) and folder not in _MAY_BE_ODD:
                raise storage.malformed(folder, name, "not a regular file")


def _private_folder(path: str, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise SpoolRefused("opaque", path, "not a directory", "name a spool")
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise _unsafe(path)


def _unsafe(path: str) -> SpoolRefused:
    return SpoolRefused(
        "unsafe",
        path,
        "owned by somebody else or open to others",
        "inspect the spool; nothing in it is used while this is so",
    )


def _uncommitted(path: str) -> SpoolRefused:
    return SpoolRefused(
        "uncommitted",
        path,
        "not a committed spool of format 4",
        "inspect it; a folder that configure left unfinished may be removed",
    )


def _moved(path: str) -> SpoolRefused:
    return SpoolRefused(
        "moved",
        path,
        "not the folder and locks that were committed: it was copied, restored or replaced",
        "inspect and export it; it cannot be used again",
    )
