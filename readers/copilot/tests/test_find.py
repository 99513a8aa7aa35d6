"""Which sessions `find` lists, and what it names instead."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Store


def test_a_session_is_a_folder_with_a_log(store: Store) -> None:
    """The id is the folder's name; folders without a log and files beside them are not sessions."""
    store.add("b")
    store.add("a", content=b"")
    (store.root / "empty").mkdir()
    (store.root / "file.jsonl").write_bytes(b"x")
    (store.root / "nested" / "events.jsonl").mkdir(parents=True)
    found, report = store.find()
    assert [session.id for session in found] == ["a", "b"]
    assert found[1].path == str(store.root / "b" / "events.jsonl")
    assert (report.state, report.location) == ("present", str(store.root))
    assert report.problems == []


def test_nothing_is_followed_through_a_link(store: Store, tmp_path: Path) -> None:
    """A linked folder, a linked log and a FIFO are not sessions, and listing does not wait on them."""
    real = store.add("real")
    (store.root / "linked").symlink_to(real)
    for name in ("link", "pipe"):
        (store.root / name).mkdir()
    (store.root / "link" / "events.jsonl").symlink_to(real / "events.jsonl")
    os.mkfifo(store.root / "pipe" / "events.jsonl")
    found, report = store.find()
    assert [session.id for session in found] == ["real"]
    assert report.problems == []


@pytest.mark.parametrize("name", ["a#b", "a\\b"])
def test_a_name_that_no_ref_can_hold_is_a_problem(store: Store, name: str) -> None:
    """A folder whose name cannot stand in a ref is named, and only where it holds a log."""
    folder = store.add(name)
    (store.root / "no#log").mkdir()
    found, report = store.find()
    assert found == []
    assert [(path, where) for path, _, where in report.problems] == [
        (str(folder / "events.jsonl"), False)
    ]


def test_the_variable_moves_the_store(store: Store, tmp_path: Path) -> None:
    """An absolute `COPILOT_HOME` replaces the default; a relative or empty one is ignored."""
    store.add("here")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "session-state" / "there").mkdir(parents=True)
    (elsewhere / "session-state" / "there" / "events.jsonl").write_bytes(b"")
    found, _ = store.find(COPILOT_HOME=str(elsewhere))
    assert [session.id for session in found] == ["there"]
    for ignored in ("", "elsewhere", "~/x"):
        found, _ = store.find(COPILOT_HOME=ignored)
        assert [session.id for session in found] == ["here"]


def test_a_missing_store_is_absent(store: Store) -> None:
    """Without a store there is nothing to list and nothing wrong."""
    found, report = store.find()
    assert (found, report.state, report.problems) == ([], "absent", [])
