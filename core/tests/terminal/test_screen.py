"""What reaches a terminal is safe to show and fits; what reaches a pipe is whole."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any, TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.terminal import screen
from agentfeedback.terminal.screen import Screen, note, shorten, visible, width, write

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
UNSAFE: Any = ("Cc", "Cf", "Cs", "Zl", "Zp")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, \u00e9\u6f22 \U0001f600", "plain text, \u00e9\u6f22 \U0001f600"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("a\tb\nc\rd", "a\\tb\\nc\\rd"),
        ("\x00\x7f\x80\x85\x9f", "\\x00\\x7f\\x80\\x85\\x9f"),
        ("\u202egpj.exe\u202c", "\\u202egpj.exe\\u202c"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("lone \ud800 and byte \udcff", "lone \\ud800 and byte \\udcff"),
        ("a\u200bb\u00adc\ufeffd\u2060e", "a\\u200bb\\xadc\\ufeffd\\u2060e"),
        ("\U000e0041\U000e0042", "\\U000e0041\\U000e0042"),
        (FAMILY, FAMILY),
        (PERSIAN, PERSIAN),
        ("pass\u200dword\u200c", "pass\\u200dword\\u200c"),
        ("\u0661\u0600\u0662", "\u0661\u0600\u0662"),
        ("wide\u3000space\u00a0private\ue000", "wide\u3000space\u00a0private\ue000"),
        ("C:\\x1b", "C:\\x1b"),
    ],
)
def test_visible_spells_out_what_hides_or_moves(text: str, shown: str) -> None:
    """Control, direction and invisible characters are written out, everything else is untouched."""
    assert visible(text) == shown


def test_newlines_may_be_kept() -> None:
    """With `keep_newlines` LF and TAB stay, a carriage return still does not."""
    assert visible("a\tb\nc\rd\x1b", keep_newlines=True) == "a\tb\nc\\rd\\x1b"


@given(ANY_TEXT | st.text("a\u200d\u200c\u06cc\x1b\n" + BIDI))
def test_visible_text_is_safe_and_stays(text: str) -> None:
    """What was made visible holds nothing unsafe, encodes, and is not changed a second time."""
    shown = visible(text)
    for char in shown:
        safe = unicodedata.category(char) not in UNSAFE or ord(char) in screen._SHAPED
        assert safe or char in "\u200c\u200d"
    assert not set(shown) & set(BIDI)
    shown.encode()
    assert visible(shown) == shown


@given(st.text(st.characters(codec="utf-8", exclude_categories=UNSAFE)))
def test_safe_text_is_unchanged(text: str) -> None:
    """A text without such characters is shown as it is."""
    assert visible(text) == text


def test_visible_is_linear() -> None:
    """Many characters to escape take no more than a moment."""
    assert len(visible("\x1b" * 100_000)) == 400_000


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("\u00e9", 1),
        ("e\u0301", 1),
        ("\u6f22\u5b57", 4),
        ("\uff21", 2),
        ("\U0001f600", 2),
        ("a\u200db", 2),
        ("\u1112\u1161\u11ab", 2),
        (FAMILY, 2),
        ("\U0001f1e9\U0001f1ea", 2),
        ("\u2764\ufe0f", 2),
        ("\U0001f44d\U0001f3fd", 2),
        (PERSIAN, 7),
    ],
)
def test_width_counts_cells(text: str, cells: int) -> None:
    """East Asian characters and emoji take two cells, whatever they are made of, marks none, all else one."""
    assert width(text) == cells


@pytest.mark.parametrize(
    ("keep", "shown"),
    [("start", "abcd…"), ("end", "…ghij"), ("both", "ab…ij")],
)
def test_shortening_keeps_the_part_asked_for(keep: screen.End, shown: str) -> None:
    """An ellipsis stands for what is left out at the end, the start or in the middle."""
    assert shorten("abcdefghij", 5, keep=keep) == shown
    assert shorten("abcde", 5, keep=keep) == "abcde"


@pytest.mark.parametrize("keep", ["start", "end", "both"])
@pytest.mark.parametrize("cluster", [FAMILY, "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "e\u0301"])
def test_shortening_parts_no_cluster(cluster: str, keep: screen.End) -> None:
    """What a reader takes for one character is kept whole or left out."""
    for cells in range(1, 12):
        short = shorten(cluster * 9, cells, keep=keep)
        assert set(short.replace(cluster, "")) <= {screen.ELLIPSIS} and width(short) <= cells


CELLS = st.text("ab-/ \u6f22\u0301\u00e9\U0001f600\u200d\x1b\n\u202e", max_size=60) | ANY_TEXT
KEEPS = st.sampled_from(["start", "end", "both"])


@given(CELLS.map(visible), st.integers(0, 20), KEEPS)
def test_shortened_text_fits(text: str, cells: int, keep: screen.End) -> None:
    """A shortened text is never wider than asked, and whole when it fits."""
    short = shorten(text, cells, keep=keep)
    assert width(short) <= cells
    if width(text) <= cells:
        assert short == text


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


def test_a_screen_knows_its_terminal(line: TextIO) -> None:
    """Width and colour come from the terminal and the environment; a pipe has neither."""
    assert Screen.of(line, {"TERM": "xterm", "COLUMNS": "97"}).columns == 97
    assert Screen.of(line, {"TERM": "xterm", "COLUMNS": "wide"}).columns == 80
    assert Screen.of(line, {"TERM": "xterm"}).colour
    assert not Screen.of(line, {"TERM": "xterm", "NO_COLOR": "1"}).colour
    assert Screen.of(line, {"TERM": "xterm", "NO_COLOR": ""}).colour
    assert not Screen.of(line, {"TERM": "dumb"}).colour
    assert not Screen.of(line, {}).colour
    for closed in (io.StringIO(), None):
        assert Screen.of(closed, {"TERM": "xterm", "COLUMNS": "97"}).columns == 0


def run(code: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    source = f"import sys\nfrom agentfeedback.terminal.screen import *\n{code}"
    return subprocess.run([sys.executable, "-c", source], check=False, timeout=60, **more)  # type: ignore[call-overload, no-any-return]


def test_output_keeps_its_order_and_its_bytes() -> None:
    """Bytes and text are written in order, in UTF-8 whatever the locale, odd file names escaped."""
    code = 'print("a"); write(b"\\xff\\n"); write("\\u00e9\\udcff\\n"); print("b")'
    done = run(code, stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.replace(b"\r", b"") == b"a\n\xff\n\xc3\xa9\\udcff\nb\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes that do not block")
def test_a_pipe_that_does_not_block_gets_everything() -> None:
    """A parent that made its pipe non-blocking and reads slowly loses nothing."""
    read, end = os.pipe()
    os.set_blocking(end, False)
    source = "from agentfeedback.terminal.screen import write\nwrite(b'x' * 1_000_000)"
    for options in ([], ["-u"]):
        with subprocess.Popen([sys.executable, *options, "-c", source], stdout=end) as process:
            left = 1_000_000
            while left:
                left -= len(os.read(read, 65_536))
            assert process.wait(timeout=60) == 0
    os.close(read)
    os.close(end)


def test_a_reader_that_went_away_is_reported_to_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Writing to a closed pipe raises `BrokenPipeError` at once, not at exit."""
    read, end = os.pipe()
    os.close(read)
    stream = open(end, "w", encoding="utf-8")  # noqa: SIM115 -- closing it fails by design
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(BrokenPipeError):
        write("x\n")
    with pytest.raises(BrokenPipeError):
        stream.close()


