"""Lines as records: whatever a log holds, a line is a record of what is known of it or is counted as none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.record import INVALID, Raw, Record, decoder, dumps, loads, value

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
TREES: Any = st.recursive(
    st.none() | st.booleans() | TEXTS | st.integers(-(2**63), 2**63) | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


class Part(Record):
    """An object within a line."""

    text: str | None = None
    n: int | None = None


class Line(Record):
    """Every kind of member that a reader may declare."""

    text: str | None = None
    whole: int | None = None
    real: float | None = None
    yes: bool | None = None
    part: Part | None = None
    parts: list[Part] | None = None
    words: list[str] | None = None
    either: str | list[str] | None = None
    raw: Raw = Raw()


DECODE = decoder(Line)
NAMES = [*Line.__struct_fields__, "else"]
KINDS: dict[str, Any] = {
    "text": str,
    "whole": int,
    "real": (int, float),
    "yes": bool,
    "part": dict,
    "parts": list,
    "words": list,
    "either": (str, list),
}


@given(st.dictionaries(st.sampled_from(NAMES), TREES))
def test_a_member_of_the_wrong_type_counts_as_absent(members: dict[str, Any]) -> None:
    """Each other one is what the line says; a line that is an object is always a record."""
    found = DECODE(json.dumps(members).encode())
    assert found is not None
    for name, kind in KINDS.items():
        given, got = members.get(name), getattr(found, name)
        fits = isinstance(given, kind) and (kind is bool or not isinstance(given, bool))
        if name == "whole":
            if isinstance(given, bool) or not isinstance(given, (int, float)):
                assert got is None
        elif name == "real" and fits:
            assert got == float(given)
        elif not fits:
            assert got is None
        elif name in ("text", "yes", "real", "words", "either") and not isinstance(given, list):
            assert got == given
        elif name in ("words", "either"):
            assert got == [each for each in given if isinstance(each, str)]
        elif name == "parts":
            assert len(got) == sum(isinstance(each, dict) for each in given)
    if "raw" in members:
        assert json.loads(bytes(found.raw)) == members["raw"]


@pytest.mark.parametrize(
    ("number", "whole"),
    [
        ("1", 1),
        ("1.0", 1),
        ("-3e2", -300),
        ("1.5", None),
        ("true", None),
        ('"1"', None),
        ("9223372036854775807", 2**63 - 1),
        ("1" * 5000, None),
        ("1e400", None),
        ("9007199254740993.0", None),
    ],
)
def test_whole_numbers_are_those_of_64_bits(number: str, whole: int | None) -> None:
    """Written as a fraction they count where a fraction is exact, and an odd line elsewhere changes none of it."""
    for text in ('"x"', '"x","yes":5'):
        found = DECODE(f'{{"whole":{number},"text":{text}}}'.encode())
        assert found is not None and (found.whole, found.text) == (whole, "x")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"[]",
        b"1",
        b'"{"',
        b"{",
        b'{"a":1',
        b'{"a":1}}',
        b'{"a":NaN}',
        b"{'a':1}",
        b"null",
    ],
)
def test_what_is_not_a_json_object_is_not_a_record(line: bytes) -> None:
    """None, whatever the bytes: the sink counts it as unparsed."""
    assert DECODE(line) is None


@given(st.binary(max_size=30) | st.text(st.sampled_from('{}[]":,\\u dDa01e-')).map(str.encode))
def test_no_bytes_raise(line: bytes) -> None:
    """A record or None; where Python's own reader sees an object there is a record."""
    found = DECODE(line)
    try:
        strict = json.loads(line.decode())
    except ValueError:
        return
    assert (found is not None) == isinstance(strict, dict)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (rb"a\ud83d\ude00b", "a\U0001f600b"),
        (rb"a\ud83db", "a\ufffdb"),
        (rb"a\ude00\ud83db", "a\ufffd\ufffdb"),
        (rb"a\\ud83db", "a\\ud83db"),
        (b"a\xffb", "a\ufffdb"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (rb"\u0000", "\0"),
    ],
)
def test_half_characters_and_bad_bytes_become_the_replacement_character(
    written: bytes, text: str
) -> None:
    """One bad character does not cost the line; an escaped backslash before `u` is only that."""
    found = DECODE(b'{"text":"' + written + b'","part":{"text":"' + written + b'"}}')
    assert found is not None and found.part is not None
    assert found.text == found.part.text == text


def test_deep_nesting_costs_at_most_its_member() -> None:
    """The codecs stop at some depth; what a reader does not know may be as deep as it likes."""
    deep = b"[" * 100_000 + b"]" * 100_000
    for line in (b'{"else":' + deep + b"}", b'{"text":"x","part":' + deep + b"}", deep):
        found = DECODE(line)
        assert found is None or found.part is None


@given(TREES)
def test_a_raw_member_is_read_when_it_is_wanted(tree: Any) -> None:
    """As a value of a type; None where it is absent or something else."""
    found = DECODE(json.dumps({"raw": tree}).encode())
    assert found is not None
    assert value(found.raw, str) == (tree if isinstance(tree, str) else None)
    assert value(found.raw, Any) == tree
    part = value(found.raw, Part)
    assert (part is not None) == isinstance(tree, dict)
    assert value(Line().raw, Any) is None


@given(TREES)
def test_values_are_written_as_they_are_read(tree: Any) -> None:
    """Compact, members in their order, numbers of any size."""
    assert loads(dumps(tree)) == tree
    assert b"\n" not in dumps(tree)


def test_numbers_and_texts_beyond_the_codec() -> None:
    """More than 64 bits, thousands of digits, half characters, depth: read and written all the same."""
    assert loads(dumps([2**80, -(2**70)])) == [2**80, -(2**70)]
    assert loads(b"1" * 5000) == float("inf")
    assert dumps({"a": 2**80, "b": "\ud800\u00e9"}) == f'{{"a":{2**80},"b":"?\u00e9"}}'.encode()
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert dumps(deep) == b"null"
    for odd in (b"", b"NaN", b"-Infinity", b"{", b"[1,]"):
        assert loads(odd) is INVALID
