"""What every test starts from: a Ctrl-C that works, and where logs that real harnesses wrote are."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Hypothesis' deadline is wall time: beside other work it fails a test that is right.
settings.register_profile("agentfeedback", deadline=None)
settings.load_profile("agentfeedback")

pytest_plugins = ["tests.support.git", "tests.support.skips"]


@pytest.fixture(autouse=True)
def ctrl_c() -> None:
    """A Ctrl-C that works: whatever started the tests may have had it ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real() -> Path:
    """A folder with a folder for each harness: logs it wrote, and in `expected.json` what truly happened.

    `AGENTFEEDBACK_REAL` names it; else `shared/real` beside the checkout is tried.
    """
    beside = Path(__file__).resolve().parent.parent / "shared" / "real"
    folder = Path(os.environ.get("AGENTFEEDBACK_REAL") or beside)
    if not folder.is_dir():
        pytest.skip("no logs of real harnesses here; AGENTFEEDBACK_REAL names their folder")
    return folder
