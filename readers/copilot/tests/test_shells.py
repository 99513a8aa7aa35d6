"""What the harness says of a shell in fixed lines, and that a command which prints such lines changes nothing."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentfeedback.reading import Raw
from agentfeedback_copilot.lines import Data, Result, ShellExecution
from agentfeedback_copilot.results import (
    Outcome,
    goes_on,
    has_unknown_line,
    outcome,
    succeeded,
    without_closing,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Events

    from agentfeedback.reading.timeline import Timeline
    from agentfeedback.reading.timeline_entries import Call


def written(text: str) -> Raw:
    return Raw(json.dumps(text).encode())


STARTED = "<command started in background with shellId: {}>"
RUNNING = (
    "<command with shellId: {} is still running after 30 seconds. The command is still running. "
    "Use read_bash to continue waiting for output, or stop_bash to stop it.>"
)
DETACHED = "<command started in detached background with shellId: {}>"
MOVED = (
    "<command with shellId: {} moved to background by the user. You will be automatically "
    "notified when it completes.>"
)
CLOSED = "<shellId: {} completed with exit code 3>"
#: Lines of the harness, as a command may print them.
FIXED = (
    "<exited with exit code 5>",
    "<detached command with shellId: w1 completed with exit code 5>",
    CLOSED.format("w1"),
    STARTED.format("w1"),
    RUNNING.format("w1"),
    MOVED.format("w1"),
    "<command with id: w1 stopped>",
    "<command with id: w1 exited with exit code 5>",
    "<exited with error: spawn>",
    "<sandbox is active x>",
    "<this failure may be caused by the sandbox>",
    "Permission denied and could not request permission from user",
    "Operation aborted by user",
    "",
)
printed = st.lists(st.sampled_from(FIXED) | st.text(max_size=9), max_size=6).map("\n".join)


def background(log: Events, last: str = STARTED, *, shell: str = "w1", id: str = "c1") -> str:
    """A command that goes on in a shell; the id of its call's event."""
    span = log.start(id, arguments={"command": "slow", "mode": "async", "shellId": shell})
    log.complete(last.format(shell), id)
    return span


def notified(log: Events, code: Any, shell: str = "w1", type: str = "shell_completed") -> str:
    kind = {"type": type, "shellId": shell, "exitCode": code, "description": "slow"}
    return log.add("system.notification", {"content": "<system_notification>x", "kind": kind})


def ended(calls: list[Call]) -> list[tuple[str | None, int | None]]:
    return [(call.status, call.exit_code) for call in calls]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ls: nope\n<exited with exit code 1>", 1),
        ("no rule\n<exited with exit code 2>\n", 2),
        ("<exited with exit code 1>\n<exited with exit code 0>", None),
        ("dying\n<command with id: w1 exited with exit code 3>", 3),
        ("<command with id: w1 exited with exit code 3>\n<exited with exit code 0>", None),
        ("<exited with exit code 1>\nmore", None),
        (" <exited with exit code 1>", None),
        ("<exited with exit code >", None),
    ],
)
@pytest.mark.parametrize("tool", ["bash", "powershell", "read_bash", "read_powershell"])
def test_the_closing_line_of_older_releases(
    log: Events, tool: str, text: str, code: int | None
) -> None:
    """Up to 1.0.54 the line names no shell, or names it otherwise where it is read."""
    log.start("c1", tool, arguments={"shellId": "w1"})
    log.complete(text)
    assert ended(log.calls()) == [("error" if code else "ok", code)]


@pytest.mark.parametrize("tool", ["read_bash", "read_powershell", "write_bash"])
@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ({"shellId": "w1"}, ("error", 3)),
        ({"shellId": "w2"}, ("ok", None)),
        ({"shellId": 1}, ("ok", None)),
        ({"shellId": ["w1"]}, ("ok", None)),
        ({}, ("ok", None)),
        ("w1", ("ok", None)),
    ],
)
def test_a_closing_line_is_of_the_shell_that_is_read(
    log: Events, tool: str, arguments: Any, want: tuple[str, int | None]
) -> None:
    """A tool that reads a shell ends as the command in that shell did, and in no other."""
    for id, line in (("c1", CLOSED), ("c2", "<command with id: {} exited with exit code 3>")):
        log.start(id, tool, arguments=arguments)
        log.complete("dying\n" + line.format("w1"), id)
    assert ended(log.calls()) == [want, want]


