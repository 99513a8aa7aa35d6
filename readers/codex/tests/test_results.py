"""How a call ended, by each rule of the README ("Rules that tell the truth")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Rollout


def ended(rollout: Rollout, *lines: bytes, tool: str = "exec_command") -> tuple[Any, Any, str]:
    """Status, exit code and excerpt of the one call of a rollout that makes it first."""
    timeline = rollout.read(rollout.call(tool), *lines)
    (call,) = [call for entry in timeline.entries for call in entry.calls]
    return call.status, call.exit_code, call.excerpt


def header(*lines: str, body: str = "text") -> str:
    return "\n".join((*lines, "Output:", body))


def script(*texts: str, first: str = "Script failed") -> list[dict[str, str]]:
    parts = (f"{first}\nWall time 0.1 seconds\nOutput:\n", *texts)
    return [{"type": "input_text", "text": text} for text in parts]


@pytest.mark.parametrize(
    ("output", "want"),
    [
        (header("Chunk ID: a", "Process exited with code 3"), ("error", 3, "text")),
        (header("Exit code: 0 "), ("ok", 0, "")),
        (header("Process exited with code -1", body=""), ("error", -1, "")),
        (header("Exit code: 1", "Exit code: 2"), ("error", 2, "text")),
        (header("Exit code: 1", body="a\nOutput:\nb"), ("error", 1, "a\nOutput:\nb")),
        (header("Wall time: 1", body="Exit code: 1"), ("ok", None, "")),
        (header("Process running with session ID 7"), ("ok", None, "")),
        (header("Exit code: 1x"), ("ok", None, "")),
        ("Exit code: 1\nfailed", ("ok", None, "")),
        ("Exit code: 1\nOutput: ", ("ok", None, "")),
        ("Exit code: 1\nOutput:", ("error", 1, "")),
        ("Output:\nExit code: 1", ("ok", None, "")),
    ],
)
def test_header_gives_the_exit_code(rollout: Rollout, output: str, want: object) -> None:
    """The last exit code above the first line that is exactly `Output:` decides; what is below never does."""
    assert ended(rollout, rollout.output(output)) == want


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (header("exec command rejected by user"), "denied"),
        (header("Exit code: 1", "note: patch rejected by user"), "denied"),
        (header("rejected by configuration"), "denied"),
        (header("automatic approval review denied the action"), "denied"),
        (header("Exit code: 0", "exec command rejected by user"), "ok"),
        (header("Wall time: 1", "aborted by user after 2s"), "interrupted"),
        (header("Wall time: 1", body="exec command rejected by user\naborted by user"), "ok"),
    ],
)
def test_header_tells_denials_and_aborts(rollout: Rollout, output: str, status: str) -> None:
    """In the header Codex' own words decide, unless the exit code there is 0."""
    assert ended(rollout, rollout.output(output))[0] == status


@pytest.mark.parametrize(
    "text",
    [
        "exec command rejected by user",
        "patch rejected by user",
        "patch rejected: writing is blocked by read-only sandbox",
        "approval policy is Never; reject command - you cannot ask",
        "This action was rejected due to unacceptable risk.\nReason: x",
        "Automatic approval review failed: x",
        "Command blocked by PreToolUse hook: no. Command: ls",
        'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
        'exec_command failed for `a `b`\nc`: CreateProcess { message: "Rejected(\\"x\\")" }',
        "rejected by configuration",
        "automatic approval review denied the action",
        "  \npatch rejected by user",
    ],
)
def test_denials_without_a_header(rollout: Rollout, text: str) -> None:
    """A text that starts with one of Codex' denials is denied, without exit code; elsewhere it says nothing."""
    assert ended(rollout, rollout.output(text)) == ("denied", None, text)
    assert ended(rollout, rollout.output(f"log: {text}"))[0] == "ok"
    assert ended(rollout, rollout.output(f"Output:\n{text}"))[0] == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "apply_patch verification failed: x",
        "unsupported call: x",
        "unsupported custom tool call: x",
        "failed to parse function arguments: x",
        "unable to locate image at `x`",
        "write_stdin failed: x",
        "execution error: Sandbox(Signal(9))",
        "failed in sandbox None with execution error: x",
        'exec_command failed: CreateProcess { message: "Codex(Sandbox(Denied {',
        "exec_command failed for `ls`: x",
    ],
)
def test_failures_without_a_header(rollout: Rollout, text: str) -> None:
    """A text that starts with one of Codex' failures is an error without an exit code; elsewhere it says nothing."""
    assert ended(rollout, rollout.output(text)) == ("error", None, text)
    assert ended(rollout, rollout.output(f"log: {text}"))[0] == "ok"
    assert ended(rollout, rollout.output(f"Output:\n{text}"))[0] == "ok"


@pytest.mark.parametrize(
    ("tool", "status"),
    [("shell", "error"), ("apply_patch", "error"), ("exec_command", "ok"), ("mcp__x.shell", "ok")],
)
def test_bare_error_is_the_word_of_two_tools(rollout: Rollout, tool: str, status: str) -> None:
    """`error: ` at the start is Codex' own in `shell` and `apply_patch` only."""
    assert ended(rollout, rollout.output("error: no such file"), tool=tool)[0] == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("aborted by user after 4.6s", "interrupted"),
        ("Wall time: 8.8 seconds\naborted by user", "interrupted"),
        ("Wall time: 8.8 seconds\nfine\naborted by user", "ok"),
        ("fine\naborted by user", "ok"),
    ],
)
def test_aborts_without_a_header(rollout: Rollout, text: str, status: str) -> None:
    """An abort is the first line, or the second below a wall time."""
    assert ended(rollout, rollout.output(text))[0] == status


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (script("Script error:\nTypeError: x"), "error"),
        (script("printed", "Script error:\npatch rejected by user"), "denied"),
        (script("Script error:\npatch rejected by user", "printed"), "error"),
        (script("Script error:\nError: patch rejected by user"), "error"),
        (script("patch rejected by user"), "error"),
        (script(), "error"),
        (script("Script error:\npatch rejected by user", first="Script completed"), "ok"),
        (script("x", first="Script failed to start"), "ok"),
        ("Script failed\nOutput:\nScript error:\npatch rejected by user", "error"),
        ("Script failed", "ok"),
    ],
)
def test_code_mode_scripts(rollout: Rollout, output: object, status: str) -> None:
    """A failed script is an error, or denied when its last item is a script error that starts as a denial."""
    assert ended(rollout, rollout.output(output), tool="exec")[:2] == (status, None)


