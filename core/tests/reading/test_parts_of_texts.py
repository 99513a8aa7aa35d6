"""The first lines and the last one of a text are reported without decoding the text, or not at all, and never wrongly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.reading import Raw, Record, decoder, last_line, lines_above


class _Line(Record):
    text: Raw = Raw()


def _member(written: bytes) -> Raw:
    record = decoder(_Line)(b'{"text":%s}' % written)
    assert record is not None
    return record.text


def _above(text: str) -> str | None:
    lines = text.split("\n")
    return "\n".join(lines[: lines.index("Output:")]) if "Output:" in lines[:-1] else None


_PIECES = st.sampled_from(["\n", "Output:", "\\", '"', "n", "é", "\U0001f600", "\t", " ", "Exit"])


@st.composite
def _written(draw: st.DrawFn) -> tuple[str, bytes]:
    """A text, and its JSON with some characters written by their numbers."""
    pieces = draw(st.lists(_PIECES, max_size=12))
    written = [
        "".join(f"\\u{ord(each):04x}" if ord(each) < 0x10000 else each for each in piece)
        if draw(st.integers(0, 5)) == 0
        else json.dumps(piece, ensure_ascii=False)[1:-1]
        for piece in pieces
    ]
    return "".join(pieces), f'"{"".join(written)}"'.encode()


@settings(max_examples=200, deadline=None)
@given(_written(), st.sampled_from(["", "\\" * 4094, "x" * 5000, "x" * 5000 + "\n"]))
def test_the_last_line_is_that_of_the_whole_text(case: tuple[str, bytes], before: str) -> None:
    """However a text is written and whatever is before it, what is reported is its last line."""
    text, written = before + case[0], json.dumps(before).encode()[:-1] + case[1][1:]
    told = last_line(_member(written))
    assert told is None or ("\n" in text and told == text.rpartition("\n")[2])


@pytest.mark.parametrize("text", ["a\nb", "\n", "x" * 9000 + '\nthe \\ "last" é', "a\\\nb"])
def test_the_last_line_is_told(text: str) -> None:
    """What is written as usual is reported, however long the text is."""
    assert last_line(_member(json.dumps(text).encode())) == text.rpartition("\n")[2]


@pytest.mark.parametrize(
    "written", [b'"a\\\\nb"', b'"a"', b'["a\\nb"]', b'{"a":"a\\nb"}', b"null", b"7", b'""', b""]
)
def test_no_last_line_is_told_where_there_is_none(written: bytes) -> None:
    """A text without a line end, a list, an object, a number, an absent member."""
    assert last_line(Raw(written)) is None


@settings(max_examples=300, deadline=None)
@given(_written())
def test_lines_above_are_those_of_the_whole_text(case: tuple[str, bytes]) -> None:
    """However a text is written, what is reported is what the decoded text has above the line."""
    text, written = case
    told = lines_above(_member(written), "Output:")
    assert told is None or told == _above(text)


@pytest.mark.parametrize("text", ["a\nOutput:\nb", "\nOutput:\n", 'q"\\\nOutput:\n' + "x" * 9000])
def test_lines_above_are_told(text: str) -> None:
    """What is written as usual is reported, whatever is below."""
    assert lines_above(_member(json.dumps(text).encode()), "Output:") == _above(text) is not None


@pytest.mark.parametrize(
    "written",
    [
        b'"a\\\\nOutput:\\nb"',
        b'"Output:\\nb"',
        b'"\\u000aOutput:\\nOutput:\\nb"',
        b'["a\\nOutput:\\nb"]',
        b'{"a":"a\\nOutput:\\nb"}',
        b'"\\ud800\\nOutput:\\nb"',
        b"null",
        b'"' + b"x" * 5000 + b'\\nOutput:\\nb"',
        b'""',
    ],
)
def test_nothing_is_told_where_more_would_have_to_be_decoded(written: bytes) -> None:
    """An escaped backslash, a line at the very start, a list, half a character, a line far below: decode it all."""
    assert lines_above(Raw(written), "Output:") is None


def test_nothing_is_told_of_an_absent_member() -> None:
    """A member that is not there has no lines."""
    assert lines_above(Raw(), "Output:") is None
