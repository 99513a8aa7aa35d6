"""Outputs that no rule of the reader knows, for `agentfeedback doctor --formats`: a new version may have a new way to say no."""

from __future__ import annotations

from agentfeedback.reading import decoder
from agentfeedback_codex.calls import tool_of
from agentfeedback_codex.lines import Line
from agentfeedback_codex.results import is_unknown, read

#: Codex' own tools. What succeeds in them has a header, a JSON text or no text, so any other text is Codex' own word.
_TOOLS = (
    "apply_patch",
    "container.exec",
    "exec",
    "exec_command",
    "local_shell",
    "request_user_input",
    "shell",
    "shell_command",
    "spawn_agent",
    "view_image",
    "wait",
    "write_stdin",
)


class UnknownTexts:
    """Names the outputs of a rollout, line after line, whose text no rule of the reader knows.

    A call that an item or event says the end of is judged by that; its output may be a hook's.
    """

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}

    def __call__(self, line: bytes) -> str:
        record = decoder(Line)(line)
        payload = record.payload if record is not None else None
        if record is None or payload is None:
            return ""
        id = payload.call_id
        if record.type == "event_msg":
            id = payload.item.id if payload.item is not None else id
            self._tools.pop(id or "", None)
        elif record.type == "response_item" and id:
            tool = tool_of(payload)
            if tool in _TOOLS:
                self._tools[id] = tool
            elif (tool := self._tools.pop(id, "")) and is_unknown(read(payload.output), tool):
                return f"response_item/{payload.type}/text of {tool}"
        return ""
