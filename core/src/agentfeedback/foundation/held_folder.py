"""A folder held open: its files are named from its descriptor, so that no path is looked up again.

Whoever renames or replaces a folder on the way to it cannot redirect what is written. It imports
`os` and little else: agent hooks wait for it.
"""

from __future__ import annotations

import errno
import os
import stat

from agentfeedback.foundation.files import (
    FOLDER,
    open_regular,
    read_all,
    remove,
    to_disk,
    write_new,
)
from agentfeedback.foundation.folder import rename


class Entry:
    """What a folder has under a name, links not followed; `size` in bytes, `changed` in nanoseconds."""

    __slots__ = ("changed", "mode", "owner", "size")

    def __init__(self, size: int, mode: int, owner: int, changed: int) -> None:
        self.size = size
        self.mode = mode
        self.owner = owner
        self.changed = changed

    @classmethod
    def of(cls, found: os.stat_result) -> Entry:
        """Return the entry that a call of `stat` describes."""
        return cls(found.st_size, found.st_mode, found.st_uid, found.st_mtime_ns)

    @property
    def is_regular(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_directory(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_private(self) -> bool:
        """Whether it is owned by the effective user and closed to group and others."""
        return self.owner == os.geteuid() and not self.mode & 0o077


class HeldFolder:
    """A folder by its descriptor, until `close`; writers of one name hold a lock of their own.

    Whatever is written here is on the disk when a method returns: the content before its name, the
    name before the end.
    """

    __slots__ = ("descriptor",)

    def __init__(self, path: str, above: HeldFolder | None = None) -> None:
        """Open a folder, its last component not a link; relative to `above` where that is given."""
        self.descriptor: int = os.open(
            path, FOLDER | os.O_NOFOLLOW, dir_fd=None if above is None else above.descriptor
        )

    def close(self) -> None:
        """Give the descriptor back; it was opened for reading, so an error of the system loses nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor < 0:
            return
        try:
            os.close(descriptor)
        except OSError:
            return

    def itself(self) -> os.stat_result:
        """Return what the folder itself is."""
        return os.fstat(self.descriptor)

    def stat(self, name: str) -> os.stat_result | None:
        """Return what is under a name, links not followed; None for nothing."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def is_empty(self) -> bool:
        """Return whether there is nothing in the folder."""
        with os.scandir(self.descriptor) as names:
            return next(names, None) is None

    def entries(self, most: int) -> dict[str, Entry]:
        """Return what the folder has, by name, in no order.

        Raises:
            OverflowError: It has more than `most` entries.
        """
        found: dict[str, Entry] = {}
        with os.scandir(self.descriptor) as names:
            for each in names:
                if len(found) >= most:
                    raise OverflowError
                try:
                    found[each.name] = Entry.of(each.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue
        return found

    def read(self, name: str, limit: int) -> bytes:
        """Return the bytes of a regular file of at most `limit` bytes.

        Raises:
            TooLargeError: It is larger.
            NotRegularError: It is not a regular file; other OSErrors where it cannot be read.
        """
        descriptor = open_regular(name, self.descriptor)
        try:
            return read_all(descriptor, limit)
        finally:
            os.close(descriptor)

    def make_folder(self, name: str) -> HeldFolder:
        """Make a folder, owner-only, and return it; its name is on the disk after the next `flush`."""
        os.mkdir(name, 0o700, dir_fd=self.descriptor)
        return HeldFolder(name, self)

    def make(self, name: str, data: bytes = b"") -> None:
        """Make a file under its own name, owner-only; for one that is of no use before it is complete."""
        write_new(name, data, above=self.descriptor, durable=True)
        self.flush()

    def put(self, name: str, data: bytes, temporary: str, *, replace: bool = False) -> bool:
        """Write a file whole or not at all, and return whether it was not there with these bytes.

        The content is written to `temporary` with mode 0600, flushed to disk and renamed. When only
        the flush of the folder fails, OSError is raised with the new file in place.

        Raises:
            FileExistsError: The file exists with other content and `replace` is false.
            OSError: It cannot be written; the temporary file is removed.
        """
        if not replace and (found := self.stat(name)) is not None:
            if found.st_size == len(data) and self.read(name, len(data)) == data:
                return False
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        write_new(temporary, data, above=self.descriptor, durable=True)
        try:
            rename(temporary, self.descriptor, name, self.descriptor)
        except BaseException:
            remove(temporary, self.descriptor)
            raise
        self.flush()
        return True

    def move(self, name: str, to: HeldFolder, new: str) -> None:
        """Rename a file into another folder, and wait for the disk."""
        rename(name, self.descriptor, new, to.descriptor)
        to.flush()
        if to is not self:
            self.flush()

    def delete(self, name: str, *, flush: bool = True) -> bool:
        """Remove a file; return whether it existed."""
        try:
            os.unlink(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        if flush:
            self.flush()
        return True

    def flush(self) -> None:
        """Wait until the names in the folder are on the disk."""
        to_disk(self.descriptor)
