"""What messages, metadata and control lines say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentfeedback.foundation import times

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Written

    from agentfeedback.reading.timeline import Timeline

    Call = Callable[..., dict[str, Any]]
    Tell = Callable[..., Timeline]


def test_only_messages_are_entries(log: Written) -> None:
    """Metadata and control lines are parsed and no entries; messages of any type are."""
    log.metadata()
    log.set(lastUpdated="2026-11-30T09:00:00Z")
    log.line(**{"$rewindTo": "m1"})
    log.line(**{"$patch": {}})
    log.message("info", "Request cancelled.")
    log.message("of-next-year", {"x": 1})
    log.message("", None)
    counts = log.told().counts()
    assert (counts.entries, counts.unparsed) == (3, 0)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"sessionId":""}',
        b'{"sessionId":7}',
        b'{"type":"user"}',
        b'{"type":"user","id":""}',
        b'{"type":"user","id":7,"sessionId":"s"}',
        b'{"id":"m1","type":7}',
        b'{"$set":7}',
        b'{"$rewindTo":{}}',
        b'{"$patch":"x"}',
    ],
)
def test_a_line_of_no_shape_is_unparsed(log: Written, line: bytes) -> None:
    """A line that is not a metadata, control line or message counts as unparsed and as nothing else."""
    log.lines.append(line + b"\n")
    counts = log.told().counts()
    assert (counts.entries, counts.unparsed) == (0, 1)


def test_a_member_of_a_wrong_type_is_absent(log: Written) -> None:
    """A control member of a wrong type leaves a message a message."""
    log.message("user", "hello", **{"$set": 7, "$rewindTo": [], "$patch": None})
    assert log.prompts() == ["m1"]


@pytest.mark.parametrize(
    "text",
    [
        "fix it",
        "/home/u/x fix this",
        "/1st try",
        "a\u2028b",
        " \nfix",
        "? what",
        "/é",
        "no <session_context>",
        "<session_context>",
        "<session_context> is what I got in my terminal, explain",
        "<session_context>\nis cut off",
        "<session_context> x\n</session_context>",
        "<session_context>\nx\n</session_context>\nWhat is this?",
        "</session_context>",
    ],
)
def test_what_a_person_typed_is_a_prompt(log: Written, text: str) -> None:
    """Text, a path, and a raw line separator in it make a prompt, as a string or as parts."""
    parts, string = log.user(text), log.message("user", text)
    assert log.prompts() == [parts, string]


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n",
        None,
        [],
        "/help",
        " /chat-save x",
        [{"text": "/compress"}],
        "<session_context>\nx\n</session_context>",
        "I ran the following shell command:\n```sh\nls\n```",
        "- **Workspace Directories:**\n  - /srv/app",
        [{"functionResponse": {}}],
        [{"functionResponse": {}, "text": "x"}],
        [{"text": "x", "thought": True}],
        [{"inlineData": {}}],
        [7, "x"],
    ],
)
def test_what_nobody_typed_is_no_prompt(log: Written, content: Any) -> None:
    """Slash commands, the harness's own texts, tools' answers, thoughts and blanks are not prompts."""
    log.message("user", content)
    assert (log.prompts(), log.told().counts().entries) == ([], 1)


LOOP = "System: Potential loop detected. Details: x. Please take a step back x"
BACKGROUND = (
    "Background execution update:\n<background_output>\n[Background command completed]\n"
    "</background_output>\n\nA previously backgrounded execution has completed. x"
)
INSTRUCTION = "Internal instruction: x"
HINTS = f"User hints:\n<user_input>\n- skip the docs\n- be quick\n</user_input>\n\n{INSTRUCTION}"
UPDATE = f"User steering update:\n<user_input>\nskip the docs\n</user_input>\n{INSTRUCTION}"


@pytest.mark.parametrize("text", ["System: Please continue.", LOOP, BACKGROUND])
def test_what_the_harness_tells_the_model_is_no_prompt(log: Written, text: str) -> None:
    """Alone, as a string, or beside the answers of tools; what a person typed beside it is one."""
    log.user(text)
    log.message("user", text)
    log.message("user", [{"functionResponse": {}}, {"text": text}])
    assert log.prompts() == []
    beside = log.user(text, "and now the docs")
    prompts = [each for each in log.told().entries if each.kind == "prompt"]
    assert [(each.span, each.summary) for each in prompts] == [(beside, "and now the docs")]


@pytest.mark.parametrize(
    ("text", "summary"), [(HINTS, "- skip the docs"), (UPDATE, "skip the docs")]
)
def test_words_typed_while_the_model_was_busy_are_a_prompt(
    log: Written, text: str, summary: str
) -> None:
    """The harness passes them on in words of its own, which are not the person's."""
    log.message("user", [{"functionResponse": {}}, {"text": text}])
    assert [entry.summary for entry in log.told().entries] == [summary]


