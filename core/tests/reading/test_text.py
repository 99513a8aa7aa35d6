"""Plain text as a log: its lines, parts of it, and files that are not what was listed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading import TextLine, TextLog, UnreadableLog, text_lines
from agentfeedback.reading.tally import Tally


def lines(log: TextLog) -> list[tuple[int | None, str | None]]:
    try:
        return [(each.line, each.text) for each in log.records(TextLine, Tally())]
    finally:
        log.close()


def test_complete_lines_with_their_numbers(tmp_path: Path) -> None:
    """A line counts when it has its end; a CR is part of the line."""
    path = tmp_path / "x"
    path.write_bytes(b"one\n\ntwo\r\nhalf")
    assert lines(TextLog(str(path))) == [(1, "one"), (2, ""), (3, "two\r")]


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=8))
def test_parts_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, content: list[bytes]
) -> None:
    """A part from any line to any other has the lines of the whole, with their numbers."""
    path = tmp_path_factory.mktemp("text") / "x"
    path.write_bytes(b"".join(line + b"\n" for line in content))
    whole = lines(TextLog(str(path)))
    assert [text for _, text in whole] == [line.decode("utf-8", "replace") for line in content]
    sizes = [size for _, size in text_lines(str(path))]
    for first in range(len(content)):
        part = TextLog(str(path), start=sum(sizes[:first]), end=sum(sizes), line=first + 1)
        assert lines(part) == whole[first:]
        head = TextLog(str(path), end=sum(sizes[:first]))
        assert lines(head) == whole[:first]


def test_a_line_of_any_length(tmp_path: Path) -> None:
    """One MiB of a line is kept, and the next one has its right place."""
    path = tmp_path / "x"
    path.write_bytes(b"a" * 3_000_000 + b"\nnext\n")
    found = lines(TextLog(str(path)))
    assert found == [(1, "a" * (1 << 20)), (2, "next")]
    assert [size for _, size in text_lines(str(path))] == [3_000_001, 5]


def test_another_file_is_not_read(tmp_path: Path) -> None:
    """What was listed and is another file now, or a shorter one, is unreadable; so is what is not a file."""
    path = tmp_path / "x"
    path.write_text("one\ntwo\n")
    status = path.stat()
    assert lines(TextLog(str(path), end=4, expected=(status.st_dev, status.st_ino))) == [(1, "one")]
    with pytest.raises(UnreadableLog, match="changed since it was listed"):
        TextLog(str(path), end=9)
    with pytest.raises(UnreadableLog, match="changed since it was listed"):
        TextLog(str(path), expected=(status.st_dev, status.st_ino + 1))
    os.mkfifo(tmp_path / "pipe")
    for open_it in (TextLog, lambda path: list(text_lines(path))):
        with pytest.raises(UnreadableLog, match="not a regular file"):
            open_it(str(tmp_path / "pipe"))
        with pytest.raises(FileNotFoundError):
            open_it(str(tmp_path / "gone"))