@pytest.mark.parametrize(
    ("output", "want"),
    [
        ('{"output":"bad","metadata":{"exit_code":2,"duration_seconds":1}}', ("error", 2, "bad")),
        ('\n{"output":"x\\nOutput:\\nbad","metadata":{"exit_code":-1}}', ("error", -1, "bad")),
        ('{"output":"ok","metadata":{"exit_code":0}}', ("ok", 0, "")),
        ('{"output":"patch rejected by user","metadata":{}}', ("ok", None, "")),
        ('{"output":"x","metadata":{"exit_code":"2"}}', ("ok", None, "")),
        ('{"output":"x","metadata":[2]}', ("ok", None, "")),
        ('{"output":["x"],"metadata":{"exit_code":2}}', ("ok", None, "")),
        ('{"output":"x","metadata":{"exit_code":2}', ("ok", None, "")),
        ({"output": "bad", "metadata": {"exit_code": 2}}, ("error", 2, "bad")),
        ({"content": "patch rejected by user"}, ("denied", None, "patch rejected by user")),
        ({"content": [{"text": "unsupported call: x"}]}, ("error", None, "unsupported call: x")),
    ],
)
def test_oldest_form_goes_by_its_metadata(rollout: Rollout, output: Any, want: object) -> None:
    """An object of a string `output` and an object `metadata` is decided by the exit code in it alone."""
    assert ended(rollout, rollout.output(output)) == want


def test_output_lists_are_joined_by_lines(rollout: Rollout) -> None:
    """The texts of a list are joined by LF, so a header may end its item; images and odd items are left out."""
    parts = [
        {"type": "input_text", "text": "Exit code: 4\nOutput:"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": ""},
        7,
        {"type": "input_text", "text": ["no"]},
        {"type": "input_text", "text": "boom"},
    ]
    assert ended(rollout, rollout.output(parts)) == ("error", 4, "boom")
    assert ended(rollout, rollout.output(None)) == ("ok", None, "")


def test_first_output_wins(rollout: Rollout) -> None:
    """A second output of a call changes nothing, and one of an unknown call is no call."""
    first, second = rollout.output(header("Exit code: 1")), rollout.output(header("Exit code: 0"))
    unknown = rollout.output(header("Exit code: 1"), call_id="c9")
    assert ended(rollout, unknown, first, second) == ("error", 1, "text")


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
    assert ended(rollout, item, rollout.output("Wall time: 1\nOutput:\nprinted")) == want


def test_items_after_their_output(rollout: Rollout) -> None:
    """A command that outlived its call is refined by its item, and its result moves to that line."""
    lines = (
        rollout.call(),
        rollout.output(header("Process running with session ID 7", body="start")),
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
    assert ended(rollout, rollout.event("patch_apply_end", call_id="c1", **members)) == want


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
    assert ended(rollout, rollout.event("mcp_tool_call_end", call_id="c1", result=result)) == want


def test_items_inside_a_script_are_calls(rollout: Rollout) -> None:
    """An item whose id is no call's is a call of its own, spanned by that id (code mode)."""
    shell = ["/bin/bash", "-lc", "ls  -l"]
    assert rollout.calls(
        rollout.call("exec"),
        rollout.item("CommandExecution", "e1", command=shell, status="failed", exit_code=2),
        rollout.item("FileChange", "e2", changes={"/srv/app/a": {}}, status="declined"),
        rollout.item("McpToolCall", "e3", server="demo", tool="ping", status="completed"),
        rollout.item("CommandExecution", "e4", source="user_shell", status="failed"),
        rollout.item("ImageView", "e5", status="failed"),
        rollout.item("CommandExecution", None, status="failed"),
        rollout.output(script(first="Script completed")),
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
        rollout.output(header("Exit code: 1")),
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
    late = rollout.output(header("Exit code: 1"))
    assert ended(rollout, rollout.aborted(), failed, late) == ("interrupted", None, "")


def test_failure_of_an_aborted_turn_is_an_interrupt(rollout: Rollout) -> None:
    """An item of a turn that the user had interrupted is interrupted when it failed, without an exit code."""
    running = rollout.output("Process running with session ID 7\nOutput:\n")
    failed = rollout.item("CommandExecution", status="failed", exit_code=143)
    assert ended(rollout, running, rollout.aborted(), failed)[:2] == ("interrupted", None)
    other = rollout.aborted(turn_id="t2")
    assert ended(rollout, running, other, failed)[:2] == ("error", 143)
    replaced = rollout.aborted("replaced")
    assert ended(rollout, running, replaced, failed)[:2] == ("error", 143)
    nested = rollout.item("CommandExecution", "e1", status="failed", exit_code=1)
    assert rollout.calls(rollout.aborted(), nested) == [("e1", "exec_command", "interrupted", None)]
    done = rollout.item("CommandExecution", "e1", status="completed", exit_code=0)
    assert rollout.calls(rollout.aborted(), done) == [("e1", "exec_command", "ok", 0)]
