"""`agentfeedback` without a word: the last days at a glance, in at most ten lines of counts and names of agents."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback.terminal.prose import number
from agentfeedback.terminal.table import Column, table

if TYPE_CHECKING:
    from agentfeedback.report.overview import Overview
    from agentfeedback.terminal.screen import Screen
    from agentfeedback.wire.report import OfHarness

#: How many agents have a row; of more, the last row is that of the others.
_ROWS = 5
_COLUMNS = (
    ("SESSIONS", "sessions"),
    ("FAILED", "tool_errors"),
    ("DENIED", "denials"),
    ("INTERRUPTED", "interrupts"),
    ("COMPLAINTS", "complaints"),
)
_PLANS = ((("COMPLAINTS", 0), ("INTERRUPTED", 0), ("DENIED", 0), ("SESSIONS", 0)),)
_NEXT = (
    "what went wrong:  agentfeedback sessions report\n"
    "go through them:  agentfeedback sessions digest --unprocessed --problems\n"
)


def run() -> int | None:
    """Print the overview; None where there is no session to speak of, so that help is of more use.

    Raises `ConfigError` as any command that reads sessions does.
    """
    from agentfeedback.cli.session_line import screen_warning, tell_stores
    from agentfeedback.sessions.engine import Engine
    from agentfeedback.terminal.progress import Progress

    host = Host(os.environ, screen_warning)
    if not host.harnesses():
        return None
    engine = Engine(os.environ, host=host, progress=Progress)
    engine.check_policy()
    if engine.config.collect.disabled:
        return None
    overview = engine.overview()
    if not overview.sessions:
        return None
    tell_stores(engine.shown_stores(), asked=False)
    screen.write(overview_text(overview, screen.Screen.of(sys.stdout, os.environ)))
    return 0


def overview_text(overview: Overview, screen: Screen) -> str:
    """The overview in at most ten lines."""
    totals = overview.totals
    waiting = f"{number(overview.unprocessed, 'session')} not processed yet\n"
    if not totals.sessions:
        older = number(overview.sessions, "older session")
        return f"no session in the last {overview.days} days, {older}\n{waiting}{_NEXT}"
    head = f"last {overview.days} days: {number(totals.sessions, 'session')}, "
    head = screen.style(f"{head}{totals.with_problems:,} with problems", "bold")
    return f"{head}\n{_agents(overview, screen)}{waiting}{_NEXT}"


def _agents(overview: Overview, screen: Screen) -> str:
    rows = sorted(overview.harnesses, key=lambda each: -each.problems)
    if len(rows) > _ROWS:
        rows = [*rows[: _ROWS - 1], _together(rows[_ROWS - 1 :])]
    columns = [Column("AGENT"), *(Column(title, right=True) for title, _ in _COLUMNS)]
    cells = [
        [each.harness, *(f"{getattr(each, member):,}" for _, member in _COLUMNS)] for each in rows
    ]
    return table(columns, cells, screen, _PLANS)


def _together(rows: list[OfHarness]) -> OfHarness:
    from agentfeedback.wire.report import OfHarness

    sums = {member: sum(getattr(each, member) for each in rows) for _, member in _COLUMNS}
    return OfHarness(harness="others", **sums)
