"""The promises every reader makes, over the corpus and a session written here; and that no line is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_agentfeedback import ReaderConformance, fuzz

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Events
    from hypothesis.strategies import SearchStrategy

    from agentfeedback.reading.timeline import Timeline

    Tell = Callable[[bytes], Timeline]


@pytest.fixture
def session(log: Events) -> list[bytes]:
    """A small session in which every kind of event has its turn."""
    log.add("session.start", {"selectedModel": "m", "context": {"cwd": "/srv/app"}})
    log.prompt("hello", source="user", isAutopilotContinuation=False)
    log.add("assistant.message", {"content": "On it.", "model": "m"})
    log.start("c1", shellToolInfo={})
    log.start("c2", "view", arguments="x")
    log.permission("denied-by-rules", "c2")
    log.complete("no\n<shellId: 0 completed with exit code 2>", shellExecution={"exitCode": 2})
    log.complete("", "c2", success=False, error={"code": "denied", "message": "Denied"})
    log.add("session.context_changed", {"cwd": "/srv/app/b"})
    log.add("session.model_change", {"newModel": "n"})
    log.start("c3", "bash")
    log.add("abort", {"reason": "user_abort"})
    log.complete("late", "c3")
    return log.lines


class TestCopilot(ReaderConformance):
    harness = "copilot"
    corpus = "corpus/copilot"
    every_object_is_an_entry = True

    @pytest.fixture(autouse=True)
    def _written(self, session: list[bytes]) -> None:
        self.written = [line[:-1] for line in session]

    def more_logs(self) -> SearchStrategy[list[bytes]]:
        return fuzz.logs([self.written])


def test_the_session_says_what_it_was_written_to_say(tell: Tell, session: list[bytes]) -> None:
    """The small session of these tests has one prompt and a failed, a denied and an interrupted call."""
    counts = tell(b"".join(session)).counts()
    assert (counts.prompts, counts.tool_calls, counts.tool_errors) == (1, 3, 1)
    assert (counts.interrupts, counts.denials) == (2, 1)


def test_members_of_any_type_leave_the_line_an_entry(tell: Tell, session: list[bytes]) -> None:
    """Whatever type a member has, nothing raises, the line counts, and both sinks count the same."""
    for index, line in enumerate(session):
        for _, _, what, changed in fuzz.mutations([[line]]):
            log = [*session[:index], changed + b"\n", *session[index + 1 :]]
            counts = tell(b"".join(log)).counts()
            assert (counts.entries, counts.unparsed) == (len(session), 0), what


def test_nesting_is_no_crash(tell: Tell) -> None:
    """500 levels of nesting are an entry; a hundred thousand are at worst unparsed."""
    for depth in (500, 100_000):
        nested = b"[" * depth + b"]" * depth
        line = b'{"type":"tool.execution_start","data":{"toolName":"x","arguments":%s}}\n' % nested
        counts = tell(line).counts()
        assert counts.entries + counts.unparsed == 1
        assert depth > 500 or counts.tool_calls == 1
