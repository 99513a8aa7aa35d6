"""How a call ended, by the records that say so: items, the events before them, aborts (rules 1 to 4 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Rollout

FAILED = "Exit code: 1\nOutput:\ntext"
RUNNING = "Process running with session ID 7\nOutput:\nstart"
SCRIPT = [{"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"}]


@pytest.mark.parametrize(
    ("kind", "members", "want"),
    [
        (
            "CommandExecution",
            {"status": "failed", "exit_code": 3, "aggregated_output": "bad"},
            ("error", 3, "bad"),
        ),
        ("CommandExecution", {"status": "failed", "exit_code": -1}, ("error", None, "printed")),
        ("CommandExecution", {"status": "declined", "exit_code": 1}, ("denied", None, "printed")),
        ("CommandExecution", {"status": "completed", "exit_code": 0}, ("ok", 0, "")),
        ("CommandExecution", {"status": "inProgress", "exit_code": 3}, ("ok", None, "")),
        ("CommandExecution", {"exit_code": 3}, ("ok", None, "")),
        (
            "FileChange",
            {"status": "declined", "stdout": "a", "stderr": "b"},
            ("denied", None, "a\nb"),
        ),
        ("FileChange", {"status": "failed", "stdout": " ", "stderr": "b"}, ("error", None, "b")),
        (
            "McpToolCall",
            {"status": "failed", "error": {"message": "boom"}},
            ("error", None, "boom"),
        ),
        ("CollabAgentToolCall", {"status": "failed"}, ("ok", None, "")),
    ],
)
def test_items_before_their_output(
    rollout: Rollout, kind: str, members: dict[str, Any], want: object
) -> None:
    """An item that was completed before the output decides; the output only fills what it left empty."""
    item = rollout.item(kind, **members)
    assert rollout.ended(item, rollout.output("Wall time: 1\nOutput:\nprinted")) == want


def test_items_after_their_output(rollout: Rollout) -> None:
    """A command that outlived its call is refined by its item, and its result moves to that line."""
    lines = (
        rollout.call(),
        rollout.output(RUNNING),
        rollout.item("CommandExecution", status="failed", exit_code=6, aggregated_output="end"),
    )
    (entry,) = rollout.read(*lines).entries
    (call,) = entry.calls
    assert (call.status, call.exit_code) == ("error", 6)
    assert call.result_offset == len(lines[0]) + len(lines[1])


@pytest.mark.parametrize(
    ("members", "want"),
    [
        ({"status": "declined", "success": True, "stderr": "no"}, ("denied", None, "no")),
        ({"status": "failed", "stdout": "a", "stderr": "b"}, ("error", None, "a\nb")),
        ({"success": False}, ("error", None, "")),
        ({"success": True}, ("ok", None, "")),
        ({"status": "new_in_2030", "success": False}, ("error", None, "")),
        ({}, (None, None, "")),
    ],
)
def test_end_of_a_patch(rollout: Rollout, members: dict[str, Any], want: object) -> None:
    """`patch_apply_end` decides by its status, else by `success`."""
    assert rollout.ended(rollout.event("patch_apply_end", call_id="c1", **members)) == want


@pytest.mark.parametrize(
    ("result", "want"),
    [
        ({"Err": "boom"}, ("error", None, "boom")),
        (
            {"Ok": {"isError": True, "content": [{"type": "text", "text": "bad"}]}},
            ("error", None, "bad"),
        ),
        ({"Ok": {"isError": False, "content": []}}, ("ok", None, "")),
        ({"Ok": {}}, ("ok", None, "")),
        ({}, (None, None, "")),
        ("boom", (None, None, "")),
    ],
)
def test_end_of_an_mcp_call(rollout: Rollout, result: Any, want: object) -> None:
    """`mcp_tool_call_end` is an error when there is no answer, or the answer says so."""
    assert rollout.ended(rollout.event("mcp_tool_call_end", call_id="c1", result=result)) == want


def test_items_inside_a_script_are_calls(rollout: Rollout) -> None:
    """An item whose id is not a call's is a call of its own, spanned by that id (code mode)."""
    shell = ["/bin/bash", "-lc", "ls  -l"]
    assert rollout.calls(
        rollout.call("exec"),
        rollout.item("CommandExecution", "e1", command=shell, status="failed", exit_code=2),
        rollout.item("FileChange", "e2", changes={"/srv/app/a": {}}, status="declined"),
        rollout.item("McpToolCall", "e3", server="demo", tool="ping", status="completed"),
        rollout.item("CommandExecution", "e4", source="user_shell", status="failed"),
        rollout.item("ImageView", "e5", status="failed"),
        rollout.item("CommandExecution", None, status="failed"),
        rollout.output(SCRIPT),
    ) == [
        ("c1", "exec", "ok", None),
        ("e1", "exec_command", "error", 2),
        ("e2", "apply_patch", "denied", None),
        ("e3", "demo.ping", "ok", None),
    ]


