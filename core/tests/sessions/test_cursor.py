"""A cursor names a place in an order, and any other text is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.errors import UsageError
from agentfeedback.sessions.cursor import LONGEST, read, spot, written

TIMES = st.integers(-(2**63), 2**63 - 1)


@given(TIMES, st.text(max_size=100))
def test_a_place_comes_back(when: int, ref: str) -> None:
    """Whatever the time and the ref."""
    place = spot(when, ref)
    assert read(written(place)) == place


@given(TIMES, st.text(min_size=200, max_size=2000))
def test_a_long_ref_is_named_by_its_beginning(when: int, ref: str) -> None:
    """A cursor has a bound; its place is then just before the session's."""
    text = written(spot(when, ref))
    assert len(text) <= LONGEST
    assert read(text) <= spot(when, ref)


@given(st.text(max_size=600))
def test_any_other_text_is_refused(text: str) -> None:
    """Or it names a place, which is then written as it was but for padding."""
    try:
        place = read(text)
    except UsageError:
        return
    assert read(written(place)) == place


@pytest.mark.parametrize("text", ["", "x", "é", "AAAA", "A" * 513, "LSB4"])
def test_what_is_not_a_cursor(text: str) -> None:
    """Nothing but what was written."""
    with pytest.raises(UsageError):
        read(text)
