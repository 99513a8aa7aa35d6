"""What a later line says of a call: markers, resumes, notices; and results that stand before their calls."""

from __future__ import annotations

from typing import Any

import pytest

REFUSAL = "The user doesn't want to proceed with this tool use. STOP."
REJECTED = {"toolUseResult": "User rejected tool use"}
USER = {"toolDenialKind": "user-rejected"}
MARKER = "[Request interrupted by user for tool use]"


def decision(word: str) -> dict[str, Any]:
    return {"permissionDecision": {"decision": word}}


def test_esc_in_the_terminal_interrupts_what_was_taken_for_a_refusal(log: Any) -> None:
    """Rules 4 and 11: the marker that names the message says that the call was running."""
    log.call(message_id="m7")
    log.result(REFUSAL, entrypoint="cli", **USER, **REJECTED)
    log.user(MARKER, interruptedMessageId="m7")
    assert log.calls()[0].status == "interrupted"
    assert log.told().counts().interrupts == 2


def test_the_marker_may_stand_before_the_result(log: Any) -> None:
    """Rule 11: what the marker says of a message holds for results that come behind it."""
    log.call(message_id="m7")
    log.user(MARKER, interruptedMessageId="m7")
    log.result(REFUSAL, entrypoint="cli", **USER, **REJECTED)
    assert log.calls()[0].status == "interrupted"


KILLED = f"Exit code 137\n{MARKER}\nstart"


def test_a_command_killed_by_esc_was_interrupted(log: Any) -> None:
    """Rule 11: the marker behind a result that ends in 137 and names it says who killed the command."""
    log.call()
    log.result(KILLED)
    log.line("attachment", attachment={"type": "environment"})
    log.user([{"type": "text", "text": MARKER}])
    call = log.calls()[0]
    assert (call.status, call.exit_code) == ("interrupted", None)
    assert call.result_offset == sum(len(line) + 1 for line in log.lines[:-1])
    assert log.told().counts().interrupts == 2


@pytest.mark.parametrize(
    ("between", "marker"),
    [
        (None, "and now?"),
        (None, "[Request interrupted by user]"),
        (None, f"{MARKER} is what I saw"),
        ("assistant", MARKER),
        ("user", MARKER),
    ],
)
def test_a_command_that_prints_the_marker_and_is_killed_has_failed(
    log: Any, between: str | None, marker: str
) -> None:
    """Rule 11: without exactly that marker as the next word of the user the command failed by itself."""
    log.call()
    log.result(KILLED)
    if between == "assistant":
        log.assistant({"type": "text", "text": "It was killed."}, id="msg_2")
    elif between == "user":
        log.user("and now?")
    log.user(marker)
    call = log.calls()[0]
    assert (call.status, call.exit_code) == ("error", 137)


@pytest.mark.parametrize(
    ("data", "parent", "members", "expected"),
    [
        ("agent_progress", "t1", {}, "interrupted"),
        ("hook_progress", "t1", {}, "denied"),
        ("agent_progress", "t2", {}, "denied"),
        ("agent_progress", "t1", {"toolDenialBeforeRun": True, **USER}, "denied"),
        ("agent_progress", "t1", {**decision("reject")}, "denied"),
    ],
)
def test_a_sub_agent_that_went_to_work_was_not_refused(
    log: Any, data: str, parent: str, members: dict[str, Any], expected: str
) -> None:
    """Rule 11: progress of the sub-agent itself proves that no dialog stopped it."""
    log.call(tool="Task")
    log.line("progress", parentToolUseID=parent, data={"type": data})
    log.result(REFUSAL, **REJECTED, **members)
    assert log.calls()[0].status == expected


def test_a_result_may_stand_before_its_call(log: Any) -> None:
    """Such a result counts from the call's line on, by the call's own tool."""
    log.result("Exit code 3\nboom", id="t1")
    log.result("fine", is_error=False, id="t2")
    log.result("PreToolUse:Read hook error: no", id="t3")
    log.result("PreToolUse:Read hook error: no", id="t4")
    log.call("t1")
    log.call("t2")
    log.call("t3", tool="Read")
    log.call("t4", tool="Write")
    calls = log.calls()
    assert [call.status for call in calls] == ["error", "ok", "denied", "error"]
    assert [call.exit_code for call in calls] == [3, None, None, None]
    assert [call.result_offset for call in calls] == [call.offset for call in calls]


def test_an_interrupt_before_the_call_stays_one(log: Any) -> None:
    """Of several results before a call an interrupt is not undone, as behind it."""
    log.result(MARKER, id="t1")
    log.result("fine", is_error=False, id="t1")
    log.call("t1")
    assert log.calls()[0].status == "interrupted"


def test_esc_on_a_running_call_interrupts_it_later(log: Any) -> None:
    """Rule 11: the marker names the message whose rejected calls it interrupted; their result moves there."""
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
    """Rule 11: an error or an ok call of the named message stays what it was."""
    log.call("t1", message_id="m1")
    log.call("t2", message_id="m1")
    log.result("boom", id="t1")
    log.result("fine", is_error=False, id="t2", **REJECTED)
    log.call("t3", message_id="m1")
    log.result(REFUSAL, id="t3", **REJECTED)
    log.result("fine after all", is_error=False, id="t3")
    log.user(MARKER, interruptedMessageId="m1")
    assert [call.status for call in log.calls()] == ["error", "ok", "ok"]


