"""Made-up JSON for the laws: texts with their odd characters, numbers in their odd spellings."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentfeedback.foundation.json_text import Number

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
#: Numbers in every spelling that RFC 8259 allows.
NUMBERS = st.from_regex(r"\A-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,9})?([eE][-+]?[0-9]{1,4})?\Z").map(
    Number
)
SCALARS = st.none() | st.booleans() | TEXTS | NUMBERS
TREES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, TREES, max_size=6)
