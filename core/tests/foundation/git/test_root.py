"""Which work tree a directory is in, and the folders git keeps for it, read without git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.foundation.git.root import git_folders, repository_root


def made(root: Path) -> Path:
    """A folder that git would take for a repository."""
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return root


def test_the_nearest_work_tree_counts(tmp_path: Path) -> None:
    """At the directory itself or above it; one that is gone is in what it was in."""
    outer, inner = made(tmp_path / "outer"), made(tmp_path / "outer/inner")
    for path in (inner, inner / "src", inner / "gone/for/ever"):
        assert repository_root(str(path)) == str(inner)
    assert repository_root(str(outer / "src")) == str(outer)
    assert repository_root(str(tmp_path)) is None
    assert repository_root("/") is None


@pytest.mark.parametrize("odd", ["empty", "no head", "head is a folder", "dangling", "pipe"])
def test_what_git_would_not_take_is_not_a_work_tree(tmp_path: Path, odd: str) -> None:
    """Nothing waits at a pipe, and the work tree above counts."""
    outer, inner = made(tmp_path / "outer"), tmp_path / "outer/inner"
    inner.mkdir()
    git = inner / ".git"
    if odd == "empty":
        git.write_text("")
    elif odd == "dangling":
        git.symlink_to(tmp_path / "gone")
    elif odd == "pipe":
        os.mkfifo(git)
    else:
        git.mkdir()
        if odd == "head is a folder":
            (git / "HEAD").mkdir()
    assert repository_root(str(inner)) == str(outer)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("relative", [True, False])
def test_a_linked_work_tree_has_a_folder_of_its_own(
    tmp_path: Path, end: str, relative: bool
) -> None:
    """`.git` is a file with a path, and `commondir` says what is shared; line ends at its end do not count."""
    main = made(tmp_path / "main")
    own = main / ".git/worktrees/tree"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    (own / "commondir").write_text("../.." + end)
    tree = tmp_path / "tree"
    tree.mkdir()
    target = "../main/.git/worktrees/tree" if relative else str(own)
    (tree / ".git").write_text(f"gitdir: {target}{end}")
    assert repository_root(str(tree / "src")) == str(tree)
    found = git_folders(str(tree))
    assert found is not None and os.path.samefile(found.folder, own)
    assert os.path.samefile(found.common, main / ".git") and found.root == str(tree)
    found = git_folders(str(main))
    assert found is not None and found.folder == found.common == str(main / ".git")


@pytest.mark.parametrize(
    "text",
    ["", "gitdir: ", "/main/.git", "gitdir: gone", "gitdir: a\0b", "gitdir: " + "x" * 70_000],
)
def test_a_pointer_that_leads_nowhere_is_refused(tmp_path: Path, text: str) -> None:
    """As git refuses it: no word before the path, no such folder, a zero byte, more than a path has."""
    (tmp_path / ".git").write_text(text)
    assert git_folders(str(tmp_path)) is None
    assert repository_root(str(tmp_path)) is None


def test_an_empty_or_unreadable_pointer_to_the_common_folder_is_refused(tmp_path: Path) -> None:
    """What is shared is not known then."""
    root = made(tmp_path / "a")
    for make in (lambda path: path.write_text("\n"), lambda path: path.mkdir()):
        pointer = root / ".git/commondir"
        make(pointer)
        assert git_folders(str(root)) is None
        pointer.unlink() if pointer.is_file() else pointer.rmdir()
    assert git_folders(str(root)) is not None