def test_a_refusal_in_a_dialog_is_no_interrupt(log: Any) -> None:
    """The marker that follows a refusal is not an interrupt, though other lines are between."""
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


def notice(call: str, status: str = "failed", summary: str = "it failed with exit code 6") -> str:
    return (
        f"<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>{call}</tool-use-id>\n"
        f"<output-file>/tmp/b1</output-file>\n<status>{status}</status>\n"
        f"<summary>{summary}</summary>\n</task-notification>"
    )


TASK = {"origin": {"kind": "task-notification"}, "promptSource": "system"}


def bring(log: Any, how: str, text: str) -> None:
    if how == "queue":
        log.line("queue-operation", operation="enqueue", content=text)
    elif how == "attachment":
        log.queued(text, attachment={"commandMode": "task-notification"})
    elif how == "meta":
        log.user(text, isMeta=True)
    else:
        log.user(text, **(TASK if how == "marked" else {}))


HOW = ("queue", "attachment", "marked", "unmarked", "meta")


@pytest.mark.parametrize("how", HOW)
def test_a_call_that_fails_in_the_background_has_failed(log: Any, how: str) -> None:
    """A notice of a failure makes an ok call an error by its own line, told once however often it comes."""
    log.call()
    log.result("Command running in background with ID: b1.", is_error=False)
    bring(log, how, notice("t1"))
    offset = sum(len(line) + 1 for line in log.lines[:-1])
    for other in HOW:
        bring(log, other, notice("t1", summary="it failed with exit code 7"))
    log.result("fine", is_error=False)
    call = log.calls()[0]
    assert (call.status, call.exit_code, call.result_offset) == ("error", 6, offset)
    assert call.excerpt == "it failed with exit code 6"
    assert log.prompts() == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (notice("t1", summary='Background command "x" failed'), None),
        (notice("t1", summary="failed with exit code 0"), None),
        (notice("t1", summary="failed with exit code 99999999999999999999"), None),
        (notice("t1", summary="'failed with exit code 3' was killed"), None),
        (notice("t1") + "\nRead the output file to see it: /tmp/b1", 6),
        (notice("t1").replace("<summary>it failed with exit code 6</summary>\n", ""), None),
    ],
)
def test_the_exit_code_ends_the_summary(log: Any, text: str, code: int | None) -> None:
    """Without the harness's words at the end of the summary the failure has no exit code."""
    log.call()
    log.result("started", is_error=False)
    log.user(text, **TASK)
    call = log.calls()[0]
    assert (call.status, call.exit_code) == ("error", code)


@pytest.mark.parametrize(
    "text",
    [
        notice("t1", status="completed"),
        notice("t1", status="killed"),
        notice("t2"),
        notice("t1", status="completed", summary="<status>failed</status>"),
        notice("t2", summary="<tool-use-id>t1</tool-use-id>"),
        notice("t1").replace("<tool-use-id>t1</tool-use-id>\n", ""),
        notice("t1").replace("</task-notification>", ""),
        notice("t1") + "\nwhat\nis this?",
        " " + notice("t1"),
        "see " + notice("t1"),
    ],
)
def test_other_notices_change_no_call(log: Any, text: str) -> None:
    """Only a whole notice of a failure, by what stands before its summary, speaks of its call."""
    log.call()
    log.result("started", is_error=False)
    log.line("queue-operation", operation="enqueue", content=text)
    log.user(text, **TASK)
    assert log.calls()[0].status == "ok"


def test_a_notice_that_a_person_pasted_or_a_command_printed_changes_no_call(log: Any) -> None:
    """A prompt, a result, a summary of the conversation and what the assistant says are not notices."""
    log.call("t1")
    log.result("started", is_error=False, id="t1")
    log.user(notice("t1"), origin={"kind": "human"}, promptSource="typed")
    log.queued(notice("t1"), attachment={"origin": {"kind": "human"}})
    log.user(notice("t1"), isCompactSummary=True)
    log.assistant({"type": "text", "text": notice("t1")})
    log.call("t2")
    log.result(notice("t1"), is_error=False, id="t2")
    log.line("queue-operation", operation="remove", content=notice("t1"))
    log.line("system", content=notice("t1"))
    assert [call.status for call in log.calls()] == ["ok", "ok"]
    assert len(log.prompts()) == 2


@pytest.mark.parametrize("before", ["error", "denied", "interrupted", "none"])
def test_a_notice_changes_only_a_call_that_was_ok(log: Any, before: str) -> None:
    """What failed already, was denied or interrupted, or has no result yet stays what it is."""
    log.call()
    texts = {"error": "Exit code 1", "denied": REFUSAL, "interrupted": MARKER}
    if before in texts:
        log.result(texts[before])
    log.user(notice("t1"), **TASK)
    assert log.calls()[0].status == (None if before == "none" else before)
