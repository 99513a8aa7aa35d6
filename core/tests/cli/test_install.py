"""`agentfeedback install` and `uninstall` on real files: bytes, modes, links, refusals, kills."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pytest_agentfeedback.machine
from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.harness_hooks import settings_file

FILES = {
    "cursor": ".cursor/hooks.json",
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "copilot": ".copilot/hooks/agentfeedback.json",
}
EVENTS = {
    "cursor": ["postToolUseFailure", "stop", "sessionEnd"],
    "claude-code": ["Stop"],
    "codex": ["Stop"],
    "copilot": ["agentStop"],
}
FOREIGN = b"""\
{
    "permissions": {"allow": ["Bash(ls:*)"]},   "unknown":[1.50, 1e3, "\\u00e9"],
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}
        ],
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    },
    "env": {"A": "b"}
}
"""


class Machine(pytest_agentfeedback.machine.Machine):
    """A home with hook files in it; many runs are needed, so the program runs within this process."""

    def json(self, *words: str, **environ: str) -> Any:
        done = self.call(*words, "--json", **environ)
        assert (0, "") == (done.status, done.err)
        return done.json

    def file(self, harness: str, data: bytes | None = None) -> Path:
        path = self.home / FILES[harness]
        if data is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path.resolve() / "home"
    home.mkdir()
    return Machine(home)


@pytest.mark.parametrize("harness", FILES)
def test_a_harness_without_hooks_gets_a_file_and_loses_it(machine, harness):
    """Where there was no hook file install makes one with exactly the events, and uninstall removes it."""
    path = machine.file(harness)
    done = machine.json("install", harness)
    assert {"status": "changed", "harnesses": [harness], "changed": [str(path)]} == {
        name: value for name, value in done.items() if name != "next"
    }
    assert EVENTS[harness] == list(json.loads(path.read_bytes())["hooks"])
    assert 0 == stat.S_IMODE(path.stat().st_mode) & 0o077
    assert {"status": "unchanged", "harnesses": [harness], "changed": []} == machine.json(
        "install", harness
    )
    assert [str(path)] == machine.json("uninstall", harness)["changed"]
    assert not path.exists()
    assert "unchanged" == machine.json("uninstall", harness)["status"]


@pytest.mark.parametrize("harness", FILES)
@pytest.mark.parametrize("before", [FOREIGN, b"\xef\xbb\xbf" + FOREIGN, b"{}", b' {"hooks":{}}'])
def test_everything_else_stays_byte_for_byte(machine, harness, before):
    """Foreign hooks, unknown members, numbers as written and a BOM survive install, a second one, and uninstall."""
    path = machine.file(harness, before)
    assert 0 == machine.call("install", harness).status
    added = path.read_bytes()
    assert added != before
    assert before.startswith(b"\xef\xbb\xbf") == added.startswith(b"\xef\xbb\xbf")
    for line in before.splitlines():
        assert line.rstrip(b"}] ,") in added
    assert 0 == machine.call("install", harness).status
    assert added == path.read_bytes()
    assert 0 == machine.call("uninstall", harness).status
    assert before == path.read_bytes()


@pytest.mark.parametrize("harness", FILES)
def test_what_is_installed_is_what_the_harness_calls(machine, harness):
    """Each command, run by a shell as the harness would, serves its event and prints nothing."""
    machine.call("install", harness)
    text = json.dumps(json.loads(machine.file(harness).read_bytes()))
    commands = []

    def collect(members: dict[str, Any]) -> dict[str, Any]:
        commands.extend(v for v in members.values() if isinstance(v, str) and " hook " in v)
        return members

    json.loads(text, object_hook=collect)
    assert EVENTS[harness] == [shlex.split(command)[-1] for command in commands]
    for command in commands:
        done = subprocess.run(
            command, shell=True, env=machine.environ, input=b"{}", capture_output=True, check=True
        )
        assert b"" == done.stdout + done.stderr
    ran = json.loads((machine.home / f".cache/agentfeedback/hooks/{harness}.json").read_bytes())
    assert EVENTS[harness][-1] == ran["event"]


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"[]",
        b'{"a": 1,}',
        b'{"a": 1} // comment',
        b'/* comment */ {"a": 1}',
        b'{"a": 1, "a": 2}',
        b'{"hooks": []}',
        b'{"hooks": {"Stop": {}, "stop": {}, "agentStop": {}}}',
        b'{"a": "\xff"}',
        b"\xff\xfe{\x00}\x00",
        b" " * (settings_file.LARGEST + 1),
    ],
)
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_what_cannot_be_edited_is_left_alone(machine, before, command):
    """A file that is not strict JSON of a hook file's shape is refused with status 1, and untouched."""
    for harness in ("claude-code", "cursor"):
        path = machine.file(harness, before)
        status = path.stat()
        done = machine.call(command, harness)
        assert (1, b"") == (done.status, done.out)
        assert f"{path} was left as it is: " in done.err
        assert before == path.read_bytes()
        assert (status.st_mtime_ns, status.st_ino) == (path.stat().st_mtime_ns, path.stat().st_ino)
        assert [path.name] == os.listdir(path.parent)


