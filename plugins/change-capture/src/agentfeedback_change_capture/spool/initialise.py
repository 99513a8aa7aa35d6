"""How a spool begins: the whole layout is admitted before it is written, and its commit is written last."""

from __future__ import annotations

import os

from agentfeedback.foundation.held_folder import HeldFolder
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.limits import Usage, admits
from agentfeedback_change_capture.spool.outcome import SpoolFull, SpoolRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback_change_capture.facts import Namespace
    from agentfeedback_change_capture.spool.limits import SpoolLimits

NO_CLEANUP: dict[str, list[str]] = {
    name: [] for name in ("acks", "envelopes", "observations", "orders", "receipts", "sources")
}


def initialise(path: str, namespace: Namespace, limits: SpoolLimits, *, created_at: int) -> str:
    """Make a spool in an absent or empty folder and return its id.

    `created_at` is in Unix seconds. A crash before the commit leaves a folder that every operation
    but inspection and export refuses, and whose bytes none of them changes.

    Raises:
        SpoolRefused: The folder is not empty, not ours, or open to others; nothing was changed.
        SpoolFull: The layout does not fit the limits.
        OSError: It cannot be written.
    """
    files = _layout(namespace, limits)
    # Two locks and the commit, which is longest when every number in it is.
    commit = len(records.encode("format", _format("0" * 32, [2**63 - 1] * 4, 2**63 - 1)))
    total = commit + sum(map(len, files.values()))
    if not admits(limits, Usage(), "ordinary", len(files) + 3, total):
        raise SpoolFull(f"{path}: the layout of a spool does not fit its limits", "raise them")
    _made(path)
    root = HeldFolder(path)
    try:
        return _fill(path, root, files, created_at)
    finally:
        root.close()


def _fill(path: str, root: HeldFolder, files: dict[str, bytes], created_at: int) -> str:
    found = root.itself()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077 or not root.is_empty():
        raise _not_empty(path)
    for name in layout.FOLDERS:
        root.make_folder(name).close()
    for name in (layout.SPOOL_LOCK, layout.MANAGED_LOCK):
        root.make(name)
    for name, data in files.items():
        root.put(name, data, layout.temporary(name, os.urandom(8)))
    root.flush()
    locks = [
        os.stat(name, dir_fd=root.descriptor) for name in (layout.SPOOL_LOCK, layout.MANAGED_LOCK)
    ]
    spool_id = os.urandom(16).hex()
    numbers = [found.st_dev, found.st_ino, *(lock.st_ino for lock in locks)]
    data = records.encode("format", _format(spool_id, numbers, created_at))
    root.put(layout.FORMAT, data, layout.temporary(layout.FORMAT, os.urandom(8)))
    return spool_id


def _layout(namespace: Namespace, limits: SpoolLimits) -> dict[str, bytes]:
    scope = {"observation_scope": f"osc_{os.urandom(16).hex()}"}
    bound = {
        "hub": namespace.hub,
        "repository": namespace.repository,
        "worktree_id": namespace.worktree_id,
    }
    index = {
        "actions": [],
        "cleanup": NO_CLEANUP,
        "events": [],
        "full": [],
        "high_order": 0,
        "occurrences": [],
    }
    return {
        layout.NAMESPACE: records.encode("namespace", bound),
        layout.SCOPE: records.encode("scope", scope),
        layout.LIMITS: records.encode_mutable("limits", limits.record(), 1),
        layout.ORDER: records.encode_mutable("order", {"active": [], "next_order": 1}, 1),
        layout.COMPACTION: records.encode_mutable("compaction", index, 1),
        layout.CURSOR: records.encode_mutable("cursor", {"position": 0}, 1),
    }


def _format(spool_id: str, numbers: list[int], created_at: int) -> dict[str, int | str]:
    names = ("device", "spool_inode", "spool_lock_inode", "managed_lock_inode")
    return {
        **dict(zip(names, numbers, strict=True)),
        "created_at": created_at,
        "spool_id": spool_id,
        "version": layout.VERSION,
    }


def _made(path: str) -> None:
    parent = os.path.dirname(path)
    try:
        above = os.stat(parent)
    except (FileNotFoundError, NotADirectoryError):
        raise SpoolRefused("missing", parent, "there is no such folder", "make it first") from None
    if above.st_uid != os.geteuid() or above.st_mode & 0o022:
        raise SpoolRefused(
            "unsafe",
            parent,
            "owned by somebody else or writable by others",
            "choose a folder that only you can write to",
        )
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        if not (found.st_mode & 0o170000 == 0o040000 and found.st_uid == os.geteuid()):
            raise _not_empty(path) from None
        if found.st_mode & 0o077:
            raise _not_empty(path) from None
        return
    above_it = HeldFolder(parent)
    try:
        above_it.flush()
    finally:
        above_it.close()


def _not_empty(path: str) -> SpoolRefused:
    return SpoolRefused(
        "opaque",
        path,
        "not an empty folder that only you can use",
        "name a folder that does not exist yet",
    )
