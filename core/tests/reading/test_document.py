"""Sessions that are a JSON document or many files: laid out as lines, bounded, and honest about what cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading import DocumentLog, Log, ManyFilesLog, Record, UnreadableLog
from agentfeedback.reading.tally import Tally

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text("ab"), inside, max_size=3)
    ),
    max_leaves=8,
)


class Item(Record):
    n: int | None = None


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read(log: Log) -> tuple[list[int | None], list[int], int]:
    """The records of a log, where each begins, and how many lines were not records."""
    tally = Tally()
    found, offsets = [], []
    try:
        for record in log.records(Item, tally):
            found.append(record.n)
            offsets.append(tally.offset)
    finally:
        log.close()
    return found, offsets, tally.unparsed_lines


def test_each_item_of_a_document_is_a_record_however_it_is_formatted(tmp_path: Path) -> None:
    """Indentation and a trailing newline change no offset: they count in the layout, not in the file."""
    path = tmp_path / "s.json"
    seen = []
    for indent in (None, 2):
        path.write_text(json.dumps([{"n": 1}, {"n": 2}, 3], indent=indent) + "\n")
        seen.append(read(DocumentLog(str(path), items)))
    assert seen == [([1, 2], [0, 8], 1)] * 2


@given(before=st.lists(JSON, max_size=4), more=st.lists(JSON, max_size=4))
def test_a_document_that_grows_keeps_what_was_laid_out(
    tmp_path_factory: pytest.TempPathFactory, before: list[Any], more: list[Any]
) -> None:
    """The lines of the items that were there are the first lines of the longer document."""
    path = tmp_path_factory.mktemp("document") / "s.json"

    def lines(value: list[Any]) -> list[bytes]:
        path.write_text(json.dumps(value))
        log = DocumentLog(str(path), items)
        try:
            return list(log.complete_lines())
        finally:
            log.close()

    short = lines(before)
    assert lines(before + more)[: len(short)] == short


@pytest.mark.parametrize("content", [b"", b"[{", b'[{"n": 1}', b"\x00", b"{} {}", b"\xff\xfe"])
def test_half_a_document_is_unreadable(tmp_path: Path, content: bytes) -> None:
    """A harness in the middle of writing leaves no JSON: the session is unreadable now, and nothing is invented."""
    path = tmp_path / "s.json"
    path.write_bytes(content)
    log = DocumentLog(str(path), items)
    with pytest.raises(UnreadableLog, match="not a JSON document, or not all of it is written"):
        read(log)


def test_a_document_that_changes_during_the_read_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes of two versions make no version."""
    path = tmp_path / "s.json"
    path.write_text('[{"n": 1}]')
    log = DocumentLog(str(path), items)
    system_read = os.read

    def read_and_write(descriptor: int, size: int) -> bytes:
        data = system_read(descriptor, size)
        path.write_text('[{"n": 1}, {"n": 2}]')
        return data

    monkeypatch.setattr(os, "read", read_and_write)
    with pytest.raises(UnreadableLog, match="changed during the read"):
        read(log)


def test_a_document_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held in memory as a whole is bounded before it is read."""
    path = tmp_path / "s.json"
    path.write_text('[{"n": 1}]')
    monkeypatch.setattr("agentfeedback.reading.document.LARGEST_DOCUMENT", 9)
    log = DocumentLog(str(path), items)
    with pytest.raises(UnreadableLog, match="larger than 9 bytes"):
        read(log)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/null", path)])
@pytest.mark.parametrize("whole", [True, False])
def test_nothing_but_a_regular_file_is_read(tmp_path: Path, make: Any, whole: bool) -> None:
    """A folder, a pipe or a link in the place of a file waits for nobody and is not followed."""
    path = str(tmp_path / "s")
    make(path)
    with pytest.raises((UnreadableLog, OSError)):
        read(DocumentLog(path, items))
    with pytest.raises((UnreadableLog, OSError)):
        read(ManyFilesLog([path], whole=whole))


def test_lines_of_many_files_follow_each_other(tmp_path: Path) -> None:
    """Offsets go on from file to file; a line without its newline is not read, wherever its file stands."""
    paths = [tmp_path / name for name in ("a", "b", "c")]
    paths[0].write_text('{"n":1}\n{"n":2}\n{"n":9')
    paths[1].write_text("")
    paths[2].write_text('{"n":3}\n')
    log = ManyFilesLog([str(path) for path in paths])
    assert read(log) == ([1, 2, 3], [0, 8, 16], 0)
    assert log.size == 24
    assert log.boundary is not None
    assert [at for at in range(25) if log.boundary(at)] == [0, 8, 16, 24]


def test_whole_files_are_a_record_each(tmp_path: Path) -> None:
    """A file that is one document is one record, however many lines it takes."""
    for name in ("1", "2"):
        (tmp_path / name).write_text(json.dumps({"n": int(name)}, indent=1))
    paths = [str(tmp_path / name) for name in ("1", "2")]
    assert read(ManyFilesLog(paths, whole=True)) == ([1, 2], [0, 8], 0)


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_that_went_away_makes_the_session_unreadable(tmp_path: Path, whole: bool) -> None:
    """What was listed and is gone is a change, not an empty file; no file stays open."""
    (tmp_path / "1").write_text('{"n":1}\n')
    log = ManyFilesLog([str(tmp_path / "1"), str(tmp_path / "2")], whole=whole)
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with pytest.raises(UnreadableLog, match="changed during the read"):
        read(log)
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(after) == len(before)
