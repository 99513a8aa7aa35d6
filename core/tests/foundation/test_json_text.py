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
    pointer,
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
    """A value that is not an object is distinguished from an empty one."""
    assert members(b"[1]") is None and members(b" {} ") == []


@pytest.mark.parametrize(
    ("path", "shown"),
    [((), ""), (("a", "0"), "/a/0"), (("",), "/"), (("a/b", "~", "~1"), "/a~1b/~0/~01")],
)
def test_a_path_is_shown_as_a_pointer(path: tuple[str, ...], shown: str) -> None:
    """As RFC 6901 writes it: a tilde is escaped before a slash is."""
    assert pointer(path) == shown


def test_a_number_is_equal_to_its_spelling_alone() -> None:
    """Not to a number of Python, nor to another spelling of the same value."""
    assert Number("1") == Number("1") and len({Number("1"), Number("1")}) == 1
    assert Number("1") != Number("1.0") and Number("1") != 1 and Number("1") != "1"
    assert repr(Number("1e3")) == "Number(text='1e3')"


def test_members_without_spaces_are_found() -> None:
    """As programs write them."""
    assert members(b'{"a":1,"b":[2,3],"c":{}}') == [("a", "1"), ("b", "[2,3]"), ("c", "{}")]


@pytest.mark.parametrize("beside", [b"[]", b"{}", b'[{"a":[]}]'])
def test_what_stands_beside_each_other_is_not_nested(beside: bytes) -> None:
    """Closed brackets count no longer, and those still open do."""
    many = b"[" + b",".join([beside] * (MAX_DEPTH + 5)) + b"]"
    assert compact(parse(many).value) == many
    deep = b"[[[" + beside + b"," + b'{"a":' * (MAX_DEPTH - 2) + b"1"
    with pytest.raises(TooDeep, match=f"^the JSON is nested deeper than {MAX_DEPTH} levels$"):
        parse(deep + b"}" * (MAX_DEPTH - 2) + b"]]]")


def test_more_levels_than_python_takes_are_refused() -> None:
    """Whatever depth is allowed: an error that says so, and no end of the process."""
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(TooDeep, match="^the JSON is nested too deeply to be read here$"):
        parse(deep, depth=200_000)


@pytest.mark.parametrize("text", [b'["\\ud800"]', b'["\xff"]', b'["\\udFFF"]'])
def test_each_kind_of_half_character_is_mended_alone(text: bytes) -> None:
    """An escape without its other half, and a byte that is not UTF-8."""
    document = parse(text)
    assert (document.value, document.mended) == (["\ufffd"], [("0",)])


def test_names_that_become_one_are_mended_once() -> None:
    """Two half characters are two names with one form: given twice, and the last counts."""
    document = parse(b'{"\\ud800":1,"\\ud801":2}')
    assert document.value == {"\ufffd": Number("2")}
    assert document.mended == document.duplicates == [("\ufffd",)]


def test_each_maximal_ill_formed_part_is_one_replacement_character() -> None:
    """A character cut short is one, however many of its bytes are there; a byte that cannot begin one is another."""
    document = parse(b'["\xf0\x9f\x98x\xff\xff\xe2\x82"]')
    assert document.value == ["\ufffdx\ufffd\ufffd\ufffd"]


@pytest.mark.parametrize("beside", [b"[]", b"[1]", b"{}"])
def test_levels_still_open_count(beside: bytes) -> None:
    """What was closed does not: four levels, one of them closed, and nine more are twelve."""
    text = b"[[[" + beside + b"," + b"[" * 9 + b"1" + b"]" * 12
    assert bounded(text, 100, 12) is True
    assert bounded(text, 100, 11) is False
    assert bounded(text, 3, 12) is False
