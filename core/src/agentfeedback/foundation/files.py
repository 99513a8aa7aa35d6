"""Owner-only files and folders of the cache, written so that a kill at any moment leaves the old content or the new.

Nothing here imports more than `os`: agent hooks wait for it.
"""

from __future__ import annotations

import os
import stat

_NO_FLAG = 0

#: What a file being written is called until it takes the place of the old one.
UNFINISHED = ".new"


class NotRegularError(OSError):
    """A path is a folder, a pipe, a device or, where links are not followed, a link."""

    def __init__(self) -> None:
        super().__init__("not a regular file")


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


def regular_bytes(path: str, limit: int | None = None, *, follow: bool = True) -> bytes:
    """The bytes of a regular file, at most `limit`; raises `OSError` or `ValueError` for anything else.

    Nothing but a regular file is opened, so that no pipe blocks and no device acts; with `follow`
    false a symbolic link counts as something else.
    """
    if not stat.S_ISREG(os.stat(path, follow_symlinks=follow).st_mode):
        raise NotRegularError
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    # The file may be another by now: what was opened is what has to be regular.
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularError
        data = file.read() if limit is None else file.read(limit + 1)
    if limit is not None and len(data) > limit:
        raise OSError(f"larger than {limit} bytes")
    return data


def dangling(path: str) -> str | None:
    """The link that leads nowhere where a path that is not there goes through one; None when it is simply missing."""
    # The nearest part of the path that is there at all decides whether the rest is missing or lost.
    while not os.path.lexists(path):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path if os.path.islink(path) and not os.path.exists(path) else None


def open_regular(path: str, above: int | None = None) -> int:
    """A descriptor of a regular file, opened read-only without following a link or waiting on a FIFO.

    A relative path is taken from the folder with the descriptor `above`. The access time is left
    alone where the system allows it. Raises OSError, also when the path is not (or no longer) a
    regular file.
    """
    flags = (
        os.O_RDONLY
        | os.O_CLOEXEC
        | os.O_NONBLOCK
        | os.O_NOFOLLOW
        | getattr(os, "O_NOCTTY", _NO_FLAG)
    )
    quiet = getattr(os, "O_NOATIME", _NO_FLAG)
    try:
        descriptor = os.open(path, flags | quiet, dir_fd=above)
    except PermissionError:
        if not quiet:
            raise
        # Only the owner may leave the access time alone.
        descriptor = os.open(path, flags, dir_fd=above)
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    if not regular:
        os.close(descriptor)
        raise NotRegularError
    return descriptor


def small_file(path: str, limit: int) -> bytes | None:
    """The whole of a regular file (symbolic links followed) of at most `limit` bytes, else None.

    Raises OSError when it is there and cannot be read; a missing one is None.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        content = b""
        while len(content) <= limit and (piece := os.read(descriptor, limit + 1 - len(content))):
            content += piece
        return content if len(content) <= limit else None
    finally:
        os.close(descriptor)
