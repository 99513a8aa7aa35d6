"""The reader of Aider's chat histories (`README.md` says where each rule comes from)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agentfeedback.reading import Place, Reader, Session, reason_of

if TYPE_CHECKING:
    from agentfeedback.reading import Home, Known, Log, Report, Sink
    from agentfeedback_aider.history import Part

HISTORY = ".aider.chat.history.md"
#: Folders to look in, besides those below the home; separated as in PATH.
_ROOTS = "AGENTFEEDBACK_AIDER_PROJECTS"
#: Folders below the home that are looked in: `~/shop` and `~/src/shop`.
_DEPTH = 2
#: The most folders that are looked in.
_MOST = 20_000
_NOT_IN_A_REF = re.compile(r"[\\#\0]")


class Aider(Reader):
    """Reads `.aider.chat.history.md` in the folders of projects, of which each holds many sessions."""

    harness = "aider"
    format = "aider-chat-history"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        report.store(home.path)
        seen: dict[str, str] = {}
        found = False
        for folder in _folders(home, report):
            path = os.path.join(folder, HISTORY)
            try:
                status = os.lstat(path)
            except (OSError, ValueError):
                continue
            found = True
            if home.closed:
                report.left_closed(path)
            elif not home.may_open(folder):
                report.left_closed(path, "its folder")
            else:
                yield from _sessions(path, status, report, seen)
        if not found and report.state == "present":
            report.store(home.path, "absent", "no project with a chat history")

    def place(self, session: Session, *, strict: bool) -> Place:
        return Place(paths=(os.path.dirname(session.path),))

    def open(self, session: Session) -> Log:
        from agentfeedback.reading import TextLog

        part: Part = session.detail
        listed = (session.device, session.inode)
        return TextLog(
            session.path, start=part.start, end=part.end, line=part.line, expected=listed
        )

    def known(self) -> Known | None:
        return None  # lines of text have no members

    def read(self, log: Log, place: Place, sink: Sink) -> None:
        from agentfeedback.reading import TextLine
        from agentfeedback_aider.chat import Chat

        for path in place.paths:
            sink.note(cwd=path)
        chat = Chat(sink)
        for row in log.records(TextLine, sink):
            if row.line is None or row.text is None:
                sink.unparsed()
            else:
                chat.line(row.line, row.text)


def _folders(home: Home, report: Report) -> Iterator[str]:
    """The folders that may be a project's, in byte order at each depth; hidden ones and links are not."""
    given = [path for path in home.environ.get(_ROOTS, "").split(os.pathsep) if os.path.isabs(path)]
    level = [home.path, *given]
    left = _MOST
    for depth in range(_DEPTH + 1):
        below: list[str] = []
        for folder in level:
            yield folder
            left -= 1
            if left <= 0:
                report.problem(folder, f"more than {_MOST} folders; name projects in {_ROOTS}")
                return
            if depth < _DEPTH:
                below += _within(folder)
        level = below


def _within(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.path for entry in entries if _may_be_a_project(entry)]
    except (OSError, ValueError):
        return []  # a folder of the home that cannot be listed is not a store of ours
    return sorted(names)


def _may_be_a_project(entry: os.DirEntry[str]) -> bool:
    try:
        entry.name.encode()
        return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
    except (OSError, UnicodeEncodeError):
        return False


def _sessions(
    path: str, status: os.stat_result, report: Report, seen: dict[str, str]
) -> Iterator[Session]:
    from agentfeedback.reading import UnreadableLog
    from agentfeedback_aider.history import parts

    try:
        found = parts(path)
    except UnreadableLog as error:
        report.problem(path, error.reason)
        return
    except OSError as error:
        report.problem(path, reason_of(error))
        return
    project = _NOT_IN_A_REF.sub("_", os.path.basename(os.path.dirname(path)))
    for part in found:
        id = f"{project} {part.started}"
        if id in seen:
            report.problem(path, f"session {id} is listed from {seen[id]}")
            continue
        seen[id] = path
        yield Session(
            "aider",
            id,
            path,
            status.st_mtime_ns,
            device=status.st_dev,
            inode=status.st_ino,
            ctime=status.st_ctime_ns,
            detail=part,
        )
