"""What is said of sessions without a file: gone, hidden by a problem, or in a store that cannot be listed."""

from __future__ import annotations

from typing import Any

import pytest

from agentfeedback.policy.rules import Verdict
from agentfeedback.reading.reader import Reader, Report, Session
from agentfeedback.reading.refs import Ref
from agentfeedback.sessions.absent import missing, state_without_file, without_file
from agentfeedback.sessions.find import FoundStore
from agentfeedback.state.watermark import SessionRow
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import Listed

REF = Ref("codex", "s1", "codex:s1")


def row(id: str, path: str, harness: str = "codex") -> SessionRow:
    return SessionRow(harness, id, path, mtime=1, size=2, head="aa")


def store(*problems: tuple[str, str, bool], **more: Any) -> FoundStore:
    found = Report("codex", "/logs", **more)
    found.problems.extend(problems)
    return FoundStore(Reader(), found, [Session("codex", "here", "/logs/here.jsonl", 5)])


def test_rows_without_a_file_are_absent_or_hidden() -> None:
    """Rows of this harness that no session was found for; a problem above one hides it."""
    rows = {
        (each.harness, each.session_id): each
        for each in (
            row("here", "/logs/here.jsonl"),
            row("s2", "/logs/s2.jsonl"),
            row("s3", "/logs/day/s3.jsonl"),
            row("s2", "/logs/s2.jsonl", "cursor"),
        )
    }
    gone = Listed("codex:s2", "codex", "s2", "/logs/s2.jsonl", state="absent", reason="")
    hidden = Listed("codex:s3", "codex", "s3", "/logs/day/s3.jsonl")
    hidden.state, hidden.reason = "unreadable", "denied"
    found = without_file([store(("/logs/day", "denied", True))], rows)
    assert [plain(each) for each in found] == [plain(gone), plain(hidden)]


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
        (("/logs/X", "denied", True), "/logs/other/s1.jsonl", False),
    ],
)
def test_a_problem_hides_what_is_at_or_below_it(
    problem: tuple[str, str, bool], path: str, hides: bool
) -> None:
    """A directory hides what is below it, a file only itself; names are whole."""
    found, gone = store(("/elsewhere", "no", True), problem), row("s1", path)
    (item,) = without_file([found], {("codex", "s1"): gone})
    assert (item.state, item.reason) == (("unreadable", "denied") if hides else ("absent", ""))
    above = f"sessions in {problem[0]} could not be listed: denied"
    hidden = ("unreadable", "denied" if path == problem[0] else above)
    expected = hidden if hides else ("absent", "the session file is gone")
    assert state_without_file(found, gone) == missing(REF, found, gone) == expected


@pytest.mark.parametrize("state", ["unreadable", "unsupported-format"])
@pytest.mark.parametrize("known", [None, row("s1", "/x")], ids=["unknown", "known"])
def test_a_store_that_cannot_be_listed_hides_every_session(
    state: Any, known: SessionRow | None
) -> None:
    """Its reason is shown; a listing shows its state where it gave none."""
    found = store(state=state, reason="denied")
    assert state_without_file(found, known) == (state, "denied")
    assert missing(REF, found, known) == (state, f"codex:s1: session is {state} (denied)")
    silent = store(state=state)
    assert state_without_file(silent, known) == (state, "")
    assert missing(REF, silent, known) == (state, f"codex:s1: session is {state}")
    if known is not None:
        rows = {("codex", "s1"): known}
        assert [each.reason for each in without_file([found], rows)] == ["denied"]
        assert [(each.state, each.reason) for each in without_file([silent], rows)] == [
            ("unreadable", state)
        ]


def test_a_reader_that_failed_and_a_name_that_nobody_knows() -> None:
    """Neither has a row to speak of."""
    assert state_without_file(None, row("s1", "/x")) == ("unreadable", "its reader failed")
    failed = "codex:s1: session is unreadable (its reader failed)"
    assert missing(REF, None, None) == ("unreadable", failed)
    unknown = ("absent", "no session file carries this session id")
    for found in (store(), store(state="absent", reason="no folder")):
        assert state_without_file(found, None) == missing(REF, found, None) == unknown
    assert state_without_file(store(state="absent"), row("s1", "/x")) == (
        "absent",
        "the session file is gone",
    )


@pytest.mark.parametrize("known", [None, row("s1", "/logs/day/s1.jsonl")], ids=["new", "known"])
def test_what_the_policy_leaves_closed_may_hold_the_session(known: SessionRow | None) -> None:
    """Where every session is refused and a folder was not listed, the refusal is the session's state."""
    closed = store(("/logs/day", "not opened", True))
    closed.refusal = Verdict("denied", "deny_paths")
    assert state_without_file(closed, known) == ("denied", "deny_paths")
    shown = "codex:s1: session is denied (deny_paths)"
    assert missing(REF, closed, known) == ("denied", shown)
    if known is not None:
        (item,) = without_file([closed], {("codex", "s1"): known})
        assert (item.state, item.reason) == ("denied", "deny_paths")
    whole = store()
    whole.refusal = closed.refusal
    assert state_without_file(whole, known)[0] == "absent"


def test_a_session_that_is_gone_is_gone_whatever_the_policy() -> None:
    """A refusal is about what there may be: what nothing hides is absent."""
    found = store(("/logs/day", "not opened", True))
    found.refusal = Verdict("disabled", "disabled")
    (item,) = without_file([found], {("codex", "s1"): row("s1", "/logs/s1.jsonl")})
    assert (item.state, item.reason) == ("absent", "")
