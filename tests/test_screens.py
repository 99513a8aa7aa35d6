"""What a person sees at terminals of four widths, with and without colour: whole screens as goldens.

`python -m pytest tests/test_screens.py --snapshot-update` writes them again.
"""

from __future__ import annotations

import functools
import io
import os
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pyte
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from agentfeedback.foundation import times
from agentfeedback.sessions.engine import Engine
from agentfeedback.terminal.screen import width
from tests.support.machine import Machine, call, codex_line, failed, line, meta, prompt, typed

NOW = times.parse("2026-11-05T12:00:00Z") or 0
ID = "5f0c2d7e-1b34-4c57-9a86-2f1de0a7c301"
OTHER = "01a22000-4d10-7000-8000-6f0a5e3b9c12"
SCREENS = (
    ("sessions", "list"),
    ("sessions", "digest", "--unprocessed", "--detail", "--no-mark"),
    ("sessions", "report", "--limit", "3"),
    ("sessions", "show", "claude-code:5f0c2d7e#a2"),
    (),
)


class _Screens(SingleFileSnapshotExtension):
    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def shop(machine: Machine) -> Machine:
    """A few sessions of two agents in which this and that went wrong, one of them hostile."""
    machine.claude(
        ID,
        [
            prompt("u1", "The cart test is still failing, please look at why it fails", second=1),
            call(
                "a1", "t1", "cd /srv/app/shop && pytest -x tests/test_cart.py --maxfail=3", second=4
            ),
            failed(
                "r1",
                "t1",
                "Exit code 1\n" + "collecting " * 60 + "\nE  ValueError: invalid literal '12a'",
                second=9,
            ),
            call("a2", "t2", "make test", second=12),
            failed("r2", "t2", "Exit code 2\nmake: *** No rule to make target 'test'", second=13),
            call("a3", "t3", "git push", second=15),
            failed("r3", "t3", "The user doesn't want to proceed with this tool use", second=16),
        ],
    )
    machine.claude("9d3f1a60-aaaa-4bbb-8ccc-2f1de0a7c302", [prompt("u1", "Tidy up, please")])
    machine.claude(
        "b7c1aa00-0000-4000-8000-000000000001",
        [
            prompt("u1", "\x1b[2J\u202e evil", cwd="/srv/app/購物車"),
            call("a1", "t1", "printf '\x1b[31m' && 検索 " + "x" * 90),
            failed("r1", "t1", "Exit code 1\n\x1b]0;title\x07 検索に失敗しました"),
        ],
    )
    machine.codex(
        OTHER,
        [
            meta("/srv/app/api"),
            typed("Bring the health check back", 1),
            codex_line(
                "response_item",
                2,
                type="function_call",
                name="exec_command",
                call_id="c1",
                arguments='{"cmd":"make test"}',
            ),
            codex_line(
                "response_item",
                3,
                type="function_call_output",
                call_id="c1",
                output="Process exited with code 2\nOutput:\nmake: *** No rule to make target 'test'",
            ),
        ],
    )
    machine.codex("01a22fff-0000-7000-8000-000000000000", [meta(None), line(nothing=1)])
    return machine


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def screen(machine: Machine, words: tuple[str, ...], **environ: str) -> str:
    """What one command line shows on a terminal, both streams of it."""
    from agentfeedback.cli.main import main

    out = io.BytesIO()
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update({**machine.environ, "TZ": "UTC", **environ})
    time.tzset()
    try:
        terminal = _Terminal(out, encoding="utf-8")
        noted = io.StringIO()
        with redirect_stdout(terminal), redirect_stderr(noted):
            status = main(list(words))
            terminal.flush()
    finally:
        os.environ.clear()
        os.environ.update(before)
        time.tzset()
    command = " ".join(("agentfeedback", *words))
    return f"$ {command}  # {status}\n{out.getvalue().decode()}{noted.getvalue()}\n"


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_screens(
    shop: Machine,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
    columns: int,
    colour: bool,
) -> None:
    """Every line fits, but for those that are there to be pasted whole; nothing of a log moves the cursor."""
    fixed: Any = functools.partial(Engine, now=lambda: NOW)
    for module in ("agentfeedback.sessions.engine", "agentfeedback.cli.session_line"):
        monkeypatch.setattr(f"{module}.Engine", fixed)
    monkeypatch.setattr(time, "time_ns", lambda: NOW)
    monkeypatch.setattr(time, "time", lambda: NOW / 1e9)
    for path in shop.home.rglob("*.jsonl"):
        os.utime(path, ns=(NOW, NOW))
    environ = {"COLUMNS": str(columns), "TERM": "xterm" if colour else "dumb"}
    shown = "".join(screen(shop, words, **environ) for words in SCREENS)
    shown = shown.replace(str(shop.home), "/home/user")
    if not colour:
        assert "\x1b" not in shown
        for each in shown.splitlines():
            whole = each.startswith(("$ ", "look closer: ", "go through", "when you"))
            assert width(each) <= columns or whole or "#" in each, each
    assert shown == snapshot(extension_class=_Screens)


