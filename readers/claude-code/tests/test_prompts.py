"""What a person typed, what the assistant said, and what the harness wrote itself."""

from __future__ import annotations

from typing import Any

import pytest

WRAPPERS = (
    "<command-name>/compact</command-name>",
    "<command-message>skill</command-message>",
    "<local-command-stdout>done</local-command-stdout>",
    "<local-command-stderr>bad</local-command-stderr>",
    "<local-command-caveat>x</local-command-caveat>",
    "<bash-input>ls</bash-input>",
    "<bash-stdout>x</bash-stdout>",
    "<bash-stderr>x</bash-stderr>",
    "<task-notification>\n<task-id>",
    "<teammate-message>hi",
    '<teammate-message teammate_id="a">hi</teammate-message>',
    "<command-name>/model</command-name>\n  <command-args>small</command-args>\n",
    "<command-message>plan</command-message>\n<command-name>/plan</command-name>",
    "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
    "<command-name>/x</command-name>\n<command-contents>y</command-contents>",
    "/compact",
    "/compact keep the essentials",
)


def test_a_text_of_the_user_is_a_prompt_with_the_span_of_its_entry(log: Any) -> None:
    """A `user` text is a prompt, as a string or as text blocks joined by LF."""
    first = log.user("Fix it")
    second = log.user(
        [{"type": "text", "text": " "}, {"type": "image"}, {"type": "text", "text": "then that"}]
    )
    assert log.prompts() == [(first, "Fix it"), (second, "then that")]


@pytest.mark.parametrize("content", ["", " \n", [], None, {"a": 1}, 7])
def test_nothing_typed_is_no_prompt(log: Any, content: Any) -> None:
    """A blank text or content of another type is not a prompt, but an entry."""
    log.user(content)
    assert log.prompts() == []
    assert log.told().counts().entries == 1


@pytest.mark.parametrize("text", WRAPPERS)
def test_the_wrappers_of_the_harness_are_no_prompts(log: Any, text: str) -> None:
    """Where the harness marks no origin, its fixed wrappers tell its own texts; quoted later they do not."""
    log.user(text)
    log.queued(text) if text.startswith("<") else None
    quoting = log.user(f"what is {text}")
    assert [span for span, _ in log.prompts()] == [quoting]


@pytest.mark.parametrize(
    ("marks", "typed"),
    [
        ({"origin": {"kind": "human"}, "promptSource": "typed"}, True),
        ({"origin": {"kind": "human"}, "promptSource": "queued"}, True),
        ({"promptSource": "sdk"}, True),
        ({"origin": {"kind": "human"}}, True),
        ({"origin": {"kind": "human"}, "promptSource": "system"}, False),
        ({"origin": {"kind": "task-notification"}, "promptSource": "typed"}, False),
        ({"origin": {"kind": "task-notification"}}, False),
        ({"promptSource": "system"}, False),
    ],
)
def test_the_marks_of_the_harness_decide_where_there_are_any(
    log: Any, marks: dict[str, Any], typed: bool
) -> None:
    """With `origin.kind` or `promptSource` the marks decide alone, whatever the text looks like."""
    log.user("<bash-input>looks like a wrapper", **marks)
    assert bool(log.prompts()) == typed


@pytest.mark.parametrize(
    "mark", ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSidechain"]
)
def test_a_marked_entry_is_no_prompt(log: Any, mark: str) -> None:
    """Injected context, compact summaries and what a parent says to a sub-agent are not prompts."""
    log.user("still failing, do it again", **{mark: True}, promptSource="typed")
    unmarked = log.user("hello", **{mark: False})
    assert [span for span, _ in log.prompts()] == [unmarked]


@pytest.mark.parametrize(
    ("attachment", "members", "typed"),
    [
        ({}, {}, True),
        ({"origin": {"kind": "human"}}, {}, True),
        ({"origin": {"kind": "task-notification"}}, {}, False),
        ({"commandMode": "task-notification"}, {}, False),
        ({"commandMode": None}, {}, False),
        ({"type": "file"}, {}, False),
        ({"isMeta": True}, {}, False),
        ({}, {"isMeta": True}, False),
        ({}, {"isSidechain": True}, False),
    ],
)
def test_a_prompt_typed_while_the_harness_was_busy_is_an_attachment(
    log: Any, attachment: dict[str, Any], members: dict[str, Any], typed: bool
) -> None:
    """A queued command in prompt mode by a person is a prompt with the span of its entry; no other is."""
    span = log.queued("and the tests", attachment=attachment, **members)
    assert log.prompts() == ([(span, "and the tests")] if typed else [])


