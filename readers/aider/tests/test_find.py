"""Where histories are found, which parts of them are sessions, and what the policy keeps closed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.reading import Home, Report, Session, UnreadableLog
from agentfeedback_aider.reader import HISTORY, Aider
from pytest_agentfeedback import Recorder

START = "\n# aider chat started at {}\n\n> Aider v0.86.2  \n> Model: x  \n"


def history(folder: Path, *parts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / HISTORY
    path.write_text("".join(parts))
    return path


def find(home: Home) -> tuple[list[Session], Report]:
    report = Report("aider")
    return list(Aider().find(home, report)), report


def ids(home: Path) -> list[str]:
    return [session.id for session in find(Home(str(home)))[0]]


def told(session: Session) -> Recorder:
    recorder = Recorder()
    log = Aider().open(session)
    try:
        Aider().read(log, Aider().place(session, strict=True), recorder)
    finally:
        log.close()
    return recorder


def prompts(session: Session) -> list[str]:
    return [entry.text for entry in told(session).recording().entries if entry.kind == "prompt"]


def test_projects_two_levels_below_the_home(tmp_path: Path) -> None:
    """The home, its folders and those in them; not deeper, not hidden, not through a link."""
    one = START.format("2026-05-04 09:00:00")
    for folder in ("", "a", "a/b", "a/b/c", ".hidden", "a/.hidden"):
        history(tmp_path / folder, one)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    time = "2026-05-04 09:00:00"
    assert ids(tmp_path) == [f"{tmp_path.name} {time}", f"a {time}", f"b {time}"]


def test_named_folders(tmp_path: Path) -> None:
    """A variable names further folders, and only absolute ones count."""
    history(tmp_path / "far" / "shop", START.format("2026-05-04 09:00:00"))
    named = os.pathsep.join(["far", "", str(tmp_path / "far")])
    home = Home(str(tmp_path / "home"), {"AGENTFEEDBACK_AIDER_PROJECTS": named})
    assert [session.id for session in find(home)[0]] == ["shop 2026-05-04 09:00:00"]
    assert find(Home(str(tmp_path / "home")))[1].state == "absent"


def test_one_history_holds_many_sessions(tmp_path: Path) -> None:
    """Each from its heading to the next; what stands before the first is nobody's."""
    history(
        tmp_path / "shop",
        "#### nobody's  \n",
        START.format("2026-05-04 09:00:00"),
        "\n#### one  \n",
        START.format("2026-05-04 10:00:00"),
        "\n#### two  \n#### lines  \n\n",
    )
    sessions, _ = find(Home(str(tmp_path)))
    assert [prompts(session) for session in sessions] == [["one"], ["two\nlines"]]


@pytest.mark.parametrize(
    "fake",
    [
        "# aider chat started at 2026-05-04 12:00:00\n\nnothing of Aider's\n",
        "# aider chat started at 2026-05-04 12:00:00\n\n#### x  \n> Aider v1  \n",
        "# aider chat started at 2026-05-04 12:00:00" + "\n" * 70 + "> Aider v1  \n",
        "# aider chat started at 2020-01-01 12:00:00\n\n> Aider v1  \n",
        "# aider chat started at 2026-99-04 12:00:00\n\n> Aider v1  \n",
        "# aider chat started at yesterday\n\n> Aider v1  \n",
        " # aider chat started at 2026-05-04 12:00:00\n\n> Aider v1  \n",
    ],
)
def test_a_heading_in_an_answer_begins_no_session(tmp_path: Path, fake: str) -> None:
    """Without Aider's start lines below, or with a time before that of the session above."""
    history(
        tmp_path / "shop", START.format("2026-05-04 09:00:00"), "\n#### one  \n\nSee:\n\n", fake
    )
    assert ids(tmp_path) == ["shop 2026-05-04 09:00:00"]


def test_the_same_second_twice(tmp_path: Path) -> None:
    """Two sessions of one id: the first is listed, the other named as a problem."""
    history(tmp_path / "shop", START.format("2026-05-04 09:00:00") * 2)
    sessions, report = find(Home(str(tmp_path)))
    assert len(sessions) == 1
    assert "is listed from" in report.problems[0][1]


def test_a_refused_folder_stays_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy is asked about the folder before its history is opened; another one is read."""
    refused = history(tmp_path / "secret", START.format("2026-05-04 09:00:00"))
    history(tmp_path / "shop", START.format("2026-05-04 09:00:00"))
    opened: list[str] = []
    real = os.open

    def noted(path: str, *rest: int, **named: int) -> int:
        opened.append(os.fspath(path))
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", noted)
    home = Home(str(tmp_path), may_open=lambda folder: not folder.endswith("secret"))
    sessions, report = find(home)
    assert [session.id for session in sessions] == ["shop 2026-05-04 09:00:00"]
    assert report.problems == [(str(refused), "not opened: the policy refuses its folder", False)]
    assert str(refused) not in opened
    opened.clear()
    assert find(Home(str(tmp_path), closed=True))[0] == []
    assert opened == []


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_what_is_not_a_file_is_a_problem(tmp_path: Path, kind: str) -> None:
    """A pipe, a link or a folder in the place of a history is named and not opened."""
    path = tmp_path / "shop" / HISTORY
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(history(tmp_path / "shop" / ".x", START.format("2026-05-04 09:00:00")))
    else:
        path.mkdir()
    sessions, report = find(Home(str(tmp_path)))
    assert sessions == []
    assert [problem[0] for problem in report.problems] == [str(path)]


def test_a_history_that_changed_is_unreadable(tmp_path: Path) -> None:
    """Another file in its place, or one that is shorter; one that grew is read as it was listed."""
    path = history(tmp_path / "shop", START.format("2026-05-04 09:00:00"), "\n#### one  \n\n")
    ((session,), _) = find(Home(str(tmp_path)))
    with path.open("a") as file:
        file.write("#### two  \n\n")
    assert prompts(session) == ["one"]
    path.write_text("short\n")
    with pytest.raises(UnreadableLog, match="changed since it was listed"):
        Aider().open(session)
    other = history(tmp_path / "shop2", START.format("2026-05-04 09:00:00"), "x" * 1000)
    other.replace(path)
    with pytest.raises(UnreadableLog, match="changed since it was listed"):
        Aider().open(session)


def test_any_bytes(tmp_path: Path) -> None:
    """Lines of megabytes, bytes that are not text and a line without its end leave the numbers of lines right."""
    path = history(tmp_path / "shop", START.format("2026-05-04 09:00:00"))
    with path.open("ab") as file:
        file.write(b"\xff\xfe\0" * 10 + b"\n" + b"x" * 5_000_000 + b"\n")
        file.write(b"> Tokens: 1k sent, 1 received.  \n\n#### after  \n\n#### cut off  ")
    ((session,), _) = find(Home(str(tmp_path)))
    entries = told(session).recording().entries
    assert [(entry.span, entry.text) for entry in entries if entry.kind == "prompt"] == [
        ("10", "after")
    ]


def test_place_is_the_folder(tmp_path: Path) -> None:
    """Where a session ran is where its history is."""
    history(tmp_path / "shop", START.format("2026-05-04 09:00:00"))
    ((session,), _) = find(Home(str(tmp_path)))
    assert Aider().place(session, strict=True).paths == (str(tmp_path / "shop"),)
