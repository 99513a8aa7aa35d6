"""TOML text: what is refused at once, and what only looks like it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.config.toml_text import toml
from agentfeedback.reading.log import FileLog
from agentfeedback.reading.record import Record
from agentfeedback.reading.tally import Tally


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


# Configuration and repository files: a repository that was cloned is anybody's.


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 250_000 + " = 1",
        "a" + " . a" * 125_000 + " = 1",
        "[" + "a" + ".a" * 250_000 + "]",
        "x = {" + '"a"' + '."b.c"' * 100_000 + " = 1}",
        "x = [{" + "'a'" + ".'b'" * 100_000 + " = 1}]",
    ],
    ids=["key", "spaced", "table", "quoted", "inline"],
)
def test_a_key_of_many_parts_is_refused_at_once(text: str) -> None:
    """It would take the parser hours."""

    def refused() -> None:
        with pytest.raises(ValueError, match="nested too deeply"):
            toml(text.encode())

    assert in_a_moment(refused)


@pytest.mark.parametrize(
    "value", ["." * 500, "a." * 99 + "a", "x.y " * 500, ".a" * 99, "1.5e3 " * 200]
)
def test_dots_in_values_refuse_nothing(value: str) -> None:
    """A document whose texts hold many dots is read as any other, and so are keys of a few parts."""
    lines = "".join(f'k{number}.a.b = "x.y"\n' for number in range(500))
    assert toml(f'{lines}v = "{value}"\n'.encode())["v"] == value


@pytest.mark.parametrize("filler", ["'", '"x', "a ", "a", " .", "a-", "a." * 99 + "\n", "a . "])
def test_looking_for_such_a_key_takes_linear_time(filler: str) -> None:
    """Nothing that fits into a repository file makes the search itself slow."""
    text = (filler * (1 << 20))[: 1 << 20] + "=" + "." * 200

    def refused() -> None:
        with pytest.raises(ValueError):
            toml(text.encode())

    assert in_a_moment(refused)
