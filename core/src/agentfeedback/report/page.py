"""A report as one HTML page: no scripts, nothing from elsewhere, every text escaped and made visible."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from attrs import define, field
from jinja2 import Environment, StrictUndefined, Template

from agentfeedback.report.charts import NUMBERS, heat, trend
from agentfeedback.terminal.prose import number
from agentfeedback.terminal.screen import visible

if TYPE_CHECKING:
    from agentfeedback.wire.report import Complaint, Failure, Report, Stopped

#: How every page begins: by this a file of ours is known.
BEGINNING = b"<!doctype html>\n<!-- agentfeedback sessions report -->\n"
#: How many events behind a failure are named.
BEHIND = 20


@define(eq=False)
class Behind:
    """One event of a group: when (list form), in which project, and its ref."""

    at: str
    project: str
    ref: str


@define(eq=False)
class PageData:
    """What a page shows beside a report: problems by day and agent, and by failure the newest events behind it."""

    report: Report
    grid: dict[tuple[str, str], int] = field(factory=dict)
    behind: list[list[Behind]] = field(factory=list)


def page(data: PageData) -> bytes:
    """The page, in UTF-8."""
    report = data.report
    most = max((each.count for each in report.failures), default=1)
    style = files("agentfeedback.report").joinpath("page.css").read_text("utf-8")
    text = _template().render(
        report=report,
        style=_Raw(style),
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        first_day=report.days[-1].day if report.days else report.since[:10],
        last_day=report.days[0].day if report.days else report.until[:10],
        numbers=NUMBERS,
        trend=trend(report.days),
        heat=heat(report.days, [each.harness for each in report.harnesses], data.grid),
        failures=[
            _failure(each, behind, most)
            for each, behind in zip(report.failures, data.behind, strict=True)
        ],
        stopped=(
            ("Denials", "denials", [_stopped(each) for each in report.denials]),
            ("Interrupts", "interrupts", [_stopped(each) for each in report.interrupts]),
            ("Complaints", "complaints", [_complaint(each) for each in report.complaints]),
        ),
        tables=(
            ("Agents", [(each.harness, each) for each in report.harnesses]),
            ("Projects", [(each.project or "-", each) for each in report.projects]),
        ),
    )
    return text.encode("utf-8", "replace") + b"\n"


class _Raw(str):
    """Text of ours that is not escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=False
    )
    environment.filters["number"] = lambda count: f"{count:,}"
    environment.filters["counted"] = number
    environment.filters["moment"] = _moment
    environment.filters["shown"] = visible
    source = files("agentfeedback.report").joinpath("page.html.j2").read_text("utf-8")
    return environment.from_string(source)


def _moment(at: str) -> str:
    """A time as people write it, to the minute, in UTC."""
    return f"{at[:10]} {at[11:16]} UTC" if len(at) >= 16 else visible(at)


def _failure(each: Failure, behind: Sequence[Behind], most: int) -> dict[str, Any]:
    return {
        "tool": visible(each.tool),
        "command": visible(each.command),
        "error": visible(each.error),
        "exit_code": each.exit_code,
        "count": each.count,
        "share": round(100 * each.count / most, 1),
        "sessions": each.sessions,
        "harnesses": [visible(name) for name in each.harnesses],
        "first": each.first,
        "last": each.last,
        "behind": [
            {"at": one.at, "project": visible(one.project), **_ref(one.ref)} for one in behind
        ],
        "more": each.count - len(behind),
    }


def _stopped(each: Stopped) -> dict[str, Any]:
    return {
        "title": visible(each.tool) or "between calls",
        "command": visible(each.command),
        "at": each.at,
        "project": visible(each.project),
        "text": visible(each.excerpt, keep_newlines=True),
        **_ref(each.ref),
    }


def _complaint(each: Complaint) -> dict[str, Any]:
    return {
        "title": visible(", ".join(f'"{phrase}"' for phrase in each.phrases)),
        "command": "",
        "at": each.at,
        "project": visible(each.project),
        "text": visible(each.summary),
        **_ref(each.ref),
    }


def _ref(ref: str) -> dict[str, str]:
    return {"ref": visible(ref), "quoted": visible(shlex.quote(ref))}
