"""What a timeline keeps of prompts without words and of results whose status changes later."""

from __future__ import annotations

import pytest

from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import HEADS, Timeline
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
    """The text of a result is at hand for the later status, also where the result lies before the start."""
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
    sink.refine("t0", "interrupted")
    sink.refine(f"t{HEADS}", "interrupted")
    assert [sink.entries[n].calls[0].excerpt for n in (0, HEADS)] == ["", "no"]


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
