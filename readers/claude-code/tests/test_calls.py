"""How calls and their results are read: blocks, texts, ids, arguments and spans."""

from __future__ import annotations

from typing import Any

import pytest


def test_results_on_a_meta_line_count(log: Any) -> None:
    """A result is applied even on an `isMeta` line, and its line is not a prompt."""
    log.call()
    log.result("boom", isMeta=True)
    assert (log.calls()[0].status, log.prompts()) == ("error", [])


def test_text_beside_a_result_is_no_prompt(log: Any) -> None:
    """An entry that carries a result holds no prompt."""
    log.call()
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x", "is_error": True}
    log.user([{"type": "text", "text": "hello"}, result])
    assert (log.calls()[0].status, log.prompts()) == ("error", [])


def test_the_text_of_a_result_is_its_text_items(log: Any) -> None:
    """Text items are joined by LF; images and unknown items never reach an excerpt."""
    log.call()
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    other = {"type": "reference", "text": "x"}
    items = [
        {"type": "text", "text": "one"},
        image,
        "two",
        other,
        {"type": "text", "text": "three"},
    ]
    log.result(items)
    assert log.calls()[0].excerpt == "one\nthree"


def test_a_call_is_told_once_per_id(log: Any) -> None:
    """A repeated id adds no call, a block without one is a call that stays open."""
    log.call("t1")
    log.call("t1", tool="Read")
    log.assistant({"type": "tool_use", "name": "Bash", "input": {}})
    log.assistant({"type": "tool_use", "id": "", "name": "Bash", "input": {}})
    log.result("Exit code 4", id="t1")
    log.result("boom", id="")
    log.result("boom", id="unknown")
    calls = log.calls()
    assert [(call.id, call.tool, call.status, call.exit_code) for call in calls] == [
        ("t1", "Bash", "error", 4),
        (None, "Bash", None, None),
        (None, "Bash", None, None),
    ]


@pytest.mark.parametrize(
    ("input", "digest"),
    [
        ({"input": {"command": "go  build   ./..."}}, "854004a0c269"),
        ({}, "e3b0c44298fc"),
        ({"input": None}, "74234e98afe7"),
    ],
)
def test_arguments_are_digested_from_the_command_or_the_input(
    log: Any, input: dict[str, Any], digest: str
) -> None:
    """The command is the string member `command`; without one the input as it is counts."""
    log.assistant({"type": "tool_use", "id": "t1", "name": "Bash", **input})
    assert log.calls()[0].args_digest == digest


@pytest.mark.parametrize("input", [{"command": ["a"]}, ["command"], "command", 1])
def test_a_command_of_another_type_is_none(log: Any, input: Any) -> None:
    """An input without a string member `command` is digested as a whole."""
    log.assistant({"type": "tool_use", "id": "t1", "name": "Bash", "input": input})
    log.assistant({"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "a"}})
    first, second = log.calls()
    assert first.args_digest != second.args_digest


def test_a_call_has_the_span_of_its_own_entry(log: Any) -> None:
    """Blocks of one message in several lines are several entries, each with its own span."""
    first = log.call("t1")
    second = log.call("t2")
    assert [call.span for call in log.calls()] == [first, second]
