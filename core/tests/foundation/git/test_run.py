"""Git runs on a hostile repository: no program that the repository names is started, through any member of any configuration."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentfeedback.foundation.git.facts import git_facts
from agentfeedback.foundation.git.root import git_folders
from agentfeedback.foundation.git.run import run_git

STATUS = ("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all")

#: Members of git's configuration that name a program or a file with more configuration, as git-config(1),
#: gitattributes(5), git-remote(1) and the pages of single commands describe them; `x` is a name of our own.
PROGRAMS = """
alias.status browser.x.cmd browser.x.path core.alternateRefsCommand core.askPass core.attributesFile core.editor
core.excludesFile core.fsmonitor core.gitProxy core.hooksPath core.pager core.sshCommand core.worktree
credential.helper credential.https://example.org.helper diff.external diff.guitool diff.tool diff.x.command
diff.x.textconv difftool.x.cmd difftool.x.path extensions.partialClone extensions.worktreeConfig filter.x.clean
filter.x.process filter.x.smudge gpg.openpgp.program gpg.program gpg.ssh.defaultKeyCommand gpg.ssh.program
gpg.x509.program guitool.x.cmd help.browser hook.x.command http.proxy http.sslCert imap.tunnel include.path
includeIf.gitdir:/.path init.templateDir instaweb.browser instaweb.httpd interactive.diffFilter
maintenance.x.schedule man.viewer man.x.cmd man.x.path merge.guitool merge.tool merge.x.driver mergetool.x.cmd
mergetool.x.path pager.status receive.procReceiveRefs remote.origin.promisor remote.origin.proxy
remote.origin.receivepack remote.origin.uploadpack remote.origin.url remote.origin.vcs sendemail.ccCmd
sendemail.headerCmd sendemail.sendmailCmd sendemail.smtpServer sendemail.toCmd sequence.editor
submodule.x.update submodule.x.url tar.x.command trace2.eventTarget trailer.x.cmd trailer.x.command
uploadpack.packObjectsHook web.browser
""".split()  # noqa: SIM905


@pytest.fixture
def shop(tmp_path: Path, git: str) -> Shop:
    return Shop(tmp_path)


class Shop:
    """A repository with a modified file, and a program that leaves a file behind when anything runs it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop"
        self.ran = folder / "ran"
        self.hook = folder / "hook"
        self.hook.write_text(f"#!/bin/sh\ntouch {self.ran}\ncat\n")
        self.hook.chmod(0o755)
        self.root.mkdir()
        (self.root / "file").write_text("one\n")
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", "https://example.org/shop.git")
        (self.root / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")
        (self.root / "file").write_text("two\n")
        for name in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc"):
            shutil.copy(self.hook, self.root / ".git/hooks" / name)

    @property
    def config(self) -> Path:
        return self.root / ".git/config"

    def git(self, *words: str, check: bool = True) -> bytes:
        """Git as a careless program would run it, with the repository's own configuration."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent)}
        environ |= {"GIT_CONFIG_NOSYSTEM": "1"}
        environ |= {f"GIT_{who}_NAME": "x" for who in ("AUTHOR", "COMMITTER")}
        environ |= {f"GIT_{who}_EMAIL": "x@example.org" for who in ("AUTHOR", "COMMITTER")}
        return subprocess.run(
            ["git", *words], cwd=self.root, env=environ, check=check, capture_output=True
        ).stdout

    def set(self, *names: str) -> None:
        """Add members to the configuration; each names the program, or what leads to it."""
        included = self.root.parent / "included"
        included.write_text(
            f'[filter "x"]\n\tclean = {self.hook}\n[core]\n\tfsmonitor = {self.hook}\n'
        )
        values = {
            "alias.status": f"!{self.hook}",
            "core.hooksPath": str(self.root / ".git/hooks"),
            "extensions.worktreeConfig": "true",
            "include.path": str(included),
            "includeIf.gitdir:/.path": str(included),
            "pager.status": str(self.hook),
            "remote.origin.promisor": "true",
            "submodule.x.update": f"!{self.hook}",
        }
        if "extensions.worktreeConfig" in names:
            shutil.copy(included, self.root / ".git/config.worktree")
        with self.config.open("a") as file:
            for name in names:
                section, _, rest = name.partition(".")
                between, _, key = rest.rpartition(".")
                file.write(f'[{section} "{between}"]\n' if between else f"[{section}]\n")
                file.write(f'\t{key} = "{values.get(name, self.hook)}"\n')

    def status(self) -> bytes | None:
        folders = git_folders(str(self.root))
        assert folders is not None
        return run_git(folders, *STATUS)


@pytest.mark.parametrize(
    "name", ["filter.x.clean", "filter.x.process", "core.fsmonitor", "include.path"]
)
def test_the_program_would_run(shop: Shop, name: str) -> None:
    """Git as it is usually run starts the program: so the tests below would see it."""
    shop.set(name)
    shop.git("status", check=False)
    assert shop.ran.exists()


@pytest.fixture(scope="module")
def same_shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return Shop(tmp_path_factory.mktemp("git"))


@pytest.fixture
def reset_shop(same_shop: Shop) -> Iterator[Shop]:
    """One repository for many tests, with the configuration it was made with."""
    text = same_shop.config.read_text()
    yield same_shop
    same_shop.config.write_text(text)
    (same_shop.root / ".git/config.worktree").unlink(missing_ok=True)
    same_shop.ran.unlink(missing_ok=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_is_run(reset_shop: Shop, name: str) -> None:
    """Whatever member names it; git answers as if the member were not there, and a guard keeps it from being asked."""
    reset_shop.set(name)
    assert reset_shop.status() == b" M file\0"
    facts = git_facts(str(reset_shop.root), "/home")
    assert facts["git_branch"] == "main"
    if not name.startswith(("init.", "merge.", "remote.", "submodule.")):
        assert "git_dirty" not in facts
    assert not reset_shop.ran.exists()


def test_no_member_git_knows_has_an_effect(shop: Shop) -> None:
    """Every member that this git lists, set to the program all at once, changes nothing of the answer."""
    listed = shop.git("help", "--config").decode().split("\n\n")[0].split()
    names = [re.sub(r"<[^>]*>|\*", "x", name) for name in listed]
    assert len(names) > 500
    shop.set(*names, *PROGRAMS)
    assert shop.status() == b" M file\0"
    assert "git_dirty" not in git_facts(str(shop.root), "/home")
    assert not shop.ran.exists()


def test_every_listed_member_that_sounds_like_a_program_is_tried(shop: Shop) -> None:
    """A newer git may list a member that names a program and is not tried one by one above."""
    listed = shop.git("help", "--config").decode().split("\n\n")[0].split()
    sounding = re.compile(
        r"(cmd|command|program|helper|hook|hookspath|textconv|clean|smudge|process|driver|editor|pager"
        r"|external|askpass|gitproxy|tunnel|browser|viewer|diffFilter|uploadpack|receivepack|vcs)$",
        re.IGNORECASE,
    )
    no_program = {
        *("advice.ignoredHook", "advice.waitingForEditor", "color.pager"),
        *("column.clean", "diff.x.cachetextconv", "gitcvs.dbDriver"),
    }
    tried = {re.sub(r"\.(openpgp|origin|status|x)\.", ".x.", name).lower() for name in PROGRAMS}
    named = {re.sub(r"<[^>]*>|\*", "x", name) for name in listed} - no_program
    assert {name.lower() for name in named if sounding.search(name)} <= tried


@pytest.mark.parametrize("kind", ["large", "link", "loop", "missing", "unreadable form", "fifo"])
def test_a_configuration_not_read_whole_is_not_harmless(shop: Shop, kind: str) -> None:
    """What was not read may name anything: git is not asked."""
    shop.set("filter.x.clean")
    if kind == "large":
        shop.config.write_text("# padding\n" * 120_000 + shop.config.read_text())
    elif kind == "unreadable form":
        shop.config.write_text(shop.config.read_text() + "[x]\n\ta = b\\\nc\n")
    else:
        moved = shop.config.rename(shop.root / ".git/other")
        if kind == "link":
            moved.write_text("# padding\n" * 120_000 + moved.read_text())
            shop.config.symlink_to("other")
        elif kind == "loop":
            shop.config.symlink_to("config")
        elif kind == "fifo":
            os.mkfifo(shop.config)
    assert "git_dirty" not in git_facts(str(shop.root), "/home")
    assert not shop.ran.exists()


@pytest.mark.parametrize("before", ["", " ", "\t", "\n"])
@pytest.mark.parametrize("after", ["", " ", "\n", "\r\n", "\nx"])
def test_the_common_folder_is_the_one_git_takes(shop: Shop, before: str, after: str) -> None:
    """A blank is part of its name; so the configuration that is checked is the one git would read."""
    harmless = shop.root / ".git/common"
    hostile = shop.root / ".git" / f"{before}common{after}".rstrip("\r\n")
    for folder in {harmless, hostile}:
        folder.mkdir()
        for entry in ("objects", "refs", "config"):
            source = shop.root / ".git" / entry
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / entry)
    (harmless / "packed-refs").write_text("# harmless\n")
    with (hostile / "config").open("a") as file:
        file.write(f'[filter "x"]\n\tclean = {shop.hook}\n')
    (shop.root / ".git/commondir").write_text(before + "common" + after)
    folders = git_folders(str(shop.root))
    taken = shop.git("rev-parse", "--git-common-dir", check=False).removesuffix(b"\n").decode()
    assert folders is not None
    assert os.path.realpath(folders.common) == os.path.realpath(shop.root / taken)
    assert "git_dirty" not in git_facts(str(shop.root), "/home")
    assert not shop.ran.exists()


def test_a_dropped_answer_is_not_asked_for(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git does not run where nobody may know its answer."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("git was run")

    assert git_facts(str(shop.root), "/home")["git_dirty"] == "true"
    monkeypatch.setattr(subprocess, "Popen", forbidden)
    facts = git_facts(str(shop.root), "/home", {"git_dirty", "git_branch"})
    assert facts["git_commit"] and not {"git_dirty", "git_branch"} & set(facts)


@pytest.fixture
def traced(shop: Shop) -> Path:
    strace = shutil.which("strace")
    if strace is None or subprocess.run([strace, "-o", os.devnull, "true"], check=False).returncode:
        pytest.skip("strace is not installed or may not trace")
    shop.set(*PROGRAMS)
    return shop.root.parent / "trace"


def test_git_writes_nothing_and_starts_nothing(shop: Shop, traced: Path) -> None:
    """Under strace: one program, git, and no file of the repository opened to be written, made or removed."""
    code = (
        "import sys; from agentfeedback.foundation.git.root import git_folders as f;"
        "from agentfeedback.foundation.git.run import run_git as r;"
        f"sys.exit(r(f({str(shop.root)!r}), *{STATUS!r}) != b' M file\\0')"
    )
    command = ["strace", "-f", "-e", "trace=%file,%process", "-o", str(traced)]
    subprocess.run([*command, sys.executable, "-c", code], check=True)
    lines = traced.read_text(errors="replace").splitlines()
    started = (re.search(r'execve\("([^"]*)"', text) for text in lines)
    programs = {os.path.basename(found[1]) for found in started if found is not None}
    assert programs == {os.path.basename(sys.executable), "git"}
    # The first argument of a symbolic link is where it leads.
    lines = [re.sub(r'symlink\("[^"]*"', "symlink(", text) for text in lines]
    below = [text for text in lines if f'"{shop.root}' in text]
    writing = re.compile(
        r"O_(WRONLY|RDWR|CREAT|TRUNC)|^\d+ +(unlink|rename|mkdir|link|symlink|chmod|utime)"
    )
    assert below and not [text for text in below if writing.search(text)]


def test_stored_forms_count(shop: Shop) -> None:
    """A mode that the configuration ignores is not a modification; linked, packed and split repositories are read too."""
    shop.git("add", ".")
    shop.git("commit", "-q", "-m", "two")
    (shop.root / "file").chmod(0o755)
    assert git_facts(str(shop.root), "/home")["git_dirty"] == "true"
    shop.git("config", "core.fileMode", "false")
    assert git_facts(str(shop.root), "/home")["git_dirty"] == "false"
    shop.git("worktree", "add", "-q", str(shop.root.parent / "tree"), "-b", "side")
    shop.git("gc", "-q")
    shop.git("update-index", "--split-index")
    tree = shop.root.parent / "tree"
    for root in (shop.root, tree):
        assert git_facts(str(root), "/home")["git_dirty"] == "false"
    (tree / "file").write_bytes(b"three\n")
    assert git_facts(str(tree), "/home")["git_dirty"] == "true"
    assert git_facts(str(shop.root), "/home")["git_dirty"] == "false"


def test_a_first_commit_to_come(tmp_path: Path, git: str) -> None:
    """On a branch without a commit every file that was added is a modification."""
    root = tmp_path / "new"
    root.mkdir()
    (root / "file").write_text("x")
    subprocess.run(
        ["git", "init", "-q"], cwd=root, check=True, env={"PATH": os.environ["PATH"], "HOME": "/"}
    )
    assert git_facts(str(root), "/home")["git_dirty"] == "false"
    subprocess.run(
        ["git", "add", "."], cwd=root, check=True, env={"PATH": os.environ["PATH"], "HOME": "/"}
    )
    assert git_facts(str(root), "/home")["git_dirty"] == "true"


def test_a_repository_that_keeps_git_waiting(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe where git reads a file ends git at its deadline; the answer is left out."""
    monkeypatch.setattr("agentfeedback.foundation.git.run.SECONDS", 0.3)
    (shop.root / ".gitattributes").unlink()
    os.mkfifo(shop.root / ".gitattributes")
    assert shop.status() is None or shop.status() == b" M .gitattributes\0 M file\0"
    (shop.root / ".git/index").unlink()
    os.mkfifo(shop.root / ".git/index")
    assert shop.status() is None
    assert "git_dirty" not in git_facts(str(shop.root), "/home")
