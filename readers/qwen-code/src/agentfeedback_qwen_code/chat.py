"""What the records of a chat say (README, "What")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.reading import decoder
from agentfeedback_qwen_code.lines import Arguments, Event, Line, Payload
from agentfeedback_qwen_code.results import SHELL, outcome

if TYPE_CHECKING:
    from agentfeedback.reading import Sink

_API_ERROR = "qwen-code.api_error"
#: The provider did not fail: the person stopped the answer.
_ABORTED = "APIUserAbortError"


class Chat:
    """Reports the records of one chat to a sink, in their order."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._tools: dict[str, str] = {}  # by the id of a call

    def line(self, line: Line) -> None:
        """One record."""
        sink = self._sink
        if line.type is None:
            sink.unparsed()
        elif line.type == "tool_result":
            sink.note(line.timestamp, line.cwd)
            _result(line, self._tools, sink)
        else:
            sink.entry(line.uuid, line.timestamp, line.cwd, line.model)
            sink.about(branch=line.git_branch, version=line.version)
            if line.type == "user":
                if not line.subtype:  # others are not typed by a person
                    sink.prompt(line.text() if _has_text(line) else None)
            elif line.type == "assistant":
                _answer(line, self._tools, sink)
            elif line.system_payload is not None:
                _system(line.system_payload, line.timestamp, sink)


def _has_text(line: Line) -> bool:
    """Whether a message has a text at all; one of an image alone is a prompt without a word."""
    return not line.parts() or any(part.text is not None for part in line.parts())


def _answer(line: Line, tools: dict[str, str], sink: Sink) -> None:
    text = line.text()
    if text:
        sink.said(text)
    if line.usage_metadata is not None:
        usage = line.usage_metadata
        sink.used(input=usage.prompt_token_count or 0, output=usage.candidates_token_count or 0)
    for part in line.parts():
        call = part.function_call
        if call is None:
            continue
        given = bytes(call.args)
        command = None
        if call.name == SHELL and given and sink.keeps_texts:
            arguments = decoder(Arguments)(given)
            command = arguments.command if arguments is not None else None
        if call.id:
            tools[call.id] = call.name or ""
        sink.call(call.id, call.name or "", input=given or None, command=command, span=call.id)


def _result(line: Line, tools: dict[str, str], sink: Sink) -> None:
    how = line.tool_call_result
    answers = [part.function_response for part in line.parts() if part.function_response]
    for answer in answers:
        # One record holds one result; where it held more, the record's status would be of no one.
        id = answer.id or (how.call_id if how is not None else None)
        text = answer.response.text() if answer.response is not None else ""
        status = how.status if how is not None else None
        error_type = how.error_type if how is not None else None
        ended, exit_code = outcome(status, error_type, tools.get(id or "", ""), text)
        sink.result(id, ended, text, exit_code)


def _system(payload: Payload, time: str | None, sink: Sink) -> None:
    raw = bytes(payload.ui_event)
    if _API_ERROR.encode() not in raw:
        return
    event = decoder(Event)(raw.replace(b'"event.name"', b'"name"', 1))
    if event is not None and event.name == _API_ERROR and event.error_type != _ABORTED:
        sink.trouble("provider", event.error_message or event.error or "", time)
