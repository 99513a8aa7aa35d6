"""What a timeline keeps of each verb, and of results whose status changes later."""

from __future__ import annotations

from typing import Any

import pytest

from agentfeedback.reading.args_digest import args_digest
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import HEAD_CHARACTERS, HEADS, KEPT_CHARACTERS, Timeline
from agentfeedback.scrub import SUBMIT, Scrubber


def timeline(start: int = 0) -> Timeline:
    return Timeline(lambda text, length: text[:length], start=start)


@pytest.mark.parametrize(
    ("text", "prompts"), [("", 0), (" \n\u2003", 0), (None, 1), ("fix it", 1)], ids=repr
)
def test_a_prompt_without_a_word_counts_and_a_blank_text_does_not(
    text: str | None, prompts: int
) -> None:
    """None stands for what a person sent without a word; both kinds of sink count alike."""
    whole, tally = timeline(), Tally.for_reader(False)
    for sink in (whole, tally):
        sink.entry("u1")
        sink.prompt(text)
    assert whole.counts().prompts == tally.counts().prompts == prompts
    assert [entry.summary for entry in whole.entries] == ([text or ""] if prompts else [])


@pytest.mark.parametrize("start", [0, 200])
@pytest.mark.parametrize(
    ("before", "then"), [("denied", "interrupted"), ("error", "interrupted"), ("ok", "error")]
)
def test_a_status_that_changes_later_keeps_the_excerpt(start: int, before: str, then: str) -> None:
    """The text of a result is at hand for the later status, also where the result is before the start."""
    sink = timeline(start)
    sink.offset = 100
    sink.entry("u1")
    sink.call("t1", "Bash")
    sink.refine("t1", before, "what was said", 137 if before == "error" else None)  # type: ignore[arg-type]
    sink.offset = 300
    sink.entry("u2")
    sink.refine("t1", then)  # type: ignore[arg-type]
    (call,) = sink.entries[0].calls
    assert (call.status, call.result_offset, call.excerpt) == (then, 300, "what was said")
    assert call.exit_code is None


def test_only_the_latest_such_texts_are_kept() -> None:
    """Memory is bounded: of many results before the start the oldest lose their texts."""
    sink = timeline(1)
    for number in range(HEADS + 1):
        sink.entry(f"u{number}")
        sink.call(f"t{number}", "Bash")
        sink.refine(f"t{number}", "denied", "no")
    sink.offset = 1
    for number in (0, 1, HEADS):
        sink.refine(f"t{number}", "interrupted")
    assert [sink.entries[n].calls[0].excerpt for n in (0, 1, HEADS)] == ["", "no", "no"]


