"""The harness's version as numbers. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

#: No version is longer, in characters.
_LONGEST = 40
_NUMBERS = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?!\d)", re.ASCII)


def numbers(version: str | None) -> tuple[int, int, int] | None:
    """The three numbers a version starts with, None where it has none."""
    return _numbers(version[:_LONGEST]) if version is not None else None


@lru_cache(maxsize=64)
def _numbers(version: str) -> tuple[int, int, int] | None:
    found = _NUMBERS.match(version)
    return (int(found[1]), int(found[2]), int(found[3])) if found is not None else None
