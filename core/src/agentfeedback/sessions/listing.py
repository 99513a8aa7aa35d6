"""How sessions and stores are shown by `list` and `status`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from agentfeedback.foundation import times
from agentfeedback.reading.reader import Report
from agentfeedback.sessions.cursor import Spot, spot, written
from agentfeedback.sessions.examiner import ExaminedSession
from agentfeedback.wire import records

if TYPE_CHECKING:
    from agentfeedback.scrub import Scrubber
    from agentfeedback.sessions.find import FoundStore


@frozen
class Page:
    """At most `limit` sessions, of those before a place where one is given."""

    limit: int
    before: Spot | None = None


#: Rows without a file come first.
_NO_TIME = -(1 << 63)


def listing_of(
    stores: Sequence[FoundStore],
    seen: Iterable[ExaminedSession],
    absent: Iterable[records.Listed],
    scrubber: Callable[[], Scrubber],
    *,
    unprocessed: bool,
    page: Page | None = None,
) -> records.Listing:
    """Everything that was found and everything that is remembered without a file, oldest last entry first.

    A `page` is the newest of them, or those before its place; where that is all, nothing says that it is one.
    """
    digested = {store.harness for store in stores if store.reader.digests}
    shown = [
        (each.when, each.ref, listed(each, counts=each.session.harness in digested))
        for each in seen
    ]
    shown += [(_NO_TIME, item.ref, item) for item in absent]
    if unprocessed:  # what is never digested waits for nothing
        shown = [
            item
            for item in shown
            if item[2].state in ("new", "changed") and item[2].harness in digested
        ]
    shown.sort(key=lambda item: item[:2])
    total = len(shown)
    more = False
    if page is not None:
        if page.before is not None:
            shown = [item for item in shown if spot(item[0], item[1]) < page.before]
        more = len(shown) > page.limit
        shown = shown[-page.limit :]
    items = [item[2] for item in shown]
    cursor = written(spot(shown[0][0], shown[0][1])) if more else ""
    _scrub(items, scrubber)
    views = [shown_store(store.report, lambda text: scrubber().text(text)) for store in stores]
    listing = records.Listing(views, items)
    if page is not None and (more or page.before is not None):
        listing.total, listing.next_cursor = total, cursor
    return listing


def status_of(
    stores: Sequence[FoundStore],
    seen: Iterable[ExaminedSession],
    absent: Iterable[records.Listed],
    scrubber: Callable[[], Scrubber],
) -> records.Status:
    """Per harness the store and the number of its sessions in each state."""
    states: dict[str, dict[str, int]] = {store.harness: {} for store in stores}
    named = [(each.session.harness, each.state) for each in seen]
    named += [(item.harness, item.state) for item in absent]
    for harness, state in named:
        states[harness][state] = states[harness].get(state, 0) + 1
    shown = []
    for store in stores:
        view = shown_store(store.report, lambda text: scrubber().text(text))
        shown.append(
            records.HarnessStatus(
                view.harness,
                view.location,
                view.state,
                view.problems,
                dict(sorted(states[store.harness].items())),
                storage_only=not store.reader.digests,
            )
        )
    return records.Status(shown)


def listed(seen: ExaminedSession, *, counts: bool) -> records.Listed:
    """One session as `list` shows it, still to be scrubbed.

    `counts` is false where the reader's format holds too little to count: 0 would be no count.
    """
    session, facts = seen.session, seen.facts
    item = records.Listed(
        ref=session.ref,
        harness=session.harness,
        session_id=session.id,
        path=session.path,
        state=seen.state,
        reason=seen.reason,
    )
    if facts is not None:
        item.cwds = facts.cwds
        item.start = times.list_form(facts.first) if facts.first is not None else ""
        item.end = times.list_form(facts.last) if facts.last is not None else ""
        item.counts = facts.counts if counts else None
    return item


def _scrub(items: Sequence[records.Listed], scrubber: Callable[[], Scrubber]) -> None:
    """Scrub what is shown of sessions, all in one pass; what names one (ref, id) stays as it is."""
    if not items:  # a run with nothing to show need not make the scrubber ready
        return
    shown: Any = scrubber().tree([[item.path, item.reason, item.cwds] for item in items])
    for item, (path, reason, cwds) in zip(items, shown, strict=True):
        item.path, item.reason, item.cwds = path, reason, cwds
        item.project = cwds[0] if cwds else ""


def shown_store(report: Report, text: Callable[[str], str]) -> records.Store:
    """A store as `list` shows it, its problems as `<path>: <reason>`; its location is shown as it is."""
    problems = [text(f"{path}: {reason}") for path, reason, _ in report.problems]
    return records.Store(report.harness, report.location, report.state, problems)
