"""How calls ended that have other records: agents, tools of the client's, MCP calls that were not made (rules 9 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Rollout


@pytest.mark.parametrize(
    ("tool", "members", "status"),
    [
        ("spawn_agent", {"new_thread_id": None, "status": "not_found"}, "error"),
        ("collaboration.spawn_agent", {"new_thread_id": None}, "error"),
        ("spawn_agent", {"new_thread_id": "t9", "status": "running"}, "ok"),
        ("spawn_agent", {"status": "not_found"}, "ok"),
        ("exec_command", {"new_thread_id": None, "status": "not_found"}, "ok"),
    ],
)
def test_agents_that_were_not_spawned(
    rollout: Rollout, tool: str, members: dict[str, Any], status: str
) -> None:
    """The end of a spawn without a new thread is a failure of the call that asked for it, before or after its output."""
    end = rollout.event("collab_agent_spawn_end", call_id="c1", **members)
    output = rollout.output("{}")
    for lines in ((end, output), (output, end)):
        assert rollout.ended(*lines, tool=tool)[0] == status


@pytest.mark.parametrize(
    ("tool", "members", "status"),
    [
        ("spawn_agent", {"status": "failed", "receiver_thread_ids": []}, "error"),
        ("spawn_agent", {"status": "failed", "receiver_thread_ids": ["t9"]}, "ok"),
        ("spawn_agent", {"status": "failed"}, "ok"),
        ("spawn_agent", {"status": "completed", "receiver_thread_ids": []}, "ok"),
        ("wait_agent", {"status": "failed", "receiver_thread_ids": []}, "ok"),
    ],
)
def test_items_of_agents_that_were_not_spawned(
    rollout: Rollout, tool: str, members: dict[str, Any], status: str
) -> None:
    """An item of a spawn that failed and names no receiver says the same."""
    item = rollout.item("CollabAgentToolCall", **members)
    assert rollout.ended(item, rollout.output("{}"), tool=tool)[0] == status


@pytest.mark.parametrize("answer", ["no such shelf", "patch rejected by user", "Exit code: 1"])
def test_clients_say_whether_their_tools_failed(rollout: Rollout, answer: str) -> None:
    """Event or item decide about a tool of the client's, whatever it answers; without them the output does."""
    items = [{"type": "inputText", "text": answer}]
    output = rollout.output(answer)
    plain = rollout.ended(output, tool="look")[0]
    for success, status in ((False, "error"), (True, "ok"), (None, plain), ("no", plain)):
        members = {"success": success, "content_items": items}
        event = rollout.event("dynamic_tool_call_response", call_id="c1", **members)
        assert rollout.ended(event, output, tool="look")[0] == status
    for word, status in (("failed", "error"), ("completed", "ok"), ("lost", plain)):
        item = rollout.item("DynamicToolCall", status=word, content_items=items)
        assert rollout.ended(item, output, tool="look")[0] == status
        other = rollout.item("DynamicToolCall", "e1", status=word, content_items=items)
        assert len(rollout.calls(rollout.call("exec"), other)) == 1
    failed = rollout.item("DynamicToolCall", status="failed", content_items=items)
    assert rollout.ended(failed, tool="look")[2] == answer


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("user rejected MCP tool call", "denied"),
        ("MCP tool call blocked by app configuration", "denied"),
        ("user cancelled MCP tool call", "interrupted"),
        ("user rejected MCP tool call twice", "error"),
        ("", "error"),
    ],
)
def test_mcp_calls_that_were_not_made(rollout: Rollout, message: str, status: str) -> None:
    """Why a failed MCP call was not made is the whole message of its record."""
    item = rollout.item("McpToolCall", status="failed", error={"message": message})
    event = rollout.event("mcp_tool_call_end", call_id="c1", result={"Err": message})
    done = rollout.item("McpToolCall", status="completed", error={"message": message})
    for end in (item, event):
        assert rollout.ended(end, tool="mcp__x__y") == (status, None, message)
    assert rollout.ended(done, tool="mcp__x__y")[0] == "ok"
