"""Texts that are Codex' own word, in all tools or in one (rules 7 and 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Rollout

NOT_STARTED = (
    'CreateProcess { message: "Rejected(\\"Failed to create unified exec process: '
    'No such file or directory (os error 2)\\")" }'
)


@pytest.mark.parametrize(
    "text",
    [
        "patch rejected: empty patch",
        "patch rejected: empty patch\n",
        f"exec_command failed: {NOT_STARTED}",
        f"exec_command failed for `pwd`: {NOT_STARTED}",
    ],
)
def test_what_nobody_refused_is_an_error(rollout: Rollout, text: str) -> None:
    """An empty patch, and a command that could not be started, read like refusals and are errors; in scripts too."""
    assert rollout.ended(rollout.output(text)) == ("error", None, text)
    texts = ("Script failed\nWall time 0.1 seconds\nOutput:\n", f"Script error:\n{text}")
    in_script = rollout.output([{"type": "input_text", "text": each} for each in texts])
    assert rollout.ended(in_script, tool="exec")[0] == "error"


@pytest.mark.parametrize(
    "text",
    [
        "patch rejected: empty patch is not allowed here",
        'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
        "exec_command failed: " + NOT_STARTED.replace("Failed", "x: Failed"),
    ],
)
def test_what_somebody_refused_stays_denied(rollout: Rollout, text: str) -> None:
    """Only the whole text, and only at the start of what is quoted, says that nobody refused."""
    assert rollout.ended(rollout.output(text))[0] == "denied"


@pytest.mark.parametrize(
    ("tool", "status"),
    [
        ("shell", "denied"),
        ("shell_command", "denied"),
        ("local_shell", "denied"),
        ("container.exec", "denied"),
        ("exec_command", "ok"),
        ("depot_lookup", "ok"),
        ("mcp__x__shell", "ok"),
    ],
)
def test_rules_refuse_in_the_tools_of_a_shell(rollout: Rollout, tool: str, status: str) -> None:
    """A command in backticks that was rejected is the word of a rule where the tool runs one command of a shell."""
    text = "`bash -lc 'rm -rf\ndocs'` rejected: house rule"
    assert rollout.ended(rollout.output(text), tool=tool)[0] == status
    assert rollout.ended(rollout.output(f"x {text}"), tool=tool)[0] == "ok"


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("view_image", "unable to process image: invalid or unsupported image data"),
        ("view_image", "unable to process image at `a.png`: x"),
        ("view_image", "unable to read image at `a.png`: x"),
        ("view_image", "unable to resolve image path `a.png` against environment cwd `/`: x"),
        ("view_image", "image path `/srv` is not a file"),
        ("view_image", "view_image is not allowed because you do not support image inputs"),
        ("view_image", "Codex cannot attach image at `a.png`: unsupported image format `x`."),
        ("view_image", "image content omitted because it could not be processed"),
        ("apply_patch", "apply_patch is unavailable in this session"),
        ("write_stdin", "unknown session id 7"),
        ("mcp__x__y", 'err: "tool call error: tool call failed for `x/y`"'),
    ],
)
def test_failures_of_one_tool(rollout: Rollout, tool: str, text: str) -> None:
    """A text that is Codex' own word in one tool is an error there, as a list too, and nothing elsewhere."""
    assert rollout.ended(rollout.output(text), tool=tool) == ("error", None, text)
    listed = rollout.output([{"type": "input_text", "text": text}])
    assert rollout.ended(listed, tool=tool) == ("error", None, text)
    assert rollout.ended(rollout.output(f"x{text}"), tool=tool)[0] == "ok"
    for other in ("depot_lookup", "mcp__other.look", "exec_command"):
        if not (other.startswith("mcp__") and tool.startswith("mcp__")):
            assert rollout.ended(rollout.output(text), tool=other)[0] == "ok"


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("user rejected MCP tool call", "denied"),
        ("MCP tool call blocked by app configuration", "denied"),
        ("user cancelled MCP tool call", "interrupted"),
        ("user rejected MCP tool call of mine", "ok"),
    ],
)
def test_mcp_calls_that_were_not_made(rollout: Rollout, message: str, status: str) -> None:
    """The whole message decides, and only in an MCP tool's own error form."""
    output = rollout.output(f'err: "{message}"')
    assert rollout.ended(output, tool="mcp__x__y")[0] == status
    assert rollout.ended(output)[0] == "ok"
    assert rollout.ended(rollout.output(message), tool="mcp__x__y")[0] == "ok"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("exec command rejected by user", "ok"),
        ("patch rejected: x", "ok"),
        ('{"output":"x","metadata":{"exit_code":2}}', "ok"),
        ("execution error: x", "ok"),
        ("unsupported call: mcp__x__y", "error"),
        ("failed to parse function arguments: x", "error"),
        ("Tool call blocked by PreToolUse hook: no. Tool: y", "denied"),
        ("Automatic approval review timed out while evaluating", "denied"),
        ("aborted by user after 2s", "interrupted"),
    ],
)
def test_answers_of_servers_are_their_own(rollout: Rollout, text: str, status: str) -> None:
    """Of an MCP tool only what Codex says of any call is its word; the rest a server may answer."""
    for tool in ("mcp__x__y", "mcp__x.y", "x__y"):
        assert rollout.ended(rollout.output(text), tool=tool)[0] == status


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("request_user_input", "request_user_input is unavailable in Default mode"),
        ("spawn_agent", "collab spawn failed: agent thread limit reached (max 6)"),
        ("collaboration.spawn_agent", "Full-history forked agents inherit the parent agent type"),
        ("multi_agent_v1.spawn_agent", "Agent depth limit reached. Solve the task yourself."),
        ("spawn_agent", "Empty message can't be sent to an agent"),
        ("spawn_agent", "unknown agent_type 'x'"),
        ("send_input", "agent with id x not found"),
        ("wait_agent", "agent ids must be non-empty"),
        ("close_agent", "invalid agent id x"),
        ("read_mcp_resource", "resources/read failed: x"),
        ("list_mcp_resources", "unknown MCP server 'x' for the selected environment"),
        ("create_goal", "goal objective must not be empty"),
        ("update_plan", "update_plan is a TODO/checklist tool and is not allowed in Plan mode"),
    ],
)
def test_failures_of_a_few_tools(rollout: Rollout, tool: str, text: str) -> None:
    """What Codex says of agents, resources, goals and plans is a failure in their tools, and nothing elsewhere."""
    assert rollout.ended(rollout.output(text), tool=tool) == ("error", None, text)
    assert rollout.ended(rollout.output(f"a hook says: {text}"), tool=tool)[0] == "ok"
    for other in ("depot_lookup", "other.spawn_agent", "mcp__x__spawn_agent", "exec_command"):
        assert rollout.ended(rollout.output(text), tool=other)[0] == "ok"


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("update_plan", "Plan updated"),
        ("update_plan", "the house hook dislikes the plan"),
        ("get_goal", "the house hook dislikes the goal"),
        ("spawn_agent", '{"agent_id":"x"}'),
        ("spawn_agent", "You are the newly spawned agent. The prior history was forked"),
        ("spawn_agent", "the house hook dislikes the agent"),
    ],
)
def test_words_that_are_no_failure(rollout: Rollout, tool: str, text: str) -> None:
    """An answer, what a forked agent reads in its parent's stead, and what a hook puts in an answer's place."""
    assert rollout.ended(rollout.output(text), tool=tool)[0] == "ok"


