"""Where logs are: one folder for each project below `tmp`, its logs in `chats`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from agentfeedback.reading import Report, Session, reason_of, valid_id

PROJECT_ROOT = ".project_root"

_LEGACY = "legacy single-document session file"
#: How the format of a log is unsupported, by what its name ends in.
_UNSUPPORTED = {".jsonl": "", ".json": _LEGACY}


def sessions(gemini: str, report: Report) -> Iterable[Session]:
    """The sessions below a Gemini CLI directory, one for each id."""
    store = os.path.join(gemini, "tmp")
    report.store(store)
    found: dict[str, list[Session]] = {}
    for project in report.directories(store, root=True):
        chats = os.path.join(project.path, "chats")
        if not _is_readable(chats, os.path.join(project.path, PROJECT_ROOT), report):
            continue
        for session in _in(chats, report):
            found.setdefault(session.id, []).append(session)
    return [_listed(copies, report) for copies in found.values()]


def _in(chats: str, report: Report) -> Iterator[Session]:
    for file in report.files(chats):
        id, extension = os.path.splitext(file.name)
        if not id.startswith("session-") or extension not in _UNSUPPORTED:
            continue
        if not valid_id(id):
            report.problem(file.path, "the file name is not a valid session id")
        elif session := report.session(file, id, unsupported=_UNSUPPORTED[extension]):
            yield session


def _is_readable(chats: str, project_root: str, report: Report) -> bool:
    """Whether `chats` is a directory and what names its working directory is missing or can be read.

    By names and `stat` alone: a policy may forbid that even `.project_root` is opened.
    """
    try:
        if not stat.S_ISDIR(os.lstat(chats).st_mode):
            return False
    except FileNotFoundError:
        return False
    except OSError as error:
        report.problem(chats, reason_of(error), directory=True)
        return False
    reason = ""
    try:
        regular = stat.S_ISREG(os.stat(project_root).st_mode)
        if regular and not os.access(project_root, os.R_OK):
            reason = "permission denied"
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        reason = reason_of(error)
    if reason:
        report.problem(chats, f"{PROJECT_ROOT}: {reason}", directory=True)
    return not reason


def _listed(copies: list[Session], report: Report) -> Session:
    """Of the files of one session a readable one, then the one written last; the others are named."""
    copies.sort(key=_precedence)
    *others, listed = copies
    for other in others:
        report.problem(
            other.path, f"session {listed.id} is also in {listed.path}; listed from there"
        )
    return listed


def _precedence(session: Session) -> tuple[bool, int, bytes]:
    return not session.unsupported, session.mtime, os.fsencode(session.path)
