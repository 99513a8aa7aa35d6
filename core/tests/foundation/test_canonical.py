"""Canonical JSON: one form for one value."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.canonical import canonical, compact, text
from agentfeedback.foundation.json_text import parse
from tests.support import json_trees


def shuffled(tree: Any, rng: random.Random) -> Any:
    if isinstance(tree, dict):
        items = list(tree.items())
        rng.shuffle(items)
        return {name: shuffled(value, rng) for name, value in items}
    return [shuffled(item, rng) for item in tree] if isinstance(tree, list) else tree


@given(json_trees.TREES, st.randoms(use_true_random=False))
def test_the_order_of_members_does_not_matter(tree: Any, rng: random.Random) -> None:
    """Trees that differ in the order of members alone have one canonical form."""
    assert canonical(shuffled(tree, rng)) == canonical(tree)


@given(json_trees.TREES)
def test_the_canonical_form_is_its_own(tree: Any) -> None:
    """Reading the canonical form and writing it again changes nothing."""
    once = canonical(tree)
    assert canonical(parse(once).value) == once


@given(st.dictionaries(json_trees.TEXTS, json_trees.TEXTS, max_size=5))
def test_strings_are_written_as_the_standard_library_would(tree: dict[str, str]) -> None:
    """But for two control characters that have no name here, texts and order are those of `json`."""
    expected = json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    expected = expected.replace("\\b", "\\u0008").replace("\\f", "\\u000c")
    shown = canonical(tree).decode()
    if "\\\\" not in shown:  # an escaped backslash before b or f is not a control character
        assert shown == expected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (b'{"b":1.50,"a":-0}', b'{"a":-0,"b":1.50}'),
        (b'{"\\ud83d\\ude00":1,"\\uffff":2}', '{"\uffff":2,"\U0001f600":1}'.encode()),
        (b'["\\u0000\\b\\f\\n\\r\\t\\u001F"]', b'["\\u0000\\u0008\\u000c\\n\\r\\t\\u001f"]'),
        (b'["\\/\\u007f\\u00e9\\u2028<>&"]', '["/\x7f\u00e9\u2028<>&"]'.encode()),
        (b" [ ] ", b"[]"),
        (b"{ }", b"{}"),
        (b"[true,false,null]", b"[true,false,null]"),
    ],
)
def test_vectors(text: bytes, form: bytes) -> None:
    """Order by code point, numbers as spelled, five named escapes, other C0 in lower hex, the rest raw."""
    assert canonical(parse(text).value) == form


@given(json_trees.TREES)
def test_other_forms_keep_the_order_of_members(tree: Any) -> None:
    """Compact is what `json` writes of the same tree, in the tree's own order; as text it is the same."""
    shown = compact(tree)
    assert text(tree) == shown.decode()
    assert list(_names(parse(shown).value)) == list(_names(tree))
    assert (shown == canonical(tree)) == (list(_names(tree)) == list(_names(_sorted(tree))))


def _names(tree: Any) -> Any:
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield name
            yield from _names(value)
    elif isinstance(tree, list):
        for item in tree:
            yield from _names(item)


def _sorted(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _sorted(tree[name]) for name in sorted(tree)}
    return [_sorted(item) for item in tree] if isinstance(tree, list) else tree


def test_members_stay_where_they_are_in_each_form() -> None:
    """Sorted or not at every level; tuples are arrays, integers of Python are numbers of any size."""
    tree = {"b": {"d": 1, "c": (2**80, -7)}, "a": []}
    assert compact(tree) == b'{"b":{"d":1,"c":[1208925819614629174706176,-7]},"a":[]}'
    assert canonical(tree) == b'{"a":[],"b":{"c":[1208925819614629174706176,-7],"d":1}}'
    assert text({"x": "\udcff"}) == '{"x":"\udcff"}'
    with pytest.raises(UnicodeEncodeError):
        compact({"x": "\udcff"})


@pytest.mark.parametrize("value", [1.5, b"bytes", {1}, object()], ids=type)
def test_what_json_cannot_hold_is_named(value: object) -> None:
    """A float has lost its spelling, so it is refused as everything else is."""
    for form in (canonical, compact, text):
        with pytest.raises(TypeError, match=f"^no JSON value: {type(value).__name__}$"):
            form({"x": [value]})