@pytest.mark.parametrize(
    "policy", ["Never", "UnlessTrusted", "OnFailure", "Granular(X { a: true })"]
)
def test_policies_that_do_not_ask(rollout: Rollout, policy: str) -> None:
    """Whatever the policy is called, a command it does not let ask is denied."""
    text = f"approval policy is {policy}; reject command — you cannot ask"
    assert rollout.ended(rollout.output(text))[0] == "denied"
    assert rollout.ended(rollout.output(f"the {text}"))[0] == "ok"
    other = "approval policy is strict\nso; reject command"
    assert rollout.ended(rollout.output(other))[0] == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "approval required by policy, but AskForApproval is set to Never",
        "approval required by policy rule, but AskForApproval::Granular.rules is false",
        'Network access to "shop.test" is blocked by policy.',
        'Network access to "shop.test" was blocked by policy. Ask',
    ],
)
def test_rules_that_may_not_ask(rollout: Rollout, text: str) -> None:
    """A rule that would have to ask where nobody may be asked denies, in the tools of a shell."""
    for tool in ("shell", "shell_command", "exec_command"):
        assert rollout.ended(rollout.output(text), tool=tool) == ("denied", None, text)
        assert rollout.ended(rollout.output(f"the {text}"), tool=tool)[0] == "ok"
    assert rollout.ended(rollout.output(text), tool="mcp__x__y")[0] == "ok"


FAILED = "tool call error: tool call failed for `stock/per-r`\\n\\nCaused by:\\n    x"


@pytest.mark.parametrize(
    ("tool", "status"),
    [
        ("mcp__stock__per_r", "error"),
        ("mcp__stock.per-r", "error"),
        ("mcp__stock__.per-r", "error"),
        ("stock__per-r", "error"),
        ("mcp__stock__other", "ok"),
        ("mcp__depot__per_r", "ok"),
        ("depot_lookup", "ok"),
    ],
)
def test_codex_answers_in_a_servers_stead(rollout: Rollout, tool: str, status: str) -> None:
    """That a call failed is Codex' word where it names the call's own server and tool, bare or below a header."""
    header = "Wall time: 0.1 seconds\nOutput:\n"
    for text in (f'[{{"type":"text","text":"{FAILED}"}}]', FAILED):
        assert rollout.ended(rollout.output(text), tool=tool)[0] == status
        assert rollout.ended(rollout.output(f"{header}{text}"), tool=tool)[0] == status
        assert rollout.ended(rollout.output(f"{header}see {text}"), tool=tool)[0] == "ok"


def test_refused_in_a_servers_stead(rollout: Rollout) -> None:
    """The whole answer of an MCP tool may be Codex' word that the user rejected the call."""
    text = '[{"type":"text","text":"user rejected MCP tool call"}]'
    assert rollout.ended(rollout.output(text), tool="mcp__x__y")[0] == "denied"
    assert rollout.ended(rollout.output(text))[0] == "ok"
    more = text.replace("]", ',{"type":"text","text":"x"}]')
    assert rollout.ended(rollout.output(more), tool="mcp__x__y")[0] == "ok"
