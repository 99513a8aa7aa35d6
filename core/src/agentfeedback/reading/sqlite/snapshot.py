"""Private copies of a database and its write-ahead log, in a folder that no other user may enter.

`snapshots/` is below the caller's cache folder; each run that copies has one folder there, and
beside it a lock file that the run holds locked for as long as it lives. A folder whose lock can be
had belongs to a run that was killed; the next run that copies removes it.
"""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
import stat
import tempfile
import weakref
from contextlib import suppress

from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.files import open_regular, write_all
from agentfeedback.foundation.lock import FileLock
from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.sqlite.sweep import FOLDER, LOCK, remove, sweep

_BLOCK = 1 << 20
_TRIES = 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class SnapshotFolder:
    """The snapshot folder of one run; made when the first copy is, gone with the object or at exit."""

    def __init__(self, cache: str) -> None:
        self._base = cache or os.path.join(tempfile.gettempdir(), f"agentfeedback-{os.getuid()}")
        self._shared = not cache
        self._root = os.path.join(self._base, FOLDER)
        self._path = ""
        self._copies = 0
        with suppress(OSError):  # what cannot be removed now waits for another run
            self._check()
            sweep(self._base)

    def copy(self, files: list[tuple[str, str]]) -> Copy:
        """Copy files in this order under one new name plus their suffix: `(path, suffix)`.

        Raises OSError when an original cannot be read, `UnreadableLog` when the copy cannot be kept.
        """
        room = sum(os.stat(path).st_size for path, _ in files)
        try:
            if not self._path:
                self._path = self._claim()
            free = os.statvfs(self._path)
        except OSError as error:
            raise _unkept(error) from None
        if free.f_bavail * free.f_frsize < room:
            raise UnreadableLog(f"no room for its snapshot in {self._base}")
        self._copies += 1
        target = os.path.join(self._path, f"{self._copies}.db")
        copy = Copy(target, self)
        for path, suffix in files:
            _copy(path, target + suffix)
        return copy

    def _claim(self) -> str:
        for _ in range(_TRIES):
            # Another run that ends takes the folders away that it made, if nobody uses them yet.
            with suppress(FileNotFoundError):
                made = self._make()
                path = os.path.join(self._root, secrets.token_hex(8))
                lock = FileLock(path + LOCK, 0)
                # A run that sweeps may hold it for a moment: then another name is taken.
                with suppress(TimeoutError):
                    lock.acquire()
                    break
        else:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._root)
        weakref.finalize(self, _leave, os.getpid(), path, lock, made)
        os.mkdir(path, 0o700)
        return path

    def _make(self) -> list[str]:
        """Make the folder of all snapshots, and answer which folders were missing, deepest first."""
        missing = []
        path = self._root
        while not os.path.lexists(path):
            missing.append(path)
            path = os.path.dirname(path)
        for path in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(path, 0o700)
        self._check()
        return missing

    def _check(self) -> None:
        """Raise PermissionError unless the folder of all snapshots is the user's own; close it to all others."""
        # In the system's folder of temporary files anybody may have made what has the name of ours.
        for path in (self._base, self._root) if self._shared else (self._root,):
            found = os.lstat(path)
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)
            if stat.S_IMODE(found.st_mode) & 0o077:
                os.chmod(path, 0o700)


class Copy:
    """A copied database and the connections to it; both go with the object."""

    def __init__(self, path: str, folder: SnapshotFolder) -> None:
        self.path = path
        #: By process: a connection must not be used across a fork.
        self.connections: dict[int, sqlite3.Connection] = {}
        self._folder = folder
        weakref.finalize(self, _discard, os.getpid(), path, self.connections)


def _leave(owner: int, path: str, lock: FileLock, made: list[str]) -> None:
    if os.getpid() != owner:  # a fork: the parent still reads there
        return
    remove(path, lock)
    for folder in made:
        with suppress(OSError):  # another run is still there
            os.rmdir(folder)


def _discard(owner: int, path: str, connections: dict[int, sqlite3.Connection]) -> None:
    connection = connections.pop(os.getpid(), None)
    if connection is not None:
        connection.close()
    if os.getpid() == owner:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(path + suffix)


def _copy(path: str, target: str) -> None:
    source = open_regular(path)
    try:
        try:
            copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unkept(error) from None
        try:
            while block := os.read(source, _BLOCK):
                _write(copy, block)
        finally:
            os.close(copy)
    finally:
        os.close(source)


def _write(copy: int, block: bytes) -> None:
    try:
        write_all(copy, block)
    except OSError as error:
        raise _unkept(error) from None


def _unkept(error: OSError) -> UnreadableLog:
    if error.errno in _NO_ROOM:
        return UnreadableLog(f"no room for its snapshot: {reason_of(error)}")
    return UnreadableLog(f"its snapshot cannot be kept: {reason_of(error)}")