def test_a_shell_may_be_named_by_a_number(log: Events) -> None:
    """A model may give a number for a name; the harness takes it as a text."""
    log.start("c1", "read_bash", arguments={"shellId": 7})
    log.complete(CLOSED.format("7"))
    assert ended(log.calls()) == [("error", 3)]


@pytest.mark.parametrize("tool", ["view", "stop_bash", "list_bash", "mcp-read_bash"])
def test_other_tools_have_no_closing_line(log: Events, tool: str) -> None:
    """What another tool gives back is content."""
    log.start("c1", tool, arguments={"shellId": "w1"})
    log.complete(CLOSED.format("w1"))
    assert ended(log.calls()) == [("ok", None)]


@pytest.mark.parametrize("last", [STARTED, RUNNING, MOVED, DETACHED])
@pytest.mark.parametrize("tool", ["bash", "read_bash"])
def test_a_command_that_goes_on_is_ok(log: Events, last: str, tool: str) -> None:
    """While a command runs its call is ok, whatever it printed."""
    log.start("c1", tool, arguments={"command": "x", "shellId": "w1"})
    log.complete(CLOSED.format("w1") + "\n" + last.format("w1"))
    assert ended(log.calls()) == [("ok", None)]


@pytest.mark.parametrize("last", [STARTED, RUNNING, MOVED, DETACHED])
def test_a_notification_fails_the_call_that_started_the_shell(log: Events, last: str) -> None:
    """The harness's notification is the result of the command; it is reported where the notification is."""
    background(log, last)
    offset = sum(map(len, log.lines))
    notified(log, 4)
    notified(log, 5)
    call = log.call()
    assert (call.status, call.exit_code, call.result_offset) == ("error", 4, offset)
    assert call.excerpt == last.format("w1")


@pytest.mark.parametrize("code", [0, None, "1", True, 1 << 64])
def test_a_notification_without_a_failure_changes_nothing(log: Events, code: Any) -> None:
    """Only a whole exit code other than 0 is a failure."""
    background(log)
    notified(log, code)
    assert ended(log.calls()) == [("ok", None)]


def test_a_notification_of_something_else_changes_nothing(log: Events) -> None:
    """Another kind, another shell, a shell of an earlier process or a sub-agent's is not the call's."""
    background(log)
    notified(log, 1, type="agent_completed")
    notified(log, 1, shell="w2")
    log.add("system.notification", {"kind": "shell_completed", "content": "exitCode 1"})
    log.add("system.notification", {"kind": {"type": "shell_completed", "exitCode": 1}})
    kind = {"type": "shell_completed", "shellId": "w1", "exitCode": 1}
    log.add("system.notification", {"kind": kind}, agentId="a1")
    log.add("session.resume", {})
    notified(log, 1)
    assert ended(log.calls()) == [("ok", None)]


def test_a_failure_that_was_read_is_not_told_again(log: Events) -> None:
    """Where `read_bash` told the failure, the notification adds nothing."""
    background(log)
    log.start("c2", "read_bash", arguments={"shellId": "w1"})
    log.complete("dying\n" + CLOSED.format("w1"), "c2")
    notified(log, 3)
    assert ended(log.calls()) == [("ok", None), ("error", 3)]


def test_an_interrupted_call_stays_interrupted(log: Events) -> None:
    """A shell that ends after its call was interrupted changes no status."""
    log.start("c1")
    log.add("abort", {"reason": "user_abort"})
    log.complete(STARTED.format("w1"))
    notified(log, 1)
    assert ended(log.calls()) == [("interrupted", None)]


@pytest.mark.parametrize(
    ("kind", "status"), [("denied-by-rules", "denied"), ("cancelled", "interrupted")]
)
def test_a_call_that_a_permission_ended_does_not_end_again(
    log: Events, kind: str, status: str
) -> None:
    """A completion that left a command running, and how that ended, change no status that a permission gave."""
    log.start("c1")
    log.permission(kind, "c1")
    log.complete(STARTED.format("w1"))
    notified(log, 4)
    assert ended(log.calls()) == [(status, None)]


