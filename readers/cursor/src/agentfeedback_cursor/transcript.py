"""A transcript: its lines, and how it is opened."""

from __future__ import annotations

import os
import stat

from agentfeedback.reading import FileLog, Record, UnreadableLog, open_regular

_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# To go through a folder takes no right to list it, where the system can tell the two apart.
_THROUGH = getattr(os, "O_PATH", getattr(os, "O_SEARCH", os.O_RDONLY))


class Line(Record):
    """A line of a transcript: that it is a JSON object is all that counts."""


class Transcript(FileLog):
    """A transcript, opened without following a link anywhere in its path; `modified` in nanoseconds since the epoch."""

    def __init__(self, path: str) -> None:
        super().__init__(path, descriptor=_opened(path))
        self.modified = os.fstat(self._file).st_mtime_ns


def _opened(path: str) -> int:
    """A descriptor of a regular file whose path holds no link, checked folder by folder as it is opened."""
    *folders, name = path.strip("/").split("/")
    above = os.open("/", _THROUGH | _DIRECTORY)
    try:
        for folder in folders:
            _refuse_link(folder, above)
            below = os.open(folder, _THROUGH | _DIRECTORY, dir_fd=above)
            os.close(above)
            above = below
        _refuse_link(name, above)
        return open_regular(name, above)
    finally:
        os.close(above)


def _refuse_link(name: str, above: int) -> None:
    # Only for the reason: the open itself follows none.
    if stat.S_ISLNK(os.lstat(name, dir_fd=above).st_mode):
        raise UnreadableLog("its path holds a symbolic link")
