"""Which sessions `find` lists, and what it names instead."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Store


def test_live_rollouts_are_found_at_any_depth_and_archived_ones_flat(store: Store) -> None:
    """`sessions` is walked whole, of `archived_sessions` only the files in it are listed."""
    store.add("sessions/2026/03/01", "deep")
    store.add("sessions", "top")
    store.add("archived_sessions", "old")
    store.add("archived_sessions/2026", "not-listed")
    found, report = store.find()
    assert sorted(session.id for session in found) == ["deep", "old", "top"]
    assert report.location == str(store.root / "sessions")
    assert (report.state, report.problems) == ("present", [])


def test_environment_moves_the_store_when_absolute(store: Store, tmp_path: Path) -> None:
    """`CODEX_HOME` is taken when it is an absolute path, and ignored otherwise."""
    store.add("sessions", "here")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "sessions").mkdir(parents=True)
    assert store.find({"CODEX_HOME": str(elsewhere)})[0] == []
    assert [session.id for session in store.find({"CODEX_HOME": "elsewhere"})[0]] == ["here"]


@pytest.mark.parametrize(
    "name",
    [
        "rollout-2026-13-01T10-00-00-s1.jsonl",
        "rollout-2026-02-30T10-00-00-s1.jsonl",
        "rollout-2026-03-01T24-00-00-s1.jsonl",
        "rollout-2026-03-01T10-60-00-s1.jsonl",
        "rollout-2026-03-01T10-00-60-s1.jsonl",
        "rollout-2026-03-01T10:00:00-s1.jsonl",
        "rollout-2026-03-01T10-00-00-.jsonl",
        "rollout-2026-03-01T10-00-00.jsonl",
        "rollout-2026-03-01T10-00-00-s1.json",
        "rollout-2026-03-01T10-00-00-s1.jsonl.gz",
        "session-2026-03-01T10-00-00-s1.jsonl",
        "rollout-٢٠٢٦-03-01T10-00-00-s1.jsonl",
    ],
)
def test_other_names_are_no_rollouts(store: Store, name: str) -> None:
    """A file without a valid time and an id in its name is passed over in silence."""
    store.put(f"sessions/{name}")
    found, report = store.find()
    assert (found, report.problems) == ([], [])


def test_id_is_the_rest_of_the_name(store: Store) -> None:
    """A segment of a reverted thread keeps both ids, so each segment is a session of its own."""
    store.add("sessions", "thread")
    store.add("sessions", "thread_segment", ".zst")
    assert sorted(session.ref for session in store.find()[0]) == [
        "codex:thread",
        "codex:thread_segment",
    ]


def test_archived_session_that_is_also_live_is_named(store: Store) -> None:
    """One id in both places is listed from `sessions`, and the archived file is a problem."""
    live = store.add("sessions/2026/03/01", "s1")
    archived = store.add("archived_sessions", "s1")
    found, report = store.find()
    assert [session.path for session in found] == [str(live)]
    assert report.problems == [
        (str(archived), f"session s1 is also in {live}; listed from there", False)
    ]


def test_plain_file_wins_over_its_compressed_form(store: Store) -> None:
    """Where one id has both forms the plain one is listed, even when it is older."""
    plain = store.add("sessions/2026/03/01", "s1")
    packed = store.add("sessions/2026/03/01", "s1", ".zst")
    os.utime(plain, ns=(1, 1))
    found, report = store.find()
    assert [session.path for session in found] == [str(plain)]
    assert [path for path, _, _ in report.problems] == [str(packed)]


def test_one_id_in_two_day_folders_is_one_ref(store: Store) -> None:
    """The file written last is listed and the other is named."""
    newer = store.add("sessions/2026/03/01", "s1")
    older = store.add("sessions/2026/03/02", "s1")
    os.utime(older, ns=(1, 1))
    found, report = store.find()
    assert [session.path for session in found] == [str(newer)]
    assert [path for path, _, _ in report.problems] == [str(older)]


def test_store_is_absent_only_without_both_directories(store: Store) -> None:
    """Archived sessions alone are a store; no directory at all is an absent one, not a problem."""
    found, report = store.find()
    assert (found, report.state, report.problems) == ([], "absent", [])
    store.add("archived_sessions", "old")
    found, report = store.find()
    assert ([session.id for session in found], report.state) == (["old"], "present")


def test_links_are_not_followed(store: Store, tmp_path: Path) -> None:
    """Linked files, folders and a linked `sessions` itself yield nothing."""
    outside = tmp_path / "outside"
    outside.mkdir()
    kept = store.add("archived_sessions", "kept")
    (outside / kept.name.replace("kept", "away")).write_bytes(b"{}\n")
    (store.root / "sessions").symlink_to(outside)
    assert [session.id for session in store.find()[0]] == ["kept"]
    (store.root / "sessions").unlink()
    (store.root / "sessions").mkdir()
    (store.root / "sessions" / "day").symlink_to(outside)
    (store.root / "sessions" / kept.name.replace("kept", "link")).symlink_to(kept)
    assert [session.id for session in store.find()[0]] == ["kept"]


def test_linked_archive_yields_nothing(store: Store, tmp_path: Path) -> None:
    """An `archived_sessions` that is a link is not followed, and makes no store by itself."""
    away = store.add("sessions", "away")
    (store.root / "sessions").rename(tmp_path / "outside")
    (store.root / "archived_sessions").symlink_to(tmp_path / "outside")
    assert (tmp_path / "outside" / away.name).is_file()
    found, report = store.find()
    assert (found, report.state) == ([], "absent")


def test_fifo_is_no_session(store: Store) -> None:
    """A pipe with a rollout's name is not listed (opening it would wait for ever)."""
    (store.root / "sessions").mkdir(parents=True)
    os.mkfifo(store.root / "sessions" / "rollout-2026-03-01T10-00-00-s1.jsonl")
    assert store.find()[0] == []


def test_unlistable_directories_are_reported(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreadable `sessions` makes the store unreadable; a directory elsewhere is one problem."""
    store.add("sessions/2026", "s1")
    store.add("sessions/2027", "s2")
    store.add("archived_sessions", "s3")
    listing = os.scandir
    closed: set[str] = set()

    def scandir(path: str) -> object:
        if path in closed:
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    hidden, archive = str(store.root / "sessions/2026"), str(store.root / "archived_sessions")
    closed |= {hidden, archive}
    found, report = store.find()
    assert [session.id for session in found] == ["s2"]
    assert report.state == "present"
    assert report.problems == [
        (hidden, "permission denied", True),
        (archive, "permission denied", True),
    ]
    closed.add(str(store.root / "sessions"))
    found, report = store.find()
    assert (found, report.state, report.reason) == ([], "unreadable", "permission denied")
