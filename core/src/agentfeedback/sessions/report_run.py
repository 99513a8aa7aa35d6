"""One report: what each session of a period gives, from the cache or its log, then the texts of what is shown.

Unchanged sessions are not opened but for what is shown of them; the policy is asked for each of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, fields

from agentfeedback.foundation import local_time, times
from agentfeedback.reading.load import SessionRefused
from agentfeedback.report.counting import (
    Counted,
    Period,
    ReportedSession,
    counted,
    problems_by_day,
)
from agentfeedback.report.grouping import Group, Occurrence, Selected, listed, selected
from agentfeedback.report.timeline import ReportTimeline, Texts
from agentfeedback.sessions.digest_run import NOTICE
from agentfeedback.sessions.events_cache import EventsCache, folder_of
from agentfeedback.wire.report import Report

if TYPE_CHECKING:
    from agentfeedback.digest.build import Digester
    from agentfeedback.reading.load import LogFacts
    from agentfeedback.reading.reader import Reader, Session
    from agentfeedback.report.facts import SessionEvents
    from agentfeedback.report.page import Behind, PageData
    from agentfeedback.scrub import Scrubber
    from agentfeedback.sessions.examiner import Examiner
    from agentfeedback.sessions.find import FoundStore

#: How many items of a list are shown where nothing else was asked for, and at most.
LIMIT, MOST = 10, 100
STORAGE_ONLY = "storage-only"
_READ = ("new", "changed", "processed")


@define(eq=False)
class _Origin:
    reader: Reader
    session: Session


class ReportRunner:
    """Makes one report. `cache` is the program's cache directory, None to go without; `now` the clock in nanoseconds."""

    def __init__(
        self,
        examiner: Examiner,
        digester: Digester,
        scrubber: Scrubber,
        *,
        cache: str | None,
        now: Callable[[], int],
        allow_unknown: bool = False,
    ) -> None:
        self._examiner = examiner
        self._digester = digester
        self._scrubber = scrubber
        self._now = now
        self._allow_unknown = allow_unknown
        self._cached = cache is not None
        self._folder, self._key = folder_of(cache) if cache is not None else ("", b"")
        self._origins: dict[str, _Origin] = {}
        self.skipped: dict[str, int] = {}

    # -- what each session gives ---------------------------------------------------------------

    def gather(
        self,
        stores: Sequence[FoundStore],
        since: int,
        within: Callable[[Sequence[str]], bool],
        step: Callable[[], None],
    ) -> list[ReportedSession]:
        """The sessions with their last entry at or after `since` that record a directory for which `within` is true."""
        found = []
        for store in stores:
            recent = [each for each in store.sessions if each.mtime >= since]
            if not store.reader.digests:
                self._skip(STORAGE_ONLY, len(recent))
                continue
            cache = None
            if self._cached and recent:
                location = store.report.location
                cache = EventsCache(self._folder, store.harness, location, self._key, self._now)
            for session in recent:
                step()
                given = self._given(store.reader, session, cache)
                if given is None:
                    continue
                facts, events = given
                end = session.mtime if facts.last is None else facts.last
                if end < since or not within(facts.cwds):
                    continue
                ref = self._scrubber.text(session.ref)
                self._origins[ref] = _Origin(store.reader, session)
                project = self._scrubber.text(facts.cwds[0]) if facts.cwds else ""
                found.append(ReportedSession(ref, store.harness, project, end, events))
            if cache is not None:
                cache.save()
        return found

    def _given(
        self, reader: Reader, session: Session, cache: EventsCache | None
    ) -> tuple[LogFacts, SessionEvents] | None:
        kept = cache.find(reader, session) if cache is not None else None
        if kept is not None:
            facts, events, declared, by_log = kept
            try:
                place = self._examiner.admit(reader, session, declared if by_log else None)
            except SessionRefused as refused:
                self._skip(self._examiner.refused(session, refused).state)
                return None
            if place.paths == declared.paths:
                state = self._examiner.judge(session, None, facts).state
                return (facts, events) if self._counts(state) else None
        timeline = self._timeline(reader)
        try:
            read = self._examiner.read(
                reader, session, timeline, allow_unknown=True
            )  # what is unknown is kept as well, so that it need not be read each time
        except SessionRefused as refused:
            self._skip(refused.state)
            return None
        events = timeline.facts()
        if cache is not None:
            cache.keep(reader, session, read.place, read.facts, events)
        return (read.facts, events) if self._counts(read.state) else None

    def _counts(self, state: str) -> bool:
        if state in _READ or (state == "unknown-project" and self._allow_unknown):
            return True
        self._skip(state)
        return False

    def _skip(self, state: str, number: int = 1) -> None:
        if number:
            self.skipped[state] = self.skipped.get(state, 0) + number

    def _timeline(self, reader: Reader) -> ReportTimeline:
        return ReportTimeline(
            self._scrubber, self._digester.mark, self._key, rewrites=reader.rewrites
        )

    # -- the report ----------------------------------------------------------------------------

    def report(
        self,
        sessions: Sequence[ReportedSession],
        since: int,
        until: int,
        limit: int,
        order: Sequence[str],
    ) -> Report:
        """The report over what was gathered, with at most `limit` items in each list; `order` is that of agents."""
        return self._report(sessions, since, until, limit, order)[0]

    def page(
        self,
        sessions: Sequence[ReportedSession],
        since: int,
        until: int,
        limit: int,
        order: Sequence[str],
    ) -> PageData:
        """The report with what a page shows beside it."""
        from agentfeedback.report.page import PageData

        report, found = self._report(sessions, since, until, limit, order)
        grid = problems_by_day(sessions, Period(since, until, local_time.day_of))
        behind = [self._behind(group) for group in found.failures]
        return PageData(report, grid, behind)

    def _behind(self, group: Group) -> list[Behind]:
        from agentfeedback.report.page import BEHIND, Behind

        text = self._scrubber.text
        return [
            Behind(times.list_form(each.at), each.session.project, text(each.ref))
            for each in group.found[:BEHIND]
        ]

    def _report(
        self,
        sessions: Sequence[ReportedSession],
        since: int,
        until: int,
        limit: int,
        order: Sequence[str],
    ) -> tuple[Report, Selected]:
        period = Period(since, until, local_time.day_of)
        numbers = self.numbers(sessions, since, until, order)
        report = Report(
            NOTICE,
            times.list_form(since),
            times.list_form(until),
            local_time.offset(until),
            numbers.totals,
            numbers.harnesses,
            numbers.projects,
            numbers.days,
            skipped=dict(sorted(self.skipped.items())),
        )
        found = selected(sessions, period, limit)
        texts = self._texts(list(found.shown()))
        listed(report, found, texts.get, {name: place for place, name in enumerate(order)})
        _scrub(report, self._scrubber.text)
        return report, found

    def numbers(
        self, sessions: Sequence[ReportedSession], since: int, until: int, order: Sequence[str]
    ) -> Counted:
        """The counts alone; no text is read."""
        return counted(sessions, Period(since, until, local_time.day_of), order)

    def _texts(self, shown: Sequence[Occurrence]) -> Mapping[Occurrence, Texts]:
        """What is shown of events, read again: each session once."""
        wanted: dict[str, list[Occurrence]] = {}
        for each in shown:
            wanted.setdefault(each.session.ref, []).append(each)
        found: dict[Occurrence, Texts] = {}
        for ref, events in wanted.items():
            origin = self._origins[ref]
            timeline = self._timeline(origin.reader)
            try:
                self._examiner.read(
                    origin.reader, origin.session, timeline, allow_unknown=self._allow_unknown
                )
            except SessionRefused:
                continue  # refused or changed meanwhile: its numbers are known, its texts are not shown
            told = list(timeline.events())
            found.update((each, texts) for each in events for texts in _matching(each, told))
        return found


