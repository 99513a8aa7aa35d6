"""Git's own configuration, read without git."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.git.config import harmless, parsed


@given(st.text(max_size=60))
def test_any_configuration_is_read_or_refused(text: str) -> None:
    """No text makes the reading of a configuration raise."""
    found = parsed(text)
    assert found is None or harmless(found) in (True, False)


def test_the_forms_of_a_configuration() -> None:
    """Quotes, escapes, comments, names alone and sections on one line with a member."""
    text = '[Remote "a\\"b"] URL = "x # y" ; z\n\tfetch\n# c\n[core]\n bare = fa\\tlse\n'
    assert parsed(text) == {
        ("remote", 'a"b'): {"url": "x # y", "fetch": "true"},
        ("core", ""): {"bare": "fa\tlse"},
    }
    assert parsed("x = 1") is None and parsed("[a]\nx = a\\\nb") is None
