"""The three detectors of the core, the rule what is an event, and the guard around a plugin's detector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.digest.detect import (
    CORE_DETECTORS,
    Denials,
    Detector,
    Finding,
    FlaggedPhrases,
    Guarded,
    Retries,
    is_event,
)
from agentfeedback.reading.sink import Status
from agentfeedback.reading.timeline import Timeline
from agentfeedback.reading.timeline_entries import Call, Entry
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import Flagged, Retry

STATUSES: tuple[Status | None, ...] = (None, "ok", "error", "denied", "interrupted")


def timeline(start: int = 0) -> Timeline:
    return Timeline(lambda text, length: text[:length], start=start)


def called(
    sink: Timeline, at: int, status: Status | None, *, tool: str = "Bash", command: str = "make"
) -> Call:
    """One call whose result is in the record behind it."""
    sink.offset = at
    sink.entry(f"s{at}")
    sink.call(f"c{at}", tool, command=command)
    if status is not None:
        sink.offset = at + 1
        sink.result(f"c{at}", status)
    return sink.entries[-1].calls[-1]


def call(offset: int, result_offset: int, status: Status | None) -> Call:
    entry = Entry(0, offset, "s", None)
    return Call(entry, "c", "s", "Bash", "", False, offset, status, result_offset)


@given(st.sampled_from(STATUSES), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_a_call_is_an_event_when_it_failed_and_some_of_it_is_new(
    status: Status | None, offset: int, result_offset: int, start: int
) -> None:
    """Neither a good call nor one without a result; of the others those that reach the start."""
    failed = status in ("error", "denied", "interrupted")
    reaches = max(offset, result_offset) >= start
    assert is_event(call(offset, result_offset, status), start) == (failed and reaches)


def test_a_retry_names_the_call_before_it() -> None:
    """Each repetition of a failed call points at the latest failed one of the same tool and arguments."""
    sink = timeline()
    first = called(sink, 0, "error")
    called(sink, 10, "error", command="make test")
    called(sink, 20, "error", tool="Shell")
    second = called(sink, 30, "denied")
    called(sink, 40, "ok")
    called(sink, 50, "ok")
    found = list(Retries().find(sink))
    assert [(each.owner, plain(each.value)) for each in found] == [
        (first, plain(Retry("s30", "s0", "Bash", first.args_digest))),
        (second, plain(Retry("s40", "s30", "Bash", first.args_digest))),
        (second, plain(Retry("s50", "s30", "Bash", first.args_digest))),
    ]


@pytest.mark.parametrize("status", [None, "ok"])
def test_repeating_a_call_that_did_not_fail_is_no_retry(status: Status | None) -> None:
    """A good call or one without a result may be repeated."""
    sink = timeline()
    called(sink, 0, status)
    called(sink, 10, "error")
    assert list(Retries().find(sink)) == []


@pytest.mark.parametrize(("start", "retries"), [(30, 1), (31, 0)])
def test_a_retry_is_new_at_the_start_of_the_digest(start: int, retries: int) -> None:
    """The repetition has to be at or after the start; the failure only its result."""
    sink = timeline(start)
    called(sink, 29, "error")  # its result is at 30
    called(sink, 30, "ok")
    assert len(list(Retries().find(sink))) == retries


def test_denials_are_the_spans_of_denied_calls() -> None:
    """Other failures are none, nor is a denial before the start."""
    sink = timeline(10)
    called(sink, 0, "denied")
    called(sink, 10, "error")
    denied = called(sink, 20, "denied")
    called(sink, 30, "interrupted")
    called(sink, 40, "ok")
    assert [(each.owner, each.value) for each in Denials().find(sink)] == [(denied, "s20")]


def test_complaints_are_marked_and_only_in_prompts() -> None:
    """What a tool answered is nobody's annoyance."""
    assert FlaggedPhrases().mark("prompt", "It’s broken again, it is broken") == ("broken", "again")
    assert FlaggedPhrases().mark("prompt", "Run it again") == ()
    assert FlaggedPhrases().mark("result", "It's broken again") == ()