def ran_within(path: str) -> Callable[[Sequence[str]], bool]:
    """Whether a session recorded a directory at or within a path, as written or resolved; true without a path."""
    if not path:
        return lambda directories: True
    import os

    from agentfeedback.policy.rules import FOLDS_CASE, cleaned, folded, within

    fold = folded if FOLDS_CASE else str

    def forms(each: str) -> set[str]:
        return {fold(cleaned(each)), fold(cleaned(os.path.realpath(each)))}

    wanted = forms(os.path.abspath(path))

    def answer(directories: Sequence[str]) -> bool:
        recorded = {form for each in directories for form in forms(each)}
        return any(within(each, entry) for each in recorded for entry in wanted)

    return answer


def _matching(shown: Occurrence, told: Sequence[tuple[Any, Texts]]) -> Iterator[Texts]:
    """The texts of the event itself; a log that grew may have moved it, but it has its span, kind and group still."""
    wanted = _identity(shown.event)
    places = [shown.number] if shown.number < len(told) else []
    for number in (*places, *range(len(told))):
        event, texts = told[number]
        if _identity(event) == wanted:
            yield texts
            return


def _identity(event: Any) -> tuple[str, str, str, str]:
    return event.kind, event.span, event.tool, event.group


def _scrub(report: Report, text: Callable[[str], str]) -> None:
    lists = (
        report.projects,
        report.failures,
        report.denials,
        report.interrupts,
        report.complaints,
        report.retries,
        report.troubles,
    )
    for item in (each for one in lists for each in one):
        for member in fields(type(item)):
            value = getattr(item, member.name)
            if isinstance(value, str):
                setattr(item, member.name, text(value))
            elif isinstance(value, list):
                setattr(item, member.name, [text(each) for each in value])
