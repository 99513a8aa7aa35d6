"""Which sessions `find` lists, what it names instead, and where they ran."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from agentfeedback_gemini_cli.reader import GeminiCli

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Store


def test_a_session_is_a_log_in_the_chats_of_a_project(store: Store) -> None:
    """Ids are the names of `session-*` files; sub-agents' folders and other files are not listed."""
    store.add("session-2.jsonl", "b")
    chats = store.add("session-1.jsonl", "a").parent
    store.add("logs.jsonl", "a")
    store.add("session-3.txt", "a")
    (chats / "parent").mkdir()
    (chats / "parent" / "session-9.jsonl").write_bytes(b"")
    (store.root / "without").mkdir()
    (store.root / "file").mkdir()
    (store.root / "file" / "chats").write_bytes(b"")
    found, report = store.find()
    assert [session.id for session in found] == ["session-1", "session-2"]
    assert (report.location, report.state) == (str(store.root), "present")
    assert report.problems == []


def test_a_legacy_session_is_listed_as_unsupported(store: Store) -> None:
    """A `.json` document is listed with the reason why it is not read."""
    store.add("session-1.json")
    ((session,), _) = store.find()
    assert (session.id, session.unsupported) == (
        "session-1",
        "legacy single-document session file",
    )


def test_one_ref_for_both_formats(store: Store) -> None:
    """Where one name has both files the `.jsonl` is listed, however old, and the `.json` named."""
    new, old = store.add("session-1.jsonl"), store.add("session-1.json", "q")
    os.utime(new, (1, 1))
    found, report = store.find()
    assert [(session.path, session.unsupported) for session in found] == [(str(new), "")]
    assert [path for path, _, _ in report.problems] == [str(old)]


def test_one_ref_for_two_projects(store: Store) -> None:
    """Of two files of one name the one written last is listed, at equal times the last path."""
    a, b = store.add(project="a"), store.add(project="b")
    for times, listed, other in (((1, 2), b, a), ((2, 1), a, b), ((1, 1), b, a)):
        os.utime(a, (times[0], times[0]))
        os.utime(b, (times[1], times[1]))
        found, report = store.find()
        assert [session.path for session in found] == [str(listed)]
        assert [path for path, _, _ in report.problems] == [str(other)]


def test_nothing_is_followed_through_a_link(store: Store) -> None:
    """Linked projects, chats and logs and FIFOs are not sessions, and listing does not wait on them."""
    file = store.add()
    (store.root / "linked").symlink_to(file.parent.parent)
    (store.root / "half").mkdir()
    (store.root / "half" / "chats").symlink_to(file.parent)
    (file.parent / "session-2.jsonl").symlink_to(file)
    os.mkfifo(file.parent / "session-3.jsonl")
    found, report = store.find()
    assert [session.path for session in found] == [str(file)]
    assert report.problems == []


def test_a_name_that_no_ref_can_hold_is_a_problem(store: Store) -> None:
    """A file whose name cannot stand in a ref is named."""
    path = store.add("session-a#b.jsonl")
    found, report = store.find()
    assert (found, [path for path, _, _ in report.problems]) == ([], [str(path)])


def test_the_variable_moves_the_store(store: Store, tmp_path: Path) -> None:
    """An absolute `GEMINI_CLI_HOME` replaces the home; a relative or empty one is ignored."""
    store.add()
    _, report = store.find(GEMINI_CLI_HOME="/srv/other")
    assert (report.location, report.state) == ("/srv/other/.gemini/tmp", "absent")
    for ignored in ("", "other", "~"):
        found, _ = store.find(GEMINI_CLI_HOME=ignored)
        assert [session.id for session in found] == ["session-1"]


@pytest.mark.parametrize(
    ("root", "paths"),
    [
        (b"/srv/app", ("/srv/app",)),
        (b" /srv/app \r\n", ("/srv/app",)),
        (b"/srv/\xff", ("/srv/\ufffd",)),
        (b"/srv/app".ljust(4096), ("/srv/app",)),
        (b"/srv/app".ljust(4097), ()),
        (b"srv/app", ()),
        (b"/srv/\0", ()),
        (b"", ()),
        (None, ()),
    ],
)
def test_the_project_root_names_the_directory(
    store: Store, root: bytes | None, paths: tuple[str, ...]
) -> None:
    """`.project_root` is read whole when small, trimmed, and counts when it is an absolute path."""
    store.add(root=root)
    ((session,), _) = store.find()
    place = GeminiCli().place(session, strict=True)
    assert (place.paths, place.failed) == (paths, False)


def test_a_project_root_that_is_no_file_names_none(store: Store) -> None:
    """A folder, a FIFO or a link to nothing records no directory; a link to a file is read."""
    for project in ("folder", "pipe", "nothing", "link"):
        store.add(f"session-{project}.jsonl", project, root=None)
    (store.root / "folder" / ".project_root").mkdir()
    os.mkfifo(store.root / "pipe" / ".project_root")
    (store.root / "nothing" / ".project_root").symlink_to("missing")
    (store.root / "link" / "target").write_bytes(b"/srv/app")
    (store.root / "link" / ".project_root").symlink_to("target")
    found, report = store.find()
    places = {session.id: GeminiCli().place(session, strict=True) for session in found}
    assert {id: place.paths for id, place in places.items()} == {
        "session-folder": (),
        "session-pipe": (),
        "session-nothing": (),
        "session-link": ("/srv/app",),
    }
    assert report.problems == []


def test_a_project_root_that_cannot_be_read_hides_its_sessions(store: Store) -> None:
    """A loop of links cannot be read: the project's chats are a problem, others are listed."""
    file = store.add("session-1.jsonl", "a", root=None)
    store.add("session-2.jsonl", "b")
    (store.root / "a" / ".project_root").symlink_to(".project_root")
    found, report = store.find()
    assert [session.id for session in found] == ["session-2"]
    ((path, reason, directory),) = report.problems
    assert (path, directory) == (str(file.parent), True)
    assert reason.startswith(".project_root: ")


def test_a_project_root_that_breaks_after_the_listing_fails_the_gate(store: Store) -> None:
    """What could be read when listed and cannot now leaves the policy unchecked."""
    store.add(root=None)
    ((session,), _) = store.find()
    (store.root / "p" / ".project_root").symlink_to(".project_root")
    assert GeminiCli().place(session, strict=True).failed


def test_a_missing_store_is_absent(store: Store) -> None:
    """Without a store there is nothing to list and nothing wrong."""
    found, report = store.find()
    assert (found, report.state, report.problems) == ([], "absent", [])
