"""What the entries of a pi session say (`README.md`, "What")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentfeedback.reading import decoder

from .lines import Arguments, Line, Message
from .results import outcome

if TYPE_CHECKING:
    from agentfeedback.reading import Sink

#: What `/skill:NAME words` becomes: the skill's text in a wrapper, then the words that were typed.
_SKILL = re.compile(
    r'<skill name="([^"\n]+)" location="[^"\n]+">\n.*?\n</skill>(?:\n\n(.+))?', re.DOTALL
)


def report_entry(line: Line, sink: Sink) -> None:
    """Report one entry: a line that is not the header of its session."""
    message = line.message if line.type == "message" else None
    model = message.model if message is not None else line.model_id
    sink.entry(line.id, line.timestamp, model=model)
    if message is not None:
        _message(message, sink, line.timestamp)
    elif line.type == "session_info":
        sink.about(title=line.name)


def _message(message: Message, sink: Sink, time: str | None) -> None:
    if message.role == "user":
        sink.prompt(_typed(message.text()))
    elif message.role == "assistant":
        _assistant(message, sink, time)
    elif message.role == "toolResult":
        text = message.text()
        if message.is_error:
            status, exit_code = outcome(message.tool_name, text)
            sink.result(message.tool_call_id, status, text, exit_code)
        else:
            sink.result(message.tool_call_id, "ok", text)


def _assistant(message: Message, sink: Sink, time: str | None) -> None:
    for block in message.blocks():
        if block.type == "text" and block.text:
            sink.said(block.text)
        elif block.type == "toolCall":
            given = bytes(block.arguments)
            command = None
            if block.name == "bash" and given:
                arguments = decoder(Arguments)(given)
                command = arguments.command if arguments is not None else None
            sink.call(
                block.id, block.name or "", input=given or None, command=command, span=block.id
            )
    if message.usage is not None:
        usage = message.usage
        cost = usage.cost.total if usage.cost is not None else None
        sink.used(input=usage.input or 0, output=usage.output or 0, cost=cost or 0.0)
    if message.stop_reason == "aborted":
        sink.interrupt()
        sink.interrupt_open()
    elif message.stop_reason == "error":
        sink.trouble("provider", message.error_message or "", time)


def _typed(text: str) -> str:
    skill = _SKILL.fullmatch(text) if text.startswith("<skill ") else None
    return text if skill is None else f"/skill:{skill[1]} {skill[2] or ''}".rstrip()
