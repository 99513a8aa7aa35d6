"""Finding a repository and reading its `.agentfeedback.toml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation.git.root import repository_root
from agentfeedback.policy.repository import FILE, FILE_LIMIT, repository_rules
from agentfeedback.policy.rules import RepositoryRules


def work_tree(root: Path) -> Path:
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


def said(rules: RepositoryRules) -> tuple[bool, tuple[str, ...], bool | None]:
    return rules.disabled, rules.deny_paths, rules.push


NOTHING = (False, (), None)


def test_the_nearest_repository_at_or_above_counts(tmp_path: Path) -> None:
    """The walk starts at the directory itself and ends at the first work tree."""
    outer = work_tree(tmp_path / "outer")
    inner = work_tree(outer / "a" / "inner")
    (inner / "deep" / "er").mkdir(parents=True)
    assert repository_root(str(inner)) == str(inner)
    assert repository_root(str(inner / "deep" / "er")) == str(inner)
    assert repository_root(str(outer / "a")) == str(outer)


def test_a_directory_in_no_repository_has_none(tmp_path: Path) -> None:
    """The walk ends at the root of the file system."""
    assert repository_root(str(tmp_path)) is None
    assert repository_root("/") is None


@pytest.mark.parametrize("made", ["empty", "head is a directory", "head is missing"])
def test_a_git_folder_without_a_regular_head_is_passed_over(tmp_path: Path, made: str) -> None:
    """A `.git` that is not a repository does not end the walk."""
    outer = work_tree(tmp_path / "outer")
    git = outer / "sub" / ".git"
    git.mkdir(parents=True)
    if made == "head is a directory":
        (git / "HEAD").mkdir()
    elif made == "head is missing":
        (git / "config").write_text("")
    assert repository_root(str(outer / "sub")) == str(outer)


@pytest.mark.parametrize(
    "text",
    [
        b"gitdir: ../real.git\n",
        b"gitdir: ../real.git",
        b"gitdir: ../real.git\r\nmore\n",
        b"gitdir: %(absolute)s\n",
    ],
)
def test_a_git_file_leads_to_its_git_directory(tmp_path: Path, text: bytes) -> None:
    """Work trees and submodules have a `.git` file, relative to its folder or absolute."""
    git = tmp_path / "real.git"
    git.mkdir()
    (git / "HEAD").write_text("x")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_bytes(text.replace(b"%(absolute)s", os.fsencode(git)))
    assert repository_root(str(tree)) == str(tree)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"gitdir:\n",
        b"gitdir: \n",
        b"gitdir: nowhere\n",
        b"gitdir: a\0b\n",
        b"gitdir: \xff\xfe\n",
        b"gitdir: " + b"x" * 5000 + b"\n",
        b"\ngitdir: ../outer/.git\n",
        b"# gitdir: ../outer/.git\n",
        b"gitdir: ../outer/.git/" + b"./" * 40_000 + b"\n",
    ],
)
def test_a_git_file_that_leads_nowhere_is_passed_over(tmp_path: Path, text: bytes) -> None:
    """Any other content of a `.git` file does not end the walk and never raises."""
    outer = work_tree(tmp_path / "outer")
    (outer / "sub").mkdir()
    (outer / "sub" / ".git").write_bytes(text)
    (outer / "sub" / "HEAD").write_text("a file that an empty path would find")
    assert repository_root(str(outer / "sub")) == str(outer)


def test_a_git_pipe_does_not_block(tmp_path: Path) -> None:
    """A pipe called `.git` is passed over at once."""
    os.mkfifo(tmp_path / ".git")
    assert repository_root(str(tmp_path)) is None


def test_the_keys_are_read(tmp_path: Path) -> None:
    """`collect.disabled`, `collect.deny_paths` and `sessions.push` arrive as written."""
    (tmp_path / FILE).write_text(
        '[collect]\ndisabled = true\ndeny_paths = ["a", "/b", "."]\n[sessions]\npush = false\n'
    )
    rules = repository_rules(str(tmp_path))
    assert said(rules) == (True, ("a", "/b", "."), False)
    assert rules.root == str(tmp_path)
    assert rules.problem == ""


def test_a_missing_file_says_nothing(tmp_path: Path) -> None:
    """No file is not a rule and no problem."""
    rules = repository_rules(str(tmp_path))
    assert said(rules) == NOTHING
    assert not rules.vetoes_push


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[collect]\ndisabled = 1\ndeny_paths = ["a"]\n', "collect.disabled is not true or false"),
        ('[collect]\ndisabled = "true"\n', "collect.disabled is not"),
        ('[collect]\ndeny_paths = "a"\n', "collect.deny_paths is not an array of strings"),
        ('[collect]\ndeny_paths = ["a", 1]\n', "collect.deny_paths is not"),
        ('[context]\ndrop = "cwd"\n', "context.drop is not an array of strings"),
        ("[detect]\nnudge = 0\n", "detect.nudge is not true or false"),
        ('[sessions]\npush = "no"\n', "sessions.push is not true or false"),
        ("collect = 1\n", "collect is not a table"),
        ("[[collect]]\ndisabled = true\n", "collect is not a table"),
        ("sessions = []\n[collect]\ndisabled = true\n", "sessions is not a table"),
        ('[collect]\ndeny_paths = ["a", "~/c"]\n', "entry '~/c' begins with ~"),
        ('[collect]\ndeny_paths = ["~"]\n', "entry '~' begins with ~"),
        ('[collect]\ndeny_paths = [""]\n', "entry '' is empty"),
        ('[collect]\ndeny_paths = ["$PWD/a"]\n', "begins with $"),
        ('[collect]\ndeny_paths = ["src/*"]\n', "holds a *"),
        ('[collect]\ndeny_paths = ["a\\u0000b"]\n', "holds a NUL"),
        ("disabled = true\n", "disabled is misspelt or in the wrong table"),
        ("[colect]\ndisabled = true\n", "colect is misspelt"),
        ("[Collect]\ndisabled = true\n", "Collect is misspelt"),
        ("[session]\npush = false\n", "session is misspelt"),
        ("[collect]\ndisable = true\n", "collect.disable is misspelt"),
        ("[collect]\npush = false\n", "collect.push is misspelt or in the wrong table"),
        ('"collect.disabled" = true\n', "collect was meant"),
    ],
)
def test_a_file_that_cannot_be_followed_has_a_problem(
    tmp_path: Path, text: str, problem: str
) -> None:
    """A wrong type, an entry that stands for no folder and a misspelt key are the problem of the whole file."""
    (tmp_path / FILE).write_text(text)
    rules = repository_rules(str(tmp_path))
    assert problem in rules.problem
    assert said(rules) == NOTHING
    assert rules.vetoes_push


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("", ()),
        ("[sessions]\npush = true\n[detect]\nnudge = false\n", ()),
        (
            'url = "x"\n',
            ("url is ignored; a repository sets collect, context, detect, sessions only",),
        ),
        (
            '[collect]\nopt_in_only = false\nopt_in_paths = ["/"]\n',
            (
                "collect.opt_in_only is ignored; a repository sets disabled, deny_paths there only",
                "collect.opt_in_paths is ignored; a repository sets disabled, deny_paths there only",
            ),
        ),
    ],
)
def test_what_nobody_knows_is_a_warning(
    tmp_path: Path, text: str, warnings: tuple[str, ...]
) -> None:
    """Keys of no meaning here have none, and are named."""
    (tmp_path / FILE).write_text(text)
    rules = repository_rules(str(tmp_path))
    assert (rules.warnings, rules.problem) == (warnings, "")


def test_messages_of_a_hostile_file_are_few_and_short(tmp_path: Path) -> None:
    """Very many keys that nobody knows are a problem, and long names and entries are cut, without a part of a secret."""
    file = tmp_path / FILE
    file.write_text("".join(f"k{number} = 1\n" for number in range(100)))
    assert len(repository_rules(str(tmp_path)).warnings) == 100
    file.write_text("".join(f"k{number} = 1\n" for number in range(100_000))[:FILE_LIMIT])
    assert repository_rules(str(tmp_path)).problem
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for before in ("", "x " * 90):
        file.write_text(f'[collect]\ndeny_paths = ["~{before}{secret} {"y" * 100_000}"]\n')
        problem = repository_rules(str(tmp_path)).problem
        assert secret[:12] not in problem and len(problem) < 400
    file.write_text(f"{'z' * 100_000} = 1\n")
    assert len(repository_rules(str(tmp_path)).warnings[0]) < 400


@pytest.mark.parametrize("name", ["*", "src/a*b"])
def test_a_star_is_a_name_where_something_has_it(tmp_path: Path, name: str) -> None:
    """A folder may be called `*`; the entry is followed then."""
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / FILE).write_text(f'[collect]\ndeny_paths = ["{name}"]\n')
    rules = repository_rules(str(tmp_path))
    assert (rules.deny_paths, rules.problem) == ((name,), "")


OFF = "[collect]\ndisabled = true\n"


@pytest.mark.parametrize(
    "data",
    [b"[collect\n", b"\xff", b"a = " + b"[" * 5000, b"a = " + b"9" * 5000],
)
def test_a_file_that_is_not_toml_has_a_problem(tmp_path: Path, data: bytes) -> None:
    """An invalid file has no rules of its own; its problem refuses, and vetoes uploads."""
    (tmp_path / FILE).write_bytes(OFF.encode() + data)
    rules = repository_rules(str(tmp_path))
    assert said(rules) == NOTHING
    assert rules.problem
    assert rules.vetoes_push


def test_the_size_is_bounded(tmp_path: Path) -> None:
    """A file of exactly 1 MiB is read, one byte more is a problem."""
    for size, expected in ((FILE_LIMIT, True), (FILE_LIMIT + 1, False)):
        (tmp_path / FILE).write_text(OFF + "#" * (size - len(OFF) - 1) + "\n")
        assert (tmp_path / FILE).stat().st_size == size
        rules = repository_rules(str(tmp_path))
        assert rules.disabled is expected
        assert bool(rules.problem) is not expected


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "directory"])
def test_only_a_regular_file_is_read(tmp_path: Path, kind: str) -> None:
    """A link, pipe or directory in the file's place is a problem, without opening what it leads to."""
    file = tmp_path / FILE
    (tmp_path / "kept.toml").write_text(OFF)
    if kind == "link":
        file.symlink_to("kept.toml")
    elif kind == "dangling":
        file.symlink_to("gone")
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    rules = repository_rules(str(tmp_path))
    assert said(rules) == NOTHING
    assert rules.problem == "not a regular file"
    assert rules.vetoes_push


