"""Claude Code: transcripts of JSON lines below `projects`, one directory per working directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.reading import Home, Place, Reader, Report, Session
from agentfeedback_claude_code.folder import encodings

if TYPE_CHECKING:
    from agentfeedback.reading import Known, Log, Sink

_SUFFIX = ".jsonl"
#: How the files of sub-agents are named, which some versions keep beside the sessions (2.0.2 to 2.1.1).
_OF_AN_AGENT = "agent-"


class ClaudeCode(Reader):
    """Reads the transcripts of Claude Code."""

    harness = "claude-code"
    format = "claude-code-jsonl"
    revision = 2

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        store = os.path.join(home.directory("CLAUDE_CONFIG_DIR", ".claude"), "projects")
        report.store(store)
        copies: dict[str, list[Session]] = {}
        for directory in report.directories(store, root=True):
            for file in report.files(directory.path):
                if not file.name.endswith(_SUFFIX):
                    continue
                id = file.name.removesuffix(_SUFFIX)
                if id.startswith(_OF_AN_AGENT):
                    continue
                if not _names_a_session(id):
                    report.problem(file.path, "the file name holds no valid session id")
                elif (session := report.session(file, id)) is not None:
                    copies.setdefault(id, []).append(session)
        return [_last_written(each, report) for each in copies.values()]

    def place(self, session: Session, *, strict: bool) -> Place:
        directory = os.path.basename(os.path.dirname(session.path))
        return Place(encoded=directory, encodings=encodings)

    def known(self) -> Known:
        from agentfeedback_claude_code.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_claude_code.lines import Line
        from agentfeedback_claude_code.transcript import Transcript

        transcript = Transcript(timeline)
        for line in log.records(Line, timeline):
            transcript.tell(line)


def _names_a_session(id: str) -> bool:
    return id not in ("", ".", "..") and not any(character in id for character in "/\\#")


def _last_written(copies: list[Session], report: Report) -> Session:
    """Of the files of one session the one written last; the others are named."""
    copies.sort(key=lambda session: (session.mtime, os.fsencode(session.path)))
    *others, last = copies
    for other in others:
        report.problem(other.path, f"session {last.id} is listed from {last.path}, written later")
    return last
