"""What is the same about two failures: normalised texts and commands, and the line that says why."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.report.signature import (
    NORMAL_BYTES,
    error_line,
    normalised,
    normalised_command,
)


@pytest.mark.parametrize(
    ("command", "normal"),
    [
        (
            "cd /repo && FOO=1 pytest -x tests/test_cart.py::test_total --maxfail=3",
            "pytest -x <path>::test_total --maxfail=<n>",
        ),
        ("/usr/bin/python3 -m pytest tests/ -k 'a or b'", "python3 -m pytest <path> -k <str>"),
        ("curl -s https://x.example/v1?id=3 | jq .a", "curl -s <url> | jq .a"),
        ("docker rm 3f2a1c9d8b7e", "docker rm <hex>"),
        ("cd 'a b'; cd c && A=\"x y\" B= make  -j4", "make -j4"),
        ("C:\\tools\\ninja.exe -C out", "ninja.exe -C out"),
        ("cd /repo", "cd <path>"),
        ("", ""),
    ],
)
def test_a_command_is_its_program_and_its_normal_words(command: str, normal: str) -> None:
    """Where it ran and its variables go; the program keeps its name."""
    assert normalised_command(command) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (
            "src/a.ts:12:5 - error TS2304: Cannot find name 'foo'.",
            "<path>:<n>:<n> - error TS2304: Cannot find name <str>.",
        ),
        (
            "/bin/bash: line 1: frob: command not found",
            "<path>: line <n>: frob: command not found",
        ),
        ("\x1b[31mred\x1b[0m\x1b]0;title\x07 text\x00", "red text"),
        ('it\'s "a \\" b" and `c`', "it's <str> and <str>"),
        ("an \"open quote and 'a whole one'", 'an "open quote and <str>'),
        ("see http://h/a?b#c) and 1ftp://h", "see <url>) and <n><url>"),
        ("id 0B0F6C8E-1111-4222-8333-444444444444!", "id <id>!"),
        ("at 2026-11-30T09:23:48.123Z, 2026-11-30, 9:03:04.5", "at <time>, <time>, <time>"),
        ("0xDEADbeef deadbeef1 deadbeef 1234567", "<hex> <hex> deadbeef <n>"),
        ("~/a ./b ../c/d e/f C:\\x (/g) =/h and/or", "<path> " * 5 + "(<path>) =<path> <path>"),
        ("v1 1.5 1,000 x2 3s", "v1 <n> <n> x2 <n>s"),
        ("a\n\tb   c ", "a b c"),
    ],
)
def test_what_differs_by_chance_is_named_by_its_kind(text: str, normal: str) -> None:
    """Each rule, at its edges."""
    assert normalised(text) == normal


@given(st.text(alphabet="\"'`\\ab01/:.-<[=\x1b]\n", max_size=60))
@settings(max_examples=150)
def test_a_normal_text_is_short_and_one_line(text: str) -> None:
    """Whatever a log holds, its normal text is small, and the same text has the same."""
    normal = normalised(text)
    assert len(normal.encode()) <= NORMAL_BYTES
    assert normal == " ".join(normal.split()) == normalised(text)
    assert not any(char < " " for char in normal)


@pytest.mark.parametrize(
    "piece", ['"\\', "'", "E", "\x1b]", "a.", "1.", "cd a;", "A=1 ", "0x", "a/", '"a', "00:", "f1-"]
)
def test_hostile_texts_cost_linear_time(piece: str) -> None:
    """A text of megabytes that begins every rule and ends none is done in a moment: quadratic work takes hours."""
    text = piece * (1_000_000 // len(piece))
    before = time.process_time()
    normalised(text)
    normalised_command(text)
    error_line(text)
    assert time.process_time() - before < 20


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Traceback\n  x\nValueError: bad\nmore\nkeys.KeyError: 'a'\nbye", "keys.KeyError: 'a'"),
        ("E   assert 1 == 2\nE       AssertionError", "E       AssertionError"),
        ("ok\nerror: first\nfatal: second", "error: first"),
        ("Exit code 2\nmake: *** No rule\nlast", "last"),
        ("one\nfrob: command not found\nthree", "frob: command not found"),
        ("no errors here\nbye", "bye"),
        ("Exit code 1\n\n  \n", ""),
        ("", ""),
    ],
)
def test_the_error_line_is_the_one_that_says_why(text: str, line: str) -> None:
    """The last exception, else the first line with a telling word, else the last line; a status is not a line."""
    assert error_line(text) == line


def test_the_middle_of_a_long_result_is_not_searched() -> None:
    """The first and the last 64 KiB are: what an output says in between is not why it failed."""
    filler = "x" * 99 + "\n"
    long = filler * 1000 + "error: hidden\n" + filler * 1000
    assert error_line(long + "bye") == "bye"
    assert error_line(long + "fatal: seen\nbye") == "fatal: seen"
    assert error_line("fatal: seen\n" + long) == "fatal: seen"
