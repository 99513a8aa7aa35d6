"""A log: complete lines with exact byte offsets, the hash of the first line, and what was no record.

Only a line with its newline counts. Lines end at byte 0x0A and nowhere
else. Memory is one block and one line, whatever the file's size.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from agentfeedback.foundation.files import NotRegularError, open_regular
from agentfeedback.reading.record import Record, decoder

if TYPE_CHECKING:
    from agentfeedback.reading.sink import Sink

R = TypeVar("R", bound=Record)
#: Shown complete lines of a log, some at a time.
Watch = Callable[[list[bytes]], None]

#: A line without its newline, as it is in the block that was read.
Line = bytes | memoryview

#: Bytes read at a time: small enough to stay in the processor's cache until it is decoded.
BLOCK = 64 * 1024
#: Compressed bytes handed to the decompressor at a time: the format can blow up one byte into
#: 32 KiB, so this bounds what a hostile file makes of one step (32 MiB).
_SQUEEZED = 1024
#: The longest line that is waited for in a compressed file, in bytes: a few kilobytes may stand for
#: any length there. A plain file is no longer than its disk, and its lines have no limit.
LONGEST_LINE = 512 << 20


class UnreadableLog(Exception):
    """A log that cannot be opened or read as it was listed; `reason` is shown with the state. A value to the engine."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


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
        #: The bytes from which on a line is not waited for any longer; None without such a limit.
        self.longest: int | None = None
        #: Offsets at which a record starts, kept only where an offset can fail to be one.
        self.boundary: Callable[[int], bool] | None = None
        #: The line the gate checked (`Place.first_line`); another first line makes the log unreadable.
        self.expected_first: bytes | None = None
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
                self.watch([bytes(line) for line in lines])
            for line in lines:
                timeline.offset = offset
                offset += len(line) + 1
                try:
                    record: R | None = fast(line)
                except Exception:  # noqa: BLE001 - every refusal of the fast decoder goes to the lenient one
                    record = decode.lenient(bytes(line))
                if record is None:
                    timeline.unparsed()
                else:
                    yield record
        self.size = offset

    def complete_lines(self) -> Iterator[bytes]:
        """Each complete line without its newline, decoded by nobody: what `records` makes records of."""
        for lines in self._line_batches():
            yield from map(bytes, lines)

    def _line_batches(self) -> Iterator[list[Line]]:
        """Complete lines, a block's worth at a time; those within one block are views of it, for a copy costs."""
        rest: list[bytes] = []
        length = 0
        first = True
        for block in self.blocks():
            end = block.find(b"\n")
            if end < 0:
                rest.append(block)
                length += len(block)
                if self.longest is not None and length > self.longest:
                    raise UnreadableLog(f"a line is longer than {self.longest} bytes")
                continue
            view = memoryview(block)
            rest.append(block[:end])
            lines: list[Line] = [b"".join(rest)]
            start = end + 1
            while (end := block.find(b"\n", start)) >= 0:
                lines.append(view[start:end])
                start = end + 1
            rest = [block[start:]] if start < len(block) else []
            length = len(block) - start
            if first:
                first = False
                self._see_first(bytes(lines[0]))
            yield lines

    def _see_first(self, line: bytes) -> None:
        self.head = _hash(line.rstrip(b"\r"))
        if self.expected_first is not None and line != self.expected_first:
            raise UnreadableLog("the session changed since its policy was checked")


class FileLog(Log):
    """A regular file of lines, decompressed while read when its name ends in `.zst`."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        try:
            self._file = open_regular(path)
        except NotRegularError as error:
            raise UnreadableLog(str(error)) from None
        if path.endswith(".zst"):
            self.longest = LONGEST_LINE

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def blocks(self) -> Iterator[bytes]:
        if self.path.endswith(".zst"):
            return decompressed(self._file)
        return _raw_blocks(self._file)


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
        return _first_pieces(descriptor, block)
    return iter(lambda: os.read(descriptor, block), b"")


def _raw_blocks(descriptor: int) -> Iterator[bytes]:
    while block := os.read(descriptor, BLOCK):
        yield block


def decompressed(descriptor: int) -> Iterator[bytes]:
    """The content of a file of zstandard frames; raises `UnreadableLog` where a frame is damaged or cut short."""
    import zstandard

    context = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame: Any = None
    try:
        while squeezed := os.read(descriptor, BLOCK):
            for start in range(0, len(squeezed), _SQUEEZED):
                piece = squeezed[start : start + _SQUEEZED]
                while piece:
                    if frame is None:
                        frame = context.decompressobj()
                    block = frame.decompress(piece)
                    for start_of_part in range(0, len(block), BLOCK):
                        yield block[start_of_part : start_of_part + BLOCK]
                    piece = b""
                    if frame.eof:
                        piece, frame = frame.unused_data, None
    except zstandard.ZstdError:
        raise UnreadableLog("the compressed file is damaged") from None
    if frame is not None:
        raise UnreadableLog("the compressed file is incomplete")


def _first_pieces(descriptor: int, block: int) -> Iterator[bytes]:
    import zstandard

    context = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    with open(descriptor, "rb", buffering=0, closefd=False) as file:
        reader = context.stream_reader(file, read_size=block)
        try:
            while piece := reader.read(block):
                yield piece
        except zstandard.ZstdError:
            raise UnreadableLog("the compressed file is damaged") from None


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
