"""What a spool holds, read without a lock and without changing anything, whatever state it is in."""

from __future__ import annotations

import os
import stat

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LISTS = ("pending", "deferred", "quarantine", "attempts", "issues")
_IDENTITY = ("spool_inode", "spool_lock_inode", "managed_lock_inode")
_FORMAT_BYTES = 4096


def inspect(
    path: str, limit: int = 100, *, host: str | None = None, boot: str | None = None
) -> dict[str, Any]:
    """Return what is to be shown of a spool, each list cut at `limit` and the rest counted.

    `host` and `boot` are the identities of this machine and of its run, where they are known.

    Raises:
        NotReadableError: The path is not a folder that can be read.
    """
    files = Snapshot(path)
    format = _format(files)
    usage, limits = files.usage(), files.record(layout.ROOT, layout.LIMITS)
    shown: dict[str, list[dict[str, Any]]] = {}
    omitted: dict[str, int] = {}
    rows = {
        "pending": pending(files),
        "deferred": deferred(files),
        "quarantine": quarantine(files),
        "attempts": attempts(files, host, boot),
        "issues": iter(files.issues),
    }
    for name in _LISTS:  # the issues last: the others find some
        found = list(rows[name])
        shown[name], omitted[name] = found[:limit], max(0, len(found) - limit)
    return {
        "path": path,
        "classification": _classification(files, format),
        "completeness": "unknown",
        "authority": "none",
        "identity": _identity(files, format),
        "usage": usage,
        "limits": _members(limits),
        **shown,
        "omitted": omitted,
    }


def pending(files: Snapshot) -> Iterator[dict[str, Any]]:
    """Yield the envelopes without a valid acknowledgement, in order."""
    for name in files.known(layout.OUTBOX):
        data = files.bytes(layout.OUTBOX, name, layout.ENVELOPE_BYTES)
        if data is None or _is_acknowledged(files, name, data):
            continue
        try:
            envelope = records.decode_envelope(data)
        except records.MalformedRecord:
            files.issue(layout.OUTBOX, name, "malformed")
            continue
        yield {
            "order": layout.envelope_order(name),
            "id": envelope["envelope_id"],
            "kind": records.envelope_kind(envelope),
            "bytes": len(data),
            "work_id": envelope["work_id"],
            "generation": envelope["generation"],
            "session_id": envelope["session_id"],
        }


def deferred(files: Snapshot) -> Iterator[dict[str, Any]]:
    """Yield the facts that were kept without a target, in order of receipt."""
    scope = files.record(layout.ROOT, layout.SCOPE)
    for name in files.known(layout.DEFERRED):
        record = files.record(layout.DEFERRED, name)
        if record is not None:
            observed = record["observed_session"]
            yield {
                "receipt_order": record["receipt_order"],
                "event": record["event"],
                "native_ref": None
                if scope is None
                else identities.native_ref(scope["observation_scope"], observed),
                "sequence": record.get("sequence"),
                "tool": record["tool"],
                "boundary": record["boundary"],
                "cause": record["cause"],
                "target": record.get("target"),
                "observed_at": record["observed_at"],
                "legacy": "sequence" not in record,
            }


def quarantine(files: Snapshot) -> Iterator[dict[str, Any]]:
    """Yield what was set aside; the reason is found in the bytes again, since the names are opaque."""
    for name, found in sorted(files.names[layout.QUARANTINE].items()):
        yield {
            "name": name,
            "bytes": found.st_size,
            "reason": _reason(files, name, found),
            "modified_at": int(found.st_mtime),
        }


def attempts(
    files: Snapshot, host: str | None = None, boot: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield managed runs that are not known to have ended."""
    for name in files.known(layout.ATTEMPTS):
        record = files.record(layout.ATTEMPTS, name)
        if record is None:
            continue
        start = layout.receipt_name(identities.action_file(record["action_id"]), "start")
        yield {
            "fence": record["fence"],
            "work_id": record["work_id"],
            "recipe_id": record["recipe"]["id"],
            "phase": record["phase"],
            "action_id": record["action_id"],
            "boot": _same(record["boot"], boot),
            "host": _same(record["host"], host),
            "start_durable": start in files.names[layout.ACTIONS],
        }


def _is_acknowledged(files: Snapshot, name: str, data: bytes) -> bool:
    found = files.names[layout.ACKS].get(name)
    if found is None or stat.S_ISDIR(found.st_mode):
        # An empty folder of that name says nothing, and is not a fault of the envelope.
        return False
    if not stat.S_ISREG(found.st_mode):
        files.issue(layout.ACKS, name, "not_regular")
        return False
    record = files.record(layout.ACKS, name)
    if record is None:
        return False
    if record["envelope_sha256"] != identities.bytes_digest(data):
        files.issue(layout.ACKS, name, "other_digest")
        return False
    return True


def _reason(files: Snapshot, name: str, found: os.stat_result) -> str:
    if not stat.S_ISREG(found.st_mode):
        return "unknown name"
    data = files.bytes(layout.QUARANTINE, name, layout.ENVELOPE_BYTES)
    whole = data is not None and records.is_any_record(data)
    return "temporary ambiguous" if whole else "temporary malformed"


def _format(files: Snapshot) -> dict[str, Any] | None:
    if layout.FORMAT not in files.names[layout.ROOT]:
        return None
    data = files.bytes(layout.ROOT, layout.FORMAT, _FORMAT_BYTES)
    if data is None or not records.is_complete(layout.ROOT, layout.FORMAT, data):
        return None
    return records.decode("format", data)


def _classification(files: Snapshot, format: dict[str, Any] | None) -> str:
    folders = [found for found in files.folders.values() if found is not None]
    if any(
        found.st_uid != os.geteuid() or found.st_mode & 0o077
        for found in (files.root, *folders, *files.regular())
    ):
        return "unsafe"
    names = files.names[layout.ROOT]
    if format is None:
        if layout.FORMAT in names:
            return "earlier_format"
        return "uncommitted" if layout.SPOOL_LOCK in names or not names else "opaque"
    here = _identity(files, format)
    return "committed_v4" if here["inodes"] == here["expected"] else "moved"


def _identity(files: Snapshot, format: dict[str, Any] | None) -> dict[str, Any]:
    locks = (files.names[layout.ROOT].get(name) for name in layout.LOCKS[:2])
    inodes = [files.root.st_ino, *(0 if lock is None else lock.st_ino for lock in locks)]
    return {
        "spool_id": None if format is None else format["spool_id"],
        "inodes": inodes,
        "expected": None if format is None else [format[name] for name in _IDENTITY],
    }


def _members(record: dict[str, Any] | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {name: record[name] for name in record if name not in ("rev", "schema", "sum")}


def _same(then: str | None, now: str | None) -> str:
    if then is None or now is None:
        return "unknown"
    return "same" if then == now else "other"
