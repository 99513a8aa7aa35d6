"""What the records say that tell how a command, a patch or an MCP call ended. Pure.

New rollouts have items of them, older ones events; both name the call, or are the only record of
one that was made inside a script.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentfeedback.reading import Raw, Status, value
from agentfeedback_codex.lines import Invocation, Item, McpResult, Payload, texts
from agentfeedback_codex.results import mcp_failure

#: The status of an item, or of the event that came before it.
STATUS: dict[str | None, Status] = {"completed": "ok", "failed": "error", "declined": "denied"}


class End(NamedTuple):
    """How a call ended: `given` is its input, `status` None where the record does not say."""

    id: str | None
    tool: str
    given: Raw
    status: Status | None
    content: str
    exit_code: int | None = None
    turn: str | None = None
    source: str | None = None


def of_item(item: Item, turn: str | None) -> End | None:
    """The end that an item of that turn records; None for an item of something else."""
    make = _ITEMS.get(item.type)
    return make(item, turn) if make is not None else None


def of_event(event: Payload) -> End | None:
    """The end that an event records; None for an event of something else."""
    make = EVENTS.get(event.type)
    return make(event) if make is not None else None


def _command_item(item: Item, turn: str | None) -> End:
    return End(
        item.id,
        "exec_command",
        item.command,
        STATUS.get(item.status),
        item.aggregated_output or "",
        item.exit_code,
        turn,
        item.source,
    )


def _patch_item(item: Item, turn: str | None) -> End:
    content = _both(item.stdout, item.stderr)
    status = STATUS.get(item.status)
    return End(item.id, "apply_patch", item.changes, status, content, None, turn)


def _mcp_item(item: Item, turn: str | None) -> End:
    status = STATUS.get(item.status)
    message = (item.error.message if item.error is not None else None) or ""
    if status == "error":
        status = mcp_failure(message)
    tool = _mcp_tool(item.server, item.tool)
    return End(item.id, tool, item.arguments, status, message, None, turn)


def _command_end(event: Payload) -> End:
    status = STATUS.get(event.status)
    if event.status is None and event.exit_code is not None:
        status = "error" if event.exit_code else "ok"
    return End(
        event.call_id,
        "exec_command",
        event.command,
        status,
        event.aggregated_output or _both(event.stdout, event.stderr),
        event.exit_code,
        event.turn_id,
        value(event.source, str),
    )


def _patch_end(event: Payload) -> End:
    status = STATUS.get(event.status)
    if status is None and event.success is not None:
        status = "ok" if event.success else "error"
    content = _both(event.stdout, event.stderr)
    return End(event.call_id, "apply_patch", event.changes, status, content, turn=event.turn_id)


def _mcp_end(event: Payload) -> End:
    result = value(event.result, McpResult) or McpResult()
    call = value(event.invocation, Invocation) or Invocation()
    status: Status | None = None
    content = ""
    if result.failure is not None:
        status, content = mcp_failure(result.failure), result.failure
    elif result.answer is not None and result.answer.is_error:
        status, content = "error", texts(result.answer.content, "text")
    elif result.answer is not None:
        status = "ok"
    tool = _mcp_tool(call.server, call.tool)
    return End(event.call_id, tool, call.arguments, status, content, turn=event.turn_id)


_ITEMS: dict[str | None, Callable[[Item, str | None], End]] = {
    "CommandExecution": _command_item,
    "FileChange": _patch_item,
    "McpToolCall": _mcp_item,
}
EVENTS: dict[str | None, Callable[[Payload], End]] = {
    "exec_command_end": _command_end,
    "patch_apply_end": _patch_end,
    "mcp_tool_call_end": _mcp_end,
}


def _mcp_tool(server: str | None, tool: str | None) -> str:
    return f"{server or ''}.{tool or ''}"


def _both(stdout: str | None, stderr: str | None) -> str:
    return "\n".join(text for text in (stdout, stderr) if text and not text.isspace())
