"""The view, driven by textual's pilot, over sessions in a home of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, DataTable, Input, Static

from agentfeedback_tui.app import Browse
from agentfeedback_tui.dialogs import EntryScreen, FilingScreen, OutcomeScreen
from agentfeedback_tui.rows import event_row, session_row
from agentfeedback_tui.running import Commands, Done
from tests.support.machine import Machine, call, failed, meta, prompt, typed

Story = Callable[[Browse, Pilot[int]], Awaitable[None]]
HOSTILE = "[red]not markup[/] \x1b[31mred\x1b[0m \u202e"


class Noted(Commands):
    """Commands that also remember what was run."""

    def __init__(self, environ: dict[str, str]) -> None:
        super().__init__(environ)
        self.ran: list[tuple[str, ...]] = []

    async def run(self, *words: str) -> Done:
        self.ran.append(words)
        return await super().run(*words)


@pytest.fixture
def filled(machine: Machine) -> Machine:
    machine.claude("c1", [prompt("u1"), call("a1", "t1"), failed("u2", "t1")])
    machine.codex("x1", [meta(cwd="/srv/app/till"), typed(HOSTILE)])
    return machine


def driven(
    machine: Machine, story: Story, *narrowed: str, size: tuple[int, int] = (110, 30)
) -> Noted:
    """Let a story happen in the view, and return the commands that were run."""
    commands = Noted(machine.environ)

    async def happens() -> None:
        app = Browse(commands, narrowed)
        async with app.run_test(size=size) as pilot:
            await settled(app, pilot)
            await story(app, pilot)

    asyncio.run(happens())
    return commands


async def settled(app: Browse, pilot: Pilot[int]) -> None:
    """Until nothing is being read any more, but for a dialog that waits for its answer."""
    for _ in range(3):
        await pilot.pause()
        running = [each for each in app.workers if each.group != "act" and not each.is_finished]
        await asyncio.wait_for(app.workers.wait_for_complete(running), 60)
    await pilot.pause()


async def until(app: Browse, pilot: Pilot[int], true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        await asyncio.sleep(0.1)
        await pilot.pause()
    raise AssertionError(told(app))


def rows(app: Browse, table: str) -> list[list[str]]:
    found = app.query_one(f"#{table}", DataTable)
    return [[cell.plain for cell in found.get_row_at(index)] for index in range(found.row_count)]


def told(app: Browse) -> str:
    return str(app.query_one("#told", Static).content)


def test_sessions_and_what_went_wrong_in_them(filled: Machine) -> None:
    """Newest first, each with its troubles; the one under the cursor shows its events."""

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        listed = rows(app, "sessions")
        assert {(row[0], row[2], row[3]) for row in listed} == {
            ("claude-code", "shop", "1 failed"),
            ("codex", "till", ""),
        }
        index = [row[0] for row in listed].index("claude-code")
        app.query_one("#sessions", DataTable).move_cursor(row=index)
        await settled(app, pilot)
        assert [row[0] for row in rows(app, "events")] == ["prompt", "exit 2"]
        assert told(app) == "2 of 2 sessions"

    commands = driven(filled, story)
    assert commands.ran[0] == ("sessions", "list", "--json")


def test_a_filter_keeps_what_has_its_words(filled: Machine) -> None:
    """As it is typed; Escape forgets it."""

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        await pilot.press("slash", *"CODEX till")
        await settled(app, pilot)
        assert [row[0] for row in rows(app, "sessions")] == ["codex"]
        await pilot.press(*"no such")
        await settled(app, pilot)
        assert rows(app, "sessions") == rows(app, "events") == []
        await pilot.press("escape")
        await settled(app, pilot)
        assert len(rows(app, "sessions")) == 2

    driven(filled, story)


def test_an_entry_in_full(filled: Machine) -> None:
    """Enter goes to the events, Enter opens one, and a key leads back; what a log holds is plain text."""

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        await pilot.press("enter", "enter")
        await until(app, pilot, lambda: isinstance(app.screen, EntryScreen))
        shown = str(app.screen.query_one("#entry", Static).content)
        assert "[red]not markup[/]" in shown
        assert "\x1b" not in shown and "\u202e" not in shown
        await pilot.press("escape")
        await settled(app, pilot)
        assert not isinstance(app.screen, EntryScreen)

    driven(filled, story, "--harness", "codex")


def test_a_session_is_marked(filled: Machine) -> None:
    """It is digested and marked with the outcome that was chosen, as the commands do it; Escape does nothing."""

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        await pilot.press("m")
        await until(app, pilot, lambda: isinstance(app.screen, OutcomeScreen))
        await pilot.press("escape")
        await pilot.pause()
        await pilot.press("m")
        await until(app, pilot, lambda: isinstance(app.screen, OutcomeScreen))
        await pilot.press("down", "enter")
        await until(app, pilot, lambda: rows(app, "sessions")[0][4] == "processed")

    commands = driven(filled, story, "--harness", "codex")
    changing = [words for words in commands.ran if words[1] in ("digest", "mark")]
    assert changing == [
        ("sessions", "digest", "codex:x1", "--json"),
        ("sessions", "mark", "codex:x1", "--outcome", "skipped", "--json"),
    ]
    assert filled.sessions("list", "--unprocessed", "--harness", "codex")["sessions"] == []


def test_feedback_is_filed_about_an_event(filled: Machine) -> None:
    """With the event it is about; without a summary nothing is filed."""

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        await pilot.press("enter", "down", "f")
        await until(app, pilot, lambda: isinstance(app.screen, FilingScreen))
        app.screen.query_one("#file", Button).press()
        await pilot.pause()
        assert isinstance(app.screen, FilingScreen)
        app.screen.query_one("#summary", Input).value = "--the docs name a flag that is gone"
        app.screen.query_one("#category", Input).value = "docs"
        app.screen.query_one("#file", Button).press()
        await until(app, pilot, lambda: told(app).startswith("filed"))

    driven(filled, story, "--harness", "claude-code")
    (record,) = filled.call("list", "--json").outcome["submissions"]
    assert record["summary"] == "--the docs name a flag that is gone"
    assert record["harness"] == "claude-code"


def test_what_is_refused_says_so(filled: Machine) -> None:
    """A configuration that refuses leaves the view empty, with the command's own words."""
    filled.config('[collect]\ndeny_path = ["/srv"]\n')

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        assert rows(app, "sessions") == []
        assert "deny_path" in told(app)

    driven(filled, story)


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (200, 60)])
def test_any_size_of_terminal(filled: Machine, size: tuple[int, int]) -> None:
    """The view stands at the size of any terminal."""

    async def story(app: Browse, pilot: Pilot[int]) -> None:
        assert len(rows(app, "sessions")) == 2

    driven(filled, story, size=size)


