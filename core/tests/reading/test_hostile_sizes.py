"""Small inputs that could ask for endless time or memory: long lines, bombs, deep keys, words without number."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.config.shape import Collect, Config
from agentfeedback.foundation.files import open_regular
from agentfeedback.policy.gate import CollectGate
from agentfeedback.policy.rules import Policy, RepositoryRules
from agentfeedback.reading import log
from agentfeedback.reading.args_digest import is_own
from agentfeedback.reading.log import BLOCK, FileLog, UnreadableLog, decompressed
from agentfeedback.reading.reader import Place
from agentfeedback.reading.record import Record
from agentfeedback.reading.tally import Tally

zstandard = pytest.importorskip("zstandard")


def in_a_moment(work: Callable[[], object]) -> bool:
    """Whether work takes seconds of the processor, on any machine, and not hours as it would by its square."""
    before = time.process_time()
    work()
    return time.process_time() - before < 20


# Lines.


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


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_swells_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    """A compressed line beyond the longest makes the log unreadable, finished or not; a plain one has no limit."""
    name = "s.jsonl.zst"
    monkeypatch.setattr(log, "LONGEST_LINE", 4 * BLOCK)
    short = b'{"a":"' + b"x" * (3 * BLOCK) + b'"}\n'
    assert read(written(tmp_path / name, short * 5 + b"x" * 100)).entries == 5
    long = written(tmp_path / name, b"{}\n" + b"x" * (6 * BLOCK) + end)
    with pytest.raises(UnreadableLog, match="a line is longer than 262144 bytes"):
        read(long)
    plain = written(tmp_path / "s.jsonl", b'{"a":"' + b"x" * (6 * BLOCK) + b'"}\n')
    assert read(plain).entries == 1


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
