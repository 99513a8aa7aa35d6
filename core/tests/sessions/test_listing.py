"""What `list` and `status` show, in which order, and that all of it is scrubbed."""

from __future__ import annotations

from typing import Any

import pytest

from agentfeedback.reading.load import LogFacts
from agentfeedback.reading.reader import Reader, Report, Session
from agentfeedback.sessions.examiner import ExaminedSession
from agentfeedback.sessions.find import FoundStore
from agentfeedback.sessions.listing import listed, listing_of, shown_store, status_of
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import Counts, HarnessStatus, Listed, Store

SESSION = Session("codex", "s1", "/logs/s1.jsonl", 5, 100)


def report(*problems: tuple[str, str, bool], **more: Any) -> Report:
    found = Report("codex", "/logs", **more)
    found.problems.extend(problems)
    return found


def test_a_session_without_facts_is_named_with_its_state() -> None:
    """Nothing of a log that was not read is shown: no counts, no times."""
    item = listed(ExaminedSession(SESSION, "denied", "path /logs"), counts=True)
    expected = Listed("codex:s1", "codex", "s1", "/logs/s1.jsonl")
    expected.state, expected.reason = "denied", "path /logs"
    assert plain(item) == plain(expected)
    assert (item.counts, item.start, item.end, item.cwds) == (None, "", "", [])


@pytest.mark.parametrize("counts", [True, False])
def test_facts_are_shown_as_times_and_counts(counts: bool) -> None:
    """Counts are left out where the format holds too little to count."""
    facts = LogFacts(0, 1_500_000_000, ["/a", "/b"], Counts(entries=3), 100, "aa")
    item = listed(ExaminedSession(SESSION, "new", "", facts), counts=counts)
    assert item.cwds == ["/a", "/b"]
    assert (item.start, item.end) == ("1970-01-01T00:00:00Z", "1970-01-01T00:00:01.5Z")
    assert plain(item.counts) == plain(Counts(entries=3) if counts else None)
    facts = LogFacts(None, None, ["/a"], Counts(), 100, "aa")
    item = listed(ExaminedSession(SESSION, "new", "", facts), counts=True)
    assert (item.start, item.end) == ("", "")


class Shouting:
    """A scrubber whose work shows: it writes in capitals, and notes each tree."""

    def __init__(self) -> None:
        self.trees: list[Any] = []

    def text(self, text: str) -> str:
        return text.upper()

    def tree(self, value: Any) -> Any:
        self.trees.append(value)
        return _capitals(value)


def _capitals(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else [_capitals(each) for each in value]


class StorageOnly(Reader):
    digests = False


def seen(id: str, state: Any, last: int | None, harness: str = "codex") -> ExaminedSession:
    session = Session(harness, id, f"/logs/{id}", 5, 100)
    facts = LogFacts(last, last, ["/a", "/b"], Counts(entries=3), 100, "aa")
    return ExaminedSession(session, state, "why", facts if last is not None else None)


def absent(id: str) -> Listed:
    return Listed(f"codex:{id}", "codex", id, f"/logs/{id}", state="absent", reason="")


STORES = [
    FoundStore(Reader(), report(("/logs/x", "denied", True), state="unreadable")),
    FoundStore(StorageOnly(), Report("cursor", "/c")),
]


def test_the_oldest_last_entry_comes_first() -> None:
    """Rows without a file lead, then by time; equal times go by the ref. Two files may hold one session."""
    found = [
        seen("c", "new", 9),
        seen("b", "new", 9),
        seen("b", "changed", 9),
        seen("\ue000", "new", 9),
        seen("\U00010000", "new", 9),
    ]
    found += [seen("a", "new", 10), seen("z", "new", 8)]
    listing = listing_of(STORES, found, [absent("y"), absent("x")], Shouting, unprocessed=False)  # type: ignore[arg-type]
    ids = [each.session_id for each in listing.sessions]
    assert ids == ["x", "y", "z", "b", "b", "c", "\ue000", "\U00010000", "a"]


def test_everything_shown_is_scrubbed_in_one_pass_and_names_stay() -> None:
    """Path, reason and directories; the project is the first scrubbed directory, the location stays."""
    scrubber = Shouting()
    listing = listing_of(
        STORES, [seen("s1", "new", 9)], [absent("s2")], lambda: scrubber, unprocessed=False
    )  # type: ignore[arg-type]
    assert scrubber.trees == [[["/logs/s2", "", []], ["/logs/s1", "why", ["/a", "/b"]]]]
    gone, item = listing.sessions
    assert (gone.ref, gone.path, gone.project, gone.cwds) == ("codex:s2", "/LOGS/S2", "", [])
    assert (item.ref, item.path, item.reason) == ("codex:s1", "/LOGS/S1", "WHY")
    assert (item.project, item.cwds) == ("/A", ["/A", "/B"])
    assert plain(listing.stores) == plain(
        [
            Store("codex", "/logs", "unreadable", ["/LOGS/X: DENIED"]),
            Store("cursor", "/c", "present", []),
        ]
    )
    nothing = Shouting()
    assert listing_of(STORES, [], [], lambda: nothing, unprocessed=False).sessions == []  # type: ignore[arg-type]
    assert nothing.trees == []


def test_only_new_and_changed_sessions_are_unprocessed() -> None:
    """Sessions that are never digested wait for nothing; they are counted nowhere."""
    states = ("new", "changed", "processed", "denied", "unreadable")
    found = [seen(state, state, 9) for state in states] + [seen("s1", "new", 9, "cursor")]
    listing = listing_of(STORES, found, [absent("s2")], Shouting, unprocessed=True)  # type: ignore[arg-type]
    assert [each.session_id for each in listing.sessions] == ["changed", "new"]
    whole = listing_of(STORES, found, [], Shouting, unprocessed=False)  # type: ignore[arg-type]
    counted = {each.harness: each.counts is not None for each in whole.sessions}
    assert counted == {"codex": True, "cursor": False}


def test_the_status_counts_sessions_by_state() -> None:
    """Per store, states in order of their names; rows without a file count too."""
    found = [seen("a", "new", 9), seen("b", "new", 9), seen("c", "denied", None)]
    found.append(seen("d", "new", 9, "cursor"))
    status = status_of(STORES, found, [absent("s2")], Shouting)  # type: ignore[arg-type]
    first = HarnessStatus("codex", "/logs", "unreadable", ["/LOGS/X: DENIED"])
    first.states = {"absent": 1, "denied": 1, "new": 2}
    second = HarnessStatus("cursor", "/c", "present", [], {"new": 1}, storage_only=True)
    assert [plain(each) for each in status.harnesses] == [plain(first), plain(second)]
    assert list(status.harnesses[0].states) == ["absent", "denied", "new"]
    assert status.selection is None


def test_a_store_is_shown_with_its_problems() -> None:
    """Each problem is scrubbed as one text; the location stays."""
    found = report(("/logs/x", "denied", True), ("/logs/y", "gone", False), state="unreadable")
    assert plain(shown_store(found, str.upper)) == plain(
        Store("codex", "/logs", "unreadable", ["/LOGS/X: DENIED", "/LOGS/Y: GONE"])
    )