def test_equal_commands_inside_scripts_digest_alike(rollout: Rollout) -> None:
    """The script of a shell is the command of the nested call, so a repeat of it is seen."""
    timeline = rollout.read(
        rollout.call(arguments='{"cmd": "ls -l"}'),
        rollout.item("CommandExecution", "e1", command=["/bin/bash", "-lc", "ls  -l"]),
        rollout.item("FileChange", "e2", changes={"/srv/app/a": {}}),
        rollout.item("FileChange", "e3", changes={"/srv/app/b": {}}),
    )
    digests = [call.args_digest for entry in timeline.entries for call in entry.calls]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_interrupt_ends_every_open_call(rollout: Rollout) -> None:
    """`turn_aborted` by the user interrupts what has no result yet, named or not, without an excerpt."""
    lines = (
        rollout.call(),
        rollout.call(call_id="c2"),
        rollout.call(call_id=None),
        rollout.output(FAILED),
    )
    timeline = rollout.read(*lines, rollout.aborted())
    calls = [call for entry in timeline.entries for call in entry.calls]
    assert [call.status for call in calls] == ["error", "interrupted", "interrupted"]
    assert calls[1].excerpt == ""
    assert timeline.counts().interrupts == 3
    assert rollout.read(*lines, rollout.aborted("replaced")).counts().interrupts == 0


def test_interrupted_is_final(rollout: Rollout) -> None:
    """What the harness records of an interrupted call when it closes it later changes nothing."""
    failed = rollout.item("CommandExecution", status="failed", exit_code=-1, aggregated_output="x")
    late = rollout.output(FAILED)
    assert rollout.ended(rollout.aborted(), failed, late) == ("interrupted", None, "")


def test_failure_of_an_aborted_turn_is_an_interrupt(rollout: Rollout) -> None:
    """An item of a turn that the user had interrupted is interrupted when it failed, without an exit code."""
    running = rollout.output(RUNNING)
    failed = rollout.item("CommandExecution", status="failed", exit_code=143)
    assert rollout.ended(running, rollout.aborted(), failed)[:2] == ("interrupted", None)
    other = rollout.aborted(turn_id="t2")
    assert rollout.ended(running, other, failed)[:2] == ("error", 143)
    replaced = rollout.aborted("replaced")
    assert rollout.ended(running, replaced, failed)[:2] == ("error", 143)
    nested = rollout.item("CommandExecution", "e1", status="failed", exit_code=1)
    assert rollout.calls(rollout.aborted(), nested) == [("e1", "exec_command", "interrupted", None)]
    done = rollout.item("CommandExecution", "e1", status="completed", exit_code=0)
    assert rollout.calls(rollout.aborted(), done) == [("e1", "exec_command", "ok", 0)]


@pytest.mark.parametrize(
    ("members", "want"),
    [
        ({"status": "failed", "exit_code": 2, "aggregated_output": "bad"}, ("error", 2, "bad")),
        ({"status": "failed", "exit_code": -1, "stderr": "gone"}, ("error", None, "gone")),
        ({"status": "declined", "exit_code": 1}, ("denied", None, "")),
        ({"status": "completed", "exit_code": 0, "aggregated_output": "x"}, ("ok", 0, "")),
        ({"exit_code": 3}, ("error", 3, "")),
        ({"exit_code": 0}, ("ok", 0, "")),
        ({"status": "in_progress", "exit_code": 3}, (None, None, "")),
        ({}, (None, None, "")),
    ],
)
def test_end_of_a_command(rollout: Rollout, members: dict[str, Any], want: object) -> None:
    """`exec_command_end` decides as an item does; one without a status by its exit code."""
    event = rollout.event("exec_command_end", call_id="c1", turn_id="t1", **members)
    assert rollout.ended(event) == want


