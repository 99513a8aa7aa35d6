"""Progress: one line, only of what lasts, and gone at its end."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TextIO

import pytest

from agentfeedback.terminal.progress import Progress


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that only moves when told."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "24")
    return Terminal()


def test_progress_shows_only_what_lasts(terminal: Terminal) -> None:
    """The line comes after half a second, changes ten times a second at most, and is erased."""
    clock = Clock()
    with Progress("reading", 9, stream=terminal, clock=clock) as progress:
        clock.now += 0.4
        progress.step()
        assert terminal.getvalue() == ""
        clock.now += 0.2
        progress.step(2)
        clock.now += 0.05
        progress.step()
        assert terminal.getvalue() == "\r\x1b[Kreading 3/9"
        clock.now += 0.1
        progress.step()
    assert terminal.getvalue() == "\r\x1b[Kreading 3/9\r\x1b[Kreading 5/9\r\x1b[K"


def test_a_short_run_shows_no_progress(terminal: Terminal) -> None:
    """A run that ends within half a second writes nothing at all."""
    with Progress("reading", 3, stream=terminal, clock=Clock()) as progress:
        progress.step(3)
    assert terminal.getvalue() == ""


def test_progress_fits_its_line(terminal: Terminal) -> None:
    """A long label is shortened, so that the line can be erased, and is made visible."""
    clock = Clock()
    progress = Progress("reading \x07" + "x" * 50, stream=terminal, clock=clock)
    clock.now += 1
    progress.step()
    assert terminal.getvalue() == "\r\x1b[Kreading \\x07xxxxxxxxxx…"


@pytest.mark.parametrize("term", ["dumb", ""])
def test_progress_is_silent_where_lines_cannot_be_erased(
    term: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe and a terminal that cannot erase see no progress."""
    monkeypatch.setenv("TERM", term)
    pipe = io.StringIO()
    clock = Clock()
    for stream in (terminal, pipe):
        with Progress("reading", 3, stream=stream, clock=clock) as progress:
            clock.now += 9
            progress.step()
            assert progress.count == 1
        assert stream.getvalue() == ""


@pytest.fixture
def line() -> Iterator[TextIO]:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as stream:
        yield stream
    os.close(master)


def run(code: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    source = f"import sys\nfrom agentfeedback.terminal.screen import *\n{code}"
    return subprocess.run([sys.executable, "-c", source], check=False, timeout=60, **more)  # type: ignore[call-overload, no-any-return]
