"""Many processes at once: the store stays serialisable, and nobody sees that it is locked."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import fields

from agentfeedback.state.state_store import Digested, StateStore
from agentfeedback.state.watermark import SessionRow

# Newer Pythons warn of a fork beside the threads a test runner may have started.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

A, B = ("codex", "a"), ("codex", "b")


def digest(name: tuple[str, str], size: int) -> Digested:
    return Digested(*name, "/srv/app/log.jsonl", size, size, "aa")


def together(count: int, run: Callable[[int], None]) -> None:
    """Run `run(number)` in processes that begin at one moment; each must end well."""
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(count)

    def start(number: int) -> None:
        gate.wait()
        run(number)

    processes = [context.Process(target=start, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [0] * count == [process.exitcode for process in processes]


def test_processes_that_create_the_database_at_once_all_succeed(tmp_path: Path) -> None:
    """However many processes find no database, one is made and holds what each of them wrote."""
    for attempt in range(6):
        path = str(tmp_path / str(attempt) / "deep" / "state.db")

        def run(number: int, path: str = path) -> None:
            StateStore(path).digested([digest(("codex", str(number)), number)], at=number)

        together(6, run)
        assert {str(number) for number in range(6)} == {name for _, name in StateStore(path).rows()}


def test_processes_that_write_at_once_are_serialisable(tmp_path: Path) -> None:
    """Every state that can be read is between two whole calls of some process, and none fails."""
    path = str(tmp_path / "state.db")
    StateStore(path).digested([digest(A, 0), digest(B, 0)], at=0)

    def run(number: int) -> None:
        store = StateStore(path)
        for step in range(25):
            value = number * 100 + step
            store.digested([digest(A, value), digest(B, value)], at=value)
            store.mark([B, A], f"{number}", [str(value)], at=value)
            rows = store.rows()
            first, second = rows[A], rows[B]
            for member in fields(SessionRow):
                if member.name != "session_id":
                    assert getattr(first, member.name) == getattr(second, member.name)
            assert first.refs == (str(first.processed_at),)
            assert first.outcome == str((first.processed_at or 0) // 100)

    together(5, run)
    row = StateStore(path).rows()[A]
    ends = {number * 100 + 24 for number in range(5)}
    assert row.size in ends and row.digested_at == row.size
    assert row.processed_at in ends and row.refs == (str(row.processed_at),)


def test_a_row_is_forgotten_by_one_process_alone(tmp_path: Path) -> None:
    """Of many processes that drop the same rows, exactly one learns that each row was there."""
    path = str(tmp_path / "state.db")
    names = [("codex", str(number)) for number in range(30)]
    StateStore(path).digested([digest(name, 1) for name in names], at=1)

    def run(number: int) -> None:
        store = StateStore(path)
        for name in names:
            if store.forget([name]) == [True]:
                (tmp_path / f"{name[1]}.{number}").touch(exist_ok=False)

    together(4, run)
    assert {} == StateStore(path).rows()
    claims = sorted(claim.stem for claim in tmp_path.iterdir() if claim.suffix != ".db")
    assert sorted(name for _, name in names) == claims