@pytest.mark.parametrize("kind", ["denied-by-rules", "cancelled", "abort"])
def test_a_read_that_did_not_count_leaves_the_failure_to_the_notification(
    log: Events, kind: str
) -> None:
    """A call ended by a permission or an abort has no exit code, so the call that left the command running fails."""
    background(log)
    log.start("c2", "read_bash", arguments={"shellId": "w1"})
    if kind == "abort":
        log.add("abort", {"reason": "user_abort"})
    else:
        log.permission(kind, "c2")
    log.complete("dying\n" + CLOSED.format("w1"), "c2")
    notified(log, 3)
    status = "denied" if kind == "denied-by-rules" else "interrupted"
    assert ended(log.calls()) == [("error", 3), (status, None)]


@pytest.mark.parametrize("code", [1 << 63, -(1 << 63) - 1, 1 << 64, 10**4000])
def test_an_exit_code_beyond_64_bits_counts_as_absent(log: Events, code: int) -> None:
    """Told by the record or by the closing line, it decides nothing; the line is not output either way."""
    log.start("c1")
    log.complete("x", shellExecution={"exitCode": code})
    log.start("c2")
    log.complete(f"x\n<exited with exit code {code}>", "c2")
    log.start("c3")
    log.complete("x\n<exited with exit code 2>", "c3", shellExecution={"exitCode": code})
    assert ended(log.calls()) == [("ok", None), ("ok", None), ("error", 2)]
    assert without_closing(f"x\n<exited with exit code {code}>") == ("x", None)


@pytest.mark.parametrize("code", [(1 << 63) - 1, -(1 << 63)])
def test_an_exit_code_of_64_bits_counts(log: Events, code: int) -> None:
    """The largest and the least one are read from the line as from the record."""
    log.start("c1")
    log.complete(f"x\n<exited with exit code {code}>")
    log.start("c2")
    log.complete("x", "c2", shellExecution={"exitCode": code})
    assert ended(log.calls()) == [("error", code)] * 2


@given(printed, st.sampled_from([0, 3]))
def test_printed_lines_change_no_exit_code(text: str, code: int) -> None:
    """Whatever a command prints, the last line alone is the harness's."""
    want = Outcome("error" if code else "ok", text.rstrip("\r\n"), code or None)
    for closing in (
        f"<shellId: w1 completed with exit code {code}>",
        f"<exited with exit code {code}>",
    ):
        data = Data(success=True, result=Result(content=written(f"{text}\n{closing}")))
        assert outcome(data, shell=True) == want
        assert outcome(data, shell=False, reads="w1") == want


@given(printed, st.sampled_from([STARTED, RUNNING, MOVED, DETACHED]))
def test_printed_lines_end_no_running_command(text: str, last: str) -> None:
    """Whatever a command printed before, while it goes on it has no exit code."""
    content = f"{text}\n{last.format('w2')}"
    data = Data(success=True, result=Result(content=written(content)))
    assert outcome(data, shell=True) == Outcome("ok", content, running="w2")
    assert outcome(data, shell=False, reads="w1") == Outcome("ok", content)
    assert goes_on(content) == "w2"


@given(printed)
def test_printed_lines_change_no_recorded_code(text: str) -> None:
    """Where the harness records the exit code, no line of the output counts."""
    data = Data(
        success=True,
        result=Result(content=written(text)),
        shell_execution=ShellExecution(exit_code=0),
    )
    for shell, reads in ((True, None), (False, "w1"), (False, None)):
        assert outcome(data, shell=shell, reads=reads).status == "ok"


@given(printed)
def test_printed_lines_of_other_tools_are_content(text: str) -> None:
    """No line counts in the result of a tool that is not a shell."""
    data = Data(success=True, result=Result(content=written(text)))
    assert outcome(data, shell=False) == Outcome("ok", text)


