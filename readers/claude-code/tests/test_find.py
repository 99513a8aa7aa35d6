"""Where sessions are and what is known of them before they are opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.reading.reader import Home, Report, Session
from agentfeedback_claude_code.reader import ClaudeCode


def write(store: Path, directory: str, name: str, mtime: int = 1_000) -> Path:
    path = store / directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    os.utime(path, (mtime, mtime))
    return path


def find(home: Home) -> tuple[list[Session], Report]:
    report = Report("claude-code")
    return list(ClaudeCode().find(home, report)), report


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "projects"


def test_transcripts_are_found_in_byte_order_of_directory_and_name(
    tmp_path: Path, store: Path
) -> None:
    """Sessions come by directory, then by name, each with the id of its file name."""
    for directory, name in (
        ("-b", "1.jsonl"),
        ("-a", "z.jsonl"),
        ("-a", "é.jsonl"),
        ("-B", "2.jsonl"),
    ):
        write(store, directory, name)
    sessions, report = find(Home(str(tmp_path)))
    assert [session.ref for session in sessions] == [
        "claude-code:2",
        "claude-code:z",
        "claude-code:é",
        "claude-code:1",
    ]
    assert (report.location, report.state, report.problems) == (str(store), "present", [])


def test_a_file_of_a_sub_agent_is_no_session(tmp_path: Path, store: Path) -> None:
    """The name of a sub-agent's file beside the sessions decides, and is not a problem of the store."""
    for name in ("agent-a1b2c3d.jsonl", "agent-.jsonl", "agents.jsonl", "1-agent-a.jsonl"):
        write(store, "-srv-app", name)
    sessions, report = find(Home(str(tmp_path)))
    assert [session.id for session in sessions] == ["1-agent-a", "agents"]
    assert report.problems == []


def test_only_regular_files_in_real_directories_are_listed(tmp_path: Path, store: Path) -> None:
    """Links, FIFOs, other extensions and whatever is deeper are not sessions."""
    real = write(store, "-srv-app", "s1.jsonl")
    write(store, "-srv-app", "notes.txt")
    write(store, "-srv-app/s1/subagents", "agent-a.jsonl")
    (store / "-srv-app" / "link.jsonl").symlink_to(real)
    (store / "-linked").symlink_to(store / "-srv-app")
    (store / "-srv-app" / "folder.jsonl").mkdir()
    os.mkfifo(store / "-srv-app" / "fifo.jsonl")
    (store / "top.jsonl").write_text("{}\n")
    sessions, report = find(Home(str(tmp_path)))
    assert [session.id for session in sessions] == ["s1"]
    assert report.problems == []


@pytest.mark.parametrize("name", ["a#b.jsonl", "a\\b.jsonl", ".jsonl", "..jsonl", "...jsonl"])
def test_a_name_that_cannot_stand_in_a_ref_is_a_problem(
    tmp_path: Path, store: Path, name: str
) -> None:
    """A file whose name is not a session id is named in `problems` and not listed."""
    path = write(store, "-srv-app", name)
    write(store, "-srv-app", "good.jsonl")
    sessions, report = find(Home(str(tmp_path)))
    assert [session.id for session in sessions] == ["good"]
    assert [(problem[0], problem[2]) for problem in report.problems] == [(str(path), False)]


def test_of_two_files_of_one_id_the_one_written_last_is_listed(tmp_path: Path, store: Path) -> None:
    """The later file is the session, each earlier one is named in `problems`."""
    early = write(store, "-z", "s1.jsonl", mtime=1)
    late = write(store, "-m", "s1.jsonl", mtime=3)
    middle = write(store, "-a", "s1.jsonl", mtime=2)
    sessions, report = find(Home(str(tmp_path)))
    assert [session.path for session in sessions] == [str(late)]
    assert {problem[0] for problem in report.problems} == {str(early), str(middle)}
    assert all(str(late) in problem[1] for problem in report.problems)


def test_at_equal_times_the_later_path_is_listed(tmp_path: Path, store: Path) -> None:
    """With the same modification time the whole path decides, so a run is repeatable."""
    last = write(store, "-a", "s1.jsonl")
    write(store, "-a!", "s1.jsonl")
    sessions, _ = find(Home(str(tmp_path)))
    assert [session.path for session in sessions] == [str(last)]


@pytest.mark.parametrize("value", ["", "relative", "~/c"])
def test_a_variable_that_is_no_absolute_path_is_ignored(
    tmp_path: Path, store: Path, value: str
) -> None:
    """An empty, relative or `~` value of the variable leaves the default store."""
    write(store, "-srv-app", "s1.jsonl")
    sessions, report = find(Home(str(tmp_path), {"CLAUDE_CONFIG_DIR": value}))
    assert [session.id for session in sessions] == ["s1"]
    assert report.location == str(store)


def test_the_variable_replaces_the_default_and_is_one_directory(
    tmp_path: Path, store: Path
) -> None:
    """An absolute value is the one configuration directory, commas and all."""
    write(store, "-srv-app", "default.jsonl")
    moved = tmp_path / "moved"
    write(moved / "projects", "-srv-app", "s2.jsonl")
    sessions, _ = find(Home(str(tmp_path), {"CLAUDE_CONFIG_DIR": str(moved)}))
    assert [session.id for session in sessions] == ["s2"]
    _, report = find(Home(str(tmp_path), {"CLAUDE_CONFIG_DIR": f"{moved},{moved}"}))
    assert report.state == "absent"


def test_a_missing_store_is_absent_without_problems(tmp_path: Path) -> None:
    """Where the harness was never used there is no store and nothing to complain about."""
    sessions, report = find(Home(str(tmp_path)))
    assert (sessions, report.state, report.problems) == ([], "absent", [])


def test_the_place_is_the_encoded_name_alone(tmp_path: Path, store: Path) -> None:
    """Before the open only the project directory's name is known, and the session is not opened."""
    path = write(store, "-srv-app-x", "s1.jsonl")
    sessions, _ = find(Home(str(tmp_path)))
    path.unlink()
    place = ClaudeCode().place(sessions[0], strict=True)
    assert place.encoded == "-srv-app-x"
    assert place.paths == ()
    assert place.encodings is not None
    assert [encoding.name for encoding in place.encodings("/srv/app/x")] == ["-srv-app-x"]
