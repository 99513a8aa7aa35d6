"""What became of a call: one test per rule of the README."""

from __future__ import annotations

from typing import Any

import pytest

REFUSAL = "The user doesn't want to proceed with this tool use. STOP."
REJECTED = {"toolUseResult": "User rejected tool use"}
USER = {"toolDenialKind": "user-rejected"}
MARKER = "[Request interrupted by user for tool use]"


def decision(word: str) -> dict[str, Any]:
    return {"permissionDecision": {"decision": word}}


def status(log: Any, content: Any, tool: str = "Bash", **members: Any) -> str | None:
    log.call(tool=tool)
    log.result(content, **members)
    return log.calls()[0].status


@pytest.mark.parametrize("is_error", [True, False, None])
def test_a_tool_that_recorded_its_interrupt_was_interrupted(
    log: Any, is_error: bool | None
) -> None:
    """Rule 1: `interrupted` in the tool's own record decides, even without `is_error`."""
    outcome = {"stdout": "x", "interrupted": True}
    assert status(log, "x", is_error=is_error, toolUseResult=outcome) == "interrupted"


@pytest.mark.parametrize("is_error", [False, None, "true", 1])
def test_a_result_that_is_no_error_is_ok_whatever_it_prints(log: Any, is_error: Any) -> None:
    """Rule 2: without `is_error` true the call is ok and has no exit code, even if its output quotes a denial."""
    log.call()
    log.result(f"Exit code 7\n{REFUSAL}", is_error=is_error, toolUseResult={"interrupted": False})
    call = log.calls()[0]
    assert (call.status, call.exit_code) == ("ok", None)


@pytest.mark.parametrize("kind", ["interrupted", "cancelled"])
def test_the_harness_says_that_a_call_was_interrupted(log: Any, kind: str) -> None:
    """Rule 3: these denial kinds are interrupts."""
    assert status(log, "[Tool call interrupted: …", toolDenialKind=kind) == "interrupted"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({**USER, **REJECTED}, "interrupted"),
        ({**USER, **REJECTED, "toolDenialBeforeRun": False}, "interrupted"),
        ({**USER, **REJECTED, **decision("accept")}, "interrupted"),
        ({**USER, **REJECTED, "toolDenialBeforeRun": True}, "denied"),
        ({**USER, **REJECTED, **decision("reject")}, "denied"),
        ({**USER, "toolUseResult": "Error: User rejected tool use"}, "denied"),
        (USER, "denied"),
    ],
)
def test_a_rejection_of_a_running_call_is_an_interrupt(
    log: Any, members: dict[str, Any], expected: str
) -> None:
    """Rules 4 and 5: a user's rejection is an interrupt unless it is marked as a refusal before the run."""
    assert status(log, REFUSAL, **members) == expected


@pytest.mark.parametrize(
    "members",
    [
        {"toolDenialKind": "permission-rule"},
        {"toolDenialKind": "automode-unavailable"},
        {"toolDenialKind": "a-later-kind", **decision("accept")},
        decision("reject"),
    ],
)
def test_any_other_denial_kind_or_a_reject_is_a_denial(log: Any, members: dict[str, Any]) -> None:
    """Rule 5: the harness's own word for a denial decides, whatever the text says."""
    assert status(log, "host says no", **members) == "denied"


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("This command requires approval", "Bash", "error"),
        (REFUSAL, "Bash", "error"),
        ("Agent type 'Plan' has been denied by permission rule 'Agent(Plan)'", "Agent", "denied"),
        ("Agent type 'Plan' has been denied by permission rule 'Agent(Plan)'", "Task", "denied"),
        ("Agent type 'Plan' has been denied by permission rule 'Agent(Plan)'", "Bash", "error"),
        ("It said: Agent type 'Plan' has been denied by permission rule", "Agent", "error"),
    ],
)
def test_an_accepted_call_that_failed_is_an_error(
    log: Any, text: str, tool: str, expected: str
) -> None:
    """Rule 6: what ran failed by itself, but for an agent type that a rule denies."""
    assert status(log, text, tool, **decision("accept")) == expected


def test_a_result_that_starts_as_an_interrupt_is_one(log: Any) -> None:
    """Rule 7: the marker at the start of a result is an interrupt."""
    assert status(log, f"{MARKER}\npartial output") == "interrupted"


DENIALS = (
    REFUSAL,
    "This command requires approval",
    "Permission to read /srv/app/.env has been denied.",
    "Permission to use Bash with command a\nb has been denied.",
    "Permission to use Bash has been denied because of the mode",
    "Claude requested permissions to use Bash, but you haven't granted it yet.",
    "PreToolUse:Bash hook error: [hook.sh]: blocked",
    "Agent type 'Plan' has been denied by permission rule 'Agent(Plan)'",
    "Auto mode is unavailable: no check",
    "touch in '/srv/app/x' was blocked. For security, only",
    "touch in '/srv/app/it's' needs approval. The path",
    "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>",
)


@pytest.mark.parametrize("text", DENIALS)
def test_the_fixed_texts_of_a_denial_are_matched_from_the_start(log: Any, text: str) -> None:
    """Rule 8: each text of the harness denies; what a command printed before it does not."""
    log.call("t1")
    log.result(text, id="t1")
    log.call("t2")
    log.result(f"Exit code 1\n{text}", id="t2")
    log.call("t3")
    log.result(f"printed {text}", id="t3")
    assert [call.status for call in log.calls()] == ["denied", "error", "error"]


