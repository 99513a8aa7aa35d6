"""Names that are not UTF-8 and locales that say files have other names: every command answers, every rule holds."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.machine import Machine, meta, prompt, typed

ASCII = [
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
]


@pytest.fixture
def odd(tmp_path: Path) -> Machine:
    """A machine whose home has a name that is not UTF-8."""
    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/h\xff\xfe"))
    home.mkdir()
    machine = Machine(home)
    path = machine.claude("s1", [prompt("u1")])
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return machine


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "list"),
        ("sessions", "status"),
        ("sessions", "digest", "--unprocessed"),
        ("doctor",),
        ("plugins",),
        ("install", "claude-code"),
    ],
    ids=" ".join,
)
def test_home_that_is_not_utf8(odd: Machine, words: tuple[str, ...]) -> None:
    """Every command works below such a home, on settled files as well, and prints JSON that is UTF-8."""
    if words[0] == "sessions":
        odd.list_later()
    result = odd.run(*words, "--json")
    assert result.status == 0, result.err
    shown = json.loads(result.out.decode())
    if words[1:2] == ("list",):
        (session,) = shown["sessions"]
        assert session["path"].endswith("h\ufffd\ufffd/.claude/projects/-srv-app-shop/s1.jsonl")
    result = odd.run(*words)
    assert result.status == 0, result.err
    assert b"\xff" not in result.out


@pytest.mark.parametrize("mode", ["--json", "--json=false"])
def test_ref_that_is_not_utf8(machine: Machine, mode: str) -> None:
    """A ref of any bytes is a session that is not there."""
    ref = os.fsdecode(b"claude-code:\xff")
    for words in (("digest",), ("mark", "--outcome", "nothing"), ("forget",)):
        result = machine.run("sessions", *words, ref, mode)
        assert result.status == 1
        assert "Traceback" not in result.err
        assert result.out.decode().count("\n") == len(result.out.splitlines())


def _rules(machine: Machine) -> dict[str, str]:
    """Sessions that a link, a repository file, an entry and `~` refuse, all by names beyond ASCII; and their states."""
    denied, repository = machine.home / "відмова", machine.home / "репо"
    denied.mkdir()
    (machine.home / "лінк").symlink_to(denied)
    (repository / ".git").mkdir(parents=True)
    (repository / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (repository / ".agentfeedback.toml").write_text("[collect]\ndisabled = true\n")
    machine.codex("open", [meta("/srv/Проект"), typed()])
    machine.codex("link", [meta(str(machine.home / "лінк")), typed()])
    machine.codex("repository", [meta(str(repository)), typed()])
    machine.codex("home", [meta(str(machine.home / "таємне/x")), typed()])
    machine.claude("after", [prompt("u1"), prompt("u2", cwd=str(machine.home / "лінк"))])
    machine.config(f'[collect]\ndeny_paths = ["{denied}", "~/таємне"]\n')
    return {
        "open": "new",
        "link": "denied",
        "repository": "disabled",
        "home": "denied",
        "after": "denied",
    }


@pytest.mark.parametrize("locale", ASCII)
def test_policy_holds_in_any_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    """Where Python would take file names for ASCII, links, repository files and `~` refuse as they do elsewhere."""
    home = tmp_path / "дім"
    home.mkdir()
    machine = Machine(home)
    states = _rules(machine)
    result = machine.run("sessions", "list", "--json", **locale)
    assert result.status == 0, result.err
    assert {item["session_id"]: item["state"] for item in result.json["sessions"]} == states
    assert result.out == machine.run("sessions", "list", "--json").out
    result = machine.run("sessions", "digest", "--unprocessed", "--json", **locale)
    assert [item["session_id"] for item in result.json["sessions"]] == ["open"]


def test_hook_in_any_locale(machine: Machine) -> None:
    """A hook notes its run whatever the locale is, and what is on its standard input is still read."""
    done = subprocess.run(
        machine.argv("hook", "cursor", "stop"),
        input=json.dumps({"conversation_id": "c1", "workspace_roots": ["/srv/Проект"]}).encode(),
        env={**machine.environ, **ASCII[0]},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (machine.home / ".cache/agentfeedback/hooks/cursor.json").is_file()


def test_interpreter_options_are_kept(machine: Machine) -> None:
    """Started again for its locale, the program gets the words and options it was started with."""
    argv = machine.argv("sessions", "digest", "--json", "claude-code:é")
    argv[1:1] = ["-W", "error", "-B"]
    done = subprocess.run(
        argv,
        env={**machine.environ, **ASCII[0]},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["errors"][0]["ref"] == "claude-code:é"


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "list", "--json"),
        ("sessions", "list"),
        ("sessions", "nope"),
        ("sessions",),
    ],
    ids=" ".join,
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_full_standard_error_changes_nothing_else(machine: Machine, words: tuple[str, ...]) -> None:
    """Where nobody reads them, output and exit status are those of a run that told everything."""
    machine.claude("s1", [prompt("u1")])
    machine.claude("a#b", [prompt("u1")])  # named on standard error
    told = machine.run(*words)
    assert told.err
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            machine.argv(*words),
            env=machine.environ,
            stdout=subprocess.PIPE,
            stderr=full,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (told.status, told.out)


def test_lock_of_an_installation_that_cannot_be_had_names_the_remedy(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A held lock is to be waited for; a place where none can be made has to be put right."""
    from agentfeedback.cli import install
    from agentfeedback.foundation.lock import FileLock

    folder = machine.home / ".cache/agentfeedback/hooks"
    folder.mkdir(parents=True)
    monkeypatch.setattr(install, "_PATIENCE", 0.05)
    with FileLock(str(folder / "install.lock"), 0):
        result = machine.call("install", "claude-code")
    assert result.status == 1
    assert result.err.endswith("try again once no other install runs.\n")
    (folder / "install.lock").unlink()
    (folder / "install.lock").mkdir()
    result = machine.call("install", "claude-code")
    assert result.status == 1
    assert "cannot be locked: is a directory; check the permissions" in result.err
    assert not (machine.home / ".claude").exists()
