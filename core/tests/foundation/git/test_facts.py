"""What a repository's files say about it, however odd they are, and nothing secret."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentfeedback.foundation.git.facts import git_facts, project_of, shown_remote
from tests.support.git import repository, run_git


def test_a_repository_tells_what_its_files_say(tmp_path: Path, git: str) -> None:
    """Remote, branch, commit, upstream, tag, default branch and whether a tracked file is modified."""
    root = tmp_path / "shop"
    commit = repository(
        root,
        "remote add origin https://me:pw@example.org/team/store.git?x=1#y",
        "config branch.main.remote origin",
        "config branch.main.merge refs/heads/main",
        "update-ref refs/remotes/origin/main HEAD",
        "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main",
        "tag -a v1 -m one",
        "tag z",
    )
    (root / "src").mkdir()
    expected = {
        "repo_root": "~/shop",
        "git_remote": "https://example.org/team/store.git",
        "git_branch": "main",
        "git_commit": commit,
        "git_upstream": "origin/main",
        "git_tag": "v1",
        "git_default_branch": "main",
        "git_dirty": "false",
    }
    assert git_facts(str(root / "src"), str(tmp_path)) == expected
    run_git(root, "pack-refs --all", "gc -q")
    (root / "new").write_text("untracked\n")
    (root / "file").write_text("changed\n")
    assert git_facts(str(root), str(tmp_path)) == {**expected, "git_dirty": "true"}


def test_a_linked_work_tree_and_a_detached_head(tmp_path: Path, git: str) -> None:
    """A work tree tells its own branch and the common remote; a detached head has no branch."""
    commit = repository(
        tmp_path / "shop",
        "remote add origin git@example.org:team/store.git",
        f"worktree add -q {tmp_path}/tree -b side",
        "checkout -q --detach",
    )
    found = git_facts(str(tmp_path / "tree"), str(tmp_path))
    assert (found["git_branch"], found["git_commit"]) == ("side", commit)
    assert found["git_remote"] == "example.org:team/store.git"
    found = git_facts(str(tmp_path / "shop"), str(tmp_path))
    assert found["git_commit"] == commit and "git_branch" not in found


@pytest.mark.parametrize(
    "setting",
    [
        "core.fsmonitor {hook}",
        "core.hooksPath {folder}",
        "filter.x.clean {hook}",
        "include.path {folder}/other",
        "remote.origin.promisor true",
        "core.sshCommand {hook}",
        "extensions.partialClone origin",
        "alias.status !{hook}",
    ],
)
def test_no_program_that_a_repository_names_is_run(tmp_path: Path, git: str, setting: str) -> None:
    """Where the configuration could make git run something, git is not asked."""
    root, ran = tmp_path / "shop", tmp_path / "ran"
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    hook.chmod(0o755)
    (tmp_path / "other").write_text(
        f'[core]\n\tfsmonitor = {hook}\n[filter "x"]\n\tclean = {hook}\n'
    )
    repository(root)
    (root / ".gitattributes").write_text("* filter=x\n")
    (root / ".git/hooks/post-index-change").write_text(hook.read_text())
    (root / ".git/hooks/post-index-change").chmod(0o755)
    name, _, value = setting.format(hook=hook, folder=tmp_path).partition(" ")
    run_git(root, f"config {name} {value}")
    os.utime(root / "file", (1, 1))  # git would have to look at it again
    found = git_facts(str(root), str(tmp_path))
    assert "git_dirty" not in found and found["git_branch"] == "main"
    assert not ran.exists()


def test_hooks_do_not_run_where_git_is_asked(tmp_path: Path, git: str) -> None:
    """A harmless configuration is not a licence for the hooks beside it, and the index is not written."""
    root, ran = tmp_path / "shop", tmp_path / "ran"
    repository(root)
    for name in ("post-index-change", "fsmonitor-watchman"):
        hook = root / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    os.utime(root / "file", (1, 1))
    index = (root / ".git/index").stat()
    assert git_facts(str(root), "/h")["git_dirty"] == "false"
    assert not ran.exists() and (root / ".git/index").stat().st_mtime_ns == index.st_mtime_ns


def test_odd_repositories_tell_what_they_can(tmp_path: Path) -> None:
    """Broken, endless or foreign files of a repository are passed over."""
    root = tmp_path / "shop"
    (root / ".git/refs").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: ../../../etc/passwd\n")
    (root / ".git/config").write_text('[remote "o\n')
    os.mkfifo(root / ".git/packed-refs")
    assert git_facts(str(root), str(tmp_path)) == {"repo_root": "~/shop"}


@pytest.mark.parametrize(
    ("url", "shown", "project"),
    [
        ("https://u:p@h.org/a/b.git", "https://h.org/a/b.git", "b"),
        ("https://h.org/a/b/?q=1", "https://h.org/a/b/", "b"),
        ("ssh://git@h.org:22/a/b.git#f", "ssh://h.org:22/a/b.git", "b"),
        ("git@h.org:a/b.git", "h.org:a/b.git", "b"),
        ("h.org:b", "h.org:b", "b"),
        ("/home/u/src/b.git", "~/src/b.git", "b"),
        ("file:///home/u/src/b", "~/src/b", "b"),
        ("../b", "../b", "b"),
        ("https://a@b@h.org/x", "https://h.org/x", "x"),
        ("https://u:p#s@h.org/a/b.git", "https://h.org/a/b.git", "b"),
        ("https://u:p?s@h.org/a/b.git", "https://h.org/a/b.git", "b"),
        ("https://u:p/s@h.org/a/b.git", "https://h.org/a/b.git", "b"),
        ("https://u:p#/?s@h.org/b", "https://h.org/b", "b"),
        ("https://[::1]:80/a/b?u=c@d#e", "https://[::1]:80/a/b", "b"),
        ("https://h.org:80/@scope/b", "https://h.org:80/@scope/b", "b"),
        ("https://u:X@:/Y@h.org/b", "https://h.org/b", "b"),
        ("h.org/b?token=1#x", "h.org/b", "b"),
        ("/home/u/src/b#x", "~/src/b", "b"),
    ],
)
def test_a_remote_is_shown_without_who_and_how(url: str, shown: str, project: str) -> None:
    """User, password, query and fragment go; local ones start at the home."""
    assert shown_remote(url, "/home/u") == shown
    assert project_of(shown) == project


@given(
    st.text("abP:/?#@[]\\", max_size=9),
    st.sampled_from(["https", "ssh", "git+x"]),
    st.text("ab/?#", max_size=6),
)
def test_no_password_is_shown(password: str, scheme: str, path: str) -> None:
    """Whatever characters it has: nothing between the user's name and the host is left."""
    # What follows such a part reads as a path: `u:p@a/b@h.org` may be the host `a`.
    assume(not re.search(r"@[^:/]+(:[0-9]*)?/", password + "/"))
    shown = shown_remote(f"{scheme}://u:X{password}Y@h.org/{path}", "/home/u")
    assert "X" not in shown and "Y" not in shown
