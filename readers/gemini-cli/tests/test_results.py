"""How calls ended (README, "Refusals", "Shell results")."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentfeedback.reading import Raw
from agentfeedback_gemini_cli.shell import succeeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Written

    Make = Callable[..., dict[str, Any]]

SHELL = "run_shell_command"
BLOCKED = "Tool execution blocked: not today"
UNASKED = (
    'Tool execution for "%s" requires user confirmation, '
    "which is not supported in non-interactive mode."
)
CANCELLED = "[Operation Cancelled] Reason: User denied execution."
POLICY = "Tool execution denied by policy."


@pytest.fixture
def ended(log: Written, call: Make) -> Callable[..., tuple[str | None, int | None]]:
    """How a shell command with this result ended."""

    def how(text: str, status: str = "success", **members: Any) -> tuple[str | None, int | None]:
        log.lines.clear()
        log.gemini("", call(text, status, name=SHELL, **members))
        (told,) = log.calls()
        return told.status, told.exit_code

    return how


def wrapped(text: str, before: str = "") -> str:
    return f"{before}<untrusted_context>\n{text}\n</untrusted_context>"


@pytest.mark.parametrize(
    ("status", "text", "told"),
    [
        ("success", "x", "ok"),
        ("error", "x", "error"),
        ("cancelled", "[Operation Cancelled] Reason: Operation cancelled by user", "interrupted"),
        ("cancelled", "[Operation Cancelled] Reason: User denied execution.", "denied"),
        ("error", "Tool execution denied by policy.", "denied"),
        ("error", "Tool execution denied by policy. Because.", "denied"),
        ("error", "Tool execution blocked: house rule: not on a Friday", "denied"),
        ("error", UNASKED % "Shell", "denied"),
        ("error", UNASKED % "Replace a text", "denied"),
        ("error", 'Tool execution for "Shell" denied by policy.', "denied"),
        ("error", 'Tool execution for "Shell" denied by policy. Why?', "error"),
        ("error", UNASKED % "Shell" + " It is not.", "error"),
        ("error", UNASKED % 'a" and "b', "error"),
        ("error", f"MCP tool 'x' reported tool error: {BLOCKED}", "error"),
        ("error", "Tool execution blocked", "error"),
        ("success", BLOCKED, "ok"),
        ("success", UNASKED % "Shell", "ok"),
        ("cancelled", BLOCKED, "interrupted"),
        ("cancelled", UNASKED % "Shell", "interrupted"),
        ("success", "Tool execution denied by policy.", "ok"),
        ("cancelled", "Tool execution denied by policy.", "interrupted"),
        ("error", "[Operation Cancelled] Reason: User denied execution.", "error"),
        ("error", "log says: Tool execution denied by policy.", "error"),
        ("executing", "x", None),
        ("awaiting_approval", "x", None),
        (None, "x", None),
        (7, "x", None),
    ],
)
@pytest.mark.parametrize("name", ["read_file", SHELL])
def test_the_status_decides(
    log: Written, call: Make, status: Any, text: str, told: str | None, name: str
) -> None:
    """The harness's status decides, and the text it starts a refusal with."""
    log.gemini("", call(text, status, member="error", name=name))
    assert [each.status for each in log.calls()] == [told]


def test_the_first_result_stays(log: Written, call: Make) -> None:
    """Later writes change name and arguments, never status, text, exit code or place of a result."""
    log.gemini(id="m1")
    log.gemini("", call(status="executing", args={"command": "a"}), id="m1")
    place = sum(map(len, log.lines))
    log.gemini("", call("", "error", member="error"), id="m1")
    log.gemini("", call("late", "success", name="other", args={"command": "b"}), id="m1")
    log.gemini("", call("Exit Code: 3", "error", name=SHELL, args={"command": "b"}), id="m1")
    (told,) = log.calls()
    assert (told.status, told.excerpt, told.exit_code) == ("error", "", None)
    assert (told.result_offset, told.tool) == (place, SHELL)


def test_calls_of_one_message_share_its_span(log: Written, call: Make) -> None:
    """Two refused calls of one message both carry its span; without ids they are distinguished by position."""
    text = "Tool execution denied by policy."
    refused = [call(text, "error", member="error", id=id) for id in ("a", "b", "", None)]
    span = log.gemini("", *refused)
    log.gemini("", *refused, id=span)
    assert [(each.span, each.status) for each in log.calls()] == [(span, "denied")] * 4


def test_an_id_names_a_call_within_its_message(log: Written, call: Make) -> None:
    """Another message may use the id of a call again."""
    log.gemini("", call("x", "error"))
    log.gemini("", call("x"))
    assert [each.status for each in log.calls()] == ["error", "ok"]


