"""What the benchmark measures is what it says it is: its stores, and its truth about them. Nothing is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.machine import Machine

_COUNTS = ("entries", "prompts", "tool_calls", "tool_errors", "interrupts", "denials", "unparsed")
_STORE = ("--sessions", "24", "--bytes", "2MB", "--seed", "7")


def _made(home: Path, *words: str) -> dict[str, dict[str, int]]:
    """The truth of a store made with these arguments."""
    script = str(ROOT / "bench" / "store_maker.py")
    subprocess.run([sys.executable, script, str(home), *words], check=True, timeout=120)
    told = json.loads((home / "truth.json").read_text())
    del told["made_of"]
    return told


def _files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()
    }


def _counted(listing: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Number of sessions and all seven counts by harness, as listed."""
    counted: dict[str, dict[str, int]] = {}
    for session in listing["sessions"]:
        counts = counted.setdefault(session["harness"], dict.fromkeys(("sessions", *_COUNTS), 0))
        counts["sessions"] += 1
        for name in _COUNTS:
            counts[name] += session["counts"][name]
    return counted


def test_same_arguments_make_the_same_bytes(tmp_path: Path) -> None:
    """Two stores made with the same arguments are equal file by file, and another seed makes another."""
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    _made(one, *_STORE)
    _made(two, *_STORE)
    _made(other, *_STORE[:-1], "8")
    assert len(_files(one)) > 24
    assert _files(one) == _files(two)
    assert _files(one).keys() != _files(other).keys()


@pytest.mark.parametrize(
    "words",
    [_STORE, (*_STORE, "--failing"), ("--big-session", "8MB"), (*_STORE, "--half-pairs", "0.5")],
    ids=["store", "failing", "big session", "half pairs"],
)
def test_a_made_store_is_listed_with_the_counts_of_its_truth(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """`sessions list --json` counts what `truth.json` says, all seven counts of every harness."""
    machine = Machine(tmp_path / "home")
    machine.home.mkdir()
    truth = _made(machine.home, *words)
    expected = {
        harness: {name: told[name] for name in ("sessions", *_COUNTS)}
        for harness, told in truth.items()
    }
    assert expected["claude-code"]["tool_calls"] > 0
    assert _counted(machine.sessions("list")) == expected


def test_every_call_of_a_failing_store_fails(tmp_path: Path) -> None:
    """In a store made with `--failing` as many calls are errors as there are calls."""
    truth = _made(tmp_path, *_STORE, "--failing")
    assert all(told["tool_errors"] == told["tool_calls"] > 0 for told in truth.values())


def test_a_big_session_has_lines_of_megabytes_and_short_prompts(tmp_path: Path) -> None:
    """A big session is one file of the size asked for, in which only tool results are long."""
    truth = _made(tmp_path, "--big-session", "8MB")
    ((_, log),) = [
        (name, content) for name, content in _files(tmp_path).items() if name.endswith(".jsonl")
    ]
    lines = log.splitlines()
    long = [line for line in lines if len(line) > 2_000_000]
    assert truth["claude-code"]["bytes"] == len(log) >= 8_000_000
    assert truth["claude-code"]["lines"] == len(lines)
    assert long
    assert all(b'"tool_result"' in line for line in long)
    assert max(len(line) for line in lines if line not in long) < 100_000
