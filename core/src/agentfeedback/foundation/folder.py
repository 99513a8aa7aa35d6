"""Files put in place so that a kill at any moment leaves the old content or the new.

This is the one module that renames files. It imports `os` and little else: agent hooks wait for it.
"""

from __future__ import annotations

import errno
import os
import stat

from agentfeedback.foundation.files import (
    FOLDER,
    directory,
    flush_folder,
    open_regular,
    read_all,
    remove,
    require_regular,
    to_disk,
    write_all,
    write_new,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = ".unfinished"
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


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
        above = os.open(self.path, FOLDER)
        try:
            if not self._is_there(name, data, replace, above):
                unfinished = self.unfinished(name)
                if self.locked:
                    remove(unfinished, above)  # a killed writer's
                write_new(
                    unfinished, data, above=above, durable=self.durable, mode=mode, group=group
                )
                try:
                    if check is not None:
                        check()
                    os.replace(unfinished, name, src_dir_fd=above, dst_dir_fd=above)
                except BaseException:
                    remove(unfinished, above)
                    raise
            if self.durable:
                to_disk(above)
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
            flush_folder(self.path)

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
                require_regular(found)
            return False
        descriptor = open_regular(name, above)
        try:
            if found.st_size == len(data) and read_all(descriptor) == data:
                return True
        finally:
            os.close(descriptor)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def finished(name: str) -> str:
    """Return the name a file was to get that was left unfinished; any other name as it is."""
    return name[1:].rpartition(_MARK)[0] if _is_unfinished(name) else name


def _is_unfinished(name: str) -> bool:
    return name[0] == "." and _MARK in name


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []


def rename(name: str, above: int, new: str, to: int) -> None:
    """Rename a file from one folder to a name in another, over any other of that name; nothing is flushed."""
    os.rename(name, new, src_dir_fd=above, dst_dir_fd=to)
