"""How sessions, stores and rows without a file are shown in a listing."""

from __future__ import annotations

from typing import Any

import pytest

from agentfeedback.reading.load import LogFacts
from agentfeedback.reading.reader import Reader, Report, Session
from agentfeedback.sessions.examiner import ExaminedSession
from agentfeedback.sessions.find import FoundStore
from agentfeedback.sessions.listing import (
    hidden_by,
    listed,
    problem_of,
    scrubbed,
    shown_store,
    without_file,
)
from agentfeedback.state.watermark import SessionRow
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import Counts, Listed, Store

SESSION = Session("codex", "s1", "/logs/s1.jsonl", 5, 100)


def row(id: str, path: str, harness: str = "codex") -> SessionRow:
    return SessionRow(harness, id, path, mtime=1, size=2, head="aa")


def report(*problems: tuple[str, str, bool], **more: Any) -> Report:
    found = Report("codex", "/logs", **more)
    found.problems.extend(problems)
    return found


def test_a_session_without_facts_is_named_with_its_state() -> None:
    """Nothing of a log that was not read is shown: no counts, no times."""
    item = listed(ExaminedSession(SESSION, "denied", "path /logs"))
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
    item = listed(ExaminedSession(SESSION, "new", "", facts))
    assert (item.start, item.end) == ("", "")


def test_everything_shown_is_scrubbed_in_one_pass_and_names_stay() -> None:
    """The project is the first scrubbed directory."""
    passes = []

    def tree(value: Any) -> Any:
        passes.append(value)
        return [
            [path + "!", reason + "!", [cwd + "!" for cwd in cwds]] for path, reason, cwds in value
        ]

    items = [Listed("codex:s1", "codex", "s1", "/p", state="new", reason="r") for _ in range(2)]
    items[0].cwds = ["/a", "/b"]
    scrubbed(items, tree)
    assert passes == [[["/p", "r", ["/a", "/b"]], ["/p", "r", []]]]
    assert [(each.path, each.reason, each.cwds, each.project) for each in items] == [
        ("/p!", "r!", ["/a!", "/b!"], "/a!"),
        ("/p!", "r!", [], ""),
    ]
    assert [each.ref for each in items] == ["codex:s1"] * 2
    scrubbed([], pytest.fail)


def test_a_store_is_shown_with_its_problems() -> None:
    """Each problem is scrubbed as one text; the location stays."""
    found = report(("/logs/x", "denied", True), ("/logs/y", "gone", False), state="unreadable")
    assert plain(shown_store(found, str.upper)) == plain(
        Store("codex", "/logs", "unreadable", ["/LOGS/X: DENIED", "/LOGS/Y: GONE"])
    )


def test_rows_without_a_file_are_absent_or_hidden() -> None:
    """Rows of this harness that no session was found for; a problem above one hides it."""
    stores = [FoundStore(Reader(), report(("/logs/day", "denied", True)), [SESSION])]
    rows = {
        (each.harness, each.session_id): each
        for each in (
            row("s1", "/logs/s1.jsonl"),
            row("s2", "/logs/s2.jsonl"),
            row("s3", "/logs/day/s3.jsonl"),
            row("s2", "/logs/s2.jsonl", "cursor"),
        )
    }
    expected = [
        Listed("codex:s2", "codex", "s2", "/logs/s2.jsonl", state="absent", reason=""),
        Listed(
            "codex:s3", "codex", "s3", "/logs/day/s3.jsonl", state="unreadable", reason="denied"
        ),
    ]
    assert [plain(each) for each in without_file(stores, rows)] == [
        plain(each) for each in expected
    ]


@pytest.mark.parametrize(
    ("problem", "path", "hides"),
    [
        (("/logs/day", "denied", True), "/logs/day/s1.jsonl", True),
        (("/logs/day/", "denied", True), "/logs/day/s1.jsonl", True),
        (("/logs/day", "denied", True), "/logs/day", True),
        (("/logs/day", "denied", True), "/logs/daybreak/s1.jsonl", False),
        (("/logs/day", "denied", False), "/logs/day/s1.jsonl", False),
        (("/logs/s1.jsonl", "denied", False), "/logs/s1.jsonl", True),
        (("/", "denied", True), "/logs/s1.jsonl", True),
    ],
)
def test_a_problem_hides_what_is_at_or_below_it(
    problem: tuple[str, str, bool], path: str, hides: bool
) -> None:
    """A directory hides what is below it, a file only itself; names are whole."""
    found, other = report(("/elsewhere", "no", True), problem), row("s1", path)
    assert problem_of(found, other) == (problem if hides else None)
    assert hidden_by(found, other) == ("denied" if hides else None)


@pytest.mark.parametrize("state", ["unreadable", "unsupported-format"])
def test_a_store_that_cannot_be_read_hides_every_row(state: Any) -> None:
    """Its reason, or its state where it gave none."""
    assert hidden_by(report(state=state, reason="denied"), row("s1", "/x")) == "denied"
    assert hidden_by(report(state=state), row("s1", "/x")) == state
    assert hidden_by(report(state="absent", reason="no folder"), row("s1", "/x")) is None
