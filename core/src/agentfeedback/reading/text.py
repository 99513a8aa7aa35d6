"""A log of plain text: its lines as records, of a whole file or of a part of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agentfeedback.foundation.files import NotRegularError, open_regular
from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import RowLog
from agentfeedback.reading.record import Record, dumps

#: Bytes read at a time, and the most that are kept of one line.
_BLOCK = 1 << 20


class TextLine(Record):
    """One line of a text; `line` counts from 1 in the file, `text` is without its end."""

    line: int | None = None
    text: str | None = None


class TextLog(RowLog):
    """The complete lines of a text file, each a `TextLine`.

    A part of a file is a log, too, where one file holds many sessions: from byte `start`, which is
    the beginning of line `line`, to before `end` (None: the end of the file). `expected` is device
    and inode of the file that was listed. What is not UTF-8 is replaced by U+FFFD; of a line, one
    MiB is kept.

    Raises:
        OSError: The file cannot be opened.
        UnreadableLog: It is not a regular file, not the one that was listed, or shorter than `end`.
    """

    def __init__(
        self,
        path: str,
        *,
        start: int = 0,
        end: int | None = None,
        line: int = 1,
        expected: tuple[int, int] | None = None,
    ) -> None:
        self._descriptor = _opened(path)
        status = os.fstat(self._descriptor)
        other = expected is not None and (status.st_dev, status.st_ino) != expected
        if other or (end is not None and status.st_size < end):
            self.close()
            raise UnreadableLog("the file changed since it was listed")
        super().__init__(self._laid_out(start, status.st_size if end is None else end, line))

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _laid_out(self, start: int, end: int, line: int) -> Iterator[bytes]:
        os.lseek(self._descriptor, start, os.SEEK_SET)
        left = end - start
        for kept, size, complete in _lines(os.dup(self._descriptor)):
            left -= size
            if left < 0 or not complete:
                return
            yield dumps({"line": line, "text": kept.rstrip(b"\n").decode("utf-8", "replace")})
            line += 1


def text_lines(path: str) -> Iterator[tuple[bytes, int]]:
    """The lines of a text file: of each its first MiB, its end included, and its bytes.

    For who looks for the parts of a file. Memory is one MiB, whatever the file holds.

    Raises:
        OSError: The file cannot be opened.
        UnreadableLog: It is not a regular file.
    """
    for kept, size, _ in _lines(_opened(path)):
        yield kept, size


def _opened(path: str) -> int:
    try:
        return open_regular(path)
    except NotRegularError as error:
        raise UnreadableLog(str(error)) from None


def _lines(descriptor: int) -> Iterator[tuple[bytes, int, bool]]:
    """The lines from where a descriptor stands: the start of each, its bytes, whether it has its end. Closes it."""
    with os.fdopen(descriptor, "rb", buffering=_BLOCK) as file:
        while kept := file.readline(_BLOCK):
            size, last = len(kept), kept
            while not last.endswith(b"\n") and (more := file.readline(_BLOCK)):
                size, last = size + len(more), more
            yield kept, size, last.endswith(b"\n")
