"""What `sessions report` prints."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from agentfeedback.wire.encode import omitted


def _own_first(kind: type, fields: list[Any]) -> list[Any]:
    return sorted(fields, key=lambda each: bool(each.inherited))


@define(eq=False)
class Totals:
    """What happened: `tool_errors` are calls that failed, `complaints` prompts that complain.

    `with_problems` are sessions with a failed call that is not agentfeedback's own, a denial, an
    interrupt or a complaint.
    """

    sessions: int = 0
    with_problems: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    denials: int = 0
    interrupts: int = 0
    complaints: int = 0
    retries: int = 0

    @property
    def problems(self) -> int:
        """How many events are a problem: a session may have several."""
        return self.tool_errors + self.denials + self.interrupts + self.complaints


@define(eq=False, field_transformer=_own_first)
class OfHarness(Totals):
    harness: str = field(default="", kw_only=True)


@define(eq=False, field_transformer=_own_first)
class OfProject(Totals):
    project: str = field(default="", kw_only=True)


@define(eq=False, field_transformer=_own_first)
class OfDay(Totals):
    """`day` is a day of the machine's time zone; a session counts on each day on which it has an entry."""

    day: str = field(default="", kw_only=True)


@define(eq=False)
class Failure:
    """Failures with one tool, command and error line, what differs by chance left aside; texts are of the newest.

    `refs` are of the newest three, with the span; `first` and `last` are RFC 3339 in UTC.
    """

    tool: str = omitted("")
    command: str = omitted("")
    error: str = omitted("")
    exit_code: int | None = field(default=None, metadata={"omit": "none"})
    count: int = 0
    sessions: int = 0
    harnesses: list[str] = omitted(factory=list)
    projects: list[str] = omitted(factory=list)
    first: str = omitted("")
    last: str = omitted("")
    refs: list[str] = omitted(factory=list)


@define(eq=False)
class Stopped:
    """A denial, or an interrupt; an interrupt between calls has no tool."""

    ref: str
    at: str = omitted("")
    project: str = omitted("")
    tool: str = omitted("")
    command: str = omitted("")
    excerpt: str = omitted("")


@define(eq=False)
class Complaint:
    ref: str
    at: str = omitted("")
    project: str = omitted("")
    phrases: list[str] = omitted(factory=list)
    summary: str = omitted("")


@define(eq=False)
class Repeated:
    """Calls that repeat an earlier failed one, by tool and command; `refs` are of the newest three."""

    tool: str = omitted("")
    command: str = omitted("")
    count: int = 0
    refs: list[str] = omitted(factory=list)


@define(eq=False)
class AroundCalls:
    """Failures around the calls, of a kind (`provider`, `hook`, `connection`); `excerpt` is of the newest, `refs` name its session."""

    kind: str
    excerpt: str = omitted("")
    count: int = 0
    sessions: int = 0
    first: str = omitted("")
    last: str = omitted("")
    refs: list[str] = omitted(factory=list)


@define(eq=False)
class Report:
    """What `sessions report --json` prints; `time_zone` is the machine's offset at `until`.

    `skipped` are the sessions of the period that were not read, by state.
    """

    notice: str
    since: str
    until: str
    time_zone: str
    totals: Totals = field(factory=Totals)
    harnesses: list[OfHarness] = field(factory=list)
    projects: list[OfProject] = field(factory=list)
    days: list[OfDay] = field(factory=list)
    failures: list[Failure] = field(factory=list)
    denials: list[Stopped] = field(factory=list)
    interrupts: list[Stopped] = field(factory=list)
    complaints: list[Complaint] = field(factory=list)
    retries: list[Repeated] = field(factory=list)
    troubles: list[AroundCalls] = omitted(factory=list)
    skipped: dict[str, int] = field(factory=dict)
