"""A log: complete lines with exact byte offsets, the hash of the first line, and lines that were not a record.

Only a line with its newline counts. Lines end at byte 0x0A and nowhere
else. Memory is one block and one line of at most `LONGEST_LINE` bytes, whatever the file's size; a
longer one is read past.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from agentfeedback.foundation.files import NotRegularError, open_regular
from agentfeedback.reading.blocks import BLOCK, UnreadableLog
from agentfeedback.reading.record import Record, decoder

if TYPE_CHECKING:
    from agentfeedback.reading.session import Session
    from agentfeedback.reading.sink import Sink

R = TypeVar("R", bound=Record)
#: Shown complete lines of a log, some at a time.
Watch = Callable[[list[bytes]], None]


#: The longest line that is held, in bytes. Sparse and compressed files hold lines of any length.
LONGEST_LINE = 256 << 20
#: A line of more bytes is gathered in place, so that it is never there twice.
_LARGE_LINE = 1 << 20
#: Bytes looked through at a time for the last line end.
_BACKWARD = 1 << 20


class Overlong:
    """A line that was too long to be held: its length, and the hash of what it says."""

    def __init__(self, pieces: bytearray) -> None:
        self._length = 0
        self._digest = hashlib.sha256()
        self._returns = 0
        self.add(pieces)

    def __len__(self) -> int:
        return self._length

    def add(self, piece: bytes | bytearray | memoryview) -> None:
        """Read on. Carriage returns are held back: at the end of the line they do not belong to it."""
        self._length += len(piece)
        kept = bytes(piece).rstrip(b"\r")
        if kept:
            self._digest.update(b"\r" * self._returns)
            self._digest.update(kept)
            self._returns = 0
        self._returns += len(piece) - len(kept)

    @property
    def head(self) -> str:
        """Lower-case hex SHA-256 of the line without its trailing carriage returns."""
        return self._digest.hexdigest()


#: A line without its newline, as it is in the block that was read.
Line = bytes | memoryview | Overlong


class Log:
    """Complete lines from blocks of bytes. Subclasses give `blocks`; row stores give `lines` (`RowLog`).

    After `records` ran to its end: `size` is the bytes of all complete lines, `head` the lower-case
    hex SHA-256 of the first line without its trailing CR and LF (of nothing, when there is none).
    """

    def __init__(self) -> None:
        self.size = 0
        self.head = _hash(b"")
        #: Complete lines seen.
        self.lines = 0
        #: Offsets at which a record starts, kept only where an offset can fail to be one.
        self.boundary: Callable[[int], bool] | None = None
        #: The line the gate checked (`Place.first_line`); another first line makes the log unreadable.
        self.expected_first: bytes | None = None
        #: The session it is of, where one is read.
        self.session: Session | None = None
        #: Shown the lines as `records` comes to them: for who counts what they hold.
        self.watch: Watch | None = None

    def blocks(self) -> Iterator[bytes]:
        raise NotImplementedError

    def close(self) -> None:
        """Give back what `open` took; raises `UnreadableLog` when what was read proves stale."""

    def records(self, kind: type[R], timeline: Sink) -> Iterator[R]:
        """Each complete line as a record of class `kind`; a line that is not a JSON object is counted as unparsed.

        Sets `timeline.offset` to the byte offset of the record being read.
        """
        decode = decoder(kind)
        fast = decode._fast
        offset = 0
        for lines in self._line_batches():
            self.lines += len(lines)
            if self.watch is not None:
                self.watch([bytes(line) for line in lines if not isinstance(line, Overlong)])
            for line in lines:
                timeline.offset = offset
                offset += len(line) + 1
                try:
                    record: R | None = fast(line)  # type: ignore[arg-type]  # what is none is refused
                except Exception:  # noqa: BLE001 - every refusal of the fast decoder goes to the lenient one
                    long = isinstance(line, Overlong)
                    record = None if long else decode.lenient(line)  # type: ignore[arg-type]
                if record is None:
                    timeline.unparsed()
                else:
                    yield record
        self.size = offset

    def complete_lines(self) -> Iterator[bytes]:
        """Each complete line without its newline, decoded by nobody: what `records` makes records of.

        Raises `UnreadableLog` at one that is too long to be held.
        """
        for lines in self._line_batches():
            for line in lines:
                if isinstance(line, Overlong):
                    raise UnreadableLog(f"a line is longer than {LONGEST_LINE} bytes")
                yield bytes(line)

    def _line_batches(self) -> Iterator[list[Line]]:
        """Complete lines, a block's worth at a time; those within one block are views of it, for a copy costs."""
        rest = _Rest()
        first = True
        for block in self.blocks():
            end = block.find(b"\n")
            if end < 0:
                rest.add(block)
                continue
            view = memoryview(block)
            rest.add(block[:end])
            lines: list[Line] = [rest.line()]
            start = end + 1
            while (end := block.find(b"\n", start)) >= 0:
                lines.append(view[start:end])
                start = end + 1
            rest = _Rest()
            if start < len(block):
                rest.add(block[start:])
            if first:
                first = False
                self._see_first(lines[0])
            yield lines

    def _see_first(self, line: Line) -> None:
        if isinstance(line, Overlong):
            self.head, same = line.head, False
        else:
            line = bytes(line)
            self.head, same = _hash(line.rstrip(b"\r")), line == self.expected_first
        if self.expected_first is not None and not same:
            raise UnreadableLog("the session changed since its policy was checked")


