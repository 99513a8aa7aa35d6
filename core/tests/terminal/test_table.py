"""Tables: whole off a terminal, and on one no wider than it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.terminal.screen import Screen, width
from agentfeedback.terminal.table import Column, table

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)


CELLS = st.text("ab-/ \u6f22\u0301\u00e9\U0001f600\u200d\x1b\n\u202e", max_size=60) | ANY_TEXT


COLUMNS = (
    Column("NAME", keep="both"),
    Column("STATE", style=lambda cell: "red" if cell == "bad" else ""),
    Column("TIME", whole=True),
    Column("LAST"),
)
PLANS = ((("NAME", 10), ("TIME", 5), ("LAST", 0)), (("NAME", 4), ("TIME", 0), ("STATE", 4)))


def test_off_a_terminal_cells_are_whole_and_padded_in_characters() -> None:
    """Each column is two wider than its widest cell, in characters; the last is not padded."""
    text = table(COLUMNS, [["\u6f22\u5b57x", "a\nb", "-", "z"], ["n" * 50, "s", "t", ""]], Screen())
    assert text == (
        "NAME" + " " * 48 + "STATE  TIME  LAST\n"
        "\u6f22\u5b57x" + " " * 49 + "a\\nb   -     z\n" + "n" * 50 + "  s      t     \n"
    )


def test_the_header_is_always_printed() -> None:
    """A table without rows is its header."""
    assert table(COLUMNS, [], Screen()) == "NAME  STATE  TIME  LAST\n"


def test_a_terminal_pads_in_cells_and_colours_what_has_a_style() -> None:
    """Wide characters align; the header is bold and styled cells carry their colour."""
    rows = [["\u6f22\u5b57x", "bad", "10:00:00", "1"], ["abc", "ok", "10:00:00", "2"]]
    plain = (
        "NAME   STATE  TIME      LAST\n"
        "\u6f22\u5b57x  bad    10:00:00  1\n"
        "abc    ok     10:00:00  2\n"
    )
    assert table(COLUMNS, rows, Screen(80)) == plain
    coloured = table(COLUMNS, rows, Screen(80, colour=True))
    assert "\x1b[1mNAME   \x1b[0m" in coloured
    assert "\x1b[31mbad    \x1b[0m" in coloured
    assert "\nabc    ok     10:00:00  2\n" in coloured


def test_a_plan_is_followed_no_further_than_needed() -> None:
    """Columns give up width in the order of the plan, and what was given up too much comes back."""
    rows = [["n" * 20, "state", "10:00:00", "last"]]
    whole = table(COLUMNS, rows, Screen(43))
    assert whole == table(COLUMNS, rows, Screen())
    narrower = table(COLUMNS, rows, Screen(42)).splitlines()[1]
    assert narrower == "n" * 9 + "…" + "n" * 9 + "  state  10:00:00  last"
    cut = table(COLUMNS, rows, Screen(30), PLANS).splitlines()
    assert cut == ["NAME        STATE  TIME   LAST", "nnnnn…nnnn  state  10:00  last"]
    dropped = table(COLUMNS, rows, Screen(29), PLANS).splitlines()
    assert dropped == ["NAME             STATE  TIME", "nnnnnnn…nnnnnnn  state  10:00"]
    second = table(COLUMNS, rows, Screen(22), PLANS).splitlines()
    assert second == ["NAME       STATE  LAST", "nnnn…nnnn  state  last"]


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=4),
    st.integers(1, 120),
    st.sampled_from([(), PLANS]),
)
def test_a_table_fits_the_terminal(
    rows: list[tuple[str, str, str, str]],
    columns: int,
    plans: tuple[tuple[tuple[str, int], ...], ...],
) -> None:
    """No line of a table is wider than the terminal, whatever its cells hold."""
    lines = table(COLUMNS, rows, Screen(columns), plans).split("\n")
    assert len(lines) == len(rows) + 2
    assert max(map(width, lines)) <= columns


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "24")
    return Terminal()


@pytest.fixture
def line() -> Iterator[TextIO]:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as stream:
        yield stream
    os.close(master)
