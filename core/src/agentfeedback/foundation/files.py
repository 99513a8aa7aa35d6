"""Files read with a bound, and made whole or not at all.

`folder` puts files in the place of others. Both import `os` and little else: agent hooks wait for them.
"""

from __future__ import annotations

import os
import stat
import sys

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0)
#: How a folder is opened to flush it, or to name files in it.
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BLOCK = 1 << 20


class NotRegularError(OSError):
    """A path is a folder, a pipe, a device or, where links are not followed, a link."""

    def __init__(self, problem: str = "not a regular file") -> None:
        super().__init__(problem)


class TooLargeError(OSError):
    """A file is larger than its reader allows."""


def open_regular(path: str, above: int | None = None, *, follow: bool = False) -> int:
    """Return a descriptor of a regular file, opened read-only; nothing else is opened.

    So no pipe is taken from a process that waits at its other end. A relative path is taken from the
    folder with the descriptor `above`. The access time is left alone where the system allows it.
    Raises `NotRegularError`, other OSErrors, and ValueError for a path with a zero byte.
    """
    require_regular(os.stat(path, dir_fd=above, follow_symlinks=follow))
    flags = _READ if follow else _READ | os.O_NOFOLLOW
    quiet = getattr(os, "O_NOATIME", 0)
    try:
        descriptor = os.open(path, flags | quiet, dir_fd=above)
    except PermissionError:
        if not quiet:
            raise
        # Only the owner may leave the access time alone.
        descriptor = os.open(path, flags, dir_fd=above)
    try:
        # The file may be another by now: what was opened has to be regular.
        require_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def regular_bytes(path: str, limit: int | None = None, *, follow: bool = True) -> bytes:
    """Return the bytes of a regular file; raises `TooLargeError` past `limit` bytes, and what `open_regular` raises."""
    descriptor = open_regular(path, follow=follow)
    try:
        return read_all(descriptor, limit)
    finally:
        os.close(descriptor)


def small_file(path: str, limit: int) -> bytes | None:
    """Return the bytes of a regular file, links followed; None when it is missing, larger or something else."""
    try:
        return regular_bytes(path, limit)
    except (FileNotFoundError, NotADirectoryError, NotRegularError, TooLargeError):
        return None


def read_all(descriptor: int, limit: int | None = None) -> bytes:
    """Return what is left to read of an open file; raises `TooLargeError` past `limit` bytes."""
    pieces: list[bytes] = []
    length = 0
    while piece := os.read(descriptor, _BLOCK if limit is None else min(_BLOCK, limit + 1)):
        pieces.append(piece)
        length += len(piece)
        if limit is not None and length > limit:
            raise TooLargeError(f"larger than {limit} bytes")
    return b"".join(pieces)


def directory(path: str, *, durable: bool = False) -> None:
    """Make a folder and what is missing above it, owner-only, on the disk when `durable`; an existing one keeps its mode."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent == path:
            raise
        directory(parent, durable=durable)
        # Another process may have been faster.
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return
    if durable:
        flush_folder(os.path.dirname(path))


def write_new(
    path: str,
    data: bytes,
    *,
    above: int | None = None,
    durable: bool = False,
    mode: int = 0o600,
    group: int | None = None,
) -> None:
    """Make a file; raises OSError when it exists or cannot be written whole, and leaves none then."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600, dir_fd=above)
    try:
        try:
            write_all(descriptor, data)
            if group is not None and os.fstat(descriptor).st_gid != group:
                os.fchown(descriptor, -1, group)
            if mode != 0o600:
                os.fchmod(descriptor, mode)
            if durable:
                to_disk(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        remove(path, above)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, however many the system takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def remove(path: str, above: int | None) -> None:
    """Remove a file of ours that is in the way, as far as the system allows it."""
    try:
        os.unlink(path, dir_fd=above)
    except OSError:
        return


def flush_folder(path: str) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(path, FOLDER)
    try:
        to_disk(descriptor)
    finally:
        os.close(descriptor)


def to_disk(descriptor: int) -> None:
    """Wait until an open file, or folder, is on the disk."""
    if sys.platform == "darwin":
        import fcntl

        # There fsync leaves the content in the drive's own cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def require_regular(found: os.stat_result) -> None:
    """Raise `NotRegularError` for what is not a regular file."""
    if not stat.S_ISREG(found.st_mode):
        raise NotRegularError
