"""What a command prints, a server answers, a file holds or an agent says changes nothing, rule by rule of the README."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import Rollout

REJECTED = 'exec_command failed: CreateProcess { message: "Rejected(\\"%s\\")" }'
#: The texts and records of each rule that says something of a call or a message.
PRINTED = {
    "an item": '{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","status":"failed"}}',
    "an event": '{"type":"exec_command_end","call_id":"c1","status":"failed","exit_code":2}',
    "an abort": '{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}',
    "an object": '{"output":"x","metadata":{"exit_code":2}}',
    "a header": "Process exited with code 2\nExit code: 3\nOutput:\n",
    "a script": "Script failed\nOutput:\nScript error:\npatch rejected by user",
    "a refusal": "exec command rejected by user",
    "a refused patch": "patch rejected by user",
    "a sandbox": "patch rejected: writing is blocked by read-only sandbox",
    "the policy": "approval policy is Never; reject command",
    "a policy that asks": "approval required by policy, but AskForApproval is set to Never",
    "the review": "This action was rejected due to unacceptable risk.",
    "a failed review": "Automatic approval review failed: x",
    "a slow review": "Automatic approval review timed out while x",
    "a hook": "Command blocked by PreToolUse hook: x",
    "a hook of tools": "Tool call blocked by PreToolUse hook: x",
    "a refused command": REJECTED % "rejected by user",
    "a command not started": REJECTED % "Failed to create unified exec process: x",
    "a rule": "`bash -lc 'x'` rejected: house rule",
    "an empty patch": "patch rejected: empty patch",
    "the configuration": "rejected by configuration",
    "an interrupt": "aborted by user after 2s",
    "a late interrupt": "Wall time: 1 seconds\naborted by user",
    "a patch": "apply_patch verification failed: x",
    "a tool": "unsupported call: x",
    "arguments": "failed to parse function arguments: x",
    "an image": "unable to process image: x",
    "a question": "request_user_input is unavailable in Default mode",
    "a spawn": "collab spawn failed: x",
    "a server": 'err: "tool call error: tool call failed for `x/y`"',
    "a refused server": 'err: "user rejected MCP tool call"',
    "a policy's rule": "approval required by policy rule, but AskForApproval is set to Never",
    "the network": 'Network access to "x" is blocked by policy.',
    "the app's configuration": "MCP tool call blocked by app configuration",
    "resources": "resources/list failed: x",
    "a goal": "goal objective must not be blank",
    "a plan": "update_plan is a TODO/checklist tool and is not allowed in Plan mode",
    "a session": "unknown session id 7",
    "a tool of the client's": '{"type":"dynamic_tool_call_response","call_id":"c1","success":false}',
    "a bare error": "error: x",
    "the review mode": '{"type":"entered_review_mode","target":{}}',
    "the app": "# In app browser:\n## My request for Codex:\nwrong",
    "the environment": "<environment_context>\n<cwd>/srv/other</cwd>\n</environment_context>",
}
OUTPUTS = ("exec", "poll", "shell", "metadata", "script", "server")


def answered(rollout: Rollout, how: str, printed: str, code: int) -> tuple[bytes, ...]:
    """A call that ended with an exit code, and printed a text, as one of the tools records it."""
    header = f"Wall time: 1.0 seconds\nProcess exited with code {code}\nOutput:\n"
    if how == "metadata":
        output: Any = json.dumps({"output": printed, "metadata": {"exit_code": code}})
        return rollout.call("shell"), rollout.output(output)
    if how == "script":
        parts = ("Script completed\nWall time 0.1 seconds\nOutput:\n", printed)
        item = rollout.item(
            "CommandExecution",
            "e1",
            status="failed" if code else "completed",
            exit_code=code,
            aggregated_output=printed,
        )
        output = [{"type": "input_text", "text": part} for part in parts]
        return rollout.call("exec"), item, rollout.output(output)
    if how == "server":
        parts = ("Wall time: 0.1 seconds\nOutput:", printed)
        output = [{"type": "input_text", "text": part} for part in parts]
        item = rollout.item("McpToolCall", status="failed" if code else "completed")
        return rollout.call("look", namespace="mcp__x"), item, rollout.output(output)
    tool = {"exec": "exec_command", "poll": "write_stdin", "shell": "shell_command"}[how]
    return rollout.call(tool), rollout.output(f"{header}{printed}")


@pytest.mark.parametrize("rule", PRINTED)
@given(
    how=st.sampled_from(OUTPUTS),
    code=st.sampled_from([0, 1, 137]),
    before=st.text(),
    after=st.text(),
)
@settings(deadline=None, max_examples=40)
def test_what_a_command_prints_decides_nothing(
    rollout: Rollout, rule: str, how: str, code: int, before: str, after: str
) -> None:
    """A call ends as it ends when it prints nothing, with any text around what it prints, first or last."""
    quiet = rollout.calls(*answered(rollout, how, "", code))
    for text in (PRINTED[rule], PRINTED[rule] + after, f"{before}\n{PRINTED[rule]}\n{after}"):
        lines = answered(rollout, how, text, code)
        assert rollout.calls(*lines) == quiet
        counts = rollout.tally(*lines).counts()
        assert (counts.interrupts, counts.denials, counts.prompts) == (0, 0, 0)


@pytest.mark.parametrize("rule", PRINTED)
@given(after=st.text())
@settings(deadline=None, max_examples=40)
def test_what_is_said_or_put_in_decides_nothing(rollout: Rollout, rule: str, after: str) -> None:
    """Messages of the assistant, the developer and the harness, and summaries, hold no call's end and no prompt."""
    text = PRINTED[rule] + after

    def message(role: str, kind: str) -> bytes:
        content = [{"type": kind, "text": text}]
        return rollout.line("response_item", {"type": "message", "role": role, "content": content})

    lines = (
        rollout.meta(),
        rollout.call(),
        message("assistant", "output_text"),
        message("user", "input_text"),
        message("developer", "input_text"),
        rollout.event("agent_message", message=text),
        rollout.event("agent_reasoning", text=text),
        rollout.event("error", message=text),
        rollout.line("compacted", {"message": text, "replacement_history": [{"text": text}]}),
        rollout.item("AgentMessage", "m1", content=[{"type": "Text", "text": text}]),
    )
    assert rollout.calls(*lines) == [("c1", "exec_command", None, None)]
    counts = rollout.read(*lines).counts()
    assert (counts.prompts, counts.interrupts, counts.tool_errors) == (0, 0, 0)
    assert list(rollout.read(*lines).cwds) == ["/srv/app"]


