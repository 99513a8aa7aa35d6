"""Complaints: measured on prompts labelled by hand, and the rules of what counts as said."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.digest.complaint_tables import TABLES
from agentfeedback.digest.complaints import PHRASES, complaints, own_words

LABELLED = json.loads(
    Path(__file__).with_name("complaints.json").read_text(encoding="utf-8")
)  # a list of {text, language, complaint, half}
DOCS = Path(__file__).parents[3] / "docs/reference/digest-format.md"
IN_A_COMPLAINT = {
    "doesn't work": "it doesn't work",
    "does not work": "it does not work",
    "wrong": "that is wrong",
    "broken": "it is broken",
    "again": "you broke it again",
}
SAID = {phrase: IN_A_COMPLAINT.get(phrase, phrase) for phrase in PHRASES}
SAID["that's not"] = "that's not right"
SAID["not what i"] = "not what i meant"


def measured(language: str, half: str) -> tuple[int, int, float, float]:
    """Labelled prompts, complaints among them, precision and recall, the latter rounded down."""
    rows = [row for row in LABELLED if (row["language"], row["half"]) == (language, half)]
    found = [row for row in rows if complaints(row["text"])]
    right = sum(row["complaint"] for row in found)
    all_complaints = sum(row["complaint"] for row in rows)
    return (
        len(rows),
        all_complaints,
        int(100 * right / len(found)) / 100,
        int(100 * right / all_complaints) / 100,
    )


def documented() -> dict[str, tuple[int, int, float, float]]:
    """The rows of the table of languages in the reference."""
    rows = re.findall(
        r"^\| `(\w\w)` \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$",
        DOCS.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {row[0]: (int(row[1]), int(row[2]), float(row[3]), float(row[4])) for row in rows}


@pytest.mark.parametrize("language", TABLES)
def test_what_is_held_out_is_found_as_the_reference_says(language: str) -> None:
    """Neither number may fall, and a better one is written down."""
    assert measured(language, "held_out") == documented()[language]
    assert measured(language, "held_out")[2] >= 0.9
    assert measured(language, "held_out")[3] >= 0.8


def test_every_language_has_a_row_and_enough_labels() -> None:
    """25 complaints and 40 others of each language, divided in halves."""
    assert list(documented()) == list(TABLES)
    for language in TABLES:
        labels = [row["complaint"] for row in LABELLED if row["language"] == language]
        assert labels.count(True) >= 25
        assert labels.count(False) >= 40
    assert len({row["text"] for row in LABELLED}) == len(LABELLED)


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_printed_as_it_is(phrase: str) -> None:
    """In any case, with any white space and apostrophe, at any place, but never inside a word."""
    said = SAID[phrase]
    spaced = said.replace(" ", "\u00a0\n \t").replace("'", "’")
    for text in (said, said.upper(), f"no,\n{said}!", f"Hm. {said}?", spaced):
        assert phrase in complaints(text), text
    for text in (f"un{phrase}", f"{phrase}ness", f"x{phrase}x", ""):
        assert complaints(text) == (), text


@pytest.mark.parametrize("said", [*SAID.values(), "du hast die Tests gelöscht", "tu as cassé ça"])
@pytest.mark.parametrize(
    "pasted",
    [
        "Explain `{}` please",
        "Explain\n```text\n{}\n```",
        "Explain\n```\n{}",
        "Explain\n~~~\n{}\n~~~\n",
        'Translate "{}"',
        "Translate “{}”",
        "Translate „{}“",
        "Translate « {} »",
        "Translate 「{}」",
        "It printed:\n> {}",
        "It printed:\n    {}",
        "$ {}",
    ],
)
def test_what_is_quoted_is_not_said(said: str, pasted: str) -> None:
    """Code, quotations and pasted lines are about something, and nobody's annoyance."""
    assert complaints(said)
    assert complaints(pasted.format(said)) == ()


def test_a_prompt_that_is_one_quotation_is_said() -> None:
    """`opencode run` stores its whole prompt in quotes; quotes within it are quotes."""
    assert complaints('"That is wrong"') == ("wrong",)
    assert complaints('"You broke it, it prints \\"still failing\\""') == ("you broke",)
    assert complaints('"That is wrong" is what "it" said to "me"') == ()


def test_phrases_come_once_and_in_one_order() -> None:
    """Those the digest always had come first; `again` only beside another one."""
    text = "Du hast schon wieder alles gelöscht. It is broken again and again, why did you do that?"
    assert complaints(text) == ("why did you", "broken", "again", "du hast")
    assert complaints("again") == complaints("Run it again, please, and again") == ()


def test_where_the_rest_was_pasted_both_ends_are_read() -> None:
    """A long log in between is not looked at, and does not hide what is said about it."""
    log = "that is wrong\n" * 20_000
    assert complaints(f"It is still broken. Here is the log: {'x ' * 9000}{log}{'x ' * 9000}") == (
        "still broken",
        "broken",
    )
    assert complaints(f"{'x ' * 9000}{log}{'x ' * 9000}. Why did you stop?") == ("why did you",)


WORDS = st.sampled_from(
    [*" .,!?:\n`'\"“”„«»「」~>$", "```", "~~~\n", "    ", *(row["text"] for row in LABELLED[::40])]
)


@given(st.lists(st.one_of(WORDS, st.text(max_size=5)), max_size=6).map("".join))
def test_any_text_is_answered_with_known_phrases(text: str) -> None:
    """No text raises; what is printed never stems from the text; spaces and case do not matter."""
    known = {*PHRASES, *(name for table in TABLES.values() for name in table.rules)}
    found = complaints(text)
    assert set(found) <= known
    assert len(set(found)) == len(found)
    assert "again" not in found or len(found) > 1 or "again" in own_words(text)


@pytest.mark.parametrize(
    "part",
    [
        *['"', '\\"', " '", "`a\n", "``` ", "~~~\n", "“", "„", "«", "「", " ", "\n    x", "\n> "],
        *["it ", "still ", "you also ", "du hast ", "hast du ", "stimmt so so ", "this is not "],
        *["tu as toujours ", "so sigue otra vez ", "なぜ", "また", "你把", "if that is wrong "],
    ],
)
def test_time_is_linear(part: str) -> None:
    """Half a million characters of what a pattern begins with take seconds at most, not hours."""
    begun = time.process_time()
    complaints(part * (500_000 // len(part)))
    assert time.process_time() - begun < 10
