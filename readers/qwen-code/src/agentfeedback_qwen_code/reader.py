"""The reader of Qwen Code's chats (`README.md` says where each rule comes from)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agentfeedback.reading import Place, Reader, declared_paths

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Session, Sink

#: Most bytes of a first line that are looked at before the policy is asked, and how many are read at a time.
_FIRST_BYTES = 1 << 20
_BLOCK_BYTES = 512
_END = ".jsonl"


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
        from agentfeedback.reading import UnreadableLog, decoder, first_line
        from agentfeedback_qwen_code.lines import Line

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
        from agentfeedback_qwen_code.chat import Chat
        from agentfeedback_qwen_code.lines import Line

        chat = Chat(sink)
        for line in log.records(Line, sink):
            chat.line(line)


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
