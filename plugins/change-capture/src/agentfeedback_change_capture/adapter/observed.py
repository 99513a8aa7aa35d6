"""From a payload of Claude Code to the fact it is: kind, identity, and the few members that may be shared. Pure.

No text of a conversation, no input, no result and no path is in a fact. Which bodies belong to it is
said by `bodies`.
"""

from __future__ import annotations

from agentfeedback_change_capture.adapter import payload as read
from agentfeedback_change_capture.facts import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The kind of each event that is observed, by Claude Code's own names; others are ignored.
KINDS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "tool_start",
    "PostToolUse": "tool_finish",
    "PostToolUseFailure": "tool_finish",
    "MessageDisplay": "assistant_message",
    "Stop": "turn_end",
    "PreCompact": "compaction",
    "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop",
    "SessionEnd": "session_end",
}
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
#: A prompt that begins so is the harness's own.
TASK_NOTIFICATION = "<task-notification>"
_MARKERS = ("Stop", "PreCompact", "SubagentStart", "SubagentStop")
_STARTS = ("startup", "resume", "clear", "compact")
_TRIGGERS = ("manual", "auto")
_REASONS = ("clear", "logout", "prompt_input_exit")
_SETUP = ("SessionStart", "UserPromptSubmit", *TOOL_EVENTS, "Stop")


def event_of(payload: dict[str, Any]) -> str | None:
    """Return the name of an event that is observed; None for one that is ignored."""
    name = payload.get("hook_event_name")
    if not isinstance(name, str) or name not in KINDS:
        return None
    if name in ("SubagentStart", "SubagentStop") and read.agent_id(payload) is None:
        return None
    return name


def fact(event: str, payload: dict[str, Any], now: int) -> Fact:
    """Return the fact of a payload; `now` is the time of its receipt in Unix seconds."""
    found = Fact(event, KINDS[event], now)
    stamp = read.timestamp(payload)
    if stamp is not None:
        found.timestamp, found.observed_at = stamp
        found.time_source = "host"
    found.identity = _identity(event, payload)
    found.uncertain = found.identity is None and stamp is None and event not in _MARKERS
    found.members = _members(event, payload)
    found.ends = event == "SessionEnd"
    if event == "SessionStart":
        source = payload.get("source")
        found.start = (
            "original" if source == "startup" else "continued" if source == "compact" else "other"
        )
    if event in _SETUP:
        found.setup = _setup(event, payload)
    return found


def unreadable(now: int) -> Fact:
    """Return the gap of a payload that could not be decoded."""
    gap = {"gap": {"kind": "capture_interrupted", "cause": "payload_unreadable"}}
    return Fact("payload_unreadable", "gap", now, members=gap)


def tool_use(payload: dict[str, Any]) -> tuple[str, str] | None:
    """Return tool and id of a call; None for one that cannot be distinguished from another, or names no tool."""
    tool, id = read.string(payload, "tool_name"), read.string(payload, "tool_use_id")
    return None if tool is None or id is None else (tool, id)


def is_notification(payload: dict[str, Any]) -> bool:
    """Return whether a prompt is the harness's own word about a background task."""
    text = payload.get("prompt")
    return isinstance(text, str) and text.startswith(TASK_NOTIFICATION)


def _identity(event: str, payload: dict[str, Any]) -> tuple[str | int, ...] | None:
    if event in TOOL_EVENTS:
        id = read.string(payload, "tool_use_id")
        return None if id is None else (id, "start" if event == "PreToolUse" else "finish")
    if event == "MessageDisplay":
        message, index = read.string(payload, "message_id"), read.integer(payload, "index")
        return None if message is None or index is None else (message, index)
    return None


def _members(event: str, payload: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    boundary = _boundary(event, payload)
    if boundary is not None:
        found["boundary"] = boundary
    if event in TOOL_EVENTS:
        tool = _tool(event, payload)
        if tool is not None:
            found["tool"] = tool
    agent = (
        read.agent_id(payload) if event in (*TOOL_EVENTS, "SubagentStart", "SubagentStop") else None
    )
    if agent is not None:
        found["subagent"] = {"agent_id": agent}
        kind = read.string(payload, "agent_type")
        if kind is not None:
            found["subagent"]["agent_type"] = kind
    if event == "UserPromptSubmit" and is_notification(payload):
        found["origin"] = "harness"
    correlation = _correlation(event, payload)
    if correlation:
        found["correlation"] = correlation
    return found


def _boundary(event: str, payload: dict[str, Any]) -> str | None:
    if event == "SessionStart":
        source = payload.get("source")
        return source if isinstance(source, str) and source in _STARTS else None
    if event == "PreCompact":
        trigger = payload.get("trigger")
        return trigger if isinstance(trigger, str) and trigger in _TRIGGERS else None
    if event == "SessionEnd":
        reason = payload.get("reason")
        return reason if isinstance(reason, str) and reason in _REASONS else "other"
    return None


def _tool(event: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    name = read.string(payload, "tool_name")
    if name is None:
        return None
    if event == "PreToolUse":
        return {"name": name}
    found = {"name": name, "outcome": "returned" if event == "PostToolUse" else "failed"}
    response = payload.get("tool_response")
    inside = isinstance(response, dict) and response.get("interrupted") is True
    if inside or payload.get("is_interrupt") is True:
        return {**found, "interrupted": True}
    return found


def _correlation(event: str, payload: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if event == "MessageDisplay":
        names: tuple[str, ...] = ("prompt_id", "turn_id", "message_id")
        index = read.integer(payload, "index")
        if index is not None:
            found["index"] = index
        final = payload.get("final")
        if isinstance(final, bool):
            found["final"] = final
    else:
        names = ("prompt_id",) if event == "UserPromptSubmit" else ()
    for name in names:
        value = read.string(payload, name)
        if value is not None:
            found[name] = value
    return found


def _setup(event: str, payload: dict[str, Any]) -> dict[str, str]:
    found = {
        "model": read.string(payload, "model") if event == "SessionStart" else None,
        "permission_mode": read.string(payload, "permission_mode"),
        "effort": read.string(payload, "effort"),
    }
    level = payload.get("effort")
    if isinstance(level, dict):
        found["effort"] = read.string(level, "level")
    return {name: value for name, value in found.items() if value is not None}