def test_a_file_swapped_for_a_link_after_the_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is opened must itself be no link, whatever lay there a moment before."""
    file, kept = tmp_path / FILE, tmp_path / "kept.toml"
    file.write_text("")
    kept.write_text(OFF)
    real = os.open

    def swap(path: str, flags: int, **more: Any) -> int:
        file.unlink()
        file.symlink_to(kept)
        return real(path, flags, **more)

    monkeypatch.setattr(os, "open", swap)
    rules = repository_rules(str(tmp_path))
    assert said(rules) == NOTHING
    assert rules.problem


def test_a_file_swapped_for_a_pipe_after_the_look_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is opened must itself be regular, and opening it never waits."""
    file = tmp_path / FILE
    file.write_text("")
    real = os.open

    def swap(path: str, flags: int, **more: Any) -> int:
        file.unlink()
        os.mkfifo(file)
        return real(path, flags, **more)

    monkeypatch.setattr(os, "open", swap)
    assert repository_rules(str(tmp_path)).problem == "not a regular file"


def test_a_file_that_may_not_be_opened_has_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unreadable file has no rules of its own; its problem refuses, and vetoes uploads."""
    (tmp_path / FILE).write_text(OFF)

    def refuse(path: str, _: int, **more: Any) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", refuse)
    rules = repository_rules(str(tmp_path))
    assert said(rules) == NOTHING
    assert rules.problem == "permission denied"
