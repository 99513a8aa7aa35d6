"""Files read with a bound, and written so that a kill at any moment leaves the old content or the new.

This is the one module that renames files. It imports `os` and little else: agent hooks wait for it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = ".unfinished"
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0)
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
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
    _require_regular(os.stat(path, dir_fd=above, follow_symlinks=follow))
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
        _require_regular(os.fstat(descriptor))
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
        _flush_folder(os.path.dirname(path))


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
                _flush(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _remove(path, above)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, however many the system takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Folder:
    """A folder whose files are put in place whole; it is made, owner-only, with its first file.

    With `durable` false nothing waits for the disk, as in a cache: a file may be lost with the
    machine, but is never half-written. `locked` says that writers hold a lock: then a file that a
    killed writer left unfinished is replaced by the next one of its name, else `sweep` removes it.
    """

    __slots__ = ("durable", "locked", "path")

    def __init__(self, path: str, *, durable: bool = True, locked: bool = False) -> None:
        self.path = path
        self.durable = durable
        self.locked = locked

    def put(
        self,
        name: str,
        data: bytes,
        *,
        replace: bool = False,
        mode: int = 0o600,
        group: int | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        """Write a file durably, or leave the folder as it was.

        The content is written beside its name with mode 0600 (or `mode` and `group`), flushed to
        disk and renamed; `check` is called just before, to raise what should keep the old file. When
        only the flush of the folder fails, OSError is raised with the new file in place. Without
        `replace` two writers of one name need a lock.

        Raises:
            FileExistsError: The file exists with other content and `replace` is false.
            NotRegularError: The name is a folder's, a pipe's or a device's.
            OSError: It cannot be written.
        """
        directory(self.path, durable=self.durable)
        above = os.open(self.path, _FOLDER)
        try:
            if not self._is_there(name, data, replace, above):
                unfinished = self.unfinished(name)
                if self.locked:
                    _remove(unfinished, above)  # a killed writer's
                write_new(
                    unfinished, data, above=above, durable=self.durable, mode=mode, group=group
                )
                try:
                    if check is not None:
                        check()
                    os.replace(unfinished, name, src_dir_fd=above, dst_dir_fd=above)
                except BaseException:
                    _remove(unfinished, above)
                    raise
            if self.durable:
                _flush(above)
        finally:
            os.close(above)

    def move(self, name: str, new: str, to: Folder | None = None, *, flush: bool = True) -> bool:
        """Rename a file, over any other of the new name, and wait for the disk as `flush` does; return whether it existed."""
        target = to or self
        if target is not self:
            directory(target.path, durable=target.durable)
        try:
            os.rename(os.path.join(self.path, name), os.path.join(target.path, new))
        except FileNotFoundError:
            return False
        if flush:
            target.flush()
            if target is not self:
                self.flush()
        return True

    def delete(self, name: str) -> bool:
        """Remove a file; return whether it existed."""
        try:
            os.unlink(os.path.join(self.path, name))
        except FileNotFoundError:
            return False
        self.flush()
        return True

    def append(self, name: str, line: bytes, *, limit: int) -> None:
        """Append a line; a file past `limit` bytes is first moved to `<name>.1`. Nothing is flushed; a lock keeps two from moving it."""
        directory(self.path)
        path = os.path.join(self.path, name)
        descriptor = os.open(path, _APPEND, 0o600)
        try:
            if os.fstat(descriptor).st_size > limit:
                os.replace(path, path + ".1")
                os.close(descriptor)
                descriptor = os.open(path, _APPEND, 0o600)
            write_all(descriptor, line)
        finally:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the names in the folder, unfinished files left out; none where there is no folder."""
        return [name for name in _names(self.path) if not _is_unfinished(name)]

    def sweep(self, before: int) -> None:
        """Remove files left unfinished that were last changed before a time, in nanoseconds since the epoch."""
        for name in filter(_is_unfinished, _names(self.path)):
            path = os.path.join(self.path, name)
            try:
                found = os.lstat(path)
                if max(found.st_mtime_ns, found.st_ctime_ns) <= before:
                    os.unlink(path)
            except FileNotFoundError:
                continue

    def flush(self) -> None:
        """Wait until renames and removals are on the disk; nothing where the folder is not durable."""
        if self.durable:
            _flush_folder(self.path)

    def unfinished(self, name: str) -> str:
        """Return the name of a file while it is written, the same each time where writers hold a lock."""
        return f".{name}{_MARK}" if self.locked else f".{name}{_MARK}-{os.urandom(4).hex()}"

    def _is_there(self, name: str, data: bytes, replace: bool, above: int) -> bool:
        try:
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if replace:
            # A link is replaced by the file, not followed.
            if not stat.S_ISLNK(found.st_mode):
                _require_regular(found)
            return False
        descriptor = open_regular(name, above)
        try:
            if found.st_size == len(data) and read_all(descriptor) == data:
                return True
        finally:
            os.close(descriptor)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def _require_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotRegularError


def _remove(path: str, above: int | None) -> None:
    """Remove a file of ours that is in the way, as far as the system allows it."""
    try:
        os.unlink(path, dir_fd=above)
    except OSError:
        return


def _is_unfinished(name: str) -> bool:
    return name[0] == "." and _MARK in name


def finished(name: str) -> str:
    """Return the name a file was to get that was left unfinished; any other name as it is."""
    return name[1:].rpartition(_MARK)[0] if _is_unfinished(name) else name


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _flush_folder(path: str) -> None:
    descriptor = os.open(path, _FOLDER)
    try:
        _flush(descriptor)
    finally:
        os.close(descriptor)


def _flush(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # There fsync leaves the content in the drive's own cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)
