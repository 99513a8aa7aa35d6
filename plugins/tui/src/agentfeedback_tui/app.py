"""`agentfeedback sessions browse`: sessions on the left, what went wrong in one on the right."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import DataTable, Footer, Input, Static

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.plugins import Parsed
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback_tui.dialogs import EntryScreen, FilingScreen, Finding, OutcomeScreen
from agentfeedback_tui.rows import EventRow, SessionRow, entry_text, event_row, session_row
from agentfeedback_tui.running import Commands, Done

_SESSIONS = ("agent", "age", "project", "what went wrong", "state")
_EVENTS = ("", "what", "how it ended")
#: States of sessions that have something to show.
_READ = ("new", "changed", "processed")
_WIDEST = 60


def run(line: Parsed) -> int:
    """Show the view until it is left."""
    no_names(line, "sessions browse")
    if not (screen.is_terminal(sys.stdin) and screen.is_terminal(sys.stdout)):
        raise AgentFeedbackError(
            "sessions browse needs a terminal", "run sessions list or sessions report instead"
        )
    narrowed: list[str] = []
    for name in ("harness", "since"):
        if value := getattr(line, name):
            narrowed += (f"--{name}", value)
    status = Browse(Commands(os.environ), narrowed).run()
    return status or 0


class Browse(App[int]):
    """The view. `narrowed` are the words that say which sessions are listed."""

    TITLE = "agentfeedback"
    CSS = """
    #sessions { width: auto; max-width: 60%; }
    #events { width: 1fr; border-left: solid $primary; }
    #told { height: 1; padding: 0 1; color: $text-muted; }
    #filter { height: 3; }
    ModalScreen { align: center middle; }
    .dialog { width: 80%; max-width: 100; height: auto; max-height: 80%; border: round $primary;
        background: $surface; padding: 1 2; }
    .wide { width: 94%; max-width: 94%; height: 90%; max-height: 90%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter"),
        Binding("enter", "open", "open", show=True),
        Binding("m", "mark", "mark"),
        Binding("f", "file", "file feedback"),
        Binding("r", "reload", "reload"),
        Binding("q", "quit", "quit"),
        Binding("escape", "leave_filter", show=False),
    ]

    def __init__(self, commands: Commands, narrowed: Iterable[str] = ()) -> None:
        super().__init__()
        self._commands = commands
        self._narrowed = tuple(narrowed)
        self._listed: list[SessionRow] = []
        self._events: list[EventRow] = []
        self._shown = ""

    def compose(self) -> ComposeResult:
        yield Input(placeholder="type to filter sessions", id="filter")
        with Horizontal():
            yield DataTable(id="sessions", cursor_type="row", zebra_stripes=True)
            yield DataTable(id="events", cursor_type="row")
        yield Static("reading sessions …", id="told", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self._sessions.add_columns(*_SESSIONS)
        self._table.add_columns(*_EVENTS)
        self._sessions.focus()
        self.action_reload()

    # -- what is shown ---------------------------------------------------------------------------

    @property
    def _sessions(self) -> DataTable[Text]:
        return self.query_one("#sessions", DataTable)

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#events", DataTable)

    def action_reload(self) -> None:
        """Read the sessions again."""
        self._list()

    @work(exclusive=True, group="list")
    async def _list(self) -> None:
        done = await self._commands.run("sessions", "list", *self._narrowed, "--json")
        if not done.ok:
            self._tell(done.problem)
            return
        now = time.time_ns()
        found = [item for item in done.data["sessions"] if item.get("state") in _READ]
        self._listed = [session_row(item, now) for item in reversed(found)]
        self._fill()

    def _fill(self) -> None:
        """Put the sessions that the filter lets through into the table, and keep the cursor on its session."""
        wanted = self.query_one("#filter", Input).value.lower().split()
        rows = [row for row in self._listed if all(word in row.words for word in wanted)]
        table, before = self._sessions, self._current(self._sessions)
        table.clear()
        for row in rows:
            table.add_row(*map(_cell, row.cells), key=row.ref)
        if before is not None and before in {row.ref for row in rows}:
            table.move_cursor(row=table.get_row_index(before))
        self._tell(f"{len(rows)} of {len(self._listed)} sessions")
        if not rows:
            self._show_events("", [])

    # Messages of a dialog's fields come here too.

    @on(Input.Changed, "#filter")
    def _filter_changed(self) -> None:
        self._fill()

    @on(Input.Submitted, "#filter")
    def _filter_submitted(self) -> None:
        self._sessions.focus()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table.id == "sessions" and event.row_key.value:
            self._load(event.row_key.value)

    @work(exclusive=True, group="events")
    async def _load(self, ref: str) -> None:
        if ref == self._shown:
            return
        done = await self._commands.run("sessions", "show", ref, "--json")
        if not done.ok:
            self._show_events(ref, [])
            self._tell(done.problem)
            return
        events = done.data["session"].get("events") or []
        self._show_events(ref, [event_row(event, ref) for event in events])

    def _show_events(self, ref: str, events: list[EventRow]) -> None:
        self._shown, self._events = ref, events
        self._table.clear()
        for row in events:
            self._table.add_row(*map(_cell, row.cells), key=row.ref)

    # -- what is done ----------------------------------------------------------------------------

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if event.data_table.id == "sessions":
            self._table.focus()
        elif event.row_key.value:
            self._open(event.row_key.value)

    def action_open(self) -> None:
        """Open the event under the cursor."""
        if (ref := self._current(self._table)) is not None:
            self._open(ref)

    @work(exclusive=True, group="entry")
    async def _open(self, ref: str) -> None:
        done = await self._commands.run("sessions", "show", ref, "--json")
        if done.ok:
            self.push_screen(EntryScreen(ref, entry_text(done.data)))
        else:
            self._tell(done.problem)

    @work(exclusive=True, group="act")
    async def action_mark(self) -> None:
        """Digest the session under the cursor, and mark it with the outcome that is chosen."""
        ref = self._current(self._sessions)
        if ref is None:
            return
        outcome = await self.push_screen_wait(OutcomeScreen())
        if outcome is None:
            return
        digested = await self._commands.run("sessions", "digest", ref, "--json")
        if not digested.ok or not digested.data["sessions"]:
            self._tell(_refusal(digested))
            return
        marked = await self._commands.run("sessions", "mark", ref, "--outcome", outcome, "--json")
        self._tell(f"{ref} is marked: {outcome}" if marked.ok else marked.problem)
        self.action_reload()

    @work(exclusive=True, group="act")
    async def action_file(self) -> None:
        """File feedback about the event under the cursor."""
        ref = self._current(self._table)
        if ref is None:
            self._tell("choose an event of a session first")
            return
        finding: Finding | None = await self.push_screen_wait(FilingScreen(ref))
        if finding is None:
            return
        words = ["submit", "friction", "--context-from", ref, f"--summary={finding.summary}"]
        words += [f"--category={finding.category}"] if finding.category else []
        words += [f"--details={finding.details}"] if finding.details else []
        done = await self._commands.run(*words)
        self._tell(f"filed: {done.data.get('status', 'done')}" if done.ok else done.problem)

    def action_filter(self) -> None:
        """Type words that sessions must have."""
        self.query_one("#filter", Input).focus()

    def action_leave_filter(self) -> None:
        """Forget the filter."""
        self.query_one("#filter", Input).value = ""
        self._sessions.focus()

    def _current(self, table: DataTable[Any]) -> str | None:
        if not table.row_count:
            return None
        return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value

    def _tell(self, text: str) -> None:
        self.query_one("#told", Static).update(Text(text))


def _cell(text: str) -> Text:
    """A cell of plain text: what a log holds is not markup, and one line of it is enough."""
    return Text(text[:_WIDEST], no_wrap=True, overflow="ellipsis")


def _refusal(done: Done) -> str:
    errors = (done.data or {}).get("errors") or []
    return str(errors[0].get("message", "")) if errors else done.problem