class _Rest:
    """The beginning of a line whose end has not come: pieces of it, one growing buffer, or only its length."""

    __slots__ = ("_held", "_length", "_overlong", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        self._held: bytearray | None = None
        self._overlong: Overlong | None = None

    def add(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._overlong is not None:
            self._overlong.add(piece)
        elif self._length <= _LARGE_LINE:
            self._pieces.append(piece)
        else:
            if self._held is None:
                self._held = bytearray(b"".join(self._pieces))
                self._pieces = []
            self._held += piece
            if self._length > LONGEST_LINE:
                self._overlong = Overlong(self._held)
                self._held = None

    def line(self) -> Line:
        """The line, which ended here."""
        if self._overlong is not None:
            return self._overlong
        return b"".join(self._pieces) if self._held is None else memoryview(self._held)


class FileLog(Log):
    """A regular file of lines, decompressed while read when its name ends in `.zst`.

    It is read as far as it went when it was opened, so that one that grows as fast as it is read has an end.
    `listed` is device and inode of the file that was listed: any other file is unreadable, since a
    folder that was renamed after the policy was asked would lead to a session that it was not asked about.
    `descriptor` is the file where it is open already; it is closed with the log.
    """

    def __init__(
        self, path: str, listed: tuple[int, int] | None = None, *, descriptor: int | None = None
    ) -> None:
        super().__init__()
        self.path = path
        try:
            self._file = open_regular(path) if descriptor is None else descriptor
        except NotRegularError as error:
            raise UnreadableLog(str(error)) from None
        found = os.fstat(self._file)
        if listed is not None and listed != (found.st_dev, found.st_ino):
            self.close()
            raise UnreadableLog("the session's directory changed since it was listed")
        self._end = found.st_size

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def blocks(self) -> Iterator[bytes]:
        if self.path.endswith(".zst"):
            from agentfeedback.reading.compressed import decompressed

            return decompressed(self._file, self._end)
        # An unfinished last line is never held.
        return _raw_blocks(self._file, _end_of_lines(self._file, self._end))


class RowLog(Log):
    """Rows of a database laid out as lines (one compact JSON text per record, without the newline)."""

    def __init__(self, rows: Iterator[bytes]) -> None:
        super().__init__()
        self._rows = rows
        starts: set[int] = set()
        self._starts = starts
        self.boundary = starts.__contains__

    def _line_batches(self) -> Iterator[list[Line]]:
        offset = 0
        for row in self._rows:
            if offset == 0:
                self._see_first(row)
            self._starts.add(offset)
            offset += len(row) + 1
            yield [row]
        self._starts.add(offset)


def first_line(path: str, limit: int, block: int = 512) -> bytes | None:
    """The first line of a file without its newline, or None when there is no newline within `limit` bytes.

    Reads `block` bytes at a time, so at most `block` - 1 bytes past the newline, which are dropped;
    of a `.zst` file no more than that is decompressed. Raises OSError or `UnreadableLog`.
    """
    descriptor = open_regular(path)
    try:
        pieces: list[bytes] = []
        length = 0
        for piece in _pieces(path, descriptor, block):
            end = piece.find(b"\n")
            if end >= 0:
                pieces.append(piece[:end])
                length += end
                return b"".join(pieces) if length <= limit else None
            pieces.append(piece)
            length += len(piece)
            if length > limit:
                return None
        return None
    finally:
        os.close(descriptor)


def _pieces(path: str, descriptor: int, block: int) -> Iterator[bytes]:
    if path.endswith(".zst"):
        from agentfeedback.reading.compressed import first_pieces

        return first_pieces(descriptor, block)
    return iter(lambda: os.read(descriptor, block), b"")


def _raw_blocks(descriptor: int, end: int) -> Iterator[bytes]:
    while end and (block := os.read(descriptor, min(BLOCK, end))):
        end -= len(block)
        yield block


def _end_of_lines(descriptor: int, size: int) -> int:
    """The offset behind the last newline of a file's first `size` bytes; 0 where there is none."""
    step = BLOCK
    while size:
        start = max(0, size - step)
        at = os.pread(descriptor, size - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        size, step = start, min(2 * step, _BACKWARD)
    return 0


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
