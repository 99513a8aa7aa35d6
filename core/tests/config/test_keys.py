"""Keys of the configuration: what each takes."""

from __future__ import annotations

import pytest

from agentfeedback.config.keys import seconds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("90s", 90),
        ("30m", 1800),
        ("12h", 43_200),
        ("2d", 172_800),
        ("0s", 0),
        ("1w", 0),
        ("-1h", 0),
        ("1 h", 0),
        ("", 0),
        ("١h", 0),
    ],
)
def test_durations(text: str, found: int) -> None:
    """A whole number and a unit; anything else is none."""
    assert seconds(text) == found
