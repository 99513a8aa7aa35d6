"""A home of its own and the program to run there: what tests of a plugin or a reader start from."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

#: How long a run in a process of its own may take, in seconds.
PATIENCE = 120


class Result:
    """What one command line did: its exit status and what it printed."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out
        self.err = err.decode()

    @property
    def text(self) -> str:
        """Standard output."""
        return self.out.decode()

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    @property
    def outcome(self) -> Any:
        """The JSON of the last line of standard output: the outcome of `submit`."""
        return json.loads(self.out.splitlines()[-1])


class Machine:
    """A home with nothing in it, and the program to run there.

    `environ` is the whole environment of a run: change it as you like. Nothing of the real home,
    configuration or environment is in it except `PATH`.
    """

    def __init__(self, home: Path, directory: Path | None = None) -> None:
        """Run the program with this home.

        Args:
            home: An existing folder, empty or laid out as a harness leaves it.
            directory: Where the program runs; made if it is not there. None is where the test runs.
        """
        self.home = home
        self.directory = directory
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
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
        """Where the local database is, or will be."""
        return self.home / ".local/share/agentfeedback/agentfeedback.db"

    def argv(self, *words: str) -> list[str]:
        """The command line that runs the program in a process of its own."""
        return [sys.executable, "-m", "agentfeedback", *words]

    def call(self, *words: str, stdin: object = b"", **environ: str) -> Result:
        """Run the program's `main` within this process: for tests that need very many runs.

        Args:
            words: The arguments.
            stdin: Standard input: bytes as they are, anything else as JSON.
            environ: Variables to set beside those of the machine.
        """
        from agentfeedback.cli.main import main

        data = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
        out, err = io.BytesIO(), io.BytesIO()
        with (
            self._surroundings({**self.environ, **environ}, data),
            redirect_stdout(io.TextIOWrapper(out)) as told,
            redirect_stderr(io.TextIOWrapper(err)) as noted,
        ):
            status = main(list(words))
            told.flush()
            noted.flush()
            return Result(status, out.getvalue(), err.getvalue())

    @contextmanager
    def _surroundings(self, environ: dict[str, str], stdin: bytes) -> Iterator[None]:
        before, place, input = dict(os.environ), os.getcwd(), sys.stdin
        os.environ.clear()
        os.environ.update(environ)
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
        try:
            if self.directory is not None:
                os.chdir(self.directory)
            yield
        finally:
            os.chdir(place)
            sys.stdin = input
            os.environ.clear()
            os.environ.update(before)

    def run(self, *words: str, stdin: bytes = b"", **environ: str) -> Result:
        """Run the program in a process of its own."""
        return self._process(self.argv(*words), stdin, environ)

    def python(self, code: str) -> Result:
        """Run Python code in a process of its own."""
        return self._process([sys.executable, "-c", code], b"", {})

    def _process(self, argv: list[str], stdin: bytes, environ: dict[str, str]) -> Result:
        done = subprocess.run(
            argv,
            input=stdin,
            env={**self.environ, **environ},
            cwd=self.directory,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def sessions(self, *words: str) -> Any:
        """The JSON of a `sessions` command that succeeds."""
        result = self.call("sessions", *words, "--json")
        assert result.status == 0, result.err
        return result.json

    def state(self, ref: str) -> tuple[str, str]:
        """State and reason of a session as listed; `not listed` where it is not."""
        for item in self.sessions("list")["sessions"]:
            if item["ref"] == ref:
                return item["state"], item.get("reason", "")
        return "not listed", ""

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

    def config(self, text: str) -> None:
        """Write `config.toml`."""
        folder = self.home / ".config/agentfeedback"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text)

    def write(self, path: str, data: bytes) -> Path:
        """Write a file below the home: a log where its harness would have written it."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file