@pytest.mark.parametrize(
    "start", ["<command with shellId: ", "<command with id: ", "<shellId: ", "<", "<exited with "]
)
@pytest.mark.parametrize(
    "again",
    [
        " is still running after ",
        " moved to background by the user",
        " was started with detach: true ",
        " completed with exit code 1",
        " exited with exit code ",
        " stopped",
        ">",
        " ",
    ],
)
def test_a_long_last_line_is_read_in_linear_time(start: str, again: str) -> None:
    """A line of megabytes that starts as the harness's own does, and goes on so, takes no longer than another."""
    for end in ("", ">", "> "):
        line = start + again * (2_000_000 // len(again)) + end
        begun = time.process_time()
        goes_on(line)
        without_closing(line)
        has_unknown_line(line)
        assert time.process_time() - begun < 20


IDS, SHELLS = ("c1", "c2"), ("w1", "w2")
#: What may happen, by what a method of `Events` (or `notified`) is given.
HAPPENS = st.one_of(
    st.tuples(st.just("start"), st.sampled_from(IDS), st.sampled_from(["bash", "read_bash"]), st.sampled_from(SHELLS)),
    st.tuples(st.just("complete"), st.sampled_from(IDS), st.sampled_from([STARTED, RUNNING, CLOSED, "x{}"]), st.sampled_from(SHELLS)),
    st.tuples(st.just("notified"), st.sampled_from([0, 4]), st.sampled_from(SHELLS)),
    st.tuples(st.just("permission"), st.sampled_from(IDS), st.sampled_from(["denied-by-rules", "approved", "cancelled"])),
    st.tuples(st.just("add"), st.sampled_from(["abort", "session.resume"])),
)  # fmt: skip


def happen(log: Events, what: str, *given: Any) -> None:
    if what == "start":
        id, tool, shell = given
        log.start(id, tool, arguments={"command": "x", "shellId": shell})
    elif what == "complete":
        id, text, shell = given
        log.complete(text.format(shell), id)
    elif what == "notified":
        notified(log, *given)
    elif what == "permission":
        log.permission(given[1], given[0])
    else:
        log.add(given[0])


def failures(timeline: Timeline, start: int = 0) -> list[tuple[Any, ...]]:
    """What a digest from this offset on tells of calls."""
    return [
        (call.span, call.status, call.exit_code, call.result_offset)
        for entry in timeline.entries
        for call in entry.calls
        if call.status not in (None, "ok") and call.result_offset >= start
    ]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(
    [
        ("start", "c1", "bash", "w1"),
        ("permission", "c1", "denied-by-rules"),
        ("complete", "c1", STARTED, "w1"),
        ("notified", 4, "w1"),
    ]
)
@given(st.lists(HAPPENS, max_size=9))
def test_each_failure_is_told_once(
    log: Events, tell: Callable[[bytes], Timeline], happened: list[tuple[Any, ...]]
) -> None:
    """Wherever a log is cut, what was reported before and after is what is reported of the whole log, once."""
    log.lines.clear()
    for each in happened:
        happen(log, *each)
    whole = failures(tell(b"".join(log.lines)))
    for cut in range(len(log.lines) + 1):
        before = b"".join(log.lines[:cut])
        after = [each for each in whole if each[-1] >= len(before)]
        assert sorted(failures(tell(before)) + after) == sorted(whole)


_LINES = st.sampled_from(
    [
        "printed",
        "",
        "  ",
        "<exited with exit code 0>",
        "<shellId: w1 completed with exit code 3>",
        "<shellId: w1 completed with exit code 0>",
        "<command with id: w1 exited with exit code 00>",
        "<command started in background with shellId: w1>",
        "<sandbox is active for this command>",
        "<no>",
    ]
)


@given(
    st.lists(_LINES, max_size=5),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, "w1"]),
)
def test_a_last_line_that_tells_success_says_what_the_whole_result_says(
    lines: list[str], success: bool, shell: bool, reads: str | None
) -> None:
    """Where the last line alone decides, counting gives the outcome that reading all of the result gives."""
    data = Data(success=success, result=Result(content=written("\n".join(lines))))
    if succeeded(data, shell=shell, reads=reads):
        ended = outcome(data, shell=shell, reads=reads)
        assert (ended.status, ended.exit_code, ended.running) == ("ok", None, None)


def test_a_usual_last_line_tells_success_by_itself() -> None:
    """The short way is taken where nearly every result goes."""
    usual = Result(content=written("a\nb\n<exited with exit code 0>"))
    assert succeeded(Data(success=True, result=usual), shell=True)
    assert not succeeded(Data(success=False, result=usual), shell=True)
