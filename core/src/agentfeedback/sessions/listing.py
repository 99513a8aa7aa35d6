"""How sessions and stores are shown in a listing (details 4.1). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentfeedback.foundation import times as moment
from agentfeedback.reading.reader import Report
from agentfeedback.sessions.examiner import ExaminedSession
from agentfeedback.state.watermark import SessionRow
from agentfeedback.wire import records as wire

if TYPE_CHECKING:
    from agentfeedback.sessions.find import FoundStore


def listed(seen: ExaminedSession, *, counts: bool = True) -> wire.Listed:
    """One session as `list` shows it, still to be scrubbed.

    `counts` is false where the reader's format holds too little to count: 0 would be no count.
    """
    session, facts = seen.session, seen.facts
    item = wire.Listed(
        ref=session.ref,
        harness=session.harness,
        session_id=session.id,
        path=session.path,
        state=seen.state,
        reason=seen.reason,
    )
    if facts is not None:
        item.cwds = facts.cwds
        item.start = moment.list_form(facts.first) if facts.first is not None else ""
        item.end = moment.list_form(facts.last) if facts.last is not None else ""
        item.counts = facts.counts if counts else None
    return item


def scrubbed(items: Sequence[wire.Listed], tree: Callable[[Any], Any]) -> None:
    """Scrub what is shown of sessions, all in one pass of `tree`; what names one (ref, id) stays as it is."""
    if not items:  # a run with nothing to show need not make the scrubber ready
        return
    shown = tree([[item.path, item.reason, item.cwds] for item in items])
    for item, (path, reason, cwds) in zip(items, shown, strict=True):
        item.path, item.reason, item.cwds = path, reason, cwds
        item.project = cwds[0] if cwds else ""


def shown_store(report: Report, text: Callable[[str], str]) -> wire.Store:
    """A store as `list` shows it, its problems as `<path>: <reason>`; its location is shown as it is."""
    problems = [text(f"{path}: {reason}") for path, reason, _ in report.problems]
    return wire.Store(report.harness, report.location, report.state, problems)


def without_file(
    stores: Sequence[FoundStore], rows: Mapping[tuple[str, str], SessionRow]
) -> Iterator[wire.Listed]:
    """The rows whose session was not found (gone, or hidden by a problem of the store), still to be scrubbed."""
    for store in stores:
        found = {session.id for session in store.sessions}
        for (harness, id), row in rows.items():
            if harness == store.harness and id not in found:
                hidden = hidden_by(store.report, row)
                state: wire.State = "absent" if hidden is None else "unreadable"
                yield wire.Listed(
                    f"{harness}:{id}",
                    harness,
                    id,
                    row.path,
                    state=state,
                    reason=hidden or "",
                )


def hidden_by(report: Report, row: SessionRow) -> str | None:
    """Why a row's session could not be listed, or None when its file is simply gone."""
    if report.state in ("unreadable", "unsupported-format"):
        return report.reason or report.state
    problem = problem_of(report, row)
    return None if problem is None else problem[1]


def problem_of(report: Report, row: SessionRow) -> tuple[str, str, bool] | None:
    """The problem of the store (path, reason, whether of a directory) that lies at or above a row's file."""
    for problem in report.problems:
        path, _, is_directory = problem
        if path == row.path or (is_directory and row.path.startswith(path.rstrip("/") + "/")):
            return problem
    return None
