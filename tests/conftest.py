"""What the promises are tested with: a temporary home, and the wheels."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.machine import Machine


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
