"""What the harness records again after a refusal gives nothing twice (README, "Recorded again")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Written

    Call = Callable[..., dict[str, Any]]

CONTEXT = "<session_context>\nThis is another context.\n</session_context>"
#: What a person may type about it.
LOOK_ALIKE = (
    "<session_context> is what I got in my terminal, explain",
    "<session_context>\nis cut off",
    CONTEXT + "\nWhat is this?",
    "What is this?\n" + CONTEXT,
    CONTEXT.replace("\n", " "),
)


def test_copies_give_nothing(log: Written, call: Call) -> None:
    """In a block of copies, texts of earlier messages, answers and messages of parts are copies."""
    log.user("one")
    log.user("two")
    log.gemini("Said.")
    log.context_again("one")
    log.responses()
    log.gemini([{"text": "Invented."}], call("x", "error"), model="m-2")
    log.user("two")
    timeline = log.told()
    assert log.prompts() == ["m1", "m2"]
    assert (timeline.counts().entries, timeline.counts().tool_calls) == (7, 0)
    assert (timeline.final_excerpt, timeline.model) == ("Said.", "m-1")


def test_the_context_may_be_any_part(log: Written) -> None:
    """A message with the harness's context in any of its parts is recorded again."""
    log.user("one")
    log.message("user", [{"text": "one"}, {"text": CONTEXT}])
    log.user("one")
    assert log.prompts() == ["m1"]


def test_a_thought_or_an_answer_is_no_context(log: Written) -> None:
    """Only what stands as a text opens a block."""
    log.user("one")
    answer = {"functionResponse": {"response": {"output": CONTEXT}}, "text": CONTEXT}
    log.message("user", [answer, {"text": CONTEXT, "thought": True}, {"text": "two"}])
    log.user("one")
    assert log.prompts() == ["m1", "m2", "m3"]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(typed=st.lists(st.sampled_from(["one", "two", *LOOK_ALIKE]), min_size=1))
def test_words_that_look_like_a_context_open_no_block(log: Written, typed: list[str]) -> None:
    """Whatever a person types, it is a prompt, and so is what is typed after it."""
    log.lines.clear()
    spans = [log.user(text) for text in typed]
    assert log.prompts() == spans


def test_merged_texts_are_copies(log: Written) -> None:
    """A record whose every text was recorded before is a copy, however they were spread."""
    log.user("one")
    log.message("user", "two")
    log.context_again()
    log.user("one", "two")
    log.user("one", "three")
    assert log.prompts() == ["m1", "m2", "m5"]


def test_texts_of_a_set_are_recorded_before(log: Written) -> None:
    """User texts that only a `$set` recorded are known, the model's are not."""
    log.set(
        messages=[
            {"type": "user", "content": [{"text": "one"}]},
            {"type": "user", "content": "two"},
            {"type": "gemini", "content": [{"text": "three"}]},
        ]
    )
    log.context_again()
    log.user("one")
    log.user("two")
    log.user("three")
    assert log.prompts() == ["m5"]


def test_the_same_prompt_typed_again_is_one(log: Written) -> None:
    """Outside of a block an exact repetition is a prompt."""
    log.user("one")
    log.user("one")
    assert log.prompts() == ["m1", "m2"]


@pytest.mark.parametrize("closing", ["set", "info", "gemini", "prompt"])
def test_what_closes_a_block(log: Written, closing: str) -> None:
    """A `$set` with messages, a live message or a new prompt ends the copies."""
    log.user("one")
    log.context_again("one")
    if closing == "set":
        log.set(messages=[])
    elif closing == "info":
        log.message("info", "Request cancelled.")
    elif closing == "gemini":
        log.gemini("Live.")
    else:
        log.user("new")
    again = log.user("one")
    assert log.prompts()[-1] == again


@pytest.mark.parametrize("keeping", ["set", "metadata", "rewind", "responses", "parts", "unparsed"])
def test_what_keeps_a_block_open(log: Written, keeping: str) -> None:
    """Other control lines, metadata, answers, messages of parts and damage end no block."""
    log.user("one")
    log.context_again("one")
    if keeping == "set":
        log.set(lastUpdated="x")
    elif keeping == "metadata":
        log.metadata()
    elif keeping == "rewind":
        log.line(**{"$rewindTo": "m1"})
    elif keeping == "responses":
        log.responses()
    elif keeping == "parts":
        log.gemini([{"text": "x"}])
    else:
        log.lines.append(b"{\n")
    log.user("one")
    assert log.prompts() == ["m1"]
