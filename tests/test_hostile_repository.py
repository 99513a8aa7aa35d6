"""A hostile repository: whatever its configuration says, no command of ours starts a program that it names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.foundation.git import facts
from tests.support.machine import Machine, call, failed, prompt

REPORT = {"summary": "the build fails", "category": "docs", "body": "It does."}
SPAN = "claude-code:s1#a1"


class Repository:
    """A repository below the home with a modified file; its program leaves a file behind when it runs."""

    def __init__(self, home: Path) -> None:
        self.root = home / "work/shop"
        self.ran = home / "ran"
        self.program = home / "program"
        self.program.write_text(f"#!/bin/sh\ntouch {self.ran}\ncat\n")
        self.program.chmod(0o755)
        self.root.mkdir(parents=True)
        (self.root / "file").write_text("one\n")
        (self.root / ".gitattributes").write_text("* filter=x diff=x\n")
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "one")):
            self.git(*words)
        (self.root / "file").write_text("two\n")
        os.utime(self.root / ".gitattributes", (1, 1))  # so that git looks at it again

    def git(self, *words: str) -> None:
        person = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(
            ["git", *person, *words], cwd=self.root, env=environ, check=False, capture_output=True
        )

    @property
    def hostile(self) -> str:
        return (
            f'[filter "x"]\n\tclean = {self.program}\n\tprocess = {self.program}\n'
            f'[core]\n\tfsmonitor = {self.program}\n[alias]\n\tstatus = "!{self.program}"\n'
            f'[diff "x"]\n\ttextconv = {self.program}\n\tcommand = {self.program}\n'
        )


def plain(shop: Repository) -> None:
    with (shop.root / ".git/config").open("a") as file:
        file.write(shop.hostile)


def padded(shop: Repository) -> None:
    plain(shop)
    config = shop.root / ".git/config"
    config.write_text("# padding\n" * 120_000 + config.read_text())


def linked(shop: Repository) -> None:
    padded(shop)
    (shop.root / ".git/config").rename(shop.root / "elsewhere")
    (shop.root / ".git/config").symlink_to("../elsewhere")


def included(shop: Repository) -> None:
    (shop.root / "more").write_text(shop.hostile)
    with (shop.root / ".git/config").open("a") as file:
        file.write("[include]\n\tpath = ../more\n")


def of_its_work_tree(shop: Repository) -> None:
    (shop.root / ".git/config.worktree").write_text(shop.hostile)
    with (shop.root / ".git/config").open("a") as file:
        file.write("[extensions]\n\tworktreeConfig = true\n")


def behind_a_blank(shop: Repository) -> None:
    """Git takes the blank before the name as part of it."""
    for name in ("common", " common"):
        folder = shop.root / ".git" / name
        folder.mkdir()
        for entry in ("objects", "refs"):
            shutil.copytree(shop.root / ".git" / entry, folder / entry)
        shutil.copy(shop.root / ".git/config", folder / "config")
    with (shop.root / ".git/ common/config").open("a") as file:
        file.write(shop.hostile)
    (shop.root / ".git/commondir").write_text(" common\n")


def beside_its_submodules(shop: Repository) -> None:
    """The one file of configuration that a work tree itself may hold."""
    update = f'[submodule "x"]\n\tpath = x\n\turl = "ext::{shop.program}"\n\tupdate = "!{shop.program}"\n'
    (shop.root / ".gitmodules").write_text(update + shop.hostile)
    shop.git("add", ".gitmodules")


KINDS = [
    *(plain, padded, linked, included),
    *(of_its_work_tree, behind_a_blank, beside_its_submodules),
]


@pytest.fixture
def shop(machine: Machine) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return Repository(machine.home)


def regular_text(path: str) -> str | None:
    return Path(path).read_text() if Path(path).is_file() else None


def submitted(machine: Machine, shop: Repository, *words: str) -> None:
    result = subprocess.run(
        machine.argv("submit", "friction", "--stdin", *words),
        input=json.dumps(REPORT).encode(),
        cwd=shop.root if not words else machine.home,
        env=machine.environ,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert b'"repo_root":"~/work/shop"' in machine.call("export").out


def by_submit(machine: Machine, shop: Repository) -> None:
    submitted(machine, shop)


def by_context_from(machine: Machine, shop: Repository) -> None:
    cwd = str(shop.root)
    lines = [prompt("u1", cwd=cwd), call("a1", "t1"), failed("u2", "t1")]
    machine.claude("s1", [line.replace(b"/srv/app/shop", cwd.encode()) for line in lines])
    submitted(machine, shop, "--context-from", SPAN)


def by_mcp(machine: Machine, shop: Repository) -> None:
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    arguments = {"name": "submit_feedback", "arguments": {"kind": "friction", **REPORT}}
    server = subprocess.Popen(
        machine.argv("mcp"), cwd=shop.root, env=machine.environ, stdin=-1, stdout=-1, stderr=-1
    )
    assert server.stdin is not None and server.stdout is not None
    with server:
        for message in (
            {"id": 1, "method": "initialize", "params": start},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": arguments},
        ):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()
            if "id" in message:
                answer = server.stdout.readline()
        server.stdin.close()
        server.wait(60)
    assert not json.loads(answer)["result"].get("isError"), answer
    assert b'"repo_root":"~/work/shop"' in machine.call("export").out


def by_doctor(machine: Machine, shop: Repository) -> None:
    done = subprocess.run(
        machine.argv("doctor"),
        cwd=shop.root,
        env=machine.environ,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stdout


@pytest.mark.parametrize("door", [by_submit, by_context_from, by_mcp, by_doctor])
@pytest.mark.parametrize("kind", KINDS)
def test_no_program_of_the_repository_runs(
    machine: Machine,
    shop: Repository,
    kind: Callable[[Repository], None],
    door: Callable[[Machine, Repository], None],
) -> None:
    """In every shape a configuration can have, through every command that looks at a repository."""
    kind(shop)
    door(machine, shop)
    assert not shop.ran.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_nor_where_the_configuration_is_taken_for_harmless(
    machine: Machine,
    shop: Repository,
    kind: Callable[[Repository], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is read only decides whether git is asked; what git may do does not depend on it."""
    monkeypatch.setattr(facts, "harmless", lambda _: True)
    monkeypatch.setattr(facts, "parsed", lambda _: {})
    monkeypatch.setattr(facts, "_whole", lambda path, _=0: regular_text(path))
    monkeypatch.chdir(shop.root)
    (shop.root / ".git/config.worktree").unlink(missing_ok=True)
    kind(shop)
    if kind is not of_its_work_tree:
        assert machine.call("submit", "friction", "--stdin", stdin=REPORT).status == 0
        assert b'"git_dirty":"true"' in machine.call("export").out
    assert not shop.ran.exists()


def test_the_program_would_run(shop: Repository) -> None:
    """Git as it is usually run starts it: so the tests above would see it."""
    plain(shop)
    shop.git("diff")
    assert shop.ran.exists()


@pytest.mark.parametrize("whose", ["user", "repository"])
def test_git_does_not_run_for_an_answer_that_is_dropped(
    machine: Machine, shop: Repository, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    """Whoever drops `git_dirty`: what files say is still sent."""
    rule = '[context]\ndrop = ["git_dirty"]\n'
    if whose == "user":
        machine.config(rule)
    else:
        (shop.root / ".agentfeedback.toml").write_text(rule)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", forbidden)
    monkeypatch.chdir(shop.root)
    result = machine.call("submit", "friction", "--stdin", stdin=REPORT)
    assert result.status == 0, result.err
    exported = machine.call("export").out
    assert b'"git_branch":"main"' in exported and b"git_dirty" not in exported
