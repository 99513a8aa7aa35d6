"""The reader `cursor-agent-transcript`: sessions by the hooks' index, complete lines, nothing of what they say.

Storage only: a transcript holds no times, no results and no call ids, and Cursor writes it again
after each step, so there is nothing to digest and nothing to mark.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from attrs import frozen

from agentfeedback.plugins import cache_directory, session_cache
from agentfeedback.reading import Home, Place, Reader, Report, Session, reason_of
from agentfeedback_cursor.hooks import HARNESS, is_transcript, valid_directory, valid_id

if TYPE_CHECKING:
    from agentfeedback.reading import Known, Log, Sink


@frozen(eq=False)
class Pointer:
    """Where the hooks say a session ran: all workspace roots, then the directories reported.

    `known` is false when the policy cannot be asked about all of them.
    """

    directories: tuple[str, ...]
    known: bool


class Cursor(Reader):
    harness = HARNESS
    format = "cursor-agent-transcript"
    digests = False

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        directory = session_cache.session_folder(
            cache_directory(home.environ, home.path), self.harness
        )
        report.store(directory)
        now = time.time()
        for entry in report.files(directory, root=True):
            if entry.name.endswith(session_cache.SUFFIX):
                yield from self._indexed(entry, home, report, now)

    def place(self, session: Session, *, strict: bool) -> Place:
        pointer: Pointer = session.detail
        return Place(paths=pointer.directories, unknown=not pointer.known)

    def open(self, session: Session) -> Log:
        from agentfeedback_cursor.transcript import Transcript

        return Transcript(session.path)

    def known(self) -> Known:
        from agentfeedback_cursor.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_cursor.transcript import Line, Transcript

        for directory in place.paths:
            timeline.note(cwd=directory)
        if isinstance(log, Transcript):
            timeline.note(time=log.modified)
        for _ in log.records(Line, timeline):
            timeline.entry()

    def _indexed(
        self, entry: os.DirEntry[str], home: Home, report: Report, now: float
    ) -> Iterator[Session]:
        """The session of one file of the index; None for an old file, or one without a transcript."""
        try:
            if session_cache.expired(entry.stat(follow_symlinks=False).st_mtime, now):
                return
        except OSError as error:
            report.problem(entry.path, reason_of(error))
            return
        kept = session_cache.read(entry.path)
        if kept is None:
            report.problem(entry.path, "not a valid file of the session counters")
            return
        id, path = kept.get("conversation_id"), kept.get("transcript_path")
        if not isinstance(path, str):  # a hook may tell no path
            return
        if not isinstance(id, str) or not valid_id(id) or not is_transcript(path, id, home.path):
            report.problem(entry.path, "names no transcript of its session beneath the home")
            return
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            report.problem(path, reason_of(error))
            return
        # No inode, so that nothing of a read is kept: what is shown hangs on the index and on the
        # folders above the transcript as well, and those change while the transcript stays as it is.
        yield Session(
            harness=self.harness,
            id=id,
            path=path,
            mtime=found.st_mtime_ns,
            size=found.st_size,
            ctime=found.st_ctime_ns,
            detail=_pointer(kept),
        )


def _pointer(kept: dict[str, Any]) -> Pointer:
    roots, cwds = _texts(kept.get("workspace_roots")), _texts(kept.get("cwds"))
    valid = bool(roots) and all(map(valid_directory, roots))
    directories = dict.fromkeys(path for path in (*roots, *cwds) if valid_directory(path))
    return Pointer(tuple(directories), valid and not kept.get("incomplete"))


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, str) else "" for item in value]
