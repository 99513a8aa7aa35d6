"""What is collected: of the machine little, of the environment named variables only, of git its files."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentfeedback.config.shape import Context
from agentfeedback.foundation.git.config import harmless, parsed
from agentfeedback.foundation.git.facts import git_facts, project_of, shown_remote
from agentfeedback_submit.filing.collect import Collected, collect, folder_name


def collected(
    directory: Path, context: Context | None = None, drop: Any = (), **environ: str
) -> Collected:
    return collect(
        str(directory),
        environ,
        home=str(directory.parent),
        context=context or Context(),
        client="agentfeedback/1",
        drop=drop,
    )


def run_git(folder: Path, *commands: str) -> str:
    """What the last of these git commands prints."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "x@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    printed = b""
    for command in commands:
        done = subprocess.run(
            ["git", *command.split()], cwd=folder, env=environ, check=True, capture_output=True
        )
        printed = done.stdout
    return printed.decode().strip()


def repository(folder: Path, *commands: str) -> str:
    """Make a repository with one commit and run further commands in it; the commit."""
    folder.mkdir()
    (folder / "file").write_text("one\n")
    return run_git(
        folder, "init -q -b main", "add file", "commit -q -m one", *commands, "rev-parse HEAD"
    )


def test_a_plain_folder_tells_its_name_alone(tmp_path: Path) -> None:
    """Outside a repository the folder is the project; the full directory is not told."""
    (tmp_path / "shop").mkdir()
    found = collected(tmp_path / "shop")
    assert found.project == found.context["folder"] == "shop"
    assert set(found.context) == {"folder", "os", "arch", "client"}
    assert str(tmp_path) not in repr(found.context)


def test_the_settings_of_context(tmp_path: Path) -> None:
    """The directory is sent when asked for, configured keys as given, dropped ones never."""
    (tmp_path / "shop").mkdir()
    context = Context(cwd=True, drop=("os", "channel"), app="a", url="u", channel="c")
    found = collected(tmp_path / "shop", context, drop=("arch",)).context
    assert found["cwd"] == str(tmp_path / "shop") and (found["app"], found["url"]) == ("a", "u")
    assert not {"os", "arch", "channel"} & set(found)


@pytest.mark.parametrize(
    ("environ", "harness", "model", "context"),
    [
        ({}, "", "", {}),
        ({"OMP_PROFILE": "x", "CLAUDECODE": "1"}, "omp", "", {}),
        ({"PI_CODING_AGENT": "1", "PI_MODEL": "m"}, "pi", "m", {}),
        ({"OPENCODE": "1", "CODEX_SANDBOX": "1"}, "opencode", "", {}),
        ({"CODEX_SANDBOX": "seatbelt", "CLAUDE_CODE_SESSION_ID": "s"}, "codex", "", {}),
        (
            {
                "CLAUDECODE": "1",
                "CLAUDE_CODE_SESSION_ID": "s",
                "CLAUDE_EFFORT": "high",
                "AI_AGENT": "a",
            },
            "claude-code",
            "",
            {"session_id": "s", "effort": "high", "agent": "a"},
        ),
        (
            {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s", "AGENT_FEEDBACK_SESSION_ID": "t"},
            "claude-code",
            "",
            {"session_id": "t"},
        ),
        ({"OPENCODE_MODEL": "m"}, "opencode", "m", {}),
        ({"CODEX_SANDBOX": "", "SECRET_TOKEN": "x", "USER": "u", "PWD": "/p"}, "", "", {}),
    ],
)
def test_the_harness_is_told_by_its_variables(
    tmp_path: Path, environ: dict[str, str], harness: str, model: str, context: dict[str, str]
) -> None:
    """The first that is set tells the harness; no other variable is told."""
    found = collected(tmp_path, **environ)
    assert (found.harness, found.model) == (harness, model)
    assert {
        name: value
        for name, value in found.context.items()
        if name not in ("folder", "os", "arch", "client")
    } == context


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
    found = collected(root)
    assert (found.project, found.context["folder"]) == ("store", "shop")


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


@given(st.text(max_size=60))
def test_any_configuration_is_read_or_refused(text: str) -> None:
    """No text makes the reading of a configuration raise."""
    found = parsed(text)
    assert found is None or harmless(found) in (True, False)


def test_the_forms_of_a_configuration() -> None:
    """Quotes, escapes, comments, names alone and sections on one line with a member."""
    text = '[Remote "a\\"b"] URL = "x # y" ; z\n\tfetch\n# c\n[core]\n bare = fa\\tlse\n'
    assert parsed(text) == {
        ("remote", 'a"b'): {"url": "x # y", "fetch": "true"},
        ("core", ""): {"bare": "fa\tlse"},
    }
    assert parsed("x = 1") is None and parsed("[a]\nx = a\\\nb") is None


@pytest.mark.parametrize(
    ("directory", "name"), [("/h/u", "~"), ("/h/u/", "~"), ("/h/u/a", "a"), ("/", "/")]
)
def test_the_home_is_called_by_its_sign(directory: str, name: str) -> None:
    """The name of a home would be that of its user."""
    assert folder_name(directory, "/h/u") == name
