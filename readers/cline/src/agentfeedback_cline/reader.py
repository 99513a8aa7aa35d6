"""The reader of Cline CLI's sessions (`README.md` says where each rule comes from)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agentfeedback.reading import (
    DocumentLog,
    Place,
    Reader,
    declared_paths,
    decoder,
    small_file,
    times,
)
from agentfeedback_cline.lines import Arguments, Block, Message, State
from agentfeedback_cline.results import outcome

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Session, Sink

#: Most bytes of `<session id>.json` that are read to learn where a session ran.
_STATE_BYTES = 1 << 20
_END = ".messages.json"
_SHELL = "run_commands"
#: How the program marks what a person typed; in a sub-agent the task has no such tag.
_TYPED = re.compile(r'<user_input mode="[^"\n]*">(.*)</user_input>', re.DOTALL)
#: An error that is shown when the window of a run is closed: the provider did not fail.
_CLOSED = "Capability owner client "


class Cline(Reader):
    """Reads the sessions below `~/.cline/data/sessions`, one document each."""

    harness = "cline"
    format = "cline-messages"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        root = os.path.join(home.path, ".cline", "data", "sessions")
        report.store(root)
        for folder in report.directories(root, root=True):
            for file in report.files(folder.path):
                if file.name == folder.name + _END:  # others are of sub-agents
                    session = report.session(file, folder.name)
                    if session is not None:
                        yield session

    def place(self, session: Session, *, strict: bool) -> Place:
        try:
            state = small_file(session.path.removesuffix(_END) + ".json", _STATE_BYTES)
        except OSError:
            return Place(failed=True)
        known = decoder(State)(state) if state is not None else None
        if known is None or known.cwd is None:
            return Place(failed=True)
        return Place(paths=declared_paths(known.cwd))

    def open(self, session: Session) -> Log:
        return DocumentLog(session.path, _messages)

    def known(self) -> Known:
        from agentfeedback_cline.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, sink: Sink) -> None:
        for path in place.paths:
            sink.note(cwd=path)
        for message in log.records(Message, sink):
            if message.role is None:
                sink.unparsed()
                continue
            time = times.milliseconds(message.ts)
            blocks = message.content or []
            results = [block for block in blocks if block.type == "tool_result"]
            if results:
                sink.note(time)
                for block in results:
                    ended = outcome(block.content, rejected=block.is_error is True)
                    sink.result(block.tool_use_id, ended.status, ended.text, ended.exit_code)
                continue
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


def _messages(document: Any) -> list[Any]:
    messages = document.get("messages") if isinstance(document, dict) else None
    return messages if isinstance(messages, list) else []


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
