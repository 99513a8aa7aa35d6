"""The watermark: what a log's size and first-line hash say against the row of its session."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.state.watermark import LogStatus, NotDigested, SessionRow, StorageOnly, compare

DIGESTED = SessionRow(
    "codex", "s1", "/srv/app/s1.jsonl", mtime=5, size=100, head="aa", digested_at=7
)
MARKED = evolve(
    DIGESTED, processed_at=9, processed_size=100, processed_mtime=5, processed_head="aa"
)
NEW = LogStatus("new")
PROCESSED = LogStatus("processed")
ROTATED = LogStatus("changed", "rotated")
TRUNCATED = LogStatus("changed", "truncated")


@pytest.mark.parametrize(
    ("row", "size", "head", "expected"),
    [
        (None, 100, "aa", NEW),
        (DIGESTED, 100, "aa", NEW),
        (evolve(MARKED, processed_at=None), 100, "aa", NEW),
        (evolve(MARKED, processed_size=None), 100, "aa", NEW),
        (MARKED, 100, "aa", PROCESSED),
        (MARKED, 99, "aa", TRUNCATED),
        (MARKED, 0, "aa", TRUNCATED),
        (MARKED, 101, "aa", LogStatus("changed", "appended", 100)),
        (MARKED, 100, "bb", ROTATED),
        (MARKED, 99, "bb", ROTATED),
        (MARKED, 101, "bb", ROTATED),
        (evolve(MARKED, processed_head=None), 100, "aa", ROTATED),
        (evolve(MARKED, processed_size=0), 100, "aa", LogStatus("changed", "appended", 0)),
        (evolve(MARKED, processed_size=0), 0, "aa", PROCESSED),
    ],
)
def test_state_follows_size_and_head(
    row: SessionRow | None, size: int, head: str, expected: LogStatus
) -> None:
    """Head is compared first, then size, and a row never marked is new."""
    assert expected == compare(row, size, head)


def test_only_the_marked_watermark_decides() -> None:
    """A later digest that nobody marked leaves the session changed from its last mark."""
    row = evolve(MARKED, size=900, head="cc", mtime=99, digested_at=99)
    assert LogStatus("changed", "appended", 100) == compare(row, 900, "aa")
    assert PROCESSED == compare(row, 100, "aa")


@pytest.mark.parametrize(
    ("size", "boundaries", "expected"),
    [
        (150, {0, 100, 150}, LogStatus("changed", "appended", 100)),
        (150, {0, 90, 150}, ROTATED),
        (100, {0, 90}, PROCESSED),
        (90, {0, 90}, TRUNCATED),
    ],
)
def test_a_marked_size_between_two_records_is_rotated(
    size: int, boundaries: set[int], expected: LogStatus
) -> None:
    """In a row store a marked size inside the log must be between two records, else rows went."""
    assert expected == compare(MARKED, size, "aa", boundaries.__contains__)


@given(
    marked=st.integers(0, 1 << 62),
    size=st.integers(0, 1 << 62),
    same_head=st.booleans(),
    mtimes=st.tuples(st.integers(), st.integers()),
)
def test_nothing_is_read_twice_and_nothing_is_skipped(
    marked: int, size: int, same_head: bool, mtimes: tuple[int, int]
) -> None:
    """A digest begins at the marked size exactly when the log grew behind an unchanged first line."""
    row = evolve(MARKED, processed_size=marked, mtime=mtimes[0], processed_mtime=mtimes[1])
    found = compare(row, size, "aa" if same_head else "bb")
    grew = same_head and size > marked
    assert (marked if grew else 0) == found.start
    assert (found.state == "processed") == (same_head and size == marked)
    assert (found.state == "changed") == bool(found.reason)


@given(sizes=st.lists(st.integers(0, 1000), min_size=1), grown=st.integers(1, 1000))
def test_marking_what_was_digested_makes_it_processed(sizes: list[int], grown: int) -> None:
    """After a mark the same log is processed, and what is appended starts where the mark ends."""
    for size in sizes:
        row = evolve(MARKED, size=size, processed_size=size)
        assert PROCESSED == compare(row, size, "aa")
        assert LogStatus("changed", "appended", size) == compare(row, size + grown, "aa")


def test_the_refusal_to_mark_names_the_session_and_the_remedy() -> None:
    """The error of a mark before a digest says which session and what to run."""
    text = "codex:s1 was not digested yet; run agentfeedback sessions digest codex:s1 first"
    assert text == str(NotDigested("codex", "s1"))
    assert 1 == NotDigested("codex", "s1").exit_status


@pytest.mark.parametrize("error", [NotDigested, StorageOnly])
def test_the_refusal_names_its_session(error: type[NotDigested]) -> None:
    """Harness, id and ref are members, so that a caller need not read the text."""
    refused = error("codex", "s1")
    assert (refused.harness, refused.session_id, refused.ref) == ("codex", "s1", "codex:s1")


def test_sessions_that_are_only_stored_have_no_remedy() -> None:
    """Nothing anybody could run would make them markable."""
    refused = StorageOnly("cursor", "s1")
    assert (refused.problem, refused.remedy) == ("cursor sessions are storage only", "")
    assert refused.args == ("cursor sessions are storage only", "")