def test_closed_standard_streams_are_an_error_or_nobody_to_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without standard output a command fails with a reason; without standard error it goes on."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    note("unheard")
    with pytest.raises(AgentFeedbackError, match="standard output is closed"):
        write("x")


def test_notes_are_one_visible_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A note goes to standard error as one line, whatever it quotes."""
    note("problem: a\nb\x1b[2J")
    captured = capsys.readouterr()
    assert captured.err == "problem: a\\nb\\x1b[2J\n"
    assert captured.out == ""


def test_a_stream_put_in_place_gets_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that redirects standard output to a text stream still gets the output."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    write(b"json\n")
    write("text \udcff\n")
    assert stream.getvalue() == "json\ntext \\udcff\n"


@pytest.mark.parametrize(
    "load",
    [
        "terminal.arguments",
        "terminal.screen",
        "terminal.table",
        "cli.render",
        "terminal.usage",
        "terminal.completion",
    ],
)
def test_start_up_loads_next_to_nothing(load: str) -> None:
    """Importing a module of the command line loads none of the slow standard modules."""
    slow = {"typing", "argparse", "re", "textwrap", "shutil", "inspect", "unicodedata", "attr"}
    source = (
        "import sys; before = set(sys.modules)\n"
        f"import agentfeedback.{load}\n"
        f"print(*sorted((set(sys.modules) - before) & {slow!r}))"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-S", "-c", source],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.stdout.split() == []
