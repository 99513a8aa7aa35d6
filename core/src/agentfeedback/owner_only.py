"""Owner-only files and folders of the cache, written so that a kill at any moment leaves the old content or the new.

Nothing here imports more than `os`: agent hooks wait for it.
"""

from __future__ import annotations

import os

#: What a file being written is called until it takes the place of the old one.
UNFINISHED = ".new"


def directory(path: str) -> None:
    """Make a folder and what is missing above it, owner-only; one that is there keeps its mode."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent == path:
            raise
        directory(parent)
        # Another process may have been faster.
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return


def replace(path: str, data: bytes) -> None:
    """Give a file new content by a rename; raises OSError and then leaves it as it was.

    One writer at a time: hold a lock. Nothing is forced to disk: what lies in the cache may be lost
    with the machine, never half-written.
    """
    unfinished = path + UNFINISHED
    if os.path.lexists(unfinished):
        os.unlink(unfinished)  # a killed writer's
    write_new(unfinished, data)
    try:
        os.replace(unfinished, path)
    except OSError:
        os.unlink(unfinished)
        raise


def write_new(path: str, data: bytes, *, durable: bool = False) -> None:
    """Make a file, owner-only; raises OSError when it is there or cannot be written whole, and leaves none then.

    `durable` waits until the content is on the disk.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)


def append(path: str, line: bytes, *, limit: int) -> None:
    """Append a line; a file of more than `limit` bytes is first moved to `<path>.1`, over what lies there."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        if os.fstat(descriptor).st_size > limit:
            os.replace(path, path + ".1")
            os.close(descriptor)
            descriptor = os.open(path, flags, 0o600)
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, however many the system takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
