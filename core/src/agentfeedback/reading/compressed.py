"""Files of zstandard frames, expanded a piece at a time and within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from agentfeedback.reading.blocks import BLOCK, UnreadableLog

#: Compressed bytes handed to the decompressor at a time: the format can blow up one byte into
#: 32 KiB, so this bounds what a hostile file makes of one step (32 MiB).
_SQUEEZED = 1024
#: What a compressed file may expand to, in bytes: in all, and beyond so many for each of its own.
MOST_EXPANDED, FREELY_EXPANDED, RATIO = 4 << 30, 64 << 20, 1000


def decompressed(descriptor: int, size: int | None = None) -> Iterator[bytes]:
    """The content of a file of zstandard frames, of which the first `size` bytes are read.

    Raises `UnreadableLog` where a frame is damaged or cut short, and where it expands beyond bounds.
    """
    size = os.fstat(descriptor).st_size if size is None else size
    expanded = 0
    for block in _expanded(descriptor, size):
        expanded += len(block)
        if expanded > MOST_EXPANDED:
            raise UnreadableLog(f"the compressed file expands to more than {MOST_EXPANDED} bytes")
        if expanded > max(FREELY_EXPANDED, RATIO * size):
            raise UnreadableLog(f"the compressed file expands to more than {RATIO} times its size")
        yield block


def _expanded(descriptor: int, left: int) -> Iterator[bytes]:
    import zstandard

    context = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame: Any = None
    try:
        while left and (squeezed := os.read(descriptor, min(BLOCK, left))):
            left -= len(squeezed)
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


def first_pieces(descriptor: int, block: int) -> Iterator[bytes]:
    """The content of such a file, `block` bytes at a time: no more of it is expanded than is taken."""
    import zstandard

    context = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    with open(descriptor, "rb", buffering=0, closefd=False) as file:
        reader = context.stream_reader(file, read_size=block)
        try:
            while piece := reader.read(block):
                yield piece
        except zstandard.ZstdError:
            raise UnreadableLog("the compressed file is damaged") from None
