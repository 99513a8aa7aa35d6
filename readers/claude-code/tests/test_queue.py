"""What is typed while the harness is busy is a prompt, once."""

from __future__ import annotations

from typing import Any

import pytest

OLD, NEW = "2.1.40", "2.1.97"


def operate(log: Any, operation: str, content: str | None = None) -> str:
    """Add an operation of the queue; gives the span of its line, which has no `uuid`."""
    offset = sum(len(line) + 1 for line in log.lines)
    members = {"content": content} if content is not None else {}
    log.line("queue-operation", uuid=None, cwd=None, operation=operation, **members)
    return f"L{offset}"


def start(log: Any, version: str | None = OLD) -> None:
    log.call()
    log.user("run the tests", version=version)


def later(log: Any) -> list[tuple[str, str]]:
    """The prompts behind the first."""
    prompts: list[tuple[str, str]] = log.prompts()
    assert prompts[0][1] == "run the tests"
    return prompts[1:]


def test_what_is_removed_from_the_queue_reached_the_model_in_mid_turn(log: Any) -> None:
    """Before there were attachments `remove` delivers the text that waited first, at its own line."""
    start(log)
    operate(log, "enqueue", "use the small set")
    operate(log, "enqueue", "and be quick")
    spans = [operate(log, "remove"), operate(log, "remove")]
    operate(log, "remove")
    assert later(log) == [(spans[0], "use the small set"), (spans[1], "and be quick")]


def test_remove_names_what_it_takes_off(log: Any) -> None:
    """A `remove` with a text takes that one off, and the first where none waits with that text."""
    start(log)
    for text in ("one", "two", "three"):
        operate(log, "enqueue", text)
    operate(log, "remove", "two")
    operate(log, "remove", "nothing")
    operate(log, "remove")
    assert [summary for _, summary in later(log)] == ["two", "one", "three"]


@pytest.mark.parametrize("version", [NEW, "2.2.0", None, "odd"])
def test_later_versions_have_attachments_instead(log: Any, version: str | None) -> None:
    """From 2.1.97 on, and where no version is known, the queue alone tells no prompt."""
    start(log, version)
    operate(log, "enqueue", "use the small set")
    operate(log, "remove")
    assert later(log) == []


def test_the_version_seen_last_decides(log: Any) -> None:
    """A session that a later version goes on with has attachments from there on."""
    start(log, NEW)
    log.line("system", version=OLD)
    operate(log, "enqueue", "use the small set")
    log.line("system", version=None)
    span = operate(log, "remove")
    assert later(log) == [(span, "use the small set")]


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>\n<task-id>b1",
        "<agent-notification>x",
        '{"task_id":"b1"}',
        "/clear",
        " ",
        "[Image #1]",
    ],
)
def test_what_nobody_typed_waits_in_the_same_queue(log: Any, text: str) -> None:
    """Notices and commands are taken off in their turn and are not prompts."""
    start(log)
    operate(log, "enqueue", text)
    operate(log, "enqueue", "look again")
    operate(log, "remove")
    span = operate(log, "remove")
    assert later(log) == [(span, "look again")]


def test_what_goes_back_into_the_editor_is_no_prompt(log: Any) -> None:
    """`popAll` empties the queue; what is typed then counts."""
    start(log)
    operate(log, "enqueue", "use the small set")
    operate(log, "popAll", "use the small set")
    operate(log, "remove")
    log.user("use the small set only")
    assert [summary for _, summary in later(log)] == ["use the small set only"]


def test_what_is_taken_off_at_the_end_of_a_turn_is_its_user_line(log: Any) -> None:
    """`dequeue` delivers by a `user` line, which alone is the prompt."""
    start(log)
    operate(log, "enqueue", "use the small set")
    operate(log, "dequeue")
    span = log.user("use the small set")
    operate(log, "remove")
    assert later(log) == [(span, "use the small set")]


@pytest.mark.parametrize("content", [7, ["x"], {"a": 1}, None, True])
def test_an_operation_of_another_shape_waits_as_nothing(log: Any, content: Any) -> None:
    """A text of another type is none, and an operation nobody knows does nothing."""
    start(log)
    log.line("queue-operation", operation="enqueue", content=content)
    log.line("queue-operation", operation=content, content="x")
    log.line("queue-operation", operation="shuffle", content="x")
    log.line("queue-operation", operation="remove", content=content)
    assert later(log) == []


@pytest.mark.parametrize("repeats", [["user"], ["attachment"], ["attachment", "user"]])
def test_a_text_from_the_queue_is_told_once(log: Any, repeats: list[str]) -> None:
    """A line that repeats what the queue just delivered is the same prompt, until the assistant goes on."""
    start(log)
    operate(log, "enqueue", "that is wrong")
    span = operate(log, "remove")
    for each in repeats:
        log.user("that is wrong") if each == "user" else log.queued("that is wrong ")
    assert later(log) == [(span, "that is wrong")]
    log.assistant({"type": "text", "text": "Sorry."})
    again = log.user("that is wrong")
    assert later(log)[1:] == [(again, "that is wrong")]


def test_an_attachment_and_its_user_line_are_one_prompt(log: Any) -> None:
    """The attachment is reported, the line that repeats it is not; the same words sent twice are two."""
    start(log, "2.1.197")
    first = log.queued("go on")
    second = log.queued("go on")
    log.user("go on", promptSource="queued")
    log.user("go on", promptSource="queued")
    third = log.user("go on", promptSource="typed")
    assert later(log) == [(span, "go on") for span in (first, second, third)]


def test_a_line_before_the_attachment_is_a_prompt_of_its_own(log: Any) -> None:
    """Only what the queue delivered first is repeated: words typed before are others."""
    start(log, "2.1.197")
    spans = [log.user("go on"), log.queued("go on")]
    assert [span for span, _ in later(log)] == spans
