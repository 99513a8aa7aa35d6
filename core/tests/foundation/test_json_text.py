"""JSON read without losing numbers, names given twice, or bytes that nobody changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agentfeedback.foundation.canonical import canonical, compact
from agentfeedback.foundation.json_text import (
    MAX_DEPTH,
    NotJson,
    Number,
    TooDeep,
    bounded,
    members,
    parse,
    text_bytes,
)
from tests.support import json_trees


@given(json_trees.TREES)
def test_a_tree_survives_writing_and_reading(tree: Any) -> None:
    """What is written, compact or canonical, reads back as the same tree, numbers as spelled."""
    assert parse(compact(tree)).value == tree
    assert parse(canonical(tree)).value == tree


@given(json_trees.OBJECTS)
def test_members_keep_the_bytes_of_their_values(tree: dict[str, Any]) -> None:
    """Each member's text is the one that stood there, however it is spaced or escaped."""
    escaped = {name: json.dumps(name) for name in tree}
    texts = {name: compact(tree[name]).decode() for name in tree}
    spaced = "{ " + " ,\n".join(f"{escaped[name]}\t:  {texts[name]} " for name in tree) + "}"
    assert members(spaced.encode()) == list(texts.items())


@pytest.mark.parametrize("spelling", ["1E400", "-0", "0.10", "1e-7", "9" * 5000, "1.0"])
def test_a_number_keeps_its_spelling(spelling: str) -> None:
    """No number is too large, and none is rounded or written otherwise."""
    assert parse(f"[{spelling}]".encode()).value == [Number(spelling)]


def test_the_last_of_equal_names_counts_and_its_place_is_told() -> None:
    """A name given twice, at any level, is reported once by its path."""
    document = parse(b'{"a":1,"b":{"c":1,"c":[{"d":1,"d":2}],"c":[{"d":3,"d":4}]},"a":2}')
    assert document.value == {"b": {"c": [{"d": Number("4")}]}, "a": Number("2")}
    assert document.duplicates == [("a",), ("b", "c"), ("b", "c", "0", "d")]


def test_what_is_no_unicode_becomes_replacement_characters() -> None:
    """Invalid bytes and unpaired escapes are mended and reported; pairs are one character."""
    document = parse(b'{"a":"\xff","b":["\\ud800","\\ud83d\\ude00"],"\\udfff":1}')
    assert document.value == {"a": "\ufffd", "b": ["\ufffd", "\U0001f600"], "\ufffd": Number("1")}
    assert document.mended == [("\ufffd",), ("a",), ("b", "0")]


def test_bytes_that_are_no_unicode_pass_through_members() -> None:
    """A member that nobody touches leaves with the bytes it came with."""
    found = members(b'{"a":"\xff\\ud800"}')
    assert found is not None
    assert text_bytes(found[0][1]) == b'"\xff\\ud800"'


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"{}{}",
        b"{'a':1}",
        b'{"a":1,}',
        b"[NaN]",
        b"[Infinity]",
        b"[01]",
        b"[1.]",
        b'["\x01"]',
        b'["\\x"]',
        b"\xef\xbb\xbf{}",
        b"\xff{}",
        b"[\xc2\xa0]",
        b'"\\',
    ],
)
def test_what_rfc_8259_forbids_is_refused(text: bytes) -> None:
    """No extension of JSON is read."""
    for read in (parse, members):
        with pytest.raises(NotJson):
            read(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"a":NaN}', "not JSON: NaN is not a JSON value"),
        (b"[-Infinity]", "not JSON: -Infinity is not a JSON value"),
        (b'["\x01"]', "not JSON: invalid control character at character 2"),
        (b"[1,]", "not JSON: expecting value at character 3"),
    ],
)
def test_what_is_wrong_is_told_as_a_sentence(text: bytes, problem: str) -> None:
    """The problem is named in words that can stand in a message."""
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert str(caught.value) == problem


def test_depth_is_bounded_exactly() -> None:
    """As many levels as allowed are read, one more is refused, brackets in texts do not count."""
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert compact(parse(deep).value) == deep
    assert parse(b'["' + b"[" * 9999 + b'"]').value
    with pytest.raises(TooDeep):
        parse(b"[" + deep + b"]")


def test_the_deepest_objects_are_mended_too() -> None:
    """Names given twice at every level of the deepest value are not trouble."""
    deep = b'{"a":' * (MAX_DEPTH - 1) + b'{"a":1,"a":"\xff"}' + b"}" * (MAX_DEPTH - 1)
    document = parse(deep)
    assert document.duplicates == document.mended == [("a",) * MAX_DEPTH]
    assert compact(document.value) == deep.replace(b'"a":1,', b"").replace(b"\xff", b"\xef\xbf\xbd")


def size(tree: Any) -> tuple[int, int]:
    """How many values a tree has, and how many levels."""
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    sizes = [size(each) for each in inner]
    deep = 1 if isinstance(tree, dict | list) else 0
    return 1 + sum(many for many, _ in sizes), deep + max((each for _, each in sizes), default=0)


@given(json_trees.TREES)
def test_values_and_levels_are_counted_without_being_built(tree: Any) -> None:
    """Exactly as many as there are fit; one fewer of either does not."""
    values, levels = size(tree)
    for text in (compact(tree), json.dumps(json.loads(compact(tree)), indent=1).encode()):
        assert bounded(text, values, levels)
        assert not bounded(text, values - 1, levels)
        assert not levels or not bounded(text, values, levels - 1)


def test_hostile_text_is_refused_in_time() -> None:
    """A megabyte of quotes, escapes or brackets costs one pass."""
    for text in (b'\\"' * 500_000, b'"' * 1_000_001, b"[" * 1_000_000, b"[]" * 500_000):
        with pytest.raises(NotJson):
            parse(text)


def test_what_is_no_object_has_no_members() -> None:
    """A value that is not an object is told from an empty one."""
    assert members(b"[1]") is None and members(b" {} ") == []
