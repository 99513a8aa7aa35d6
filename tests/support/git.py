"""Repositories for tests, and git where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def git() -> str:
    """The program git; a test that needs it is skipped where it is not installed."""
    found = shutil.which("git")
    if found is None:
        pytest.skip("git is not installed")
    return found


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