def test_flagged_prompts_are_found_by_their_marks() -> None:
    """One finding for each phrase of each prompt, in log order; marks of other detectors are not ours."""
    sink = timeline()
    for span in ("a", "b", "c"):
        sink.entry(span)
        sink.prompt("x")
    a, b, c = sink.entries
    a.marks, c.marks = {"flagged": ("wrong", "again")}, {"flagged": ("broken",), "mine": ("no",)}
    b.marks = {"mine": ("no",)}
    assert [(each.owner, plain(each.value)) for each in FlaggedPhrases().find(sink)] == [
        (a, plain(Flagged("a", "wrong"))),
        (a, plain(Flagged("a", "again"))),
        (c, plain(Flagged("c", "broken"))),
    ]


def test_the_names_are_members_of_a_digest() -> None:
    """The order is that of the members; the last stands under `findings`."""
    names = [each.name for each in CORE_DETECTORS]
    assert names == ["retries", "denials", "flagged", "troubles"]


def test_a_detector_that_overrides_nothing_finds_nothing() -> None:
    """Both methods of the base class answer with nothing."""
    assert Detector().name == ""
    assert not Detector().mark("prompt", "x") and not list(Detector().find(timeline()))


class Odd(Detector):
    """A plugin's detector that does as a test says."""

    name = "odd"

    def __init__(self, marks: Any = (), findings: Any = ()) -> None:
        self.marks, self.findings = marks, findings

    def mark(self, kind: Literal["prompt", "result"], text: str) -> Sequence[str]:
        if isinstance(self.marks, Exception):
            raise self.marks
        return [f"{kind} {text}", *self.marks]

    def find(self, timeline: Timeline) -> Iterable[Finding]:
        for value in self.findings:
            if isinstance(value, Exception):
                raise value
            yield Finding(timeline.entries[0], value)


def guarded(detector: Detector) -> tuple[Guarded, list[tuple[str, str, str]]]:
    failures: list[tuple[str, str, str]] = []
    failed = lambda name, step, error: failures.append((name, step, type(error).__name__))  # noqa: E731
    return Guarded(detector, failed), failures


def test_a_working_detector_is_passed_through() -> None:
    """Name, marks and findings are the plugin's own."""
    sink = timeline()
    sink.entry("s")
    sink.prompt("x")
    found, failures = guarded(Odd(["b"], [1, {"x": [None, "y"]}]))
    assert found.name == "odd"
    assert found.mark("result", "text") == ("result text", "b")
    assert [(each.owner, each.value) for each in found.find(sink)] == [
        (sink.entries[0], 1),
        (sink.entries[0], {"x": [None, "y"]}),
    ]
    assert failures == []


@pytest.mark.parametrize("bad", [ValueError("no"), object(), {1, 2}, b"bytes"], ids=type)
def test_a_detector_that_fails_is_named_and_finds_nothing(bad: Any) -> None:
    """Where it raises, or finds what JSON cannot hold, all its findings are dropped."""
    sink = timeline()
    sink.entry("s")
    sink.prompt("x")
    found, failures = guarded(Odd(ValueError("no"), ["good", bad]))
    assert found.mark("prompt", "text") == ()
    assert list(found.find(sink)) == []
    assert failures[0] == ("odd", "mark", "ValueError")
    assert [(name, step) for name, step, _ in failures[1:]] == [("odd", "find")]
    assert failures[1][2].endswith("Error")


@pytest.mark.parametrize("found", [[SimpleNamespace(value=1)], ["text"], [None], 5])
def test_what_is_not_a_finding_is_not_shown(found: Any) -> None:
    """A finding has an owner, an entry or a call; without one the digest could not cover it."""

    class Other(Odd):
        def find(self, timeline: Timeline) -> Any:
            return found

    detector, failures = guarded(Other())
    assert list(detector.find(timeline())) == []
    assert [(name, step) for name, step, _ in failures] == [("odd", "find")]
