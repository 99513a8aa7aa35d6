"""What the messages of a session say (README, "What")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentfeedback.reading import decoder, times
from agentfeedback_cline.lines import Arguments, Block, Message
from agentfeedback_cline.results import outcome

if TYPE_CHECKING:
    from agentfeedback.reading import Sink

_SHELL = "run_commands"
#: How the program marks what a person typed; in a sub-agent the task has no such tag.
_TYPED = re.compile(r'<user_input mode="[^"\n]*">(.*)</user_input>', re.DOTALL)
#: An error that is shown when the window of a run is closed: the provider did not fail.
_CLOSED = "Capability owner client "


def report_message(message: Message, sink: Sink) -> None:
    """Report one message."""
    if message.role is None:
        sink.unparsed()
        return
    time = times.milliseconds(message.ts)
    blocks = message.content or []
    results = [block for block in blocks if block.type == "tool_result"]
    if results:
        sink.note(time)
        for block in results:
            ended = outcome(block.content, rejected=block.is_error is True)
            sink.result(block.tool_use_id, ended.status, ended.text, ended.exit_code)
        return
    model = message.model_info.id if message.model_info is not None else None
    sink.entry(message.id, time, model=model)
    if message.metadata is not None and message.metadata.display_only:
        text = _text(blocks)
        if message.metadata.display_role == "error" and not text.startswith(_CLOSED):
            sink.trouble("provider", text, time)
    elif message.role == "user":
        typed = _TYPED.fullmatch(_text(blocks).strip())
        if typed is not None:
            sink.prompt(typed[1])
    elif message.role == "assistant":
        _answer(blocks, sink)
        if message.metrics is not None:
            used = message.metrics
            sink.used(
                input=used.input_tokens or 0, output=used.output_tokens or 0, cost=used.cost or 0.0
            )


def _text(blocks: list[Block]) -> str:
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text)


def _answer(blocks: list[Block], sink: Sink) -> None:
    for block in blocks:
        if block.type == "text" and block.text:
            sink.said(block.text)
        elif block.type == "tool_use":
            given = bytes(block.input)
            command = None
            if block.name == _SHELL and given and sink.keeps_texts:
                arguments = decoder(Arguments)(given)
                if arguments is not None and arguments.commands:
                    command = "\n".join(arguments.commands)
            name = block.name or ""
            sink.call(block.id, name, input=given or None, command=command, span=block.id)
