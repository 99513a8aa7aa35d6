"""The session counters cache: what hooks keep of each session, one owner-only file a session, for seven days.

One file a session: `sessions/<harness>/<id cut to 40>-<16 hex of SHA-256(id)>.json` below
the cache, changed as a whole under a lock of its own (`<file>.lock`).
"""

from __future__ import annotations

import os
import time

from agentfeedback.foundation.files import directory, regular_bytes
from agentfeedback.foundation.folder import Folder, finished
from agentfeedback.foundation.lock import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

#: How long a file nobody changes is kept, in seconds.
RETENTION = 7 * 86_400
#: The largest file that is read, in bytes.
LARGEST = 4 << 20
#: What the file of a session ends in; other files are ignored.
SUFFIX = ".json"
LOCK = ".lock"
_PRUNED = ".pruned"
_DAY = 86_400
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


def session_folder(cache: str, harness: str) -> str:
    """The folder of the files of a harness's sessions; `cache` is the program's folder of the cache."""
    return os.path.join(cache, "sessions", harness)


def file_name(id: str) -> str:
    """The file name of a session; of an odd id only what any file system takes is kept beside the hash."""
    shown = "".join(char if char in _NAME else "_" for char in id[:40])
    return f"{shown}-{_sha256(id.encode())[:16]}{SUFFIX}"


def update(folder: str, id: str, change: Callable[[dict[str, Any]], None], deadline: float) -> None:
    """Change what is kept of a session, as one step among all processes.

    `change` alters the members in place (none are there for a new session, or where the file is
    unreadable). Raises `TimeoutError` when the lock is not free before `deadline` (of
    `time.monotonic`), else `OSError`; nothing is changed then.
    """
    import json

    directory(folder)
    name = file_name(id)
    path = os.path.join(folder, name)
    with FileLock(path + LOCK, deadline):
        kept = read(path) or {}
        change(kept)
        now = stamp(time.time())
        kept.setdefault("created", now)
        kept["updated"] = now
        data = json.dumps(kept, separators=(",", ":")).encode()
        kept_in(folder).put(name, data, replace=True)


def kept_in(folder: str) -> Folder:
    """Return a folder of the cache whose writers hold a lock for each file."""
    return Folder(folder, durable=False, locked=True)


def read(path: str) -> dict[str, Any] | None:
    """The members in one file; None when it is missing, too large, no regular file or no JSON object."""
    import json

    try:
        kept = json.loads(regular_bytes(path, LARGEST, follow=False))
    except (OSError, ValueError, RecursionError):
        return None
    return kept if isinstance(kept, dict) else None


def expired(modified: float, now: float) -> bool:
    """Whether a file last changed at `modified` has had its seven days; both in seconds since the epoch."""
    return now - modified > RETENTION


def prune(cache: str, deadline: float) -> None:
    """Remove files nobody changed for seven days, at most once a day, until `deadline`.

    A clock that jumps ahead ages no file: each time, a day has passed at most since the time before.
    A file in use is left for the next time. Raises OSError where the cache cannot be read.
    """
    root = os.path.join(cache, "sessions")
    now = time.time()
    marker = os.path.join(root, _PRUNED)
    aged = now
    try:
        last = os.stat(marker).st_mtime
        if abs(now - last) < _DAY:
            return
        aged = min(now, last + _DAY)
    except FileNotFoundError:
        directory(root)
    # Marked first, so that of many hooks one prunes, and a kill does not make every next one try.
    os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    os.utime(marker, (now, now))
    for path in _old_files(root, aged):
        if time.monotonic() >= deadline:
            return
        _remove(path, aged)


def _old_files(root: str, now: float) -> Iterator[str]:
    with os.scandir(root) as harnesses:
        folders = [entry.path for entry in harnesses if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        # By session: a lock goes with its file, an unfinished file with the lock it was written under.
        for name in dict.fromkeys(_session_file(name) for name in names):
            path = os.path.join(folder, name)
            if name.endswith(SUFFIX) and _all_expired(path, now):
                yield path


def _session_file(name: str) -> str:
    return finished(name.removesuffix(LOCK))


def _all_expired(path: str, now: float) -> bool:
    changed = [_modified(each) for each in _both(path)]
    times = [at for at in changed if at is not None] or [_modified(path + LOCK) or 0.0]
    return all(expired(at, now) for at in times)


def _both(path: str) -> tuple[str, str]:
    """The file of a session, and the same unfinished."""
    folder, name = os.path.split(path)
    return path, os.path.join(folder, kept_in(folder).unfinished(name))


def _modified(path: str) -> float | None:
    try:
        return os.lstat(path).st_mtime
    except FileNotFoundError:
        return None


def _remove(path: str, now: float) -> None:
    try:
        with FileLock(path + LOCK, 0) as lock:
            if _all_expired(path, now):
                for each in _both(path):
                    if _modified(each) is not None:
                        os.unlink(each)
                lock.remove()
    except TimeoutError:
        return


def _sha256(data: bytes) -> str:
    # `hashlib` loads OpenSSL, a sixth of a hook's time; the interpreter brings an own one where it can.
    for name in ("_sha2", "_sha256", "hashlib"):
        try:
            digest: str = __import__(name).sha256(data).hexdigest()
        except ImportError:
            continue
        return digest
    raise ImportError("no SHA-256")


def stamp(seconds: float) -> str:
    """A time since the epoch as RFC 3339 in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
