"""Logs as lines: exact offsets, only what is complete, and the first line's hash, plain or compressed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import FileLog, Log, RowLog, first_line
from agentfeedback.reading.record import Record
from agentfeedback.reading.tally import Tally

LINES = st.lists(
    st.sampled_from([b"{}", b'{"a":1}', b"", b"x", b"{}\r", b'{"b":"\xff"}']), max_size=8
)


class Blocks(Log):
    """A log in memory, cut into blocks anywhere."""

    def __init__(self, *blocks: bytes) -> None:
        super().__init__()
        self._blocks = blocks

    def blocks(self) -> Iterator[bytes]:
        return iter(self._blocks)


def read(log: Log) -> tuple[list[int], Tally]:
    """The offsets of the records of a log, and the sink, which counted the rest."""
    tally = Tally()
    return [tally.offset for _ in log.records(Record, tally)], tally


def sha(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


@given(LINES, st.binary(max_size=3).filter(lambda rest: b"\n" not in rest), st.data())
def test_lines_are_the_same_however_the_blocks_fall(
    lines: list[bytes], rest: bytes, data: st.DataObject
) -> None:
    """Offsets are exact, what follows the last newline is not there yet, and nothing else is lost."""
    text = b"".join(line + b"\n" for line in lines) + rest
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    blocks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    log, seen = Blocks(*[block for block in blocks if block]), []
    log.watch = seen.extend
    offsets, tally = read(log)
    starts = [sum(len(line) + 1 for line in lines[:index]) for index in range(len(lines))]
    assert offsets == [at for at, line in zip(starts, lines, strict=True) if b"{" in line]
    assert tally.counts().unparsed == len(lines) - len(offsets)
    assert (log.size, log.lines, seen) == (len(text) - len(rest), len(lines), lines)
    assert log.head == sha(lines[0].rstrip(b"\r") if lines else b"")
    assert list(Blocks(*blocks).complete_lines()) == lines


@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_a_file_is_read_as_its_content(tmp_path: Path, suffix: str) -> None:
    """Compressed where its name says so; frames may follow each other."""
    lines = [b'{"n":%d,"pad":"%s"}' % (n, b"x" * 400) for n in range(500)]
    content = b"".join(line + b"\n" for line in lines)
    path = tmp_path / f"s.jsonl{suffix}"
    half = len(content) // 2
    squeeze = zstandard.ZstdCompressor().compress
    path.write_bytes(squeeze(content[:half]) + squeeze(content[half:]) if suffix else content)
    log = FileLog(str(path))
    offsets, _ = read(log)
    log.close()
    log.close()
    assert len(offsets) == 500 and log.size == len(content) and log.head == sha(lines[0])
    assert first_line(str(path), 1000) == lines[0]
    assert first_line(str(path), len(lines[0])) == lines[0]
    assert first_line(str(path), len(lines[0]) - 1) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-5], "the compressed file is incomplete"),
        (lambda data: data[:6] + b"\xff" * 6 + data[12:], "the compressed file is damaged"),
        (lambda data: b"plain\n", "the compressed file is damaged"),
    ],
)
def test_a_damaged_file_is_unreadable(tmp_path: Path, change: object, reason: str) -> None:
    """It says so instead of ending early: what is missing must not count as not there."""
    path = tmp_path / "s.jsonl.zst"
    data = zstandard.ZstdCompressor(level=1).compress(bytes(range(256)) * 40 + b"\n" * 5)
    path.write_bytes(change(data))  # type: ignore[operator]
    with pytest.raises(UnreadableLog) as raised:
        read(FileLog(str(path)))
    assert raised.value.reason == reason


def test_another_first_line_than_the_policy_saw_makes_the_log_unreadable() -> None:
    """The directory in it may be another, and nobody was asked about that one."""
    log = Blocks(b"{}\n{}\n")
    log.expected_first = b"{}"
    assert read(log)[0] == [0, 3]
    log = Blocks(b'{"cwd":"/b"}\n')
    log.expected_first = b'{"cwd":"/a"}'
    with pytest.raises(UnreadableLog, match="changed since its policy was checked"):
        read(log)


def test_rows_are_laid_out_as_lines() -> None:
    """Each row begins where a line would, and only there a watermark may stand."""
    rows = [b'{"a":1}', b"{}", b"odd"]
    log = RowLog(iter(rows))
    offsets, tally = read(log)
    assert (offsets, tally.counts().unparsed, log.size, log.head) == ([0, 8], 1, 15, sha(rows[0]))
    assert log.boundary is not None
    assert [at for at in range(20) if log.boundary(at)] == [0, 8, 11, 15]


def test_a_first_line_without_an_end_is_not_one(tmp_path: Path) -> None:
    """Its writer may be in the middle of it; an empty file has none."""
    path = tmp_path / "s.jsonl"
    for content in (b"", b"{}", b"x" * 5000):
        path.write_bytes(content)
        assert first_line(str(path), 10_000) is None
    path.write_bytes(b"\n{}\n")
    assert first_line(str(path), 10) == b""