@pytest.mark.parametrize(
    "text",
    [
        "This command requires approval, it printed",
        "Permission to read x has been denied. Or has it?",
        "Permission to use Read has been denied because of the mode",
        "PreToolUse:Read hook error: x",
        "Claude requested permissions to use Bash, but you haven't granted it yet. Not.",
        "Auto mode is unavailable",
        "has been denied",
        "",
    ],
)
def test_texts_that_only_resemble_a_denial_are_errors(log: Any, text: str) -> None:
    """Rule 9: a text that goes on, or names another tool, is a plain error."""
    assert status(log, text) == "error"


def test_esc_on_a_running_call_interrupts_it_later(log: Any) -> None:
    """Rule 10: the marker names the message whose rejected calls it interrupted; their result moves there."""
    log.call("t1", message_id="m1")
    log.call("t2", message_id="m1")
    log.call("t3", message_id="m2")
    for id in ("t1", "t2", "t3"):
        log.result(REFUSAL, id=id, **REJECTED)
    log.user(MARKER, interruptedMessageId="m1")
    calls = log.calls()
    assert [call.status for call in calls] == ["interrupted", "interrupted", "denied"]
    offset = sum(len(line) + 1 for line in log.lines[:-1])
    assert [call.result_offset == offset for call in calls] == [True, True, False]
    assert log.told().counts().interrupts == 3


def test_esc_changes_no_call_that_was_not_rejected(log: Any) -> None:
    """Rule 10: an error or an ok call of the named message stays what it was."""
    log.call("t1", message_id="m1")
    log.call("t2", message_id="m1")
    log.result("boom", id="t1")
    log.result("fine", is_error=False, id="t2", **REJECTED)
    log.call("t3", message_id="m1")
    log.result(REFUSAL, id="t3", **REJECTED)
    log.result("fine after all", is_error=False, id="t3")
    log.user(MARKER, interruptedMessageId="m1")
    assert [call.status for call in log.calls()] == ["error", "ok", "ok"]


@pytest.mark.parametrize(
    ("text", "tool", "code"),
    [
        ("Exit code 127\nnot found", "Bash", 127),
        ("Exit code 0", "Bash", None),
        ("Exit code 9223372036854775807", "Bash", 2**63 - 1),
        ("Exit code -9223372036854775808", "Bash", -(2**63)),
        ("Exit code 9223372036854775808", "Bash", None),
        ("Exit code 255", "PowerShell", 255),
        ("Exit code -1 \nx", "Bash", -1),
        ("Exit code 3\r\nx", "Bash", 3),
        ("Exit code 1\nx", "mcp__srv__run", None),
        ("x\nExit code 1", "Bash", None),
        ("Exit code 1 x", "Bash", None),
        ("Exit code ٣", "Bash", None),
        ("Exit code " + "9" * 30, "Bash", None),
    ],
)
def test_the_exit_code_is_the_first_line_of_a_failed_bash_result(
    log: Any, text: str, tool: str, code: int | None
) -> None:
    """Rule 11: only that line of only that tool holds an exit code."""
    log.call(tool=tool)
    log.result(text)
    call = log.calls()[0]
    assert (call.status, call.exit_code) == ("error", code)


def test_a_denied_call_has_no_exit_code(log: Any) -> None:
    """What was denied did not run, whatever its text starts with."""
    log.call()
    log.result("Exit code 1", toolDenialKind="permission-rule")
    call = log.calls()[0]
    assert (call.status, call.exit_code) == ("denied", None)


def test_a_refusal_in_a_dialog_is_no_interrupt(log: Any) -> None:
    """The marker that follows a refusal is no interrupt, though other lines lie between."""
    log.call()
    log.result(REFUSAL, **USER, **REJECTED, toolDenialBeforeRun=True)
    log.line("attachment", attachment={"type": "environment"})
    log.assistant({"type": "text", "text": "a sub-agent goes on"}, isSidechain=True)
    log.assistant({"type": "text", "text": "not the model"}, model="<synthetic>")
    log.user(MARKER)
    counts = log.told().counts()
    assert (counts.denials, counts.interrupts, counts.prompts) == (1, 0, 0)


@pytest.mark.parametrize("went_on", ["assistant", "user"])
def test_an_interrupt_after_the_turn_went_on_counts(log: Any, went_on: str) -> None:
    """Once the assistant or the user went on after a refusal, the next marker is an interrupt."""
    log.call()
    log.result(f"{REFUSAL} To tell you how to proceed, the user said:\nno", **decision("reject"))
    if went_on == "assistant":
        log.assistant({"type": "text", "text": "Then"})
    else:
        log.user("Then")
    log.user(MARKER)
    assert log.told().counts().interrupts == 1


def test_an_interrupt_after_a_denial_by_rule_counts(log: Any) -> None:
    """Only the user's own refusal writes a marker; after a denial by a rule it is an interrupt."""
    log.call()
    log.result("blocked by a hook", toolDenialKind="permission-rule")
    log.user(MARKER)
    assert log.told().counts().interrupts == 1


def test_a_later_result_of_another_status_wins_but_over_an_interrupt(log: Any) -> None:
    """Another status replaces the earlier one with its text and line; the same or a later one after an interrupt does not."""
    log.call("t1")
    log.call("t2")
    log.result("fine", is_error=False, id="t1")
    log.result(MARKER, id="t2")
    log.result("Exit code 2\nboom", id="t1")
    offset = sum(map(len, log.lines[:-1])) + len(log.lines) - 1
    log.result("Exit code 3\nagain", id="t1")
    log.result("fine", is_error=False, id="t2")
    first, second = log.calls()
    assert (first.status, first.exit_code, first.excerpt) == ("error", 2, "Exit code 2\nboom")
    assert first.result_offset == offset
    assert second.status == "interrupted"


def test_results_on_a_meta_line_count(log: Any) -> None:
    """A result is applied even on an `isMeta` line, and its line is no prompt."""
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
