"""What a report lists: the groups of failures and what was stopped, from facts first, then with texts of the newest. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from agentfeedback.foundation import times
from agentfeedback.wire.report import AroundCalls, Complaint, Failure, Repeated, Stopped

if TYPE_CHECKING:
    from agentfeedback.report.counting import Period, ReportedSession
    from agentfeedback.report.facts import Event
    from agentfeedback.report.timeline import Texts
    from agentfeedback.wire.report import Report

#: How many refs and projects are named of a group.
_REFS = 3
_PROJECTS = 3


class Occurrence(NamedTuple):
    """An event in its session, at its time or, without one, at the session's end; `number` is its place there."""

    at: int
    session: ReportedSession
    event: Event
    number: int

    @property
    def order(self) -> tuple[int, bytes, int]:
        """Newest first, when sorted from the largest on."""
        return self.at, self.session.ref.encode("utf-8", "replace"), self.number

    @property
    def ref(self) -> str:
        span = self.event.span
        return f"{self.session.ref}#{span}" if span else self.session.ref


@define(eq=False)
class Group:
    """What belongs together, newest first."""

    found: list[Occurrence] = field(factory=list)

    @property
    def newest(self) -> Occurrence:
        return self.found[0]

    @property
    def order(self) -> tuple[int, tuple[int, bytes, int]]:
        """The most frequent first, of equal ones the newest, when sorted from the largest on."""
        return len(self.found), self.newest.order


@define(eq=False)
class Selected:
    """What a report shows, each list in its order; the first occurrence of each item is the one with texts."""

    failures: list[Group]
    denials: list[Group]
    interrupts: list[Group]
    complaints: list[Group]
    retries: list[Group]
    troubles: list[Group]

    def shown(self) -> Iterable[Occurrence]:
        """The occurrences whose texts are shown: one of each item."""
        for groups in self._all():
            for group in groups:
                yield group.newest

    def _all(self) -> tuple[list[Group], ...]:
        return (
            self.failures,
            self.denials,
            self.interrupts,
            self.complaints,
            self.retries,
            self.troubles,
        )


def selected(sessions: Sequence[ReportedSession], period: Period, limit: int) -> Selected:
    """What of these sessions is shown, at most `limit` of each list."""
    groups: dict[str, dict[str, Group]] = {"error": {}, "retry": {}, "trouble": {}}
    single: dict[str, list[Occurrence]] = {"denied": [], "interrupts": [], "complaint": []}
    for session in sessions:
        for number, (event, at) in enumerate(period.within(session)):
            found = Occurrence(at, session, event, number)
            if event.kind in groups:
                if not (event.kind == "error" and event.own):
                    groups[event.kind].setdefault(event.group, Group()).found.append(found)
            else:
                kind = "interrupts" if event.kind in ("interrupt", "interrupted") else event.kind
                single[kind].append(found)
    grouped = {kind: _most(found.values(), limit) for kind, found in groups.items()}
    newest = {kind: _newest(found, limit) for kind, found in single.items()}
    return Selected(
        grouped["error"],
        newest["denied"],
        newest["interrupts"],
        newest["complaint"],
        grouped["retry"],
        grouped["trouble"],
    )


def _most(groups: Iterable[Group], limit: int) -> list[Group]:
    kept = list(groups)
    for group in kept:
        group.found.sort(key=lambda each: each.order, reverse=True)
    return sorted(kept, key=lambda each: each.order, reverse=True)[:limit]


def _newest(found: list[Occurrence], limit: int) -> list[Group]:
    found.sort(key=lambda each: each.order, reverse=True)
    return [Group([each]) for each in found[:limit]]


#: The texts of an occurrence; None where its session cannot be read again.
Read = Callable[[Occurrence], "Texts | None"]


def listed(report: Report, found: Selected, read: Read, order: Mapping[str, int]) -> None:
    """Fill the lists of a report; `order` is the place of each agent. An item that cannot be read again has no texts."""
    for group in found.failures:
        report.failures.append(_failure(group, read(group.newest), order))
    for shown, groups in (
        (report.denials, found.denials),
        (report.interrupts, found.interrupts),
    ):
        shown += [_stopped(group.newest, read(group.newest)) for group in groups]
    report.complaints += [
        _complaint(group.newest, read(group.newest)) for group in found.complaints
    ]
    for group in found.retries:
        texts = read(group.newest)
        command = texts.command if texts is not None else ""
        report.retries.append(
            Repeated(group.newest.event.tool, command, len(group.found), _refs(group))
        )
    for group in found.troubles:
        report.troubles.append(_trouble(group, read(group.newest)))


def _failure(group: Group, texts: Texts | None, order: Mapping[str, int]) -> Failure:
    newest = group.newest
    harnesses = {each.session.harness for each in group.found}
    return Failure(
        tool=newest.event.tool,
        command=texts.command if texts is not None else "",
        error=texts.error if texts is not None else "",
        exit_code=newest.event.exit_code,
        count=len(group.found),
        sessions=len({each.session.ref for each in group.found}),
        harnesses=sorted(harnesses, key=lambda name: order[name]),
        projects=_projects(group),
        first=times.list_form(group.found[-1].at),
        last=times.list_form(newest.at),
        refs=_refs(group),
    )


def _stopped(found: Occurrence, texts: Texts | None) -> Stopped:
    return Stopped(
        found.ref,
        times.list_form(found.at),
        found.session.project,
        found.event.tool,
        texts.command if texts is not None else "",
        texts.excerpt if texts is not None else "",
    )


def _complaint(found: Occurrence, texts: Texts | None) -> Complaint:
    return Complaint(
        found.ref,
        times.list_form(found.at),
        found.session.project,
        list(texts.phrases) if texts is not None else [],
        texts.summary if texts is not None else "",
    )


def _trouble(group: Group, texts: Texts | None) -> AroundCalls:
    return AroundCalls(
        group.newest.event.tool,
        texts.excerpt if texts is not None else "",
        len(group.found),
        len({each.session.ref for each in group.found}),
        times.list_form(group.found[-1].at),
        times.list_form(group.newest.at),
        list(dict.fromkeys(each.session.ref for each in group.found))[:_REFS],
    )


def _projects(group: Group) -> list[str]:
    named = dict.fromkeys(each.session.project for each in group.found if each.session.project)
    return list(named)[:_PROJECTS]


def _refs(group: Group) -> list[str]:
    return [each.ref for each in group.found[:_REFS]]
