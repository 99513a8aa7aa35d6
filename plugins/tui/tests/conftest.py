"""A machine with an empty home."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home)