def test_command_that_outlived_its_call_fails_once(rollout: Rollout) -> None:
    """The event after the output makes the failure, at its own line; one before it needs no second."""
    end = rollout.event("exec_command_end", call_id="c1", status="failed", exit_code=6)
    lines = (rollout.call(), rollout.output(RUNNING), end)
    (entry,) = rollout.read(*lines).entries
    (call,) = entry.calls
    assert (call.status, call.exit_code) == ("error", 6)
    assert call.result_offset == len(lines[0]) + len(lines[1])
    before = rollout.read(lines[0], end, rollout.output(FAILED)).entries[0].calls[0]
    assert (before.status, before.exit_code, before.result_offset) == ("error", 6, len(lines[0]))


def test_events_inside_a_script_are_calls(rollout: Rollout) -> None:
    """An event whose id is not a call's is a call of its own, unless the user ran the command."""
    invocation = {"server": "stock", "tool": "count", "arguments": {"item": 5}}
    argv = ["/bin/bash", "-lc", "ls  -l"]
    lines = (
        rollout.call(arguments='{"cmd": "ls -l"}'),
        rollout.event("exec_command_end", call_id="e1", command=argv, status="failed", exit_code=2),
        rollout.event("patch_apply_end", call_id="e2", success=False, changes={"a": {}}),
        rollout.event(
            "mcp_tool_call_end", call_id="e3", invocation=invocation, result={"Err": "x"}
        ),
        rollout.event("exec_command_end", call_id="e4", source="user_shell", status="failed"),
        rollout.event("exec_command_end", call_id="e5", source={"x": 1}, status="declined"),
        rollout.event("exec_command_end", status="failed"),
        rollout.event("patch_apply_end", call_id="", success=False),
    )
    assert rollout.calls(*lines) == [
        ("c1", "exec_command", None, None),
        ("e1", "exec_command", "error", 2),
        ("e2", "apply_patch", "error", None),
        ("e3", "stock.count", "error", None),
        ("e5", "exec_command", "denied", None),
    ]
    calls = [call for entry in rollout.read(*lines).entries for call in entry.calls]
    assert calls[0].args_digest == calls[1].args_digest


def test_a_call_recorded_after_its_item_is_one_call(rollout: Rollout) -> None:
    """An item of an id makes the call; the call's own record of that id adds none."""
    item = rollout.item("CommandExecution", command="ls", status="failed", exit_code=2)
    assert rollout.calls(item, rollout.call(), rollout.output(FAILED)) == [
        ("c1", "exec_command", "error", 2)
    ]


@pytest.mark.parametrize("late", ["exec_command_end", "patch_apply_end"])
def test_events_of_an_aborted_turn_are_interrupts(rollout: Rollout, late: str) -> None:
    """What Codex closes as failed after the user's interrupt is interrupted, without an exit code."""
    event = rollout.event(late, call_id="c1", turn_id="t1", status="failed", exit_code=3)
    running = rollout.output(RUNNING)
    assert rollout.ended(running, rollout.aborted(), event)[:2] == ("interrupted", None)
    other = rollout.aborted(turn_id="t2")
    assert rollout.ended(running, other, event)[0] == "error"


def test_failed_with_exit_code_zero_has_none(rollout: Rollout) -> None:
    """Neither the item's 0 nor the output's 0 is the exit code of a call that an item says failed."""
    zero = rollout.output("Process exited with code 0\nOutput:\n")
    for end in (
        rollout.item("CommandExecution", status="failed", exit_code=0, aggregated_output="no"),
        rollout.event("exec_command_end", call_id="c1", status="failed", exit_code=0, stdout="no"),
    ):
        assert rollout.ended(end, zero) == ("error", None, "no")
        assert rollout.ended(zero, end)[0] == "error"
    late = rollout.item("CommandExecution", status="failed", exit_code=10**20)
    assert rollout.ended(late)[:2] == ("error", None)


def test_exit_code_of_the_output_counts_where_it_agrees(rollout: Rollout) -> None:
    """An item that failed without an exit code gets that of an output that failed too."""
    failed = rollout.item("CommandExecution", status="failed")
    assert rollout.ended(failed, rollout.output(FAILED))[:2] == ("error", 1)
