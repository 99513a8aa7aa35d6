"""What tests of several packages share; `pythonpath` in pytest's table makes it importable for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]

# These check: their assert statements say what differs, as those of a test module do.
pytest.register_assert_rewrite("tests.support.submission_store")
