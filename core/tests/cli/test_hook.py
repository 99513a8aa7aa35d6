"""`agentfeedback hook`, run as a harness runs it: whatever happens, status 0 in time and nothing printed."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.cli.hook import LAST_SECOND

#: What a harness allows a hook, in seconds.
HOST_LIMIT = 5.0

# A harness of its own: its package cannot be imported, as no hook may import a package's `__init__`.
_HOOKS = """
from agentfeedback.harness_hooks.installer import Installer

class Tiny(Installer):
    harness = "tiny"
    events = ("stop",)
    indexes = True

    def session(self, payload):
        return payload.get("id") or ""

    def keep(self, kept, payload, home):
        kept.setdefault("seen", []).append(payload["n"])

class Plain(Installer):
    harness = "plain"
    events = ("stop",)

class Broken(Tiny):
    harness = "broken"

    def keep(self, kept, payload, home):
        raise payload["n"]

class Stuck(Tiny):
    harness = "stuck"

    def keep(self, kept, payload, home):
        import time
        time.sleep(60)

TINY, PLAIN, BROKEN, STUCK = Tiny(), Plain(), Broken(), Stuck()
"""
_ENTRY_POINTS = """[console_scripts]
x = y:z

[agentfeedback.installers]
tiny = tiny_harness.hooks:TINY
plain = tiny_harness.hooks:PLAIN
broken = tiny_harness.hooks:BROKEN
stuck = tiny_harness.hooks:STUCK
missing = tiny_harness.nowhere:NOTHING
"""


class Hooks:
    """A home, and a harness that calls hooks there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.cache = self.home / ".cache/agentfeedback"
        package = folder / "site/tiny_harness"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise SystemExit('imported')\n")
        (package / "hooks.py").write_text(_HOOKS)
        info = folder / "site/tiny-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        (info / "entry_points.txt").write_text(_ENTRY_POINTS)
        self.environ = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(folder / "site"),
        }

    def start(self, *words: str, stdin: Any = subprocess.PIPE, **more: Any) -> subprocess.Popen:
        # No byte code: Python writes half of it where a limit on the size of files allows no more.
        argv = [sys.executable, "-B", "-m", "agentfeedback", "hook", *words]
        return subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environ, **more.pop("environ", {})},
            **more,
        )

    def call(self, *words: str, payload: Any = b"", **more: Any) -> float:
        """Call a hook, hold it to its promise, and return the seconds it took."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        began = time.monotonic()
        process = self.start(*words, **more)
        out, err = process.communicate(data, timeout=30)
        took = time.monotonic() - began
        assert (0, b"", b"") == (process.returncode, out, err)
        assert took < HOST_LIMIT
        return took

    def kept(self) -> list[dict[str, Any]]:
        files = sorted(self.cache.glob("sessions/*/*.json"))
        return [json.loads(file.read_bytes()) for file in files]

    def log(self) -> list[dict[str, Any]]:
        file = self.cache / "log/client.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def test_an_event_is_kept_and_the_run_is_noted(hooks):
    """A hook keeps what its installer says, and notes when it ran and for which event."""
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 1})
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 2})
    [kept] = hooks.kept()
    assert [1, 2] == kept["seen"]
    assert kept["created"] <= kept["updated"]
    ran = json.loads((hooks.cache / "hooks/tiny.json").read_bytes())
    assert {"ts", "event"} == set(ran) and "stop" == ran["event"]
    assert [] == hooks.log()


def test_the_cache_is_the_owners_alone(hooks):
    """Every folder and file a hook makes is closed to others, whatever the umask."""
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 1}, umask=0)
    made = list((hooks.home / ".cache").rglob("*"))
    assert made
    for path in [hooks.home / ".cache", *made]:
        assert 0 == stat.S_IMODE(path.stat().st_mode) & 0o077, path


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("tiny",),
        ("tiny", "start"),
        ("nobody", "stop"),
        ("tiny", "stop", "more"),
        ("--x",),
        ("", ""),
    ],
)
def test_what_nobody_knows_changes_nothing(hooks, words):
    """An unknown harness, event or number of words ends at once with status 0 and leaves no file."""
    hooks.call(*words, payload={"id": "s1", "n": 1})
    assert not hooks.cache.exists()


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe{",
        b"[1]",
        b"null",
        b'{"id":',
        b"[" * 100_000,
        b'{"id":"s1","n":' + b"9" * 5000 + b"}",
        b'{"id":"s1","n":1}' + b" " * (1 << 20),
    ],
)
def test_a_payload_that_is_none_is_dropped(hooks, payload):
    """Broken, foreign, too deep or too large input keeps nothing; the failure is one line without any of it."""
    hooks.call("tiny", "stop", payload=payload)
    assert [] == hooks.kept()
    [line] = hooks.log()
    assert "hook_failed" == line["outcome"] and {"ts", "outcome", "reason"} == set(line)


@pytest.mark.parametrize("harness", ["broken", "missing"])
def test_a_broken_installer_does_not_reach_the_harness(hooks, harness):
    """An installer that cannot be loaded or raises is one line in the log, and nothing more."""
    hooks.call(harness, "stop", payload={"id": "s1", "n": 1})
    assert 1 == len(hooks.log())


def test_a_blocked_plugin_is_left_out(hooks):
    """AGENTFEEDBACK_BLOCK holds for hooks as well."""
    hooks.call(
        "tiny", "stop", payload={"id": "s1", "n": 1}, environ={"AGENTFEEDBACK_BLOCK": "x, tiny"}
    )
    assert not hooks.cache.exists()


def test_no_home_no_hook(hooks):
    """Without an absolute HOME there is no place for anything: status 0, nothing written."""
    for home in ("", "rel"):
        hooks.call("tiny", "stop", payload={"id": "s1", "n": 1}, environ={"HOME": home})
    assert not hooks.cache.exists()


def test_standard_input_left_open_ends_in_time(hooks):
    """A harness that never closes the pipe is not waited for, and what it wrote is kept all the same."""
    began = time.monotonic()
    process = hooks.start("tiny", "stop")
    assert process.stdin is not None
    process.stdin.write(b'{"id":"s1","n":7}')
    process.stdin.flush()
    assert 0 == process.wait(timeout=30)
    assert time.monotonic() - began < HOST_LIMIT
    assert [[7]] == [kept["seen"] for kept in hooks.kept()]
    assert (b"", b"") == process.communicate()


def test_standard_input_closed_is_no_payload(hooks):
    """A harness that gives no standard input, output or error at all gets status 0 too."""
    argv = [sys.executable, "-m", "agentfeedback", "hook", "plain", "stop"]
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *argv]
    assert 0 == subprocess.run(closed, env=hooks.environ, timeout=30, check=False).returncode
    assert (hooks.cache / "hooks/plain.json").exists()


def test_a_held_lock_is_not_waited_for_past_the_deadline(hooks):
    """Another process that holds the session's lock for ever costs the deadline, never the harness's limit."""
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 1})
    [lock] = hooks.cache.glob("sessions/tiny/*.lock")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        took = hooks.call("tiny", "stop", payload={"id": "s1", "n": 2})
        assert took > 1.0
        assert [[1]] == [kept["seen"] for kept in hooks.kept()]
        hooks.call("tiny", "stop", payload={"id": "s2", "n": 3})
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 4})
    assert [[1, 4], [3]] == [kept["seen"] for kept in hooks.kept()]
    assert ["TimeoutError 110" if sys.platform == "linux" else "TimeoutError 60"] == [
        line["reason"] for line in hooks.log()
    ]


def test_a_hook_that_hangs_ends_itself(hooks):
    """Whatever a hook waits for, it is gone with status 0 before the harness loses patience."""
    began = time.monotonic()
    process = hooks.start("stuck", "stop", preexec_fn=_block_alarm)
    process.communicate(b'{"id":"s1","n":1}', timeout=30)
    assert 0 == process.returncode
    assert time.monotonic() - began < HOST_LIMIT


def _block_alarm() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])


def test_a_full_disk_loses_nothing_that_was_kept(hooks):
    """Where nothing can be written the hook ends with status 0 and the old content stays."""
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 1})
    before = hooks.kept()
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 2}, preexec_fn=_no_byte_fits)
    assert before == hooks.kept()
    assert [] == list(hooks.cache.rglob("*.unfinished*"))
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 3})
    assert [[1, 3]] == [kept["seen"] for kept in hooks.kept()]


def _no_byte_fits() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("place", ["cache", "sessions", "sessions/tiny", "log", "hooks"])
def test_a_cache_that_is_in_the_way_does_not_matter(hooks, place):
    """A file where a folder belongs is a failure of the hook alone."""
    blocked = hooks.cache.parent if place == "cache" else hooks.cache / place
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("in the way")
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 1})
    assert "in the way" == blocked.read_text()


def test_sixty_hooks_at_once_keep_everything(hooks, tmp_path):
    """Of sixty calls at the same time for one session none is lost, and each ends in time with status 0."""
    running = {}
    for number in range(60):
        payload = tmp_path / f"{number}.json"
        payload.write_text(json.dumps({"id": "s1", "n": number}))
        with payload.open() as stdin:
            running[hooks.start("tiny", "stop", stdin=stdin)] = time.monotonic()
    took = {}
    while len(took) < len(running):
        for process, started in running.items():
            if process not in took and process.poll() is not None:
                took[process] = time.monotonic() - started
        time.sleep(0.005)
    for process in running:
        assert (0, b"", b"") == (process.returncode, *process.communicate(timeout=60))
    # On a machine that is slow a call may miss the deadline, which is in the log, or be ended by its
    # alarm, which it cannot say any more. Nothing else is missing.
    late = hooks.log()
    assert [line for line in late if not line["reason"].startswith("TimeoutError")] == []
    ended = [seconds for seconds in took.values() if seconds >= LAST_SECOND]
    [kept] = hooks.kept()
    assert len(set(kept["seen"])) == len(kept["seen"]) >= 60 - len(late) - len(ended)


def test_a_killed_hook_leaves_old_or_new(hooks):
    """SIGKILL at any time leaves the file whole, and no lock that stops the next hook."""
    hooks.call("tiny", "stop", payload={"id": "s1", "n": 0})
    for number in range(1, 13):
        process = hooks.start("tiny", "stop")
        assert process.stdin is not None
        process.stdin.write(json.dumps({"id": "s1", "n": number}).encode())
        process.stdin.close()
        time.sleep(0.01 * number)
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
        [kept] = hooks.kept()
        assert 0 == kept["seen"][0] and sorted(set(kept["seen"])) == kept["seen"]
    assert hooks.call("tiny", "stop", payload={"id": "s1", "n": 99}) < HOST_LIMIT
    assert 99 == hooks.kept()[0]["seen"][-1]


# -- start-up ----------------------------------------------------------------------------------

#: Everything a hook may import beyond what the interpreter starts with (docs/reference/hooks-in.md).
ALLOWED = {
    "standard": {
        "__future__",
        "_collections",
        "_functools",
        "_json",
        "_operator",
        "_sha2",
        "_sha256",
        "_sre",
        "collections",
        "copyreg",
        "enum",
        "errno",
        "fcntl",
        "functools",
        "importlib",
        "itertools",
        "json",
        "keyword",
        "operator",
        "re",
        "reprlib",
        "select",
        "types",
        "warnings",
    },
    "own": {
        "agentfeedback",
        "agentfeedback.cli",
        "agentfeedback.cli.main",
        "agentfeedback.cli.hook",
    },
}


def test_a_hook_imports_next_to_nothing(hooks):
    """A hook's imports are a list, in which no parser of arguments, plugin host or class generator stands."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from agentfeedback.cli.main import main\n"
        "main(['hook', 'tiny', 'stop'])\n"
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b'{"id":"s1","n":1}',
        env=hooks.environ,
        capture_output=True,
        check=True,
    )
    loaded = done.stdout.decode().split()
    assert [[1]] == [kept["seen"] for kept in hooks.kept()]
    assert "tiny_harness" not in loaded and "tiny_harness.hooks" in loaded
    heavy = [
        name
        for name in loaded
        if name not in ALLOWED["own"]
        and not name.startswith(("agentfeedback.foundation", "agentfeedback.harness_hooks"))
        and name.partition(".")[0] not in ALLOWED["standard"]
        and name != "tiny_harness.hooks"
    ]
    assert [] == heavy


def test_a_hook_that_keeps_nothing_of_a_payload_makes_no_enumeration(hooks):
    """Half of the time of a hook was once spent on modules that make enumerations and patterns."""
    code = (
        "import sys; from agentfeedback.cli.main import main; main(['hook', 'tiny', 'another'])\n"
        "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=hooks.environ, capture_output=True, check=True
    )
    loaded = set(done.stdout.decode().split())
    assert "tiny_harness.hooks" in loaded
    assert loaded.isdisjoint({"collections", "contextlib", "enum", "functools", "json", "re"})
