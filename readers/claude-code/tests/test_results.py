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
    """Rule 7: the marker at the start of a result is an interrupt, and so is what a resume adds."""
    assert status(log, f"{MARKER}\npartial output") == "interrupted"


def test_a_call_that_a_resume_closes_was_interrupted(log: Any) -> None:
    """Rule 7: the text that a resume adds says so, even where no member does."""
    text = "[Tool call interrupted: the session ended before this call's result was recorded, so"
    assert status(log, text, version="2.1.250") == "interrupted"


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
    "Permission to use Bash has been auto-denied in dontAsk mode.",
    "Permission for this action was denied by the Claude Code auto mode classifier. Reason: x",
    "This Bash command contains multiple operations. The following part requires approval: x",
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
        "This Bash command contains multiple operations.",
        "Permission to use Read has been auto-denied in dontAsk mode.",
        "Permission for this action was denied by a person",
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
    """Rule 11: a text that goes on, or names another tool, is a plain error."""
    assert status(log, text) == "error"


@pytest.mark.parametrize("text", DENIALS[7:8] + DENIALS[1:2] + DENIALS[11:])
def test_what_a_server_of_tools_writes_is_not_of_the_harness(log: Any, text: str) -> None:
    """Rule 8: texts about commands, files and agents deny no call of a server's tool."""
    log.call(tool="mcp__desk__approve")
    log.result(text)
    assert log.calls()[0].status == "error"


HOOK = "house rule: not on a Friday"


@pytest.mark.parametrize(
    ("text", "tool", "version", "expected"),
    [
        (HOOK, "Bash", "2.0.60", "denied"),
        (HOOK, "Bash", "2.1.0-beta.1", "denied"),
        (HOOK, "Bash", "2.0.59", "error"),
        (HOOK, "Bash", "2.0.0", "error"),
        (HOOK, "Bash", None, "error"),
        (HOOK, "Bash", "next", "error"),
        (HOOK, "Bash", "99999999999999999999.0.0", "error"),
        (HOOK, "PowerShell", "2.1.197", "error"),
        (HOOK, "mcp__desk__ask", "2.1.197", "error"),
        (f"Exit code 1\n{HOOK}", "Bash", "2.1.197", "error"),
        (f"Exit code {'9' * 40}\n{HOOK}", "Bash", "2.1.197", "error"),
        ("Exit code 137", "Bash", "2.1.197", "error"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "Bash", "2.1.197", "error"),
        ("", "Bash", "2.1.197", "error"),
        (" \n", "Bash", "2.1.197", "error"),
    ],
)
def test_the_words_of_a_hook_deny_a_command(
    log: Any, text: str, tool: str, version: str | None, expected: str
) -> None:
    """Rule 9: from 2.0.60 on a command that ran begins with its exit code; other words are a hook's or a host's."""
    assert status(log, text, tool, version=version) == expected


@pytest.mark.parametrize(
    ("text", "tool", "version", "outcome", "expected"),
    [
        ("No, not that file", "Edit", "2.0.2", "Error: {}", "denied"),
        ("No, not that file", "NotebookEdit", "2.0.40", "Error: {}", "denied"),
        ("No, not that file", "Read", "2.0.2", "Error: {}", "error"),
        ("No, not that file", "Edit", "2.1.0", "Error: {}", "error"),
        ("No, not that file", "Edit", None, "Error: {}", "error"),
        ("No, not that file", "Edit", "2.0.2", "{}", "error"),
        ("No, not that file", "Edit", "2.0.2", None, "error"),
        ("EACCES: permission denied", "Write", "2.0.2", "Error: {}", "error"),
        ("TypeError: x is not a function", "Write", "2.0.2", "Error: {}", "error"),
        ("File has been unexpectedly modified. x", "Edit", "2.0.2", "Error: {}", "error"),
        ("<tool_use_error>x</tool_use_error>", "Edit", "2.0.2", "Error: {}", "error"),
    ],
)
def test_the_words_of_a_person_deny_an_edit(
    log: Any, text: str, tool: str, version: str | None, outcome: str | None, expected: str
) -> None:
    """Rule 10: in 2.0 an edit refused in an editor has the person's words, which name no error."""
    told = outcome.format(text) if outcome is not None else None
    assert status(log, text, tool, version=version, toolUseResult=told) == expected


@pytest.mark.parametrize(
    ("entrypoint", "members", "expected"),
    [
        ("cli", {}, "denied"),
        ("sdk-cli", {}, "interrupted"),
        (None, {}, "interrupted"),
        ("cli", {"toolDenialKind": "interrupted"}, "interrupted"),
    ],
)
def test_a_rejection_in_the_terminal_is_a_refusal_in_a_dialog(
    log: Any, entrypoint: str | None, members: dict[str, Any], expected: str
) -> None:
    """Rule 4: only a terminal has dialogs, so elsewhere a rejection broke the call off."""
    told = status(log, REFUSAL, entrypoint=entrypoint, **{**USER, **REJECTED, **members})
    assert told == expected


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
    """Rule 12: only that line of only a shell holds an exit code; 0 and more than 64 bits are none."""
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