def test_one_refusal_stops_before_anything_is_written(machine):
    """Of several harnesses none is wired when the file of one cannot be edited."""
    machine.file("claude-code", b"// mine")
    assert 1 == machine.call("install", "cursor", "claude-code").status
    assert not machine.file("cursor").exists()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o755])
def test_the_mode_stays(machine, mode):
    """The mode bits of the file are those it had."""
    path = machine.file("claude-code", FOREIGN)
    path.chmod(mode)
    for command in ("install", "uninstall"):
        assert 0 == machine.call(command, "claude-code").status
        assert mode == stat.S_IMODE(path.stat().st_mode)


def test_a_read_only_file_is_left_alone(machine):
    """A file its owner may not write is refused, also where a rename could replace it."""
    path = machine.file("claude-code", FOREIGN)
    path.chmod(0o444)
    done = machine.call("install", "claude-code")
    assert 1 == done.status and "read-only" in done.err
    assert FOREIGN == path.read_bytes() and 0o444 == stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("links", [1, 2])
def test_links_stay_links(machine, links):
    """A file behind links is edited where it is, the links stay, and it is not removed."""
    real = machine.home / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_bytes(FOREIGN)
    path = machine.file("claude-code")
    path.parent.mkdir()
    end = real
    if links == 2:
        end = machine.home / "between.json"
        end.symlink_to("dotfiles/settings.json")
    path.symlink_to(end)
    assert 0 == machine.call("install", "claude-code").status
    assert path.is_symlink() and real.read_bytes() != FOREIGN
    assert 0 == machine.call("uninstall", "claude-code").status
    assert path.is_symlink() and FOREIGN == real.read_bytes()
    assert ["settings.json"] == os.listdir(real.parent)


def test_a_made_file_that_was_moved_behind_a_link_stays(machine):
    """What became somebody's linked file is emptied of our entries and not deleted."""
    machine.call("install", "cursor")
    path = machine.file("cursor")
    path.rename(machine.home / "real.json")
    path.symlink_to(machine.home / "real.json")
    assert 0 == machine.call("uninstall", "cursor").status
    assert {"version": 1} == json.loads((machine.home / "real.json").read_bytes())
    assert path.is_symlink()


@pytest.mark.parametrize("kind", ["dangling", "loop", "directory", "pipe"])
def test_what_is_no_file_is_left_alone(machine, kind):
    """A link that leads nowhere, a loop, a folder or a pipe is refused without waiting."""
    path = machine.file("claude-code")
    path.parent.mkdir()
    if kind == "dangling":
        path.symlink_to("nowhere.json")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    for command in ("install", "uninstall"):
        assert 1 == machine.call(command, "claude-code").status
    assert [path.name] == os.listdir(path.parent)


def test_a_folder_that_is_not_there_now_is_not_made(machine):
    """A harness's folder behind a link that leads nowhere, such as an unmounted disk, is left alone."""
    (machine.home / ".claude").symlink_to(machine.home / "unmounted/claude")
    for command in ("install", "uninstall"):
        done = machine.call(command, "claude-code")
        assert 1 == done.status and "leads nowhere" in done.err
    assert not (machine.home / "unmounted").exists()


def test_dry_run_shows_the_change_and_makes_none(machine):
    """--dry-run prints the lines that would come or go, scrubbed, and writes nothing at all."""
    secret = "sk-ant-" + "api03-" + "x1Y2" * 12
    before = FOREIGN.replace(b'"say done"', f'"say {secret}"'.encode())
    path = machine.file("claude-code", before)
    shown = machine.json("install", "claude-code", "--dry-run")
    assert True is shown["dry_run"] and [str(path)] == shown["changed"]
    assert "+" in shown["diff"] and "hook claude-code Stop" in shown["diff"]
    text = machine.call("install", "claude-code", "--dry-run").text
    assert "would wire Stop" in text and shown["diff"] in text and secret not in text
    assert before == path.read_bytes()
    assert [".claude"] == os.listdir(machine.home)
    machine.call("install", "claude-code")
    after = path.read_bytes()
    assert "hook claude-code Stop" in machine.json("uninstall", "claude-code", "--dry-run")["diff"]
    assert after == path.read_bytes()


def test_harness_variables_move_the_file(machine):
    """An absolute directory in the harness's variable is where its file is; any other value is ignored."""
    moved = {"CLAUDE_CONFIG_DIR": "claude-code", "CODEX_HOME": "codex", "COPILOT_HOME": "copilot"}
    for variable, harness in moved.items():
        target = machine.home / "moved" / harness
        [path] = machine.json("install", harness, **{variable: str(target)})["changed"]
        assert path.startswith(f"{target}/") and os.path.exists(path)
        for value in ("", "rel", "~/x"):
            [path] = machine.json("install", harness, "--dry-run", **{variable: value})["changed"]
            assert str(machine.home / FILES[harness]) == path


