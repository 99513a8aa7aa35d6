"""What of a harness' log is not part of a corpus: texts the vendor wrote for the model, and bookkeeping. Pure.

One function per harness takes a decoded record and gives what stays of it, None for nothing; the
input may be changed. A harness without one keeps everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

Record = dict[str, Any]

_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_CONTEXT = re.compile(r"(<session_context>).*?(</session_context>)", re.DOTALL)


def kinds(record: object) -> Iterator[str]:
    """The words `--drop` may name a record by: its types from the outside in, joined by `/`, and each alone."""
    names: list[str] = []
    while isinstance(record, dict):
        for member in ("type", "subtype", "kind"):
            if isinstance(name := record.get(member), str):
                names.append(name)
                yield name
        record = next(
            (record[at] for at in ("payload", "attachment", "item") if at in record), None
        )
    yield "/".join(names)


def dropped(record: object, types: Collection[str]) -> bool:
    """Whether a maintainer asked for a record to be dropped."""
    return bool(types) and any(kind in types for kind in kinds(record))


def shed(harness: str, record: object) -> object:
    """What stays of a record: itself when nothing is to go, None when all of it is."""
    rule = _RULES.get(harness)
    return rule(record) if rule is not None and isinstance(record, dict) else record


def _claude_code(record: Record) -> Record | None:
    kind = record.get("type")
    attachment, message = record.get("attachment"), record.get("message")
    if kind == "attachment":
        queued = isinstance(attachment, dict) and attachment.get("type") == "queued_command"
        return record if queued else None
    if kind == "system":
        return record if record.get("subtype") == "compact_boundary" else None
    if kind == "user":
        if record.get("isMeta"):
            return None
    elif kind not in ("assistant", "mode", "permission-mode"):
        return None
    if isinstance(message, dict):
        message = _without(message, ("usage", "stop_details", "container", "context_management"))
        if record.get("isCompactSummary"):
            message["content"] = "A summary of the conversation so far."
        elif isinstance(content := message.get("content"), list):
            message["content"] = [each for each in content if not _is_thinking(each)]
        record["message"] = message
    return _in_texts(record, lambda text: _REMINDER.sub("", text))


_META = ("base_instructions", "instructions", "user_instructions", "dynamic_tools", "tools")
_ITEMS = (
    "AgentMessage",
    "CommandExecution",
    "FileChange",
    "ImageView",
    "McpToolCall",
    "UserMessage",
)
_EVENTS = (
    "agent_message",
    "exec_command_end",
    "item_completed",
    "mcp_tool_call_end",
    "patch_apply_end",
    "thread_rolled_back",
    "turn_aborted",
    "user_message",
)


def _codex(record: Record) -> Record | None:
    kind, payload = record.get("type"), record.get("payload")
    if not isinstance(payload, dict):
        return record
    inner = payload.get("type")
    if kind in ("session_meta", "turn_context"):
        record["payload"] = _without(payload, (*_META, "developer_instructions", "summary"))
        return record
    if kind == "event_msg":
        if inner == "item_completed":
            item = payload.get("item")
            return record if isinstance(item, dict) and item.get("type") in _ITEMS else None
        return record if inner in _EVENTS else None
    if kind == "response_item":
        if inner == "message":
            return record if payload.get("role") == "assistant" else None
        return None if inner == "reasoning" else record
    return None


_COPILOT = (
    "abort",
    "assistant.message",
    "permission.completed",
    "session.context_changed",
    "session.model_change",
    "session.resume",
    "session.start",
    "subagent.completed",
    "subagent.started",
    "tool.execution_complete",
    "tool.execution_start",
    "tool.user_requested",
    "user.message",
)


def _copilot(record: Record) -> Record | None:
    if record.get("type") not in _COPILOT:
        return None
    if isinstance(data := record.get("data"), dict):
        record["data"] = _without(
            data,
            ("encryptedContent", "reasoningOpaque", "reasoningText", "transformedContent"),
        )
    return record


def _gemini_cli(record: Record) -> Record | None:
    changes = record.get("$set")
    if list(record) == ["$set"] and isinstance(changes, dict) and list(changes) == ["lastUpdated"]:
        return None
    record = _without(record, ("thoughts", "tokens", "memoryScratchpad"))
    return _in_texts(record, lambda text: _CONTEXT.sub(r"\1\2", text))


def _opencode_v1(record: Record) -> Record | None:
    if record.get("type") in ("snapshot", "step-start", "step-finish", "reasoning"):
        return None
    return _without(record, ("summary", "cost", "tokens", "snapshot", "system", "tools"))


def _opencode_v2(record: Record) -> Record | None:
    return _without(record, ("cost", "tokens", "snapshot"))


_RULES: dict[str, Callable[[Record], Record | None]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "copilot": _copilot,
    "gemini-cli": _gemini_cli,
    "opencode-v1": _opencode_v1,
    "opencode-v2": _opencode_v2,
}

#: The tables and columns of a row store that make a session; a store without an entry is taken whole.
COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "opencode-v1": {
        "session": (
            *("id", "parent_id", "directory", "title", "version"),
            *("time_created", "time_updated"),
        ),
        "message": ("id", "session_id", "time_created", "time_updated", "data"),
        "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
    },
    "opencode-v2": {
        "session_v2": (
            *("id", "parent_id", "directory", "title", "version"),
            *("time_created", "time_updated"),
        ),
        "session_message": (
            *("id", "session_id", "type", "seq", "time_created", "time_updated", "data"),
        ),
        "session_part": ("id", "message_id", "ordinal", "data"),
    },
}


def _is_thinking(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")


def _without(record: Record, members: Collection[str]) -> Record:
    return {name: value for name, value in record.items() if name not in members}


def _in_texts(record: Record, change: Callable[[str], str]) -> Record:
    return {name: _texts(value, change) for name, value in record.items()}


def _texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_texts(each, change) for each in value]
    if isinstance(value, dict):
        return _in_texts(value, change)
    return value
