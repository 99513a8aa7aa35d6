"""Small inputs that could ask for endless time or memory: long lines, bombs, deep keys, words without number."""

from __future__ import annotations

import hashlib
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.config.shape import Collect, Config
from agentfeedback.foundation.files import open_regular
from agentfeedback.policy.gate import CollectGate
from agentfeedback.policy.rules import Policy, RepositoryRules
from agentfeedback.reading import compressed, log, record
from agentfeedback.reading.args_digest import is_own
from agentfeedback.reading.blocks import BLOCK, UnreadableLog
from agentfeedback.reading.compressed import decompressed
from agentfeedback.reading.log import FileLog
from agentfeedback.reading.reader import Place, Reader, Session
from agentfeedback.reading.record import Record
from agentfeedback.reading.tally import Tally

zstandard = pytest.importorskip("zstandard")


def in_a_moment(work: Callable[[], object]) -> bool:
    """Whether work takes seconds of the processor, on any machine, and not hours as it would by its square."""
    before = time.process_time()
    work()
    return time.process_time() - before < 20


# Lines.


class Text(Record):
    a: str | None = None


def read(path: Path) -> Tally:
    tally = Tally()
    source = FileLog(str(path))
    try:
        for _ in source.records(Record, tally):
            tally.entry()
    finally:
        source.close()
    return tally


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(
        zstandard.ZstdCompressor().compress(content) if path.suffix == ".zst" else content
    )
    return path