def test_the_text_of_a_result(log: Written, call: Make) -> None:
    """An error before an output, and the parts of a result in their order."""
    both = {"functionResponse": {"response": {"output": "out", "error": "bad"}}}
    odd = [{"functionResponse": {}}, {"functionResponse": {"response": {"output": 7}}}, {}, 7]
    last = {"functionResponse": {"response": {"output": "end"}}}
    log.gemini("", call(status="error", result=[both, *odd, last]))
    assert [each.excerpt for each in log.calls()] == ["bad\nend"]


def test_what_a_call_was_given(log: Written, call: Make) -> None:
    """A command is digested by its words; other arguments as JSON; absent ones as nothing."""
    log.gemini("", call(args={"command": "go  build   ./..."}))
    log.gemini("", {"name": "x"}, call(args=None, id="b"), call(args=[1], id="c"))
    digests = [each.args_digest for each in log.calls()]
    assert digests[:3] == ["854004a0c269", "e3b0c44298fc", "74234e98afe7"]
    assert len(set(digests)) == 4


@pytest.mark.parametrize(
    ("display", "told"),
    [
        ({"isSubagentProgress": True, "terminateReason": "GOAL"}, "ok"),
        ({"isSubagentProgress": True, "terminateReason": "ERROR_NO_COMPLETE_TASK_CALL"}, "error"),
        ({"isSubagentProgress": True, "terminateReason": "TIMEOUT"}, "error"),
        ({"isSubagentProgress": True, "terminateReason": "ABORTED"}, "interrupted"),
        ({"isSubagentProgress": True}, "ok"),
        ({"isSubagentProgress": True, "terminateReason": 7}, "ok"),
        ({"isSubagentProgress": True, "state": "error"}, "error"),
        ({"isSubagentProgress": True, "state": "cancelled"}, "interrupted"),
        ({"isSubagentProgress": True, "state": "completed"}, "ok"),
        ({"isSubagentProgress": True, "state": "error", "terminateReason": "GOAL"}, "ok"),
        ({"isSubagentProgress": True, "state": "completed", "terminateReason": "TIMEOUT"}, "error"),
        ({"state": "error"}, "ok"),
        ({"isSubagentProgress": False, "terminateReason": "TIMEOUT"}, "ok"),
        ({"terminateReason": "TIMEOUT"}, "ok"),
        ("TIMEOUT", "ok"),
        (None, "ok"),
    ],
)
def test_a_subagent_fails_unless_it_reached_its_goal(
    log: Written, call: Make, display: Any, told: str
) -> None:
    """The display of a sub-agent's call knows how it ended; the call's status does not."""
    log.gemini("", call("Subagent finished.", resultDisplay=display))
    assert [each.status for each in log.calls()] == [told]


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("Output: boom\nExit Code: 1\nProcess Group PGID: 7", ("error", 1)),
        ("Output: x\nExit Code: -2", ("error", -2)),
        ("Output: (empty)\nSignal: 9\nProcess Group PGID: 7", ("error", None)),
        ("Output: (empty)\nExit Code: 137\nSignal: 9", ("error", 137)),
        ("Output: x\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)", ("ok", None)),
        ("Output: x\nExit Code: (none)\nSignal: (none)", ("ok", None)),
        ("Output: x\nError: spawn failed\nProcess Group PGID: 7", ("ok", None)),
        ("Output: x\nProcess Group PGID: 7", ("ok", None)),
        ("Output: Exit Code: 1\nmore", ("ok", None)),
        ("Output: Exit Code: 0\nExit Code: 3", ("error", 3)),
        ("Output: x\nExit Code: 1\nError: out of order", ("ok", None)),
        ("Output: x\nExit Code: 1\n\nProcess Group PGID: 7", ("ok", None)),
        ("Output: x\nExit Code: 1 or so", ("ok", None)),
        ("Exit Code: 4\nBackground PIDs: 1, 2\nProcess Group PGID: 7", ("error", 4)),
        ("", ("ok", None)),
    ],
)  # fmt: skip
def test_the_trailer_tells_how_a_command_ended(
    ended: Callable[..., Any], text: str, how: tuple[str, int | None]
) -> None:
    """The trailer's lines in their order, each once, tell exit code and signal, wrapped or not."""
    large = "Output too large. Showing first 8 characters. For full output see: /srv/app/x\n"
    for result in (text, text + "\n\n", wrapped(text), wrapped(text) + "\n", wrapped(text, large)):
        assert ended(result) == how


def test_only_the_shell_has_a_trailer(log: Written, call: Make) -> None:
    """Another tool's text is read for nothing, and neither is that of a cancelled command."""
    log.gemini("", call("x\nExit Code: 1", id="a"))
    log.gemini("", call("x\nExit Code: 1", "cancelled", name=SHELL))
    assert [each.status for each in log.calls()] == ["ok", "interrupted"]


