"""Records as JSON: which members there are, in which order, and that no text stops a command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.wire.encode import encode, json_line, omitted, plain


@define(eq=False)
class Inner:
    n: int
    note: str = omitted("")


@define(eq=False)
class Outer:
    zeta: str
    inner: Inner | None = None
    items: list[Any] = omitted(factory=list)
    class_: str = omitted("", name="class")
    flag: bool = omitted(False)
    count: int = 0


def test_members_are_in_declared_order_and_empty_optional_ones_left_out() -> None:
    """What is not optional is there, empty or not; a name that Python does not have is written as JSON has it."""
    assert list(plain(Outer(""))) == ["zeta", "inner", "count"]
    assert plain(Outer("", None, [], "", False, 0)) == {"zeta": "", "inner": None, "count": 0}
    whole = Outer("z", Inner(1, "x"), [Inner(2), "y", None, (3, {"k": Inner(4)})], "c", True, 5)
    assert encode(whole) == (
        b'{"zeta":"z","inner":{"n":1,"note":"x"},"items":[{"n":2},"y",null,[3,{"k":{"n":4}}]],'
        b'"class":"c","flag":true,"count":5}'
    )


@pytest.mark.parametrize("value", [None, "", "x", 0, 1.5, True, [], {}, [None, [False]]])
def test_plain_values_stay_what_they_are(value: Any) -> None:
    """Nothing is left out of them."""
    assert plain(value) == value and json.loads(encode(value)) == value


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_printed(text: str) -> None:
    """What of a path is not UTF-8 becomes U+FFFD; everything else is printed raw."""
    line = json_line(Outer(text, items=[text, {text: text}]))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    shown = json.loads(line)["zeta"]
    assert [a for a, b in zip(text, shown, strict=False) if a != b] == [
        char for char in text if "\ud800" <= char <= "\udfff"
    ] or len(shown) < len(text)
    if text.isascii():
        assert shown == text


def test_half_characters_are_replaced_and_whole_ones_joined() -> None:
    """A surrogate alone is not a character; two halves that belong together are one."""
    assert json.loads(json_line(["a\udcffb", "\ud83d\ude00", "\ude00\ud83d"])) == [
        "a\ufffdb",
        "\U0001f600",
        "\ufffd\ufffd",
    ]
