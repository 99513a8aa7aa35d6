"""A tally counts what a timeline counts, whatever order the verbs come in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.sink import BATCH, Sink
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import Counts

IDS = st.sampled_from([None, "a", "b", "c"])
SPANS = st.sampled_from([None, "u1", "u2", "u3"])
TIMES = st.sampled_from(
    [None, "2026-11-03T09:00:00.000Z", "2026-11-03T08:00:00+01:00", 5, "no time"]
)
STATUSES = st.sampled_from(["ok", "error", "denied", "interrupted"])
VERBS = st.one_of(
    st.tuples(st.just("entry"), SPANS, TIMES, st.sampled_from([None, "", "/a", "/b", "c"])),
    st.tuples(st.just("prompt"), st.sampled_from([None, "", " \n", "fix it"])),
    st.tuples(st.just("said"), st.just("done")),
    st.tuples(st.just("call"), IDS, st.just("Bash")),
    st.tuples(st.just("interrupt")),
    st.tuples(st.just("result"), IDS, STATUSES),
    st.tuples(st.just("refine"), IDS, st.none() | STATUSES),
    st.tuples(st.just("interrupt_open")),
    st.tuples(st.just("rewrite"), st.sampled_from(["u1", "u2", "u4"]), TIMES),
    st.tuples(st.just("known"), IDS),
    st.tuples(st.just("unparsed")),
    st.tuples(st.just("note"), TIMES, st.sampled_from([None, "/a", "/c"])),
)


def timeline(rewrites: bool) -> Timeline:
    return Timeline(lambda text, length: text[:length], rewrites=rewrites)


def told(sink: Sink, story: list[tuple[Any, ...]]) -> tuple[list[Any], Any]:
    """The answers of the verbs, then all facts."""
    answers = []
    for offset, (verb, *arguments) in enumerate([("entry", "u0"), *story]):
        sink.offset = offset
        answers.append(getattr(sink, verb)(*arguments))
    return answers, (sink.first, sink.last, list(sink.cwds), sink.cwd)


@given(st.lists(VERBS, max_size=30), st.booleans())
def test_both_sinks_answer_alike(story: list[tuple[Any, ...]], rewrites: bool) -> None:
    """Every answer and every fact of a tally is that of a timeline, rewriting or not."""
    tally, whole = Tally.for_reader(rewrites), timeline(rewrites)
    assert told(tally, story) == told(whole, story)
    # a timeline has one kind for an entry, a tally counts verbs: they differ on an entry that is both
    mixed = interrupts_of_prompts(story)
    counts, expected = tally.counts(), whole.counts()
    assert (counts.entries, counts.tool_calls, counts.tool_errors, counts.denials) == (
        expected.entries,
        expected.tool_calls,
        expected.tool_errors,
        expected.denials,
    )
    assert counts.unparsed == expected.unparsed
    if not mixed:
        assert plain(counts) == plain(expected)


def test_an_entry_without_a_span_ends_a_rewrite() -> None:
    """What follows is about the new entry, with a span or not, in both sinks."""
    story = [
        ("prompt", "a"),
        ("rewrite", "u0"),
        ("entry",),
        ("prompt", "b"),
        ("entry",),
        ("prompt", "c"),
    ]
    tally, whole = Tally.for_reader(True), timeline(True)
    assert told(tally, story) == told(whole, story)
    assert tally.counts().prompts == whole.counts().prompts == 3


def interrupts_of_prompts(story: list[tuple[Any, ...]]) -> bool:
    """Whether an entry of the story is reported as more than one kind: no reader does that."""
    kinds = [verb for verb, *_ in story if verb in ("prompt", "interrupt", "entry", "rewrite")]
    return any(
        before in ("prompt", "interrupt") and now in ("prompt", "interrupt")
        for before, now in pairwise(kinds)
    ) or ("rewrite" in kinds and "interrupt" in kinds)


def test_every_count() -> None:
    """The seven counts of a small log."""
    tally = Tally()
    tally.entry("u1")
    tally.prompt("fix it")
    for id, status in (("a", "ok"), ("b", "error"), ("c", "denied"), ("d", "interrupted")):
        tally.entry()
        assert tally.call(id, "Bash")
        assert tally.result(id, status)  # type: ignore[arg-type]
    tally.entry()
    assert tally.call("e", "Bash")
    assert tally.call(None, "Bash") and tally.call(None, "Bash")
    tally.interrupt_open()
    tally.entry()
    tally.interrupt()
    tally.unparsed()
    assert plain(tally.counts()) == plain(
        Counts(
            entries=7,
            prompts=1,
            tool_calls=7,
            tool_errors=1,
            interrupts=3,
            denials=1,
            unparsed=1,
        )
    )
    assert tally.keeps_texts is False


def test_the_first_result_wins_and_a_refined_one_over_it() -> None:
    """Except over an interrupt, which never changes back."""
    tally = Tally()
    tally.entry()
    tally.call("a", "Bash")
    assert not tally.call("a", "Bash")
    assert tally.known("a") and not tally.known("b") and not tally.known(None)
    assert tally.result("a", "ok") and tally.result("a", "error")
    assert tally.counts().tool_errors == 0
    assert tally.refine("a", "error") and tally.refine("a", None)
    assert tally.counts().tool_errors == 1
    assert tally.refine("a", "interrupted") and tally.refine("a", "error")
    assert (tally.counts().tool_errors, tally.counts().interrupts) == (0, 1)
    assert not tally.result("b", "error") and not tally.refine("b", "error")
    assert not tally.result(None, "error") and not tally.refine(None, "error")


def test_a_rewritten_entry_neither_becomes_a_prompt_nor_an_interrupt() -> None:
    """What was counted stays; a new entry may be both again."""
    tally = Tally.for_reader(True)
    assert not tally.rewrite("u1")
    tally.entry("u1")
    tally.prompt("fix it")
    tally.prompt("fix it")
    tally.entry("u2")
    assert tally.rewrite("u2") and not tally.rewrite("u3")
    tally.prompt("no")
    tally.interrupt()
    assert (tally.counts().prompts, tally.counts().interrupts) == (1, 0)
    tally.entry("u3")
    tally.prompt("yes")
    tally.interrupt()
    assert (tally.counts().prompts, tally.counts().interrupts) == (2, 1)
    assert not Tally.for_reader(False).rewrite("u1")


@pytest.mark.parametrize("number", [1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH])
def test_times_are_noted_in_batches_and_all_count(number: int) -> None:
    """However many there are, the first and last are known, and no more than a batch is held."""
    tally = Tally()
    for second in range(number):
        tally.entry(time=second)
        assert len(tally._times) < BATCH
    tally.rewrite("u1", 10**9)
    assert (tally.first, tally.last) == (0, number - 1)
    rewriting = Tally.for_reader(True)
    rewriting.entry("u1", time=5)
    rewriting.rewrite("u1", 9)
    assert (rewriting.first, rewriting.last) == (5, 9)
