"""The numbers of a report: over all, per agent, project and day. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING

from attrs import define

from agentfeedback.report.facts import SLOT, SessionEvents
from agentfeedback.wire.report import OfDay, OfHarness, OfProject, Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback.report.facts import Event

#: How many projects are named.
_PROJECTS = 20
#: In a longer period only the days with a session are named.
_ALL_DAYS = 31
#: Which number an event adds to.
_COUNTED = {
    "error": "tool_errors",
    "denied": "denials",
    "interrupted": "interrupts",
    "interrupt": "interrupts",
    "complaint": "complaints",
    "retry": "retries",
}
#: The local day of a time in nanoseconds since the epoch, as an ordinal.
Day = Callable[[int], int]


@define(eq=False)
class ReportedSession:
    """A session of the period: where it ran, when it ended (nanoseconds since the epoch) and what it gives."""

    ref: str
    harness: str
    project: str
    end: int
    events: SessionEvents


@define(eq=False)
class Counted:
    """The numbers of a report, each list in the order it is shown in."""

    totals: Totals
    harnesses: list[OfHarness]
    projects: list[OfProject]
    days: list[OfDay]


class Period:
    """From `since` to `until`, both in nanoseconds since the epoch, in days of the machine's time zone."""

    def __init__(self, since: int, until: int, day: Day) -> None:
        self.since = since
        self.until = until
        self.day = day

    def within(self, session: ReportedSession) -> Iterator[tuple[Event, int]]:
        """The events of a session in the period, each with its time; one without a time counts at the session's end."""
        for event in session.events.events:
            at = session.end if event.at is None else event.at
            if at >= self.since:
                yield event, at

    def times(self, session: ReportedSession, times: Iterable[int | None]) -> Iterator[int]:
        """Those of a session's times that are in the period."""
        for time in times:
            at = session.end if time is None else time
            if at >= self.since:
                yield at

    def days(self, sessions: Sequence[ReportedSession]) -> list[int]:
        """The days to name, newest first: all of them, or in a long period those with a session."""
        last, first = self.day(self.until), self.day(self.since)
        if last - first < _ALL_DAYS:
            return list(range(last, first - 1, -1))
        return sorted({day for each in sessions for day in self.active(each)}, reverse=True)

    def active(self, session: ReportedSession) -> set[int]:
        """The days of the period on which a session has an entry."""
        times = [slot * SLOT for slot in session.events.slots] or [session.end]
        # A slot may begin before the period that its entry is in.
        return {self.day(max(at, self.since)) for at in times if at + SLOT > self.since}


def counted(
    sessions: Sequence[ReportedSession], period: Period, harnesses: Sequence[str]
) -> Counted:
    """The numbers of these sessions; `harnesses` is the order in which agents are named."""
    totals = Totals()
    by_harness = {name: OfHarness(harness=name) for name in harnesses}
    by_project: dict[str, OfProject] = {}
    named = period.days(sessions)
    by_day = {day: OfDay(day=date.fromordinal(day).isoformat()) for day in named}
    for session in sessions:
        project = by_project.setdefault(session.project, OfProject(project=session.project))
        whole: list[Totals] = [totals, by_harness[session.harness], project]
        _count(session, period, whole, by_day)
    projects = sorted(by_project.values(), key=lambda each: (-each.problems, each.project))
    return Counted(
        totals,
        [each for each in by_harness.values() if each.sessions],
        projects[:_PROJECTS],
        list(by_day.values()),
    )


def _count(
    session: ReportedSession, period: Period, whole: Sequence[Totals], by_day: dict[int, OfDay]
) -> None:
    active = period.active(session)
    troubled: set[int] = set()

    def add(name: str, at: int) -> int:
        day = period.day(at)
        for each in whole:
            setattr(each, name, getattr(each, name) + 1)
        if (of_day := by_day.get(day)) is not None:
            setattr(of_day, name, getattr(of_day, name) + 1)
        return day

    for name, times in (("prompts", session.events.prompts), ("tool_calls", session.events.calls)):
        for at in period.times(session, times):
            add(name, at)
    for event, at in period.within(session):
        if (name := _COUNTED.get(event.kind, "")) == "":
            continue
        day = add(name, at)
        if is_problem(event):
            troubled.add(day)
    for each in whole:
        each.sessions += 1
        each.with_problems += bool(troubled)
    for day in active | troubled:
        if day in by_day:
            by_day[day].sessions += 1
            by_day[day].with_problems += day in troubled


def problems_by_day(
    sessions: Sequence[ReportedSession], period: Period
) -> dict[tuple[str, str], int]:
    """How many problems there were on each day (`YYYY-MM-DD`) in each agent, where there were any."""
    found: dict[tuple[str, str], int] = {}
    for session in sessions:
        for event, at in period.within(session):
            if event.kind not in ("retry", "trouble"):
                key = date.fromordinal(period.day(at)).isoformat(), session.harness
                found[key] = found.get(key, 0) + 1
    return found


def is_problem(event: Event) -> bool:
    """Whether an event makes its session one with problems."""
    if event.kind in ("retry", "trouble"):
        return False
    return not (event.kind == "error" and event.own)
