"""What is said of sessions that were named or are remembered, and were not found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agentfeedback.wire import records

if TYPE_CHECKING:
    from agentfeedback.policy.rules import Verdict
    from agentfeedback.reading.reader import Report
    from agentfeedback.reading.refs import Ref
    from agentfeedback.sessions.find import FoundStore
    from agentfeedback.state.watermark import SessionRow

#: The states of a store whose sessions are not listed.
_NOT_LISTED = ("unreadable", "unsupported-format")


def without_file(
    stores: Sequence[FoundStore], rows: Mapping[tuple[str, str], SessionRow]
) -> Iterator[records.Listed]:
    """The rows whose session was not found (gone, or hidden by a problem of the store), still to be scrubbed."""
    for store in stores:
        found = {session.id for session in store.sessions}
        for (harness, id), row in rows.items():
            if harness == store.harness and id not in found:
                hidden = _hidden_by(store.report, row)
                state: records.State = "absent" if hidden is None else "unreadable"
                if hidden is not None and store.refusal is not None:
                    state, hidden = store.refusal.state, store.refusal.reason
                yield records.Listed(
                    f"{harness}:{id}",
                    harness,
                    id,
                    row.path,
                    state=state,
                    reason=hidden or "",
                )


def missing(
    ref: Ref, store: FoundStore | None, row: SessionRow | None
) -> tuple[records.State, str]:
    """State and message of a digest's error for a session that its store does not list."""
    state, reason = state_without_file(store, row)
    if store is None or store.report.state in _NOT_LISTED or _refused_unseen(store) is not None:
        shown = f" ({reason})" if reason else ""
        return state, f"{ref}: session is {state}{shown}"
    return state, reason


def state_without_file(
    store: FoundStore | None, row: SessionRow | None
) -> tuple[records.State, str]:
    """State and reason of a session that a ref names and its store does not list.

    `store` is None where the reader of its harness does not work.
    """
    if store is None:
        return "unreadable", "its reader failed"
    report = store.report
    if (refusal := _refused_unseen(store)) is not None:
        return refusal.state, refusal.reason
    if report.state == "unreadable" or report.state == "unsupported-format":
        return report.state, report.reason
    if row is None:
        return "absent", "no session file carries this session id"
    if (problem := _problem_of(report, row)) is not None:
        path, reason, _ = problem
        if path == row.path:
            return "unreadable", reason
        return "unreadable", f"sessions in {path} could not be listed: {reason}"
    return "absent", "the session file is gone"


def _refused_unseen(store: FoundStore) -> Verdict | None:
    """The policy's refusal of every session, where a session may be in what it forbids to open."""
    return store.refusal if store.report.problems else None


def _hidden_by(report: Report, row: SessionRow) -> str | None:
    """Why a row's session could not be listed, or None when its file is simply gone."""
    if report.state in _NOT_LISTED:
        return report.reason or report.state
    problem = _problem_of(report, row)
    return None if problem is None else problem[1]


def _problem_of(report: Report, row: SessionRow) -> tuple[str, str, bool] | None:
    """The problem of the store (path, reason, whether of a directory) at or above a row's file."""
    for problem in report.problems:
        path, _, is_directory = problem
        if path == row.path or (is_directory and row.path.startswith(path.rstrip("/") + "/")):
            return problem
    return None