def test_a_failed_shell_call_may_have_an_exit_code(ended: Callable[..., Any]) -> None:
    """Status `error` with a code keeps the code; without one it is an error all the same."""
    assert ended("x\nExit Code: 2", "error") == ("error", 2)
    assert ended("x\nExit Code: 0", "error") == ("error", None)


def test_the_excerpt_is_unwrapped(log: Written, call: Make) -> None:
    """What is shown of a failed command starts with what it printed."""
    log.gemini("", call(wrapped("Output: boom\nExit Code: 1"), name=SHELL))
    assert [each.excerpt for each in log.calls()] == ["boom\nExit Code: 1"]


def test_a_wrapper_the_command_printed_is_output(ended: Callable[..., Any]) -> None:
    """Tags below the start are the command's, also its closing tag as the harness escapes it."""
    printed = "a\n<untrusted_context>\nx\n</untrusted_context>\nExit Code: 5"
    escaped = printed.replace("</untrusted_context>", "&lt;/untrusted_context&gt;")
    text = wrapped(f"Output: {escaped}\nProcess Group PGID: 7")
    assert ended(text, resultDisplay=printed) == ("ok", None)
    assert ended(text, resultDisplay=[[{"text": line}] for line in printed.split("\n")]) == (
        "ok",
        None,
    )


@pytest.mark.parametrize("display", ["Error: fake\nExit Code: 9", [[{"text": "Error: fake   "}], [{"text": "Exit "}, {"text": "Code: 9"}], 7, [7]]])  # fmt: skip
def test_a_printed_trailer_is_no_trailer(ended: Callable[..., Any], display: Any) -> None:
    """What was displayed was printed; without a display nobody can tell."""
    text = wrapped("Output: Error: fake\nExit Code: 9\nProcess Group PGID: 7")
    assert ended(text, resultDisplay=display) == ("ok", None)
    assert ended(text) == ("error", 9)
    assert ended(text, resultDisplay={"x": 1}) == ("error", 9)


@pytest.mark.parametrize(
    ("name", "text", "status", "told"),
    [
        ("exit_plan_mode", "Plan rejected. No feedback provided.\n\nThe plan", "success", "denied"),
        ("exit_plan_mode", "Plan rejected. User feedback: smaller\n", "success", "denied"),
        ("exit_plan_mode", "Plan rejected. User feedback: x", "error", "error"),
        ("exit_plan_mode", "Plan approved. Plan rejected.", "success", "ok"),
        ("read_file", "Plan rejected. User feedback: smaller", "success", "ok"),
        (SHELL, "Plan rejected. User feedback: smaller", "success", "ok"),
    ],
)
def test_a_rejected_plan_is_denied(
    log: Written, call: Make, name: str, text: str, status: str, told: str
) -> None:
    """The harness's own tool answers that the user rejects the plan; another's answer is content."""
    log.gemini("", call(text, status, name=name))
    assert [each.status for each in log.calls()] == [told]


SAID = (
    ("Command was automatically cancelled because it exceeded the timeout of 5.0 minutes", "error"),
    ("Command was cancelled by user before it could complete.", "interrupted"),
    ("Command was cancelled by user before it could start.", "interrupted"),
    ("Command injection detected: command substitution", "error"),
    ("Command is running in background. PID: 7. Initial output:", "ok"),
    ("Command moved to background (PID: 7). Output hidden.", "ok"),
)


@pytest.mark.parametrize(("words", "status"), SAID)
@pytest.mark.parametrize("printed", ["", "\nExit Code: 5", "\nSignal: 9\nProcess Group PGID: 4"])
def test_what_the_harness_says_of_a_command(
    ended: Callable[..., Any], words: str, status: str, printed: str
) -> None:
    """Without an output that ended there is no trailer: what stands below was printed."""
    for text in (words + printed, wrapped(words + printed)):
        assert ended(text) == (status, None)
        assert ended(text, resultDisplay="x") == (status, None)
        assert ended(text, "error") == ("error", None)
        assert ended(text, "cancelled") == ("interrupted", None)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([words for words, _ in SAID]), min_size=1), st.booleans())
def test_a_command_that_prints_what_the_harness_says(
    ended: Callable[..., Any], lines: list[str], failed: bool
) -> None:
    """What stands behind `Output: ` was printed, whatever it says."""
    printed = "\n".join(lines)
    text = f"Output: {printed}{chr(10)}Exit Code: 3" if failed else f"Output: {printed}"
    for result in (text, wrapped(text)):
        assert ended(result, resultDisplay=printed) == (("error", 3) if failed else ("ok", None))


def test_a_display_of_the_whole_result_says_nothing(ended: Callable[..., Any]) -> None:
    """In debug mode the harness displays the result with its trailer, which the command did not print."""
    text = "Output: boom\nExit Code: 2\nProcess Group PGID: 7"
    assert ended(wrapped(text), resultDisplay=text) == ("error", 2)
    assert ended(text, resultDisplay=text) == ("error", 2)


