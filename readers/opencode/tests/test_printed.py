"""A command, a server or a person that prints OpenCode's fixed texts changes nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.record import decoder
from agentfeedback_opencode import v1, v2_calls

TIMED_OUT = "tool terminated command after exceeding timeout 5 ms"
#: Texts of the harness, as a command may print them.
FIXED = (
    "<shell_metadata>",
    "</shell_metadata>",
    "<bash_metadata>",
    "</bash_metadata>",
    "User aborted the command",
    f"shell {TIMED_OUT}",
    f"bash {TIMED_OUT}",
    "The user rejected permission to use this specific tool call.",
    "The user has specified a rule which prevents you from using this specific tool call.",
    "The user dismissed this question",
    "Tool execution aborted",
    "Task cancelled",
    "Tool execution interrupted",
    "Provider turn interrupted",
    "Unable to execute command: make",
    "Command exited with code 4.",
    "Command timed out before completion.",
)
printed = st.lists(st.sampled_from(FIXED) | st.text(max_size=9), max_size=6).map("\n".join)
exits = st.sampled_from([0, 4])


def ended(**state: Any) -> tuple[str, str, int | None] | None:
    """How a call of V1 with this state ended."""
    part = {"kind": "part", "type": "tool", "tool": "bash", "state": state}
    line = decoder(v1.Line)(json.dumps(part).encode())
    assert line is not None
    return v1.outcome(line)


def ended_v2(
    text: str, *, tool: str = "bash", finish: str | None = "tool-calls", **state: Any
) -> tuple[str, str, int | None] | None:
    """How a call of OpenCode 2 that gave back this text ended."""
    state = {"input": {"command": "make"}, "content": [{"type": "text", "text": text}]} | state
    found = decoder(v2_calls.State)(json.dumps(state).encode())
    assert found is not None
    return v2_calls.outcome(tool, found, "make", finish=finish, failure=None)


@given(printed, exits)
def test_v1_an_exit_code_beats_what_was_printed(text: str, code: int) -> None:
    """Where an exit code is recorded no note is read."""
    want = ("error" if code else "ok", text, code or None)
    assert ended(status="completed", output=text, metadata={"exit": code}) == want


@given(printed, st.sampled_from(["shell", "bash"]), st.booleans())
def test_v1_the_harness_has_the_last_word(text: str, tool: str, aborted: bool) -> None:
    """Whatever is printed above it, the harness's own note decides."""
    note = "User aborted the command" if aborted else f"{tool} {TIMED_OUT}"
    output = f"{text}\n\n<{tool}_metadata>\n{note}\n</{tool}_metadata>"
    want = ("interrupted" if aborted else "error", output, None)
    assert ended(status="completed", output=output, metadata={"exit": None}) == want


@given(printed)
def test_v1_without_its_tag_a_note_is_output(text: str) -> None:
    """Words that stand outside of the tags were printed."""
    output = text.replace("_metadata>", ">")
    assert ended(status="completed", output=output, metadata={"exit": None}) == ("ok", output, None)


@given(printed)
def test_v1_a_servers_error_is_an_error(text: str) -> None:
    """What a server says comes behind words of the harness."""
    error = f"MCP error -32000: {text}"
    assert ended(status="error", error=error) == ("error", error, None)


@given(printed, exits, st.sampled_from(["structured", "metadata"]))
def test_v2_texts_of_a_completed_call_are_output(text: str, code: int, place: str) -> None:
    """Only the recorded exit code and the recorded timeout count."""
    want = ("error" if code else "ok", text, code or None)
    assert ended_v2(text, status="completed", **{place: {"exit": code}}) == want
    assert ended_v2(text, status="completed") == ("ok", text, None)


@given(printed, st.sampled_from(["tool.execution", "provider.auth", "novel", "unknown", None]))
def test_v2_what_a_failed_tool_says_is_an_error(text: str, type: str | None) -> None:
    """A message that says more, or stands under a type of its own, is not a fixed text."""
    for message in (f"Tool failed: {text}", f"{text}."):
        error = {"type": type, "message": message}
        told = ended_v2("", status="error", error=error, finish=None)
        assert told == ("error", message, None)


@given(printed)
def test_v2_only_the_own_command_of_the_shell_is_refused(text: str) -> None:
    """`Unable to execute command` with other words, or of another tool, is an error."""
    for tool, command in (("bash", f"{text}!"), ("read", "make")):
        message = f"Unable to execute command: {command}"
        error = {"type": "unknown", "message": message}
        assert ended_v2("", tool=tool, status="error", error=error) == ("error", message, None)