def test_a_queued_prompt_may_be_a_list_of_blocks(log: Any) -> None:
    """The text blocks of a queued prompt are its text."""
    span = log.queued([{"type": "text", "text": "look"}, {"type": "image", "source": {}}])
    assert log.prompts() == [(span, "look")]


def test_the_type_of_a_line_decides_and_not_its_message(log: Any) -> None:
    """A line of another type holds no prompt, even with a message of role `user`."""
    log.line(
        "api-request-blob", message={"role": "user", "content": [{"type": "text", "text": "x"}]}
    )
    log.line("queue-operation", operation="enqueue", content="x")
    timeline = log.told()
    assert (timeline.counts().entries, timeline.counts().prompts) == (2, 0)


def test_a_marker_is_an_interrupt_and_no_prompt(log: Any) -> None:
    """A `user` text that is the harness's interrupt marker is an interrupt, unless it is `isMeta`."""
    log.user("go")
    log.user([{"type": "text", "text": "[Request interrupted by user]"}])
    log.user("[Request interrupted by user for tool use]", isMeta=True)
    counts = log.told().counts()
    assert (counts.prompts, counts.interrupts) == (1, 1)


def test_the_last_text_of_the_assistant_is_kept_without_thinking(log: Any) -> None:
    """What the assistant said last is its text blocks joined by LF; thinking and calls say nothing."""
    log.assistant(
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "one"},
        {"type": "text", "text": " "},
        {"type": "text", "text": "two"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}},
    )
    log.assistant({"type": "thinking", "thinking": "later"})
    assert log.told().final_excerpt == "one\ntwo"


def test_an_answer_may_be_a_plain_string(log: Any) -> None:
    """String content of an assistant entry is what it said."""
    log.line("assistant", message={"model": "m", "content": "plain"})
    assert log.told().final_excerpt == "plain"


def test_the_synthetic_model_counts_as_none(log: Any) -> None:
    """Entries the harness wrote in the assistant's name change no model, and its filler says nothing."""
    log.assistant({"type": "text", "text": "done"}, model="m-2")
    log.assistant({"type": "text", "text": "No response requested."}, model="<synthetic>")
    timeline = log.told()
    assert (timeline.model, timeline.final_excerpt) == ("m-2", "done")


def test_every_parsed_line_is_an_entry_and_no_other(log: Any) -> None:
    """Lines of unknown types count as entries; broken lines, blank lines and other JSON are unparsed."""
    log.line("some-new-type", x=1)
    log.lines += [b'{"type":null}', b"{}", b"null", b"[]", b"", b"7", b'{"type":"user","mess']
    log.user("after")
    counts = log.told().counts()
    assert (counts.entries, counts.unparsed, counts.prompts) == (4, 5, 1)


@pytest.mark.parametrize("uuid", [None, ""])
def test_a_prompt_without_uuid_has_a_span_of_its_own(log: Any, uuid: str | None) -> None:
    """Where a line has no `uuid` its offset names it, so that two prompts never share a span."""
    log.user("go", uuid=uuid)
    log.queued("on", uuid=uuid)
    assert log.prompts() == [("L0", "go"), (f"L{len(log.lines[0]) + 1}", "on")]


def test_a_line_of_many_megabytes_is_read_like_any_other(log: Any) -> None:
    """No line is too long, and what follows it is read."""
    log.user("first")
    log.line("user", message=None, toolUseResult="x" * (4 << 20))
    log.user("last\u2028one")
    assert [summary for _, summary in log.prompts()] == ["first", "last\u2028one"]


def test_the_directories_and_times_of_all_lines_are_recorded(log: Any) -> None:
    """Each line's own directory and time count, whatever its type."""
    log.user("go", cwd="/srv/app/a")
    log.line("system", cwd="/srv/app/b", timestamp="2026-12-01T00:00:00.000Z")
    log.line("mode", cwd="relative", timestamp="no time")
    timeline = log.told()
    assert list(timeline.cwds) == ["/srv/app/a", "/srv/app/b"]
    assert timeline.last is not None
    assert timeline.first is not None
    assert timeline.last - timeline.first > 10**9
