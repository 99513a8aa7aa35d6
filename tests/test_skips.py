"""A skip that CI does not allow fails the run, alone and on workers; an allowed one does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.skips import VARIABLE, forbidden

MODULE = """
import pytest

def test_fine(): pass

def test_call(): pytest.skip("no zsh here")

@pytest.mark.skipif(True, reason="no fish here")
def test_mark(): pass
"""


@pytest.mark.parametrize(
    ("allowed", "named", "workers"),
    [
        (None, [], []),
        ("# shells\nno .* here\n", [], []),
        ("no zsh here\nno fish\n", ["no fish here"], []),
        ("", ["no fish here", "no zsh here", "could not import 'absent_module'"], ["-n", "1"]),
    ],
    ids=["not asked", "allowed", "one", "all, on a worker"],
)
def test_a_forbidden_skip_fails_the_run(
    tmp_path: Path, allowed: str | None, named: list[str], workers: list[str]
) -> None:
    """The status is that of a failed test, and the summary says which and why."""
    (tmp_path / "test_some.py").write_text(MODULE)
    if "could" in "".join(named):
        (tmp_path / "test_module.py").write_text(
            "import pytest\npytest.importorskip('absent_module')\n"
        )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    environ.pop(VARIABLE, None)
    if allowed is not None:
        (tmp_path / "allowed").write_text(allowed)
        environ[VARIABLE] = str(tmp_path / "allowed")
    words = [sys.executable, "-m", "pytest", "-p", "tests.support.skips", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*words, *workers, str(tmp_path)], env=environ, cwd=tmp_path, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    _, _, summary = done.stdout.partition("does not allow")
    assert done.returncode == (1 if named else 0), done.stdout
    assert [each for each in named if each not in summary] == []
    assert bool(summary) == bool(named)


def test_ci_does_not_allow_for_want_of_a_tool() -> None:
    """The reasons this repository gives for a missing tool, shell or log are all refused."""
    reasons = [
        "zsh is not installed",
        "git is not installed",
        "strace is not here or may not trace",
        "no logs of real harnesses here; AGENTFEEDBACK_REAL names their folder",
        "the build backend cannot be fetched here",
        "could not import 'zstandard': No module named 'zstandard'",
        "this system does not let a process trace its child: denied",
    ]
    text = (ROOT / ".ci/allowed-skips").read_text()
    assert forbidden(reasons, text) == reasons
    assert forbidden(["a row store: no lines", "the superuser may read everything"], text) == []
