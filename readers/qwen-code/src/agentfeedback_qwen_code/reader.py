"""The reader of Qwen Code's chats (`README.md` says where each rule comes from)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agentfeedback.reading import Place, Reader, UnreadableLog, declared_paths, decoder, first_line
from agentfeedback_qwen_code.lines import Arguments, Event, Line, Payload
from agentfeedback_qwen_code.results import SHELL, outcome

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Session, Sink

#: Most bytes of a first line that are looked at before the policy is asked, and how many are read at a time.
_FIRST_BYTES = 1 << 20
_BLOCK_BYTES = 512
_END = ".jsonl"
_API_ERROR = "qwen-code.api_error"
#: The provider did not fail: the person stopped the answer.
_ABORTED = "APIUserAbortError"


class QwenCode(Reader):
    """Reads the chats below `~/.qwen/projects`."""

    harness = "qwen-code"
    format = "qwen-code-chat"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        root = os.path.join(home.path, ".qwen", "projects")
        report.store(root)
        seen: dict[str, str] = {}
        for project in report.directories(root, root=True):
            for folder in report.directories(project.path):
                if folder.name == "chats":
                    yield from _chats(folder.path, report, seen)

    def place(self, session: Session, *, strict: bool) -> Place:
        try:
            line = first_line(session.path, _FIRST_BYTES, 1 if strict else _BLOCK_BYTES)
        except (OSError, UnreadableLog):
            return Place()  # the log cannot be opened either, which is reported then
        first = decoder(Line)(line) if line is not None else None
        if first is None or first.cwd is None:
            return Place(failed=True, first_line=line)
        return Place(paths=declared_paths(first.cwd), first_line=line)

    def known(self) -> Known:
        from agentfeedback_qwen_code.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, sink: Sink) -> None:
        tools: dict[str, str] = {}
        for line in log.records(Line, sink):
            if line.type is None:
                sink.unparsed()
            elif line.type == "tool_result":
                sink.note(line.timestamp, line.cwd)
                _result(line, tools, sink)
            else:
                sink.entry(line.uuid, line.timestamp, line.cwd, line.model)
                if line.type == "user":
                    if not line.subtype:  # others are not typed by a person
                        sink.prompt(line.text() if _has_text(line) else None)
                elif line.type == "assistant":
                    _answer(line, tools, sink)
                elif line.system_payload is not None:
                    _system(line.system_payload, line.timestamp, sink)


def _chats(folder: str, report: Report, seen: dict[str, str]) -> Iterator[Session]:
    for file in report.files(folder):
        if not file.name.endswith(_END):
            continue
        session = report.session(file, file.name.removesuffix(_END))
        if session is None:
            continue
        if session.id in seen:
            report.problem(file.path, f"session is listed from {seen[session.id]}")
            continue
        seen[session.id] = file.path
        yield session


def _has_text(line: Line) -> bool:
    """Whether a message has a text at all; one of an image alone is a prompt without a word."""
    return not line.parts() or any(part.text is not None for part in line.parts())


def _answer(line: Line, tools: dict[str, str], sink: Sink) -> None:
    text = line.text()
    if text:
        sink.said(text)
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
