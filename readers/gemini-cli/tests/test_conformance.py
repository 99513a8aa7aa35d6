"""The promises every reader makes, over the corpus and a session written here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.wire.encode import plain
from pytest_agentfeedback import ReaderConformance, fuzz

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Written
    from hypothesis.strategies import SearchStrategy

    from agentfeedback.reading.timeline import Timeline

    Tell = Callable[..., Timeline]
    Make = Callable[..., dict[str, Any]]


@pytest.fixture
def session(log: Written, call: Make) -> list[bytes]:
    """A small log in which every kind of line has its turn."""
    shell, grid = "run_shell_command", [[{"text": "Exit Code: 2"}]]
    log.metadata(directories=["/srv/app/b"])
    log.set(messages=[{"type": "user", "content": [{"text": "zero"}]}])
    log.user("one", id="x1")
    log.gemini("On it.", id="x2", tokens=None)
    failed = call("Output: x\nExit Code: 2", id="a", name=shell, resultDisplay="x")
    printed = call("Exit Code: 2\nProcess Group PGID: 1", id="b", name=shell, resultDisplay=grid)
    log.gemini("On it.", failed, printed, call(status="executing", id="c"), id="x2")
    log.responses()
    log.gemini("", call("Output: x", id="c"), call("no", "error", member="error", id="d"), id="x2")
    progress = {"isSubagentProgress": True, "terminateReason": "TIMEOUT"}
    log.gemini("", call("x", id="e", resultDisplay=progress), id="x3")
    refused = "[Operation Cancelled] Reason: User denied execution."
    log.gemini("", call(refused, "cancelled", member="error", id="f"), id="x4")
    log.message("info", "Request cancelled.", "x5")
    log.context_again("one")
    log.user("one", id="x6")
    log.gemini([{"text": "Done."}], id="x7")
    log.set(messages=[], directories=["/srv/app/c"])
    log.line(**{"$rewindTo": "x1"})
    log.line(**{"$patch": {}})
    log.user("one", id="x8")
    return log.lines


class TestGeminiCli(ReaderConformance):
    harness = "gemini-cli"
    corpus = "corpus/gemini-cli"

    @pytest.fixture(autouse=True)
    def _written(self, session: list[bytes]) -> None:
        self.written = [line[:-1] for line in session]

    def more_logs(self) -> SearchStrategy[list[bytes]]:
        return fuzz.logs([self.written])


def test_the_session_says_what_it_was_written_to_say(tell: Tell, session: list[bytes]) -> None:
    """The small log of these tests has two prompts, and calls that ended in each way."""
    counts = tell(b"".join(session)).counts()
    assert (counts.entries, counts.unparsed) == (10, 0)
    assert (counts.prompts, counts.tool_calls) == (2, 6)
    assert (counts.tool_errors, counts.denials, counts.interrupts) == (3, 1, 0)


def test_members_of_any_type_never_raise(tell: Tell, session: list[bytes]) -> None:
    """Whatever type a member has, both sinks count the same, and a message with id and type is not an unparsed line."""
    for index, line in enumerate(session):
        for _, _, what, changed in fuzz.mutations([[line]]):
            log = [*session[:index], changed + b"\n", *session[index + 1 :]]
            counts = tell(b"".join(log)).counts()
            variant = json.loads(changed)
            id, type = variant.get("id"), variant.get("type")
            message = bool(id) and isinstance(id, str) and isinstance(type, str)
            assert counts.unparsed == 0 or not message, what


@settings(
    max_examples=60,
    deadline=None,
    # the lines are only read
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.permutations(range(18)))
def test_counts_before_and_after_a_cut_add_up(
    tell: Tell, session: list[bytes], order: list[int]
) -> None:
    """Wherever the first of two digests ended, and in any order of the lines, their counts add up."""
    lines = [session[each] for each in order if each < len(session)]
    content = b"".join(lines)
    total = plain(tell(content).counts())
    for cut in range(len(lines) + 1):
        head = b"".join(lines[:cut])
        first, rest = plain(tell(head).counts()), plain(tell(content, len(head)).counts())
        for name in ("entries", "prompts", "tool_calls"):
            assert first[name] + rest[name] == total[name]


def test_nesting_is_no_crash(tell: Tell) -> None:
    """500 levels of nesting are an entry; a hundred thousand are at worst unparsed."""
    line = b'{"id":"m","type":"gemini","toolCalls":[{"name":"x","args":%s,"resultDisplay":%s}]}\n'
    for depth in (500, 100_000):
        nested = b"[" * depth + b"]" * depth
        counts = tell(line % (nested, nested)).counts()
        assert counts.entries + counts.unparsed == 1
        assert depth > 500 or counts.tool_calls == 1
