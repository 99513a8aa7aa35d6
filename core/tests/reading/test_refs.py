"""Refs, relative times, outcomes and uids as people write them."""

from __future__ import annotations

import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.times import list_form, parse
from agentfeedback.reading.refs import (
    OUTCOMES,
    TIME_FORMS,
    Ref,
    outcome,
    since,
    split,
    uid,
    valid_id,
)

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND + 987_654_321
UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
CENTURY = 876_600 * 3600


def refused(problem: str, remedy: str, call: object, *arguments: object) -> None:
    with pytest.raises(UsageError) as caught:
        call(*arguments)  # type: ignore[operator]
    assert (caught.value.problem, caught.value.remedy) == (problem, remedy)


@given(st.text(st.characters(exclude_characters=":"), min_size=1), st.text(min_size=1))
def test_a_ref_is_split_at_its_first_colon(harness: str, id: str) -> None:
    """What stands behind the first colon is the id, further colons included."""
    if valid_id(id):
        assert split(f"{harness}:{id}") == (harness, id)
        assert str(Ref(harness, id, "given")) == f"{harness}:{id}"


@pytest.mark.parametrize("text", ["", ":", "codex", "codex:", ":s1"])
def test_a_ref_has_two_parts(text: str) -> None:
    """Both the harness and the id, with a colon between them."""
    refused(
        f'"{text}" is not a session',
        "write <harness>:<session id>, as sessions list shows it",
        split,
        text,
    )


@pytest.mark.parametrize("id", [".", "..", "a/b", "a\\b", "a#b", "a\0b"])
def test_an_id_is_no_path_and_no_span(id: str) -> None:
    """An id that could lead elsewhere, or that holds the mark of a span, is refused."""
    assert not valid_id(id)
    with pytest.raises(UsageError) as caught:
        split(f"codex:{id}")
    named = "names an entry" if "#" in id else "is not a session"
    assert caught.value.problem == f'"codex:{id}" {named}'


@pytest.mark.parametrize(
    ("id", "valid"), [("", False), ("...", True), ("a b", True), ("AX", True), ("\u00e9", True)]
)
def test_any_other_text_is_an_id(id: str, valid: bool) -> None:
    """Only the empty text is not one."""
    assert valid_id(id) is valid


@given(st.integers(0, 10**9), st.sampled_from(sorted(UNITS)))
def test_a_relative_time_is_before_now_in_whole_seconds(number: int, unit: str) -> None:
    """Up to a century; further back is refused."""
    seconds = number * UNITS[unit]
    if seconds <= CENTURY:
        assert since(f"{number}{unit}", NOW) == (1_700_000_000 - seconds) * SECOND
    else:
        with pytest.raises(UsageError):
            since(f"{number}{unit}", NOW)


@given(st.integers(0, 253_402_300_799 * SECOND))
def test_an_absolute_time_is_itself(at: int) -> None:
    """An RFC 3339 time, to the nanosecond."""
    assert since(list_form(at), NOW) == at


def test_the_edges_of_a_relative_time() -> None:
    """Exactly a century is taken, a minute more is not; leading zeros count as digits up to nineteen."""
    assert since("", NOW) is None
    assert since(f"{CENTURY // 60}m", NOW) == (1_700_000_000 - CENTURY) * SECOND
    assert since("0" * 18 + "1m", NOW) == (1_700_000_000 - 60) * SECOND


def test_days_begin_at_midnight_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """`today`, `yesterday` and a date are local days, across a change of the clock too."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        now = parse("2026-10-26T10:00:00Z") or 0  # the clock went back on the 25th
        for text, at in (
            ("today", "2026-10-25T23:00:00Z"),
            ("Today", "2026-10-25T23:00:00Z"),
            ("yesterday", "2026-10-24T22:00:00Z"),
            ("2026-10-25", "2026-10-24T22:00:00Z"),
            ("2026-01-01", "2025-12-31T23:00:00Z"),
        ):
            found = since(text, now)
            assert found is not None and list_form(found) == at
        late = parse("2026-10-26T23:30:00Z") or 0  # here it is the 27th already
        assert since("today", late) == parse("2026-10-26T23:00:00Z")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        f"{CENTURY // 60 + 1}m",
        "0" * 19 + "1m",
        "9" * 5000 + "w",
        "m",
        "7",
        "7 d",
        "7d ",
        "-7d",
        "7D",
        "7y",
        "\u0667d",
        "yesterdays",
        "2026-02-30",
        "2026-1-8",
        "20261008",
    ],
)
def test_anything_else_is_refused_with_examples(text: str) -> None:
    """The message repeats what was written and shows what may be."""
    refused(
        f'--since does not understand "{text}"',
        f"write it like {TIME_FORMS}",
        since,
        text,
        NOW,
    )


def test_outcomes() -> None:
    """Three words, in this spelling."""
    assert OUTCOMES == ("filed", "nothing", "skipped")
    assert [outcome(word) for word in OUTCOMES] == list(OUTCOMES)
    refused(
        '"Filed" is not an outcome',
        "it is filed, nothing or skipped",
        outcome,
        "Filed",
    )


@given(st.uuids())
def test_a_uid_of_any_version_in_any_case(value: uuid.UUID) -> None:
    """Versions 1 to 8 of RFC 9562's variant are taken as written."""
    for version in range(1, 9):
        text = str(
            uuid.UUID(int=value.int & ~(0xF000 << 64) & ~(0xC000 << 48) | version << 76 | 2 << 62)
        )
        assert uid(text) == text
        assert uid(text.upper()) == text.upper()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0197b6a0-0000-9000-8000-000000000000",
        "0197b6a0-0000-0000-8000-000000000000",
        "0197b6a0-0000-7000-c000-000000000000",
        "0197b6a0-0000-7000-8000-00000000000",
        "0197b6a0-0000-7000-8000-0000000000000",
        "0197b6a0000070008000000000000000",
        " 0197b6a0-0000-7000-8000-000000000000",
    ],
)
def test_other_texts_are_no_uid(text: str) -> None:
    """Another version, another variant, another length."""
    refused(f'"{text}" is not the uid of a report', "pass the uid that submit printed", uid, text)
