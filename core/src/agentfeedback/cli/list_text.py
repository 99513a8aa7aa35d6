"""What `sessions list` prints as text: every cell whole in a pipe, at a terminal what a person looks for.

Every text that comes from a log or a path is made visible by the table.
"""

from __future__ import annotations

import time

from agentfeedback.foundation import times
from agentfeedback.terminal.prose import ago, number, wrapped
from agentfeedback.terminal.screen import Screen, visible, width
from agentfeedback.terminal.table import Column, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentfeedback.wire import records

_STATE_STYLES = {
    "new": "green",
    "changed": "yellow",
    "processed": "dim",
    "absent": "dim",
    "disabled": "magenta",
    "denied": "magenta",
    "unknown-project": "magenta",
    "unreadable": "red",
    "unsupported-format": "red",
}
_WHOLE = tuple(
    Column(title)
    for title in (
        *("REF", "STATE", "PROJECT", "START", "END"),
        *("PROMPTS", "TOOL CALLS", "TOOL ERRORS"),
    )
)


def _state_style(cell: str) -> str:
    return _STATE_STYLES.get(cell.partition(" ")[0], "")


def _number_style(cell: str) -> str:
    return "dim" if cell in ("0", "-") else "red"


_SHORT = (
    Column("REF", style=lambda cell: "cyan"),
    Column("AGE", right=True),
    Column("STATE", style=_state_style),
    Column("FAIL", right=True, style=_number_style),
    Column("DENY", right=True, style=_number_style),
    Column("INT", right=True, style=_number_style),
    Column("PROJECT"),
    Column("PROMPT"),
)
# A ref is there to be copied and the numbers say where to look, so they stay as long as anything.
_PLANS = (
    (
        ("PROMPT", 24),
        ("STATE", len("processed")),
        ("PROJECT", 12),
        ("STATE", len("changed")),
        ("PROJECT", 8),
        ("PROMPT", 10),
        ("PROMPT", 0),
        ("PROJECT", 0),
        ("STATE", 0),
        ("AGE", 0),
        ("INT", 0),
        ("DENY", 0),
        ("FAIL", 0),
    ),
)
_SECOND = 1_000_000_000


def listing_text(
    listing: records.Listing,
    screen: Screen,
    shorter: Callable[[str], str] = lambda ref: ref,
    prompts: Mapping[str, str] | None = None,
) -> str:
    """The table of `sessions list`.

    A person at a terminal gets refs as `shorter` makes them, ages, and by ref the first `prompts` that
    are known; a last line has the totals.
    """
    if not screen.columns:
        return table(_WHOLE, [_row(session) for session in listing.sessions], screen)
    found = prompts or {}
    now = time.time()
    rows = [_short_row(each, shorter, found.get(each.ref, ""), now) for each in listing.sessions]
    # A ref wider than the terminal is not cut: nobody could use what is left of it.
    widest = max((width(visible(row[0])) for row in rows), default=0)
    room = Screen(max(screen.columns, widest), colour=screen.colour)
    totals = wrapped(_totals(listing.sessions), screen.columns)
    return table(_SHORT, rows, room, _PLANS) + "".join(f"{line}\n" for line in totals if line)


def _row(session: records.Listed) -> list[str]:
    counts = session.counts
    numbers = (counts.prompts, counts.tool_calls, counts.tool_errors) if counts else ("-", "-", "-")
    return [
        session.ref,
        f"{session.state} ({session.reason})" if session.reason else session.state,
        session.project or "-",
        _seconds(session.start),
        _seconds(session.end),
        *map(str, numbers),
    ]


def _seconds(time: str) -> str:
    whole, point, _ = time.partition(".")
    return f"{whole}Z" if point else time or "-"


def _short_row(
    session: records.Listed, shorter: Callable[[str], str], prompt: str, now: float
) -> list[str]:
    counts = session.counts
    numbers = (counts.tool_errors, counts.denials, counts.interrupts) if counts else "---"
    end = times.parse(session.end)
    return [
        shorter(session.ref),
        ago(now - end / _SECOND).removesuffix(" ago") if end is not None else "-",
        f"{session.state} ({session.reason})" if session.reason else session.state,
        *map(str, numbers),
        session.project.rstrip("/").rpartition("/")[2] or session.project or "-",
        " ".join(prompt.split()),
    ]


def _totals(sessions: Sequence[records.Listed]) -> str:
    """How many sessions there are, in which states, and what went wrong in all of them."""
    if not sessions:
        return ""
    states: dict[str, int] = {}
    for each in sessions:
        states[each.state] = states.get(each.state, 0) + 1
    counted = [each.counts for each in sessions if each.counts is not None]
    numbers = (
        number(sum(each.tool_errors for each in counted), "failed call"),
        number(sum(each.denials for each in counted), "denial"),
        number(sum(each.interrupts for each in counted), "interrupt"),
    )
    shown = ", ".join(f"{count:,} {state}" for state, count in states.items())
    return f"{number(len(sessions), 'session')}: {shown}; {', '.join(numbers)}"
