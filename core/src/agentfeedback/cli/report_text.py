"""What `sessions report` prints for people: numbers as tables, then what went wrong, each with a ref to look closer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.foundation import times
from agentfeedback.terminal.prose import ago, number, wrapped
from agentfeedback.terminal.screen import visible
from agentfeedback.terminal.table import Column, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentfeedback.terminal.screen import Screen
    from agentfeedback.wire.report import Report, Totals

_NUMBERS = (
    ("sessions", "SESSIONS"),
    ("with_problems", "WITH PROBLEMS"),
    ("tool_errors", "FAILED"),
    ("denials", "DENIED"),
    ("interrupts", "INTERRUPTED"),
    ("complaints", "COMPLAINTS"),
    ("retries", "RETRIES"),
)
_SQUEEZES = (
    ("RETRIES", 0),
    ("WITH PROBLEMS", 0),
    ("PROJECT", 20),
    ("COMPLAINTS", 0),
    ("INTERRUPTED", 0),
    ("DENIED", 0),
    ("SESSIONS", 0),
    ("PROJECT", 12),
)
#: How many lines of a command or an error a person is shown.
_LINES = 2
#: How many days, projects and items of what is not a failure are shown on a terminal.
_DAYS, _PROJECTS, _ITEMS = 7, 8, 5
_SECOND = 1_000_000_000


def report_text(
    report: Report, screen: Screen, shorter: Callable[[str], str] = lambda ref: ref
) -> str:
    """The report as text; off a terminal with its notice and every line whole."""
    return "".join(
        f"{line}\n" if not line.endswith("\n") else line
        for line in _parts(report, _View(report, screen, shorter))
    )


class _View:
    """The screen, and how what is shown on it is written."""

    def __init__(self, report: Report, screen: Screen, shorter: Callable[[str], str]) -> None:
        self.screen = screen
        self.terminal = bool(screen.columns)
        self.room = min(screen.columns, 120)
        self.shorter = shorter if self.terminal else (lambda ref: ref)
        self._until = times.parse(report.until) or 0

    def title(self, text: str) -> str:
        return self.screen.style(text, "bold")

    def age(self, at: str) -> str:
        """A time as it is off a terminal, and as how long ago on one."""
        moment = times.parse(at)
        if moment is None or not self.terminal:
            return at
        return ago((self._until - moment) / _SECOND)

    def lines(self, text: str, first: str, style: str = "") -> list[str]:
        """One text of a log in as many lines as are shown of it."""
        most = _LINES if self.terminal else 0
        found = wrapped(visible(" ".join(text.split())), self.room, first, most=most)
        return [self.screen.style(line, style) for line in found]

    def ref(self, ref: str) -> str:
        return f"      {self.screen.style(visible(self.shorter(ref)), 'cyan')}"


def _parts(report: Report, view: _View) -> Iterator[str]:
    if not view.terminal:
        yield report.notice
        yield ""
    yield from _head(report, view)
    if not report.totals.sessions:
        return
    yield ""
    yield _numbers("AGENT", [(each.harness, each) for each in report.harnesses], view)
    if len(report.projects) > 1:
        shown = report.projects[:_PROJECTS] if view.terminal else report.projects
        yield ""
        yield _numbers("PROJECT", [(each.project or "-", each) for each in shown], view)
    days = [each for each in report.days if each.sessions]
    if len(days) > 1:
        shown_days = days[:_DAYS] if view.terminal else days
        yield ""
        yield _numbers("DAY", [(each.day, each) for each in shown_days], view)
    yield from _failures(report, view)
    yield from _stopped(report, view)
    yield from _others(report, view)
    yield from _next(report, view)


def _head(report: Report, view: _View) -> Iterator[str]:
    totals = report.totals
    since, until = report.since[:10], report.until[:10]
    yield view.title(f"What went wrong from {since} to {until}")
    if not totals.sessions:
        yield "no session in this time"
    else:
        yield from wrapped(
            f"{number(totals.sessions, 'session')}, {totals.with_problems:,} with problems: "
            f"{number(totals.tool_errors, 'failed call')}, {number(totals.denials, 'denial')}, "
            f"{number(totals.interrupts, 'interrupt')}, {number(totals.complaints, 'complaint')}, "
            f"{number(totals.retries, 'retry', 'retries')}",
            view.room,
        )
    if report.skipped:
        states = ", ".join(f"{count:,} {state}" for state, count in report.skipped.items())
        yield from wrapped(f"not read: {states}", view.room)


def _numbers(title: str, rows: Sequence[tuple[str, Totals]], view: _View) -> str:
    columns = [Column(title, keep="end" if title == "PROJECT" else "start")]
    columns += [Column(shown, right=True) for _, shown in _NUMBERS]
    cells = [[name, *(_count(row, member) for member, _ in _NUMBERS)] for name, row in rows]
    return table(columns, cells, view.screen, (_squeezes(title),))


def _squeezes(title: str) -> tuple[tuple[str, int], ...]:
    return tuple((title if name == "PROJECT" else name, cells) for name, cells in _SQUEEZES)


def _count(row: Totals, member: str) -> str:
    return f"{getattr(row, member):,}"


def _failures(report: Report, view: _View) -> Iterator[str]:
    if not report.failures:
        return
    yield ""
    yield view.title("Failures, the most frequent first")
    for each in report.failures:
        facts = [
            number(each.sessions, "session"),
            ", ".join(each.harnesses),
            _between(each.first, each.last, view),
        ]
        code = f" (exit {each.exit_code})" if each.exit_code is not None else ""
        yield from _item(f"{each.count:,}×", f"{each.tool}{code}", facts, view)
        yield from _texts(each.command, each.error, view)
        yield from (view.ref(ref) for ref in each.refs[:1])


def _between(first: str, last: str, view: _View) -> str:
    newest, oldest = view.age(last), view.age(first)
    return newest if newest == oldest else f"{oldest} to {newest}"


def _item(count: str, what: str, facts: Sequence[str], view: _View) -> list[str]:
    line = " · ".join((visible(what), *(visible(fact) for fact in facts if fact)))
    first = f"{count:>5} "
    found = wrapped(line, view.room, first)
    return [view.screen.style(each, "bold") for each in found[:1]] + found[1:]


def _texts(command: str, error: str, view: _View) -> Iterator[str]:
    if command:
        yield from view.lines(command, "      $ ")
    if error:
        yield from view.lines(error, "      ", "red")


def _stopped(report: Report, view: _View) -> Iterator[str]:
    for title, items in (("Denials", report.denials), ("Interrupts", report.interrupts)):
        shown = items[:_ITEMS] if view.terminal else items
        if shown:
            yield ""
            yield view.title(f"{title}, the newest first")
        for each in shown:
            what = each.tool or "between calls"
            yield from _item("", what, (each.project, view.age(each.at)), view)
            yield from _texts(each.command, each.excerpt, view)
            yield view.ref(each.ref)


def _others(report: Report, view: _View) -> Iterator[str]:
    complaints = report.complaints[:_ITEMS] if view.terminal else report.complaints
    if complaints:
        yield ""
        yield view.title("Complaints, the newest first")
    for each in complaints:
        said = ", ".join(f'"{phrase}"' for phrase in each.phrases)
        yield from _item("", said, (each.project, view.age(each.at)), view)
        yield from view.lines(each.summary, "      ")
        yield view.ref(each.ref)
    retries = report.retries[:_ITEMS] if view.terminal else report.retries
    if retries:
        yield ""
        yield view.title("Repeated without a change")
    for again in retries:
        yield from _item(f"{again.count:,}×", again.tool, (), view)
        yield from _texts(again.command, "", view)
        yield from (view.ref(ref) for ref in again.refs[:1])
    if report.troubles:
        yield ""
        yield view.title("Around the calls")
    for trouble in report.troubles:
        facts = (number(trouble.sessions, "session"), _between(trouble.first, trouble.last, view))
        yield from _item(f"{trouble.count:,}×", trouble.kind, facts, view)
        yield from _texts("", trouble.excerpt, view)
        yield from (view.ref(ref) for ref in trouble.refs[:1])


def _next(report: Report, view: _View) -> Iterator[str]:
    refs = [ref for each in report.failures for ref in each.refs]
    refs += [each.ref for each in (*report.denials, *report.interrupts)]
    refs += [each.ref for each in report.complaints]
    yield ""
    if refs:
        shown = _quoted(visible(view.shorter(refs[0])))
        yield f"look closer: agentfeedback sessions show {shown}"  # whole, so that it can be pasted
    yield from wrapped(
        "go through them: agentfeedback sessions digest --unprocessed --problems", view.room
    )


def _quoted(ref: str) -> str:
    from shlex import quote

    return quote(ref)