LIMIT = 4 * BLOCK


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.zst"])
@pytest.mark.parametrize("length", [LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + BLOCK, 3 * LIMIT + 7])
def test_a_line_beyond_the_longest_is_one_that_is_not_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, length: int
) -> None:
    """It is read past and counted, wherever it stands; offsets, size and head are those of the bytes."""
    monkeypatch.setattr(log, "LONGEST_LINE", LIMIT)
    monkeypatch.setattr(log, "_LARGE_LINE", BLOCK // 2)
    line = b'{"a":"' + b"x" * (length - 8) + b'"}'
    for content in (line + b"\r\r\n{}\n", b"{}\n" + line + b"\n{}\n{}\n" + line + b"\n"):
        path = written(tmp_path / name, content + b'{"b":"' + b"y" * (length + 5))
        source, tally = FileLog(str(path)), Tally()
        offsets = []
        for _ in source.records(Record, tally):
            offsets.append(tally.offset)
            tally.entry()
        source.close()
        lines = content.split(b"\n")[:-1]
        held = [each for each in lines if len(each) <= LIMIT]
        assert (tally.entries, tally.unparsed_lines) == (len(held), len(lines) - len(held))
        starts = [sum(len(each) + 1 for each in lines[:n]) for n in range(len(lines))]
        assert offsets == [at for at, each in zip(starts, lines, strict=True) if len(each) <= LIMIT]
        assert source.size == len(content)
        assert source.head == hashlib.sha256(lines[0].rstrip(b"\r")).hexdigest()


def test_a_line_without_end_takes_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file of gigabytes, with a newline at its end or without, is read in blocks."""
    monkeypatch.setattr(log, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(log, "BLOCK", 1 << 20)
    path = tmp_path / "s.jsonl"
    for end, unparsed in ((b"", 0), (b"\n", 1)):
        path.write_bytes(b"{}\n")
        with path.open("r+b") as file:
            file.truncate(1 << 28)
            file.seek(0, 2)
            file.write(end)
        tracemalloc.start()
        tally = read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (tally.entries, tally.unparsed_lines) == (1, unparsed)
        assert peak < 16 << 20


def test_a_line_too_long_to_be_repaired_is_not_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As text it would take several times its size; the same line without a fault is one, whatever its length."""
    monkeypatch.setattr(record, "LONGEST_REPAIRED", 100)
    broken, whole = (b'{"a":"%s%s"}' % (b"x" * 100, end) for end in (b"\xff", b"y"))
    path = written(tmp_path / "s.jsonl", broken + b"\n" + whole + b"\n" + broken[1:9] + b"\n")
    source, tally = FileLog(str(path)), Tally()
    found = [each.a for each in source.records(Text, tally)]
    source.close()
    assert (found, tally.unparsed_lines) == ([whole[6:-2].decode()], 2)


def test_a_log_that_grows_while_it_is_read_has_an_end(tmp_path: Path) -> None:
    """It is read as far as it went when it was opened."""
    path = written(tmp_path / "s.jsonl", b"{}\n" * 3 + b'{"unfin')
    source, tally = FileLog(str(path)), Tally()
    for _ in source.records(Record, tally):
        tally.entry()
        assert tally.entries < 100
        with path.open("ab") as file:
            file.write(b'"}\n' + b"{}\n" * BLOCK)
    source.close()
    assert (tally.entries, source.size) == (3, 9)


def test_the_file_that_is_opened_is_the_one_that_was_listed(tmp_path: Path) -> None:
    """A folder renamed after the policy was asked leads to no other session."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        written(folder / "s.jsonl", b"{}\n")
    found = (ours / "s.jsonl").stat()
    session = Session("x", "s", str(ours / "s.jsonl"), 0, 3, found.st_dev, found.st_ino)
    Reader().open(session).close()
    ours.rename(tmp_path / "away")
    theirs.rename(ours)
    with pytest.raises(UnreadableLog, match="directory changed since it was listed"):
        Reader().open(session)


def test_a_bomb_is_not_expanded_beyond_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither beyond a thousand times its size, when that is much, nor beyond gigabytes."""
    path = written(tmp_path / "s.zst", b"{}\n" * (1 << 20))
    size = path.stat().st_size
    assert read(path).entries == 1 << 20
    monkeypatch.setattr(compressed, "RATIO", 10)
    monkeypatch.setattr(compressed, "FREELY_EXPANDED", 100 * size)
    with pytest.raises(UnreadableLog, match="expands to more than 10 times its size"):
        read(path)
    monkeypatch.setattr(compressed, "FREELY_EXPANDED", 4 << 20)
    assert read(path).entries == 1 << 20
    monkeypatch.setattr(compressed, "MOST_EXPANDED", 2 << 20)
    with pytest.raises(UnreadableLog, match="expands to more than 2097152 bytes"):
        read(path)


@pytest.mark.parametrize("byte", [b"\n", b"x"])
def test_a_compressed_file_comes_in_blocks_however_it_swells(tmp_path: Path, byte: bytes) -> None:
    """A few bytes that stand for many megabytes are handed on in blocks as those of a plain file."""
    path = written(tmp_path / "s.zst", byte * (40 << 20))
    assert path.stat().st_size < 8192
    blocks = [len(block) for block in decompressed(open_regular(str(path)))]
    assert sum(blocks) == 40 << 20
    assert max(blocks) <= BLOCK


def test_entries_of_a_repository_are_made_ready_once() -> None:
    """However many directories of a repository are judged, each of its entries is resolved once."""
    asked: list[str] = []

    def resolve(path: str) -> str:
        asked.append(path)
        return path

    policy = Policy(Collect(), (), resolve, fold=False)
    rules = RepositoryRules("/r", deny_paths=("a", "b/c"))
    for number in range(50):
        assert policy.check(f"/r/d{number}", None, [rules]) is None
        assert policy.check(f"/r/b/c/{number}", None, [rules]) is not None
    assert asked == ["/r/a", "/r/b/c"]


@pytest.mark.parametrize("filler", ["./", "/", "x/../"])
def test_padding_does_not_hide_a_link_from_the_policy(tmp_path: Path, filler: str) -> None:
    """A path longer than the system takes is judged where it leads without what stands for nothing."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    gate = CollectGate(Config(collect=Collect(deny_paths=(f"{tmp_path}/secret",))), ())
    padded = f"{tmp_path}/{filler * 5000}link"
    assert gate.before_open(Place(paths=(padded,))) is not None
    assert gate.after_read([padded]) is not None


# Commands.


@pytest.mark.parametrize(
    ("piece", "own"), [("a=1 ", True), ("; ", True), ("( ", True), ("env ", False), ("/", True)]
)
def test_the_own_command_is_found_in_linear_time(piece: str, own: bool) -> None:
    """A command of any number of words, assignments or pieces is judged in a moment."""
    command = piece * 200_000 + "agentfeedback"
    assert in_a_moment(lambda: is_own("Bash", command))
    assert is_own("Bash", command) is own
