"""The reader of Cline CLI's sessions (`README.md` says where each rule comes from)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agentfeedback.reading import Place, Reader, declared_paths, small_file

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Session, Sink

#: Most bytes of `<session id>.json` that are read to learn where a session ran.
_STATE_BYTES = 1 << 20
_END = ".messages.json"


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
        from agentfeedback.reading import decoder
        from agentfeedback_cline.lines import State

        known = decoder(State)(state) if state is not None else None
        if known is None or known.cwd is None:
            return Place(failed=True)
        return Place(paths=declared_paths(known.cwd))

    def open(self, session: Session) -> Log:
        from agentfeedback.reading import DocumentLog

        return DocumentLog(session.path, _messages)

    def known(self) -> Known:
        from agentfeedback_cline.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, sink: Sink) -> None:
        from agentfeedback_cline.conversation import report_message
        from agentfeedback_cline.lines import Message

        for path in place.paths:
            sink.note(cwd=path)
        for message in log.records(Message, sink):
            report_message(message, sink)


def _messages(document: Any) -> list[Any]:
    messages = document.get("messages") if isinstance(document, dict) else None
    return messages if isinstance(messages, list) else []
