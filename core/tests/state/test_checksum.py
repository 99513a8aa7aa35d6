"""The checksum of a row: any change of any column shows, and rows written before there was one count as whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.state.checksum import checksum, is_sound

VALUES = (
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec=None), max_size=5)
)
ROWS = st.lists(VALUES, max_size=5)


@given(ROWS, ROWS)
def test_rows_that_differ_have_other_checksums(row: list[Any], other: list[Any]) -> None:
    """In a value, its type, its place or their number; half characters too."""
    assert len(checksum(row)) == 16 and is_sound(row, checksum(tuple(row)))
    assert is_sound(other, checksum(row)) == (other == row)


@pytest.mark.parametrize("odd", [1.5, True, b"bytes", [1]], ids=repr)
def test_a_value_that_no_row_is_written_with_is_not_sound(odd: object) -> None:
    """SQLite gives a column another type when its page is damaged."""
    assert checksum(["a", odd]) == ""
    assert not is_sound(["a", odd], checksum(["a", odd]))
    assert not is_sound(["a", odd], "0" * 16)


@pytest.mark.parametrize(("kept", "sound"), [(None, True), ("", False), ("x", False), (5, False)])
def test_a_row_of_an_earlier_version_has_none(kept: object, sound: bool) -> None:
    """None stands there; anything else has to be the checksum."""
    assert is_sound(["a", 1, None], kept) is sound
