"""The reader of pi's session files (`README.md` names the source of each rule)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agentfeedback.reading import Place, Reader, declared_paths

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Session, Sink

#: Most bytes of a header that is looked at before the policy is asked, and how many are read at a time.
_HEADER_BYTES = 1 << 20
_BLOCK_BYTES = 512
_END = ".jsonl"


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
        from agentfeedback.reading import UnreadableLog, decoder, first_line

        from .lines import Line

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
        from .entries import report_entry
        from .lines import Line

        for line in log.records(Line, sink):
            if line.type is None:
                sink.unparsed()
            elif line.type == "session":
                sink.note(line.timestamp, line.cwd)
                if line.parent_session:
                    sink.about(parent=_id(os.path.basename(line.parent_session)))
            else:
                report_entry(line, sink)


def _files(folder: str, report: Report, seen: set[str], *, root: bool = False) -> Iterator[Session]:
    for file in report.files(folder, root=root):
        if file.name.endswith(_END):
            session = report.session(file, _id(file.name))
            if session is None:
                continue
            if session.id in seen:
                report.problem(file.path, "another file holds the session of this id")
                continue
            seen.add(session.id)
            yield session


def _id(name: str) -> str:
    stem = name.removesuffix(_END)
    return stem.partition("_")[2] or stem