def test_the_overview_is_ten_lines(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever number of agents there is; none of it is text of a log."""
    from agentfeedback.cli.overview import overview_text
    from agentfeedback.report.overview import Overview
    from agentfeedback.terminal.screen import Screen
    from agentfeedback.wire.report import OfHarness, Totals

    for agents in range(9):
        rows = [
            OfHarness(harness=f"agent-{number}", sessions=1, tool_errors=number)
            for number in range(agents)
        ]
        text = overview_text(Overview(7, Totals(sessions=agents), rows, 5, 20), Screen(80))
        assert len(text.splitlines()) <= 10 and "5 sessions not processed yet\n" in text
        assert ("others" in text) == (agents > 5)
        assert text.endswith("sessions digest --unprocessed --problems\n")
    assert "others" in text and text.split("others")[1].split()[:2] == ["4", "6"]


def test_without_sessions_the_help_is_shown(machine: Machine) -> None:
    """No session, no reader or collecting switched off: the help, which begins with the demo."""
    helped = machine.call("--help").text
    assert machine.call().text == helped
    machine.claude("s1", [prompt("u1")])
    told = machine.call()
    assert (
        told.status == 0 and told.text.startswith("last 7 days: ")
    ) or "older session" in told.text
    machine.config("[collect]\ndisabled = true\n")
    assert machine.call().text == helped
    machine.config("[collect]\ndisable = true\n")
    wrong = machine.call()
    assert (wrong.status, wrong.out) == (1, b"")
    assert "agentfeedback demo" in helped.split("commands:")[0]


def test_older_sessions_are_counted(machine: Machine) -> None:
    """Where nothing happened in the last days, one line says so."""
    path = machine.claude("s1", [prompt("u1")])
    os.utime(path, (1, 1))
    text = machine.call().text
    assert text.splitlines()[:2] == [
        "no session in the last 7 days, 1 older session",
        "1 session not processed yet",
    ]


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_a_terminal_shows_what_was_meant(columns: int) -> None:
    """Drawn by a terminal of that width, the coloured screen is the plain one: nothing wraps that should not.

    Lines that are there to be pasted whole are longer; a terminal wraps those itself.
    """
    folder = Path(__file__).parent / "__snapshots__/test_screens"
    plain = (folder / f"test_screens[{columns}-plain].txt").read_text()
    colour = (folder / f"test_screens[{columns}-colour].txt").read_text()
    expected: list[str] = []
    for each in plain.splitlines():
        pieces = range(0, len(each), columns) if width(each) > columns else [0]
        expected += [each[at : at + columns] if width(each) > columns else each for at in pieces]
    drawn = pyte.Screen(columns, len(expected) + 1)
    pyte.Stream(drawn).feed(colour.replace("\n", "\r\n"))
    assert [each.rstrip() for each in drawn.display][: len(expected)] == [
        each.rstrip() for each in expected
    ]