@pytest.mark.parametrize("before", [0, 1, 40, 200])
@pytest.mark.parametrize("length", [2200, 3000, 3060, 3090, 4000])
def test_the_kept_start_of_a_result_never_ends_in_a_part_of_a_secret(
    before: int, length: int
) -> None:
    """A result turns into a failure later; a key block before the cut moves what stands at the cut forward."""
    block = "-----BEGIN " + "PRIVATE KEY-----\n"
    lines = "\n".join(("aB3+" * 16)[:64] for _ in range((length - before - 80) // 65))
    text = "x" * before + "\n" + block + lines + "\n-----END " + "PRIVATE KEY-----\n"
    token = "gl" + "pat-" + "Secret_7" * 4
    text += "y" * max(0, length - len(text)) + " " + token + " and the rest" * 200
    sink = Timeline(Scrubber(SUBMIT).clip)
    sink.entry("u1")
    sink.call("t1", "Bash")
    sink.result("t1", "ok", text)
    sink.refine("t1", "error")
    excerpt = sink.entries[0].calls[0].excerpt
    assert excerpt and "[REDACTED:private_key]" in excerpt
    assert "Secret" not in excerpt and "aB3" not in excerpt and not excerpt.endswith("gl")


# What is kept of each verb. The clip names its bound, the mark its kind.


def clip(text: str, length: int) -> str:
    return f"{length}:{text}"


def mark(kind: str, text: str) -> dict[str, list[str]]:
    return {"seen": [kind, text]}


def at(sink: Timeline, offset: int, *arguments: Any, **more: Any) -> None:
    """An entry whose record begins at this offset."""
    sink.offset = offset
    sink.entry(*arguments, **more)


def test_an_entry_has_its_place_and_its_time() -> None:
    """Its own span, or the offset of its record; the time of its record in nanoseconds."""
    sink = timeline()
    at(sink, 0, "u1", "1970-01-01T00:00:01Z", "/srv", "m1")
    sink.prompt("a")
    at(sink, 70, None, 2_000_000_000)
    sink.prompt("b")
    at(sink, 90)
    sink.prompt("c")
    assert [(each.span, each.offset, each.at) for each in sink.entries] == [
        ("u1", 0, 1_000_000_000),
        ("L70", 70, 2_000_000_000),
        ("L90", 90, None),
    ]
    assert (sink.model, sink.cwd, sink.counts().entries) == ("m1", "/srv", 3)


def test_a_note_names_the_model_of_the_session() -> None:
    """A later one counts, an empty one says nothing."""
    sink = timeline()
    sink.note(model="m1")
    sink.note(model="m2")
    sink.note(model="")
    assert sink.model == "m2"


def test_a_summary_is_the_first_line_with_a_word() -> None:
    """Cut to its bound; the detectors see the whole text."""
    sink = Timeline(clip, mark)
    at(sink, 0, "u1")
    sink.prompt(" \n\nfix it\nplease")
    (entry,) = sink.entries
    assert (entry.kind, entry.summary) == ("prompt", "160:fix it")
    assert entry.marks == {"seen": ["prompt", " \n\nfix it\nplease"]}


@pytest.mark.parametrize(("offset", "kept"), [(99, False), (100, True), (101, True)])
def test_what_is_before_the_start_is_counted_nowhere(offset: int, kept: bool) -> None:
    """The start is the first byte that is new: prompts, calls, failures, unparsed lines, what was said."""
    sink = Timeline(clip, mark, start=100)
    at(sink, offset, "u1")
    sink.prompt("fix it")
    sink.said("on it")
    sink.trouble("provider", "limit", 5)
    sink.call("t1", "Bash")
    sink.result("t1", "error", "boom")
    at(sink, offset, "u2")
    sink.interrupt()
    sink.unparsed()
    counts = sink.counts()
    one = int(kept)
    assert (counts.entries, counts.prompts, counts.interrupts) == (2 * one, one, one)
    assert (counts.tool_calls, counts.tool_errors, counts.unparsed) == (one, one, one)
    assert sink.entries[0].summary == ("160:fix it" if kept else "")
    assert sink.final_excerpt == ("240:on it" if kept else "240:")
    assert [(each.offset, each.at, each.kind, each.excerpt) for each in sink.troubles] == (
        [(offset, 5, "provider", "240:limit")] if kept else []
    )
    (call,) = sink.entries[0].calls
    assert (call.excerpt, bool(call.marks)) == (("240:boom", True) if kept else ("", False))


def test_the_last_word_of_the_assistant_is_that_of_the_last_entry() -> None:
    """A later text of the same entry replaces an earlier one; of an entry written again an old text stays old."""
    sink = Timeline(lambda text, length: text, rewrites=True)
    at(sink, 0, "u1")
    sink.said("first")
    sink.said("again")
    assert sink.final_excerpt == "again"
    at(sink, 50, "u2")
    sink.said("second")
    assert sink.rewrite("u1")
    sink.said("an old text, late")
    assert sink.final_excerpt == "second"
    assert sink.rewrite("u2")
    sink.said("second, longer")
    assert sink.final_excerpt == "second, longer"


def test_a_call_is_kept_with_what_names_it() -> None:
    """Its entry's span or its own, its tool, a digest of its arguments, whether it is one of ours."""
    sink = timeline()
    at(sink, 7, "u1")
    assert sink.call("t1", "Bash", input=b'{"x":1}', command="agentfeedback submit")
    assert sink.call(None, "Read", input=b'{"path":"a"}', span="s9")
    assert not sink.call("t1", "Other", input=b"{}")
    first, second = sink.entries[0].calls
    assert (first.id, first.span, first.tool, first.offset, first.own) == (
        "t1",
        "u1",
        "Bash",
        7,
        True,
    )
    assert first.args_digest == args_digest(b'{"x":1}', "agentfeedback submit")
    assert (second.id, second.span, second.tool, second.own) == (None, "s9", "Read", False)
    assert second.args_digest == args_digest(b'{"path":"a"}', None)
    assert first.entry is second.entry is sink.entries[0]
    assert sink.known("t1") and not sink.known("t2") and not sink.known(None)


def test_calls_without_an_id_have_no_result() -> None:
    """No id names one of them, so nothing is reported of another one's end."""
    sink = timeline()
    at(sink, 0, "u1")
    assert sink.call(None, "A") and sink.call(None, "B")
    assert not sink.result(None, "error") and not sink.refine(None, "error")
    assert not sink.result("t9", "error") and not sink.refine("t9", "error")
    sink.interrupt_open("x")
    assert [call.status for call in sink.entries[0].calls] == [None, None]


def test_an_entry_written_again_corrects_its_calls_alone() -> None:
    """A call of that entry takes the new tool and arguments; the same id elsewhere says nothing new."""
    sink = timeline_that_rewrites()
    at(sink, 0, "u1")
    sink.call("t1", "?", command="make")
    at(sink, 50, "u2")
    assert not sink.call("t1", "elsewhere", command="ls")
    (call,) = sink.entries[0].calls
    assert (call.tool, call.own, call.args_digest) == ("?", False, args_digest(None, "make"))
    sink.rewrite("u2")
    assert not sink.call("t1", "elsewhere", command="ls")
    assert call.tool == "?"
    sink.rewrite("u1")
    assert not sink.call("t1", "Bash", input=b"{}", command="agentfeedback status")
    assert (call.tool, call.own) == ("Bash", True)
    assert call.args_digest == args_digest(b"{}", "agentfeedback status")
    sink.rewrite("u1")
    sink.call("t1", "Write", input=b'{"a":2}')
    assert call.args_digest == args_digest(b'{"a":2}', None)
    assert sink.call("t2", "New") and len(sink.entries[0].calls) == 2


def timeline_that_rewrites() -> Timeline:
    return Timeline(lambda text, length: text[:length], rewrites=True)


def test_a_rewrite_adds_a_time_and_a_model_and_makes_no_prompt() -> None:
    """The first time stays; the model of the latest entry counts; an entry never turns into a prompt later."""
    sink = timeline_that_rewrites()
    at(sink, 0, "u1")
    sink.call("t1", "Bash")
    at(sink, 50, "u2", None, None, "m2")
    sink.call("t2", "Bash")
    assert not sink.rewrite("u3") and not timeline().rewrite("u1")
    assert sink.rewrite("u1", 10**9, "m1")
    sink.prompt("late")
    sink.interrupt()
    sink.rewrite("u1", 2 * 10**9)
    first, second = sink.entries
    assert (first.at, first.kind, sink.model) == (10**9, "other", "m2")
    sink.rewrite("u2", None, "m3")
    assert (second.at, sink.model) == (None, "m3")
    at(sink, 90, "u4")
    sink.prompt("new")
    assert sink.entries[2].kind == "prompt"


def test_an_entry_is_a_prompt_or_an_interrupt() -> None:
    """A prompt stays one; what is interrupted says so once."""
    sink = timeline()
    at(sink, 0, "u1")
    sink.prompt("a")
    sink.interrupt()
    at(sink, 9, "u2")
    sink.interrupt()
    sink.interrupt()
    assert [each.kind for each in sink.entries] == ["prompt", "interrupt"]
    assert (sink.counts().prompts, sink.counts().interrupts) == (1, 1)


def called(*ids: str, start: int = 0) -> Timeline:
    """A timeline with open calls in one entry at offset 0, now at offset 100."""
    sink = Timeline(clip, mark, start=start)
    at(sink, 0, "u1")
    for id in ids:
        sink.call(id, "Bash")
    sink.offset = 100
    return sink


def test_the_first_result_ends_a_call() -> None:
    """Its status, exit code, place and text stay, whatever comes later."""
    sink = called("t1", "t2")
    assert sink.result("t1", "error", "boom", 2)
    sink.offset = 200
    assert sink.result("t1", "ok", "fine", 0)
    first, second = sink.entries[0].calls
    assert (first.status, first.exit_code, first.result_offset) == ("error", 2, 100)
    assert first.excerpt == "240:boom" and first.marks == {"seen": ["result", "boom"]}
    assert (second.status, second.exit_code) == (None, None)
    sink.interrupt_open()
    assert (first.status, second.status, second.result_offset) == ("error", "interrupted", 200)


def test_a_second_result_may_bring_what_the_first_left_out() -> None:
    """The exit code of the same status, and a text where there was none."""
    sink = called("t1", "t2")
    sink.result("t1", "error")
    sink.result("t1", "error", "boom", 2)
    sink.result("t1", "error", "bang", 3)
    sink.result("t2", "error", "", 1)
    sink.result("t2", "denied", "no", 5)
    first, second = sink.entries[0].calls
    assert (first.exit_code, first.excerpt) == (2, "240:boom")
    assert (second.status, second.exit_code, second.excerpt) == ("error", 1, "240:no")


def test_a_refinement_changes_the_status_and_the_exit_code() -> None:
    """The later word counts, until the call is interrupted; only what ran to its end has an exit code."""
    sink = called("t1", "t2", "t3", "t4", "t5")
    sink.result("t1", "ok", "", 0)
    assert sink.refine("t1", "error", "boom", 2)
    assert sink.refine("t1", None, "none", 9)
    sink.result("t2", "error", "x", 1)
    sink.refine("t2", "denied", "y")
    sink.result("t3", "interrupted", "stop")
    sink.refine("t3", "ok", "", 0)
    sink.result("t4", "error", "x", 1)
    sink.refine("t4", "error")
    sink.refine("t5", "interrupted", "z", 130)
    found = [(each.status, each.exit_code, each.excerpt) for each in sink.entries[0].calls]
    assert found == [
        ("error", 2, "240:boom"),
        ("denied", None, "240:x"),
        ("interrupted", None, "240:stop"),
        ("error", 1, "240:x"),
        ("interrupted", 130, "240:z"),
    ]
    sink.interrupt_open("late")
    assert [each.excerpt for each in sink.entries[0].calls] == [excerpt for _, _, excerpt in found]


def test_what_is_interrupted_at_once_is_closed() -> None:
    """Every call without a result, with the words of that; nothing changes it later."""
    sink = called("t1", "t2")
    sink.result("t1", "ok", "fine")
    sink.interrupt_open("stopped")
    first, second = sink.entries[0].calls
    assert (first.status, second.status, second.excerpt) == ("ok", "interrupted", "240:stopped")
    assert sink.refine("t2", "error", "boom", 1) and sink.result("t2", "error", "boom", 1)
    assert (second.status, second.exit_code, second.excerpt) == (
        "interrupted",
        None,
        "240:stopped",
    )
    assert sink.refine("t1", "error", "boom", 1)
    assert (first.status, first.exit_code) == ("error", 1)


def test_a_text_that_turns_into_a_failure_is_scrubbed_and_cut_first() -> None:
    """Of a result that went well a part is kept; a short one is whole, a long one loses its last word."""
    for length, expected in ((100, "w" * 100), (KEPT_CHARACTERS - 1, None)):
        sink = Timeline(lambda text, length: text)
        at(sink, 0, "u1")
        sink.call("t1", "Bash")
        sink.result("t1", "ok", "w" * length)
        sink.refine("t1", "error")
        excerpt = sink.entries[0].calls[0].excerpt
        assert excerpt == (expected or "w" * length)
    words = "word " * 2000
    sink = Timeline(lambda text, length: text)
    at(sink, 0, "u1")
    sink.call("t1", "Bash")
    sink.result("t1", "ok", words)
    sink.refine("t1", "error")
    assert sink.entries[0].calls[0].excerpt == words[:HEAD_CHARACTERS]


def test_the_watched_span_is_found_once() -> None:
    """An entry, or a call with a span of its own: where and when it was, and with which model."""
    asked: list[str] = []
    sink = Timeline(clip, watch=lambda span: asked.append(span) or span == "s9")
    at(sink, 0, "u1", 5, "/srv", "m1")
    assert sink.watched is None
    sink.call("t1", "Bash")
    sink.call("t2", "Bash", span="s9")
    found = sink.watched
    assert found is not None
    assert (found.span, found.at, found.cwd, found.model) == ("s9", 5, "/srv", "m1")
    at(sink, 10, "s9", 9, "/other", "m2")
    sink.call("t3", "Bash", span="s9")
    assert sink.watched is found and asked == ["u1", "u1", "s9"]
    sink = Timeline(clip, watch=lambda span: span == "L30")
    at(sink, 30, None, 7, "/srv", "m1")
    found = sink.watched
    assert found is not None
    assert (found.span, found.at, found.cwd, found.model) == ("L30", 7, "/srv", "m1")


def test_a_session_is_described_by_what_was_said_of_it_last() -> None:
    """Each fact by itself, cut to its bound; one that is left out or empty changes nothing."""
    sink = Timeline(clip)
    sink.about(title="t", branch="b", version="v", parent="p")
    sink.about(title="", branch=None)
    facts = sink.about_session
    assert (facts.title, facts.branch, facts.version, facts.parent) == (
        "160:t",
        "160:b",
        "160:v",
        "160:p",
    )
    sink.about(version="w")
    assert (facts.version, facts.title) == ("160:w", "160:t")


def test_what_a_session_used_adds_up() -> None:
    """What a log cannot mean, below nothing or without end, counts as nothing."""
    sink = timeline(10**6)
    sink.used()
    sink.used(input=5, output=3, cost=0.25)
    sink.used(input=7)
    sink.used(output=2, cost=0.5)
    sink.used(input=-4, output=-1, cost=-1.0)
    sink.used(cost=float("inf"))
    sink.used(cost=float("nan"))
    facts = sink.about_session
    assert (facts.input, facts.output, facts.cost) == (12, 5, 0.75)


def test_without_words_nothing_is_shown() -> None:
    """A refinement or an end without a text leaves no excerpt, and one that is closed takes none later."""
    sink = called("t1", "t2")
    sink.refine("t1", "error")
    sink.interrupt_open()
    first, second = sink.entries[0].calls
    assert (first.excerpt, second.excerpt) == ("", "")
    assert sink.refine("t2", "interrupted", "late", 130) and sink.result(
        "t2", "interrupted", "late", 1
    )
    assert (second.exit_code, second.excerpt) == (None, "")


def test_a_status_may_change_more_than_once() -> None:
    """The kept text is used once: each later status finds the excerpt there."""
    sink = called("t1")
    sink.result("t1", "ok", "what was said")
    sink.refine("t1", "error")
    sink.refine("t1", "denied")
    (call,) = sink.entries[0].calls
    assert (call.status, call.excerpt) == ("denied", "240:52:what was said")


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        ("gl" + "pat-Sec", ""),  # may be the beginning of a token
        ("[REDACTED:token]", "[REDACTED:token]"),
        ("[REDACTED:token]gl" + "pat-", ""),
        ("ends]", ""),
        ("y" * 2000, "y" * 976),
    ],
)
def test_the_last_word_of_a_kept_start_is_shown_when_it_is_whole(end: str, shown: str) -> None:
    """A marker is whole; any other word may go on behind the cut, and so may the end of a very long one."""
    head = "x" * (KEPT_CHARACTERS - len(end)) + end

    def shrunk(text: str, length: int) -> str:
        return "start " + text.lstrip("x") if length > 1000 else text

    sink = Timeline(shrunk)
    at(sink, 0, "u1")
    sink.call("t1", "Bash")
    sink.result("t1", "ok", head + " and more")
    sink.refine("t1", "error")
    assert sink.entries[0].calls[0].excerpt == f"start {shown}"


def test_a_kept_start_that_shrinks_to_nothing_is_empty() -> None:
    """Nothing is left of white space."""
    sink = Timeline(lambda text, length: "" if length > 1000 else text)
    at(sink, 0, "u1")
    sink.call("t1", "Bash")
    sink.result("t1", "ok", "x" * 9000)
    sink.refine("t1", "error")
    assert sink.entries[0].calls[0].excerpt == ""