@pytest.mark.parametrize("code", [1 << 63, -(1 << 63) - 1, 1 << 64, 10**4000])
def test_an_exit_code_beyond_64_bits_counts_as_absent(ended: Callable[..., Any], code: int) -> None:
    """Such a code tells no failure; a signal beside it does."""
    assert ended(f"Output: x\nExit Code: {code}") == ("ok", None)
    assert ended(f"Output: x\nExit Code: {code}", "error") == ("error", None)
    assert ended(f"Output: x\nExit Code: {code}\nSignal: 9") == ("error", None)


@pytest.mark.parametrize("code", [(1 << 63) - 1, -(1 << 63)])
def test_an_exit_code_of_64_bits_counts(ended: Callable[..., Any], code: int) -> None:
    """The largest and the least one are exit codes."""
    assert ended(f"Output: x\nExit Code: {code}") == ("error", code)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([BLOCKED, UNASKED % "Shell", POLICY, CANCELLED]), min_size=1),
    st.sampled_from([None, 4]),
    st.booleans(),
)
def test_a_printed_refusal_is_output(
    ended: Callable[..., Any], lines: list[str], code: int | None, wrap: bool
) -> None:
    """A command that prints how refusals start is refused by nobody."""
    printed = "\n".join(lines)
    trailer = "" if code is None else f"\nExit Code: {code}"
    text = f"Output: {printed}{trailer}\nProcess Group PGID: 7"
    want = ("ok" if code is None else "error", code)
    assert ended(wrapped(text) if wrap else text, resultDisplay=printed) == want


LINES = st.sampled_from(
    [
        "ok", "x" * 50, "Error: fake", "Exit Code: 9", "Exit Code: 0", "Signal: 3", "Output: ",
        "Background PIDs: 5", "Process Group PGID: 4", "", "  indented", "<untrusted_context>", "é\u2028",
    ]
)  # fmt: skip


def screen(printed: str, width: int, height: int) -> list[list[dict[str, str]]]:
    """The last rows of a terminal, padded to its width."""
    rows = [
        line[start : start + width].ljust(width)
        for line in printed.split("\n")
        for start in range(0, max(len(line), 1), width)
    ]
    return [[{"text": row[:3]}, {"text": row[3:]}] for row in rows[-height:]] + [[{"text": " "}]]


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(LINES, max_size=12),
    st.sampled_from([None, 1, 127]),
    st.booleans(),
    st.sampled_from(["string", "screen", "scrolled"]),
)
@example(["Exit Code: 9"], None, False, "string")
@example(["Exit Code: 9"], 9, False, "screen")
def test_a_display_tells_what_was_printed(
    ended: Callable[..., Any], lines: list[str], code: int | None, wrap: bool, display: str
) -> None:
    """Whatever a command prints, only the harness's own trailer tells how it ended."""
    printed = "\n".join(lines).strip()
    trailer = ["Process Group PGID: 7"]
    if code is not None:
        trailer.insert(0, f"Exit Code: {code}")
    text = "\n".join([f"Output: {printed or '(empty)'}", *trailer])
    shown: Any = printed or (f"Command exited with code: {code}" if code else "")
    if display != "string":
        # A real screen holds more than its last rows alone; numbers keep each screen one of a kind.
        numbered = "\n".join(f"{number} row" for number in range(30)) + "\n" + printed
        text = "\n".join([f"Output: {numbered.rstrip()}", *trailer])
        shown = screen(numbered.rstrip(), 40, 200 if display == "screen" else 24)
    assert ended(wrapped(text) if wrap else text, resultDisplay=shown) == (
        "ok" if code is None else "error",
        code,
    )


_LINES = st.sampled_from(
    ["printed", "", "Exit Code: 1", "Exit Code: 0", "Signal: 9", "Error: x", "</untrusted_context>"]
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(_LINES, max_size=4),
    st.sampled_from(["Output: ", "", "<untrusted_context>\nOutput: "]),
    st.sampled_from(["success", "error"]),
)
def test_counting_says_what_reading_the_whole_result_says(
    ended: Callable[..., object], lines: list[str], start: str, status: str
) -> None:
    """A count that takes the last line of a result for its end agrees with the timeline, which reads all of it."""
    ended(start + "\n".join(["x" * 5000, *lines]), status)  # compares the two


def test_a_usual_last_line_tells_success_by_itself() -> None:
    """The short way is taken where nearly every result goes."""
    usual = Raw(json.dumps("Output: a\nb\nProcess").encode())
    assert succeeded(usual)
    assert not succeeded(Raw(json.dumps("Output: a\nExit Code: 1").encode()))