def test_it_needs_a_terminal(machine: Machine) -> None:
    """Without one it names the commands that need none."""
    result = machine.call("sessions", "browse")
    assert result.status == 1
    assert "needs a terminal" in result.err and "sessions report" in result.err


def test_two_thousand_sessions_are_filtered(machine: Machine) -> None:
    """A long list is filled and filtered without reading anything again."""
    items = [
        {
            "ref": f"codex:s{number}",
            "harness": "codex",
            "state": "new",
            "project": f"/srv/p{number}",
        }
        for number in range(2_000)
    ]

    class Fixed(Commands):
        async def run(self, *words: str) -> Done:
            data: Any = {"sessions": items} if words[1] == "list" else {"session": {"events": []}}
            return Done(0, json.loads(json.dumps(data)), "")

    async def happens() -> None:
        app = Browse(Fixed({}))
        async with app.run_test(size=(110, 30)) as pilot:
            await settled(app, pilot)
            assert len(rows(app, "sessions")) == 2_000
            app.query_one("#filter", Input).value = "p1999"
            await settled(app, pilot)
            assert [row[2] for row in rows(app, "sessions")] == ["p1999"]

    asyncio.run(happens())


def test_a_hostile_row_is_plain() -> None:
    """Cells hold no control characters and no markup, whatever a log says."""
    row = session_row({"ref": "x:1", "harness": HOSTILE, "project": HOSTILE, "end": HOSTILE}, 0)
    event = event_row({"type": "prompt", "summary": HOSTILE, "excerpt": HOSTILE}, "x:1")
    for cell in (*row.cells, *event.cells):
        assert "\x1b" not in cell and "\u202e" not in cell
