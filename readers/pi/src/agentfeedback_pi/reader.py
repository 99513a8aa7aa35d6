"""The reader of pi's session files (`README.md` names the source of each rule)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agentfeedback.reading import Place, Reader, UnreadableLog, declared_paths, decoder, first_line

from .lines import Arguments, Line, Message
from .results import outcome

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Session, Sink

#: Most bytes of a header that is looked at before the policy is asked, and how many are read at a time.
_HEADER_BYTES = 1 << 20
_BLOCK_BYTES = 512
_END = ".jsonl"
#: What `/skill:NAME words` becomes: the skill's text in a wrapper, then the words that were typed.
_SKILL = re.compile(
    r'<skill name="([^"\n]+)" location="[^"\n]+">\n.*?\n</skill>(?:\n\n(.+))?', re.DOTALL
)


class Pi(Reader):
    """Reads the sessions below `~/.pi/agent/sessions`, or where pi's environment variables put them."""

    harness = "pi"
    format = "pi-session"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        own = os.path.join(home.directory("PI_CODING_AGENT_DIR", ".pi", "agent"), "sessions")
        moved = home.directory("PI_CODING_AGENT_SESSION_DIR", own)
        report.store(moved)
        seen: set[str] = set()
        if moved != own:  # there the files are side by side
            yield from _files(moved, report, seen, root=True)
            return
        for project in report.directories(own, root=True):
            yield from _files(project.path, report, seen)

    def place(self, session: Session, *, strict: bool) -> Place:
        try:
            line = first_line(session.path, _HEADER_BYTES, 1 if strict else _BLOCK_BYTES)
        except (OSError, UnreadableLog):
            return Place()  # the log cannot be opened either, which is reported then
        header = decoder(Line)(line) if line is not None else None
        if header is None or header.type != "session":
            return Place(failed=True, first_line=line)
        return Place(paths=declared_paths(header.cwd), first_line=line)

    def known(self) -> Known:
        from .known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, sink: Sink) -> None:
        for line in log.records(Line, sink):
            if line.type is None:
                sink.unparsed()
            elif line.type == "session":
                sink.note(line.timestamp, line.cwd)
            else:
                message = line.message if line.type == "message" else None
                model = message.model if message is not None else line.model_id
                sink.entry(line.id, line.timestamp, model=model)
                if message is not None:
                    _message(message, sink, line.timestamp)


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
    if message.stop_reason == "aborted":
        sink.interrupt()
        sink.interrupt_open()
    elif message.stop_reason == "error":
        sink.trouble("provider", message.error_message or "", time)


def _typed(text: str) -> str:
    skill = _SKILL.fullmatch(text) if text.startswith("<skill ") else None
    return text if skill is None else f"/skill:{skill[1]} {skill[2] or ''}".rstrip()


def _files(folder: str, report: Report, seen: set[str], *, root: bool = False) -> Iterator[Session]:
    for file in report.files(folder, root=root):
        if file.name.endswith(_END):
            stem = file.name.removesuffix(_END)
            session = report.session(file, stem.partition("_")[2] or stem)
            if session is None:
                continue
            if session.id in seen:
                report.problem(file.path, "another file holds the session of this id")
                continue
            seen.add(session.id)
            yield session