@pytest.mark.parametrize("text", [LOOP, BACKGROUND, HINTS, UPDATE, "System: Please continue."])
def test_words_that_quote_the_harness_are_a_prompt(log: Written, text: str) -> None:
    """What only starts, ends or goes on so is typed by a person."""
    typed = [f"What is this? {text}", text[: len(text) // 2], f"{text[:8]} {text[8:]}"]
    spans = [log.user(words) for words in typed]
    assert log.prompts() == spans


def test_text_beside_an_answer_is_a_prompt(log: Written) -> None:
    """A record of an answer and a text is what a person typed."""
    answer = {"functionResponse": {}, "text": "its own"}
    log.message("user", [answer, {"text": "and now this"}])
    assert [entry.summary for entry in log.told().entries] == ["and now this"]


def test_what_a_subagent_is_told_is_no_prompt(log: Written) -> None:
    """In a sub-agent's log the `user` messages are the parent model's words."""
    log.metadata(kind="subagent")
    log.user("list the files")
    assert log.prompts() == []


def test_a_message_written_again_is_one_entry(log: Written, call: Call) -> None:
    """Its first line places it, later ones add calls and change its text, model and missing time."""
    log.line(id="m1", type="gemini", content="Old", timestamp="never", model="m-1")
    offset = sum(map(len, log.lines))
    log.gemini("New", call("x", "error"), id="m1", model="m-2")
    timeline = log.told()
    (entry,) = (entry for entry in timeline.entries if entry.calls)
    (told,) = entry.calls
    assert (entry.offset, entry.span, entry.at is not None) == (0, "m1", True)
    assert (told.offset, told.span, told.status) == (offset, "m1", "error")
    assert (timeline.counts().entries, timeline.counts().tool_calls) == (1, 1)
    assert (timeline.model, timeline.final_excerpt) == ("m-2", "New")


def test_a_prompt_written_again_is_told_once(log: Written) -> None:
    """A rewritten prompt keeps its place and takes the new text; no other message becomes one."""
    log.user("first", id="m1")
    log.user("second", id="m1")
    log.user("/help", id="m2")
    log.user("fix it", id="m2")
    log.message("info", "x", "m3")
    log.user("and that", id="m3")
    prompts = [(e.span, e.summary) for e in log.told().entries if e.kind == "prompt"]
    assert prompts == [("m1", "second")]


def test_a_rewrite_of_what_was_digested_is_not_reported_again(
    log: Written, call: Call, tell: Tell
) -> None:
    """From a later offset only the calls that its lines first record count, and no earlier text."""
    log.user("hello", id="m1")
    log.gemini("Old", call("x", "error", id="a"), call(status="executing", id="b"), id="m2")
    start = sum(map(len, log.lines))
    log.user("hello again", id="m1")
    calls = (call("x", "error", id="a"), call("y", "error", id="b"), call("z", id="c"))
    log.gemini("New", *calls, id="m2")
    timeline = tell(b"".join(log.lines), start)
    counts = timeline.counts()
    assert (counts.entries, counts.prompts, counts.tool_calls) == (0, 0, 1)
    assert timeline.final_excerpt == ""
    results = [c.result_offset >= start for entry in timeline.entries for c in entry.calls]
    assert results == [False, True, True]


def test_the_last_text_of_the_assistant_stays(log: Written, call: Call) -> None:
    """Strings and parts but thoughts are what was said; blank text says something only beside calls."""
    log.gemini("One")
    log.gemini([{"text": "Two"}, {"text": "hm", "thought": True}, {"text": "lines"}])
    log.gemini(" \n")
    assert log.told().final_excerpt == "Two\nlines"
    log.gemini(" \n", call("x"))
    assert log.told().final_excerpt.strip() == ""


def test_times_are_those_of_messages_and_starts(log: Written) -> None:
    """Every valid time widens the session: of messages, of their rewrites, and of the metadata."""
    log.metadata(startTime="2026-11-30T08:00:00Z")
    log.user("hello", id="m1")
    log.message("user", "hello", "m1", timestamp="2026-11-30T11:30:00+01:00")
    timeline = log.told()
    assert timeline.first is not None
    assert timeline.last is not None
    assert times.list_form(timeline.first) == "2026-11-30T08:00:00Z"
    assert times.list_form(timeline.last) == "2026-11-30T10:30:00Z"


def test_listed_directories_come_after_all_lines(log: Written) -> None:
    """The project's root is first and current for the entries; the directory listed last is last."""
    log.metadata(directories=["/srv/app/b", 7, "relative"])
    log.user("hello")
    log.set(directories=["/srv/app/c", "/srv/app/b"])
    timeline = log.told()
    assert list(timeline.cwds) == ["/srv/app", "/srv/app/b", "/srv/app/c"]
    assert timeline.cwd == "/srv/app/b"


def test_messages_of_a_set_are_not_read(log: Written) -> None:
    """The history that a `$set` holds gives no entry, prompt or call and changes none."""
    log.user("hello", id="m1")
    old = {"id": "m1", "type": "user", "content": "changed"}
    new = {"id": "m9", "type": "gemini", "content": "x", "toolCalls": [{"id": "t", "name": "x"}]}
    log.set(messages=[old, new, 7], lastUpdated="2030-01-01T00:00:00Z")
    timeline = log.told()
    assert [(entry.span, entry.summary) for entry in timeline.entries] == [("m1", "hello")]
    assert timeline.counts().tool_calls == 0
