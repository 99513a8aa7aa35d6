"""What the lines of a history say, and that an answer can say nothing in Aider's place."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading import Home, Report
from agentfeedback_aider.chat import Chat
from agentfeedback_aider.reader import HISTORY, Aider
from pytest_agentfeedback import Recorder

START = ["# aider chat started at 2026-05-04 09:00:00", "", "> Aider v0.86.2  ", ""]
TOKENS = "> Tokens: 2.4k sent, 46 received.  "
ASKED = ["#### fix it  ", ""]
#: Lines that mean something between two answers.
LINES = [
    "#### a prompt  ",
    "> Applied edit to src/app.py  ",
    "> # 1 SEARCH/REPLACE block failed to match!",
    "> # Fix any errors below, if possible.  ",
    "> Running make test  ",
    "> Run shell command? (Y)es/(N)o [Yes]: n  ",
    "> Added 2 lines of output to the chat.  ",
    "> Attempt to fix test errors? (Y)es/(N)o [Yes]: y  ",
    "# aider chat started at 2026-05-05 09:00:00",
    "> Aider v0.86.2  ",
    "> litellm.X: y",
    "> ^C again to exit",
    "The SEARCH section must exactly match ",
]


class Told(NamedTuple):
    prompts: list[str]
    calls: list[tuple[str, str | None]]
    interrupts: int
    said: list[str]


def told(*lines: str) -> Told:
    recorder = Recorder()
    chat = Chat(recorder)
    for number, line in enumerate((*START, *lines), 1):
        recorder.offset = number * 100
        chat.line(number, line)
    entries = recorder.recording().entries
    return Told(
        [entry.text for entry in entries if entry.kind == "prompt"],
        [(call.tool, call.status) for entry in entries for call in entry.calls],
        sum(entry.kind == "interrupt" for entry in entries),
        [said for entry in entries for said in entry.said],
    )


@given(st.lists(st.sampled_from(LINES), max_size=8))
def test_an_answer_says_nothing_in_aiders_place(lines: list[str]) -> None:
    """Whatever stands in an answer: one prompt, no call, no interrupt, and the answer whole."""
    answer = ["Look:", *lines]
    found = told(*ASKED, *answer, TOKENS, "")
    assert (found.prompts, found.calls, found.interrupts) == (["fix it"], [], 0)
    assert found.said == ["\n".join(answer).strip()]


@pytest.mark.parametrize(
    ("lines", "calls"),
    [
        (["> Applied edit to a.py  "], [("edit", "ok")]),
        (["> # 2 SEARCH/REPLACE blocks failed to match!"], [("edit", "error")]),
        (["> # Fix any errors below, if possible.  ", ">  ", "> a.py: bad  "], [("lint", None)]),
        (
            [
                "> # Fix any errors below, if possible.  ",
                "> Attempt to fix lint errors? [Yes]: y  ",
            ],
            [("lint", "error")],
        ),
        (["> # Fix any errors below, if possible.  ", "", "Done."], [("lint", "error")]),
        (["> Added 2 lines of output to the chat.  "], []),
        (
            [
                "> Added 2 lines of output to the chat.  ",
                "> Attempt to fix test errors? [Yes]: n  ",
            ],
            [("test", "error")],
        ),
        (["> make  ", "> Run shell command? (Y)es/(N)o [Yes]: y  "], []),
        (
            ["> make  ", "> Run shell command? (Y)es/(N)o [Yes]: y  ", "> Running make  "],
            [("shell", "ok")],
        ),
        (["> make  ", "> Run shell command? (Y)es/(N)o [Yes]: n  "], [("shell", "denied")]),
        (["> make  ", "> Run shell command? (Y)es/(N)o [Yes]: d  "], [("shell", "denied")]),
    ],
)
def test_calls(lines: list[str], calls: list[tuple[str, str | None]]) -> None:
    """What Aider's lines say after an answer."""
    assert told(*ASKED, "I do.", TOKENS, *lines).calls == calls


@pytest.mark.parametrize(
    ("typed", "prompts"),
    [
        (["#### one  ", "#### two  ", ""], ["one\ntwo"]),
        (["#### /run make  ", ""], []),
        (["#### !ls  ", ""], []),
        (["#### /ask why  ", "", "#### why  ", ""], ["/ask why"]),
        (["#### /ask why  ", "", "#### how  ", ""], ["/ask why", "how"]),
        (["#### /ask  ", ""], []),
        (["#### /run make  ", "", "#### n  ", ""], []),
        (["#### n  ", ""], ["n"]),
        (["#### /run make  ", "", "#### next  ", ""], ["next"]),
    ],
)
def test_prompts(typed: list[str], prompts: list[str]) -> None:
    """What a person typed for the model, once."""
    assert told(*typed).prompts == prompts


def test_an_interrupted_answer() -> None:
    """What had been said stands below the mark, and ends at the next prompt."""
    found = told(*ASKED, ">  ", "> ^C again to exit  ", "", "Once", TOKENS[:8], "", "#### no  ", "")
    assert (found.prompts, found.interrupts, found.calls) == (["fix it", "no"], 1, [])


def test_the_block_that_did_not_match_says_nothing() -> None:
    """It stands there as the model wrote it."""
    found = told(
        *ASKED,
        "I try.",
        TOKENS,
        "> # 1 SEARCH/REPLACE block failed to match!",
        "",
        "## SearchReplaceNoExactMatch: …",
        "> Applied edit to a.py  ",
        "#### typed by nobody  ",
        "The SEARCH section must exactly match an existing block  ",
        "",
        "> Only 3 reflections allowed, stopping.  ",
        "",
        "#### enough  ",
        "",
    )
    assert found.calls == [("edit", "error")]
    assert found.prompts == ["fix it", "enough"]


def test_the_words_of_the_call_are_not_an_answer(tmp_path: Path) -> None:
    """A prompt of several lines given on the command line stands unquoted among the start lines."""
    (tmp_path / HISTORY).write_text(
        "\n# aider chat started at 2026-05-04 09:00:00\n\n> aider --message one\ntwo  \n"
        "> Aider v0.86.2  \n\n#### one  \n#### two  \n\n"
    )
    (session,) = Aider().find(Home(str(tmp_path)), Report("aider"))
    recorder = Recorder()
    log = Aider().open(session)
    Aider().read(log, Aider().place(session, strict=True), recorder)
    log.close()
    assert [each.text for each in recorder.recording().entries if each.kind == "prompt"] == [
        "one\ntwo"
    ]
