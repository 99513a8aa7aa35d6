"""What a digest with detail adds: what was run, and how long results end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.digest.detailed import DetailedTimeline, tail
from agentfeedback.scrub import SUBMIT, Scrubber, cut

SCRUBBER = Scrubber(SUBMIT)
KEY = "sk-" + "ant-" + "a1B2" * 12


def timeline() -> DetailedTimeline:
    return DetailedTimeline(SCRUBBER, None)


def failed(content: str = "no", status: Any = "error", **call: Any) -> Any:
    """The call of a timeline with one failed call."""
    told = timeline()
    told.entry("a1")
    told.call("c1", "tool", **call)
    told.result("c1", status, content)
    told.settle()
    return told.entries[0].calls[0]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ({"command": " make \n  test "}, "make test"),
        ({"command": f"login {KEY}"}, "login [REDACTED:anthropic_key]"),
        ({"command": "é" * 200}, "é" * 120),
        ({"input": b'{"a": [1, "b"]}'}, '{"a":[1,"b"]}'),
        ({"input": json.dumps({"api_key": KEY}).encode()}, '{"api_key":"[REDACTED:assignment]"}'),
        ({"input": b'"just  text"'}, "just text"),
        ({"input": b"not json"}, "not json"),
        ({"input": b"{}"}, ""),
        ({"input": b"null"}, ""),
        ({"input": b'""'}, ""),
        ({}, ""),
        ({"command": "x " * 4000}, ("x " * 120).strip() + " "),
    ],
)
def test_the_command_is_one_scrubbed_line(call: dict[str, Any], shown: str) -> None:
    """The command, else the input as JSON or as its text; long ones are cut as they come."""
    assert failed(**call).command in (shown, shown.strip())


def test_only_calls_that_did_not_succeed_keep_their_command() -> None:
    """What went well is not kept, unless a later record says that it did not."""
    told = timeline()
    told.entry("a1")
    told.call("c1", "tool", command="fine")
    told.result("c1", "ok", "done")
    told.call("c2", "tool", command="open")
    told.call("c3", "tool", command="refined")
    told.result("c3", "ok", "so far")
    told.refine("c3", "error", exit_code=3)
    told.settle()
    assert [call.command for call in told.entries[0].calls] == ["", "", "refined"]


def test_calls_that_went_well_do_not_pile_up() -> None:
    """Of a log of many thousand calls few commands are in memory at a time."""
    told = timeline()
    for number in range(2000):
        told.entry(f"a{number}")
        told.call(f"c{number}", "tool", command="x" * 1000)
        told.result(f"c{number}", "ok", "done")
    assert len(told._given) <= 64


def test_the_tail_says_what_the_excerpt_does_not() -> None:
    """It begins with a whole line behind the excerpt, and a short result has none."""
    lines = "".join(f"line {number}\n" for number in range(200)) + "ValueError: why"
    call = failed(lines)
    assert call.tail.startswith("line ") and call.tail.endswith("\nValueError: why")
    assert len(call.tail) <= 240
    assert failed("short").tail == ""


@given(
    st.text(alphabet="ab \né€\U0001f600[]", min_size=0, max_size=400),
    st.integers(0, 300),
    st.integers(1, 120),
)
@settings(max_examples=200)
def test_a_tail_is_an_end_of_the_text_behind_what_is_shown(
    text: str, behind: int, size: int
) -> None:
    """Whatever the text: an end of it, of at most that many bytes, and nothing that stands before."""
    text = text.strip()
    found = tail(text, behind, size)
    assert text.endswith(found)
    assert len(found.encode()) <= size
    if found:
        assert len(text.encode()) - len(found.encode()) >= behind


def test_a_tail_never_begins_within_a_marker() -> None:
    """At every place a cut could fall."""
    text = "x" * 50 + " [REDACTED:jwt] after it"
    for size in range(1, 40):
        found = tail(text, 0, size)
        assert "REDACTED" not in found or found.startswith(("[", " [", "x"))
    assert cut(text, 55).endswith("x ")
