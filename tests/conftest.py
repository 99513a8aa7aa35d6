"""What the promises are tested with: a temporary home, sessions written into it, and the command line."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Result:
    """What one command line did."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out
        self.err = err.decode()

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def later() -> int:
    """Ten seconds from now, in nanoseconds since the epoch: the facts of a file written just now are kept then."""
    return time.time_ns() + 10_000_000_000


class Machine:
    """A home of its own with sessions in it, and the program to run there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
        }

    @property
    def database(self) -> Path:
        return self.home / ".local/share/agentfeedback/agentfeedback.db"

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "agentfeedback", *words]

    def call(self, *words: str, **environ: str) -> Result:
        """Run the program's `main` within this process: for tests that need very many runs."""
        from agentfeedback.cli.main import main

        out, err = io.BytesIO(), io.BytesIO()
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update({**self.environ, **environ})
        try:
            with (
                redirect_stdout(io.TextIOWrapper(out)) as o,
                redirect_stderr(io.TextIOWrapper(err)) as e,
            ):
                status = main(list(words))
                o.flush()
                e.flush()
                return Result(status, out.getvalue(), err.getvalue())
        finally:
            os.environ.clear()
            os.environ.update(before)

    def run(self, *words: str, **environ: str) -> Result:
        """Run the program in a process of its own."""
        done = subprocess.run(
            self.argv(*words),
            env={**self.environ, **environ},
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def python(self, code: str) -> Result:
        """Run Python code in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=self.environ,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def sessions(self, *words: str) -> Any:
        """The JSON of a `sessions` command that succeeds."""
        result = self.call("sessions", *words, "--json")
        assert result.status == 0, result.err
        return result.json

    def list_later(self) -> Any:
        """The JSON of `sessions list` by a clock ten seconds ahead, to which files written just now are settled."""
        from agentfeedback.plugins.host import Host
        from agentfeedback.sessions.engine import Engine
        from agentfeedback.wire.encode import plain

        engine = Engine(self.environ, host=Host(self.environ), now=later)
        return plain(engine.listing(None, None, unprocessed=False))

    def plugin(
        self, name: str, code: str, *, group: str = "agentfeedback.plugins", dist: str = ""
    ) -> None:
        """Install a plugin in a folder on PYTHONPATH, so that it is discovered as any other is."""
        folder = self.home.parent / "site"
        module = "x_" + "".join(char if char.isalnum() else "_" for char in f"{group}_{dist}{name}")
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
        (folder / f"{module}.py").write_text(code)
        self.environ["PYTHONPATH"] = str(folder)

    def state(self, ref: str) -> tuple[str, str]:
        """State and reason of a session as listed."""
        for item in self.sessions("list")["sessions"]:
            if item["ref"] == ref:
                return item["state"], item.get("reason", "")
        return "not listed", ""

    def config(self, text: str) -> None:
        folder = self.home / ".config/agentfeedback"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text)

    def claude(
        self, id: str, lines: list[bytes], *, folder: str = "-srv-app-shop", end: bytes = b"\n"
    ) -> Path:
        """Write a Claude Code session of these lines."""
        path = self.home / ".claude/projects" / folder / f"{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(lines) + end if lines else b"")
        return path

    def codex(self, id: str, lines: list[bytes], *, day: str = "2026/11/03") -> Path:
        """Write a Codex rollout of these lines."""
        path = self.home / ".codex/sessions" / day / f"rollout-2026-11-03T10-00-00-{id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


def line(**members: Any) -> bytes:
    """One record of a log."""
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def prompt(span: str, text: str = "fix it", cwd: str = "/srv/app/shop", second: int = 0) -> bytes:
    """A Claude Code prompt."""
    return line(
        type="user",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd=cwd,
        message={"role": "user", "content": text},
    )


def call(span: str, id: str, command: str = "make", second: int = 0) -> bytes:
    """A Claude Code tool call."""
    return line(
        type="assistant",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd="/srv/app/shop",
        message={
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}
            ],
        },
    )


def failed(span: str, id: str, text: str = "Exit code 2\nno rule", second: int = 0) -> bytes:
    """The failed result of a Claude Code tool call."""
    return line(
        type="user",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd="/srv/app/shop",
        message={
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": True}
            ],
        },
    )


def meta(cwd: Any = "/srv/app/shop", second: int = 0, **more: Any) -> bytes:
    """The first line of a Codex rollout."""
    return codex_line("session_meta", second, id="s1", cwd=cwd, source="cli", **more)


def codex_line(kind: str, second: int = 0, **payload: Any) -> bytes:
    """A line of a Codex rollout."""
    return line(timestamp=f"2026-11-03T10:00:{second:02d}.000Z", type=kind, payload=payload)


def typed(text: str = "fix it", second: int = 0) -> bytes:
    """A Codex prompt."""
    return codex_line("event_msg", second, type="user_message", message=text)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`wheel("readers/codex")`: the wheel of that folder of the repository, built once a run."""
    folder = tmp_path_factory.mktemp("wheels")

    @functools.cache
    def built(member: str) -> Path:
        target, source = folder / member, ROOT / member
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            str(target),
            str(source),
        ]
        if uv := find_uv():
            command = [uv, "build", "--quiet", "--wheel", "--out-dir", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode and is_offline(done.stderr):
            pytest.skip("the build backend cannot be fetched here")
        assert done.returncode == 0, done.stderr
        (found,) = target.glob("*.whl")
        return found

    return built


def find_uv() -> str | None:
    """The program uv, beside this Python or on the path."""
    return shutil.which(
        "uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )


def is_offline(stderr: str) -> bool:
    """Whether an installer failed for want of a network."""
    return any(
        word in stderr for word in ("dns error", "connect", "ConnectionError", "NewConnection")
    )
