"""Where rollouts are: `sessions` at any depth and `archived_sessions`, one session for each id."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from agentfeedback.reading import Report, Session, reason_of, times

_NAME = re.compile(
    r"rollout-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-([0-5]\d)-(.+)\.jsonl(?:\.zst)?", re.ASCII | re.DOTALL
)


def sessions(codex_home: str, report: Report) -> Iterable[Session]:
    """The sessions below a Codex home; the store is absent only when both of its directories are missing."""
    root = os.path.join(codex_home, "sessions")
    archive = os.path.join(codex_home, "archived_sessions")
    report.store(root)
    live = _one_for_each_id(report, _rollouts(report, root))
    if report.state == "unreadable":
        return []
    archived: dict[str, Session] = {}
    if os.path.isdir(archive) and not os.path.islink(archive):
        report.store(root)  # present, whether or not `sessions` is there
        archived = _one_for_each_id(report, report.files(archive))
    for id, session in archived.items():
        if id in live:
            _left_out(report, session, live[id])
        else:
            live[id] = session
    return live.values()


def session_id(name: str) -> str | None:
    """The session id in the name of a rollout, None for any other file."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    date, hour, minute, second, id = match.groups()
    return id if times.parse(f"{date}T{hour}:{minute}:{second}Z") is not None else None


def _rollouts(report: Report, root: str) -> Iterator[os.DirEntry[str]]:
    if os.path.islink(root):
        return
    pending = [root]
    while pending:
        directory = pending.pop()
        below = []
        for entry in report.listing(directory, root=directory == root):
            try:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry
            except OSError as error:
                report.problem(entry.path, reason_of(error))
        pending.extend(reversed(below))


def _one_for_each_id(report: Report, rollouts: Iterable[os.DirEntry[str]]) -> dict[str, Session]:
    """The plain file before a compressed one, then the one written last, then the last path."""
    found: dict[str, list[Session]] = {}
    for entry in rollouts:
        id = session_id(entry.name)
        session = report.session(entry, id) if id is not None else None
        if session is not None:
            found.setdefault(session.id, []).append(session)
    chosen = {}
    for id, candidates in found.items():
        if len(candidates) > 1:
            candidates.sort(key=_precedence)
            for other in candidates[:-1]:
                _left_out(report, other, candidates[-1])
        chosen[id] = candidates[-1]
    return chosen


def _precedence(session: Session) -> tuple[bool, int, bytes]:
    return not session.path.endswith(".zst"), session.mtime, os.fsencode(session.path)


def _left_out(report: Report, session: Session, listed: Session) -> None:
    report.problem(
        session.path, f"session {session.id} is also in {listed.path}; listed from there"
    )
