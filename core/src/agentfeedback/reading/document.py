"""Sessions that are not one file of lines: a JSON document, or many files. Laid out as lines, so that watermarks work.

Both logs lay their records out as compact JSON, one a line. An offset is a byte of that layout, so
it stays where it is as long as the harness only adds records, however it formats its files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agentfeedback.foundation.files import NotRegularError, open_regular
from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import FileLog, Log, RowLog
from agentfeedback.reading.record import INVALID, dumps, loads

#: The largest document that is read, in bytes: it is held in memory as a whole, several times over.
LARGEST_DOCUMENT = 256 << 20
_CHANGED = "the file changed during the read"


class DocumentLog(RowLog):
    """One JSON document that holds a whole session; each item of it is a record.

    `items` returns the items of the decoded document in the order in which they happened. Whatever
    it is given (any JSON value at all) it must return an iterable; what is not an object is counted
    as unparsed. A document that a harness writes again for each item keeps its watermark, since the
    items before stay the same.

    Raises:
        OSError: The file cannot be opened.
        UnreadableLog: It is not a regular file; while it is read, that it is not one JSON document
            (a harness may be in the middle of writing it), that it is larger than 256 MiB, or that
            it changed meanwhile.
    """

    def __init__(self, path: str, items: Callable[[Any], Iterable[Any]]) -> None:
        self._file = _opened(path)
        self._items = items
        super().__init__(self._laid_out())

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _laid_out(self) -> Iterator[bytes]:
        yield from map(dumps, self._items(_document(self._file)))


class ManyFilesLog(RowLog):
    """One session in many files, in the order of `paths`; at most one of them is open at a time.

    Each complete line of each file is a record, decompressed where its name ends in `.zst`; with
    `whole` each file is one JSON document and one record. Files may be added at the end, and the
    last one may grow; where an earlier one changes, the session counts as rotated and is read from
    its start.

    Raises:
        UnreadableLog: While it is read: a file is gone, is not a regular file, cannot be read,
            or, with `whole`, is not one JSON document.
    """

    def __init__(self, paths: Sequence[str], *, whole: bool = False) -> None:
        self._paths = tuple(paths)
        self._open: Log | None = None
        super().__init__(self._rows_of_files(_whole_file if whole else FileLog))

    def close(self) -> None:
        """Close the file that is being read."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _rows_of_files(self, opened: Callable[[str], Log]) -> Iterator[bytes]:
        for path in self._paths:
            try:
                log = opened(path)
            except FileNotFoundError:  # it was there when the session was listed
                raise UnreadableLog(_CHANGED) from None
            self._open = log
            yield from log.complete_lines()
            self.close()


def _whole_file(path: str) -> Log:
    return DocumentLog(path, lambda document: [document])


def _opened(path: str) -> int:
    try:
        return open_regular(path)
    except NotRegularError as error:
        raise UnreadableLog(str(error)) from None


def _document(descriptor: int) -> Any:
    before = os.fstat(descriptor)
    if before.st_size > LARGEST_DOCUMENT:
        raise UnreadableLog(f"the document is larger than {LARGEST_DOCUMENT} bytes")
    pieces = []
    left = before.st_size
    while left and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    after = os.fstat(descriptor)
    if left or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise UnreadableLog(_CHANGED)
    value = loads(b"".join(pieces))
    if value is INVALID:
        raise UnreadableLog("not a JSON document, or not all of it is written")
    return value