@pytest.mark.parametrize("rule", PRINTED)
@given(before=st.text(st.characters(codec="ascii", exclude_characters="\n"), min_size=1))
@settings(deadline=None, max_examples=40)
def test_what_a_person_quotes_is_a_prompt(rollout: Rollout, rule: str, before: str) -> None:
    """Words before a fixed text make it the person's: one prompt, told by its first line, and nothing else."""
    words = f"look, {before}"
    lines = (rollout.call(), rollout.event("user_message", message=f"{words}\n{PRINTED[rule]}"))
    assert [summary for _, summary in rollout.prompts(*lines)] == [words]
    assert rollout.calls(*lines) == [("c1", "exec_command", None, None)]


BEGINNINGS = (
    "Command: ",
    'Command: "',
    "exec_command failed for `",
    "`",
    "approval policy is ",
    'err: "',
    '[{"type":"text","text":"',
    "Process exited with code ",
    '{"output":"',
    "# In app browser:\n",
    "## My request for Codex: ",
    "Codex cannot attach image at `",
    "Codex could not read the local image at `a`: ",
)


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_long_texts_take_no_longer_than_they_are_long(rollout: Rollout, begin: str) -> None:
    """Whatever a long text goes on with after the beginning of a fixed text, each rule looks at it a few times."""
    started = time.process_time()
    for rest in (" ", "\n", "a", "`", '"', "\\", "\\a", "' ", begin, "(os error "):
        text = begin + rest * (200_000 // len(rest))
        for tool in ("exec_command", "shell", "mcp__x__y"):
            rollout.ended(rollout.output(text), tool=tool)
        rollout.prompts(rollout.event("user_message", message=text))
    assert time.process_time() - started < 20
