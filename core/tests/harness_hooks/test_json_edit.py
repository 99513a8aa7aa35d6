"""Edits of JSON text by position: what is put in can be taken out again, and no other byte changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.harness_hooks.json_edit import (
    NotEditable,
    cut,
    decoded,
    inserted,
    member,
    parts,
    root,
    value_at,
)

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\/\u00e9{}[], :', max_size=4)
VALUES: Any = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=6,
)
LAYOUTS = st.sampled_from([None, 2, 4, "\t"])


def written(value: Any, indent: Any) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


@given(st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=3), LAYOUTS, VALUES)
def test_a_member_put_in_and_cut_out_leaves_the_text(
    value: dict[str, Any], indent: Any, new: Any
) -> None:
    """Whatever the layout; in between the text says what it said, and the new member, last."""
    text = f" {written(value, indent)}\n"
    at = root(text)
    grown = inserted(text, at, 1, "new", new)
    assert list(json.loads(grown).items()) == [*value.items(), ("new", new)]
    part = member(grown, at, "new")
    assert part is not None and json.loads(grown[part.value : part.end]) == new
    assert cut(grown, at, part) == text or (not value and json.loads(cut(grown, at, part)) == {})


@given(st.lists(VALUES, min_size=1, max_size=4), LAYOUTS, st.data())
def test_any_item_of_an_array_can_be_cut_out(items: list[Any], indent: Any, data: Any) -> None:
    """The others stay as they are, with as many commas as they need."""
    text = written(items, indent)
    index = data.draw(st.integers(0, len(items) - 1))
    found = parts(text, 0)
    assert [json.loads(text[each.value : each.end]) for each in found] == items
    assert json.loads(cut(text, 0, found[index])) == items[:index] + items[index + 1 :]


@pytest.mark.parametrize(
    ("text", "grown"),
    [
        ("{}", '{"k": [1]}'),
        ("[\n]", "[[1]\n]"),
        ('{"a":1}', '{"a":1,"k": [1]}'),
        ('{ "a": 1 }', '{ "a": 1, "k": [1] }'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "k": [\n    1\n  ]\n}'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"k": [\r\n\t\t1\r\n\t]\r\n}'),
        ('{\n"a": 1\n}', '{\n"a": 1,\n"k": [\n  1\n]\n}'),
        ('{\n\n  "a": 1}', '{\n\n  "a": 1,\n  "k": [\n    1\n  ]}'),
    ],
)
def test_what_is_put_in_looks_as_its_neighbours_do(text: str, grown: str) -> None:
    """Their line ends and their indentation; on one line where they are."""
    key = "k" if text[0] == "{" else ""
    assert inserted(text, 0, 1, key, [1]).replace("[ 1 ]", "[1]") == grown


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not strict JSON (line 1, column 1)"),
        ('{\n"a": 1,}', "not strict JSON (line 2"),
        ("{} // mine", "not strict JSON"),
        ("[]", "not a JSON object"),
        ('"a"', "not a JSON object"),
        ('{"a": 1, "a": 2}', "names a member twice"),
        ('{"a": {"b": 1, "b": 1}}', "names a member twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    ],
)
def test_what_cannot_be_edited_says_why(text: str, reason: str) -> None:
    """Comments, trailing commas, members twice: a program would lose something of the user's."""
    with pytest.raises(NotEditable) as raised:
        decoded(text)
    assert reason in str(raised.value)


def test_numbers_are_texts_as_they_are_spelled() -> None:
    """So none is too long to be read, and none is rounded."""
    assert decoded('{"a": 1e999, "b": 1.10}') == {"a": "1e999", "b": "1.10"}
    assert value_at("[0, 12345678901234567890]", 4) == "12345678901234567890"
    assert member("[1]", 0, "a") is None and member('{"b": 1}', 0, "a") is None