@pytest.mark.parametrize(
    "words", [(), ("nobody",), ("gemini-cli",), ("cursor", "nobody"), ("--list", "cursor")]
)
def test_a_wrong_command_line_is_status_two(machine, words):
    """No harness, an unknown one or an unknown flag: status 2, one line that names those there are."""
    for command in ("install", "uninstall"):
        done = machine.call(command, *words)
        assert (2, b"") == (done.status, done.out)
        assert 1 == done.err.count("\n")
    assert [] == os.listdir(machine.home)


def test_installing_a_plugin_is_another_command(machine):
    """Whoever names a reader here learns how a plugin is installed, in the same line."""
    for name, dist in (("gemini-cli", "gemini-cli"), ("opencode-v1", "opencode")):
        told = machine.call("install", name).err
        assert f'there are no hooks for the harness "{name}"' in told
        assert "a plugin is installed with pip install " in told and told.rstrip(".\n").endswith(
            dist
        )
    assert "<distribution>" in machine.call("install", "something").err


def test_a_blocked_plugin_cannot_be_wired(machine):
    """AGENTFEEDBACK_BLOCK leaves its hooks out too."""
    assert 2 == machine.call("install", "cursor", AGENTFEEDBACK_BLOCK="cursor").status


def test_a_full_disk_leaves_the_file_as_it_was(machine):
    """Where the new file does not fit, the old one stays and nothing is beside it."""
    path = machine.file("claude-code", FOREIGN)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100));"
        "from agentfeedback.cli.main import main; sys.exit(main(['install', 'claude-code']))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=machine.environ, capture_output=True, check=False
    )
    assert 1 == done.returncode and b"was left as it is" in done.stderr
    assert FOREIGN == path.read_bytes() and ["settings.json"] == os.listdir(path.parent)


def test_a_file_changed_at_the_same_time_is_left_alone(machine):
    """What the harness wrote between reading and replacing is not lost."""
    path = machine.file("claude-code", FOREIGN)
    old = settings_file.read(str(path))
    path.write_bytes(b'{"newer": true}')
    for text in ("{}", None):
        with pytest.raises(AgentFeedbackError, match="changed at the same time"):
            settings_file.write(old, text)
    assert b'{"newer": true}' == path.read_bytes() and ["settings.json"] == os.listdir(path.parent)
    none = settings_file.read(str(machine.file("cursor")))
    machine.file("cursor", b"{}")
    with pytest.raises(AgentFeedbackError, match="changed at the same time"):
        settings_file.write(none, '{"a": 1}')
    assert b"{}" == machine.file("cursor").read_bytes()


def test_killed_anywhere_the_file_is_old_or_new(machine):
    """SIGKILL at any system call of a replacement leaves a whole file, and the next one cleans up."""
    path = machine.file("claude-code", FOREIGN)
    killed = 0
    for number in range(1, 40):
        path.write_bytes(FOREIGN)
        pid = os.fork()
        if not pid:
            try:
                _kill_at(number)
                settings_file.write(settings_file.read(str(path)), "{}")
            finally:
                os._exit(0)
        ended = os.WTERMSIG(os.waitpid(pid, 0)[1])
        assert path.read_bytes() in (FOREIGN, b"{}")
        if not ended:
            break
        killed += 1
        settings_file.write(settings_file.read(str(path)), '{"next": 1}')
        assert ["settings.json"] == os.listdir(path.parent)
    assert 5 < killed < 38


def _kill_at(number: int) -> None:
    left = [number]

    def counted(call: Any) -> Any:
        def wrapper(*arguments: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **more)

        return wrapper

    for name in ("open", "write", "close", "replace", "unlink", "chmod", "fsync"):
        setattr(os, name, counted(getattr(os, name)))


def test_installations_at_once_make_one(machine):
    """Many installs at the same time leave one entry for each event, as one install does."""
    machine.file("claude-code", FOREIGN)
    argv = [sys.executable, "-m", "agentfeedback", "install", "claude-code", "cursor"]
    running = [
        subprocess.Popen(argv, env=machine.environ, stdout=subprocess.DEVNULL) for _ in range(6)
    ]
    assert [0] * 6 == [process.wait(timeout=60) for process in running]
    assert 1 == machine.file("claude-code").read_bytes().count(b"hook claude-code Stop")
    assert 3 == machine.file("cursor").read_bytes().count(b"hook cursor")
    assert 0 == machine.call("uninstall", "claude-code").status
    assert FOREIGN == machine.file("claude-code").read_bytes()
