"""What `doctor --formats` does not know of Codex; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agentfeedback.reading.drift import Survey
from agentfeedback_codex.reader import Codex

if TYPE_CHECKING:
    from conftest import Rollout


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","payload":{"x":1}}',
            ["novel"],
            [],
        ),
        (
            b'{"type":"event_msg","payload":{"type":"novel","x":1}}',
            ["event_msg/novel"],
            [],
        ),
        (
            b'{"type":"response_item","novel":1,"payload":{"type":"function_call","novel":1}}',
            [],
            [("response_item", "novel"), ("response_item/function_call", "payload.novel")],
        ),
        (
            b'{"type":"session_meta","payload":{"novel":1}}',
            [],
            [("session_meta", "payload.novel")],
        ),
        (
            b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","changes":{"novel":1},"novel":1}}}',
            [],
            [("event_msg/item_completed/FileChange", "payload.item.novel")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is reported by its name."""
    survey = Survey(Codex().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (
            b'{"type":"event_msg","payload":{"type":"turn_aborted","reason":"moonrise"}}',
            ("event_msg/turn_aborted", "payload.reason=moonrise"),
        ),
        (
            b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","status":"lost"}}}',
            ("event_msg/item_completed/CommandExecution", "payload.item.status=lost"),
        ),
        (
            b'{"type":"event_msg","payload":{"type":"exec_command_end","source":"moon"}}',
            ("event_msg/exec_command_end", "payload.source=moon"),
        ),
        (
            b'{"type":"event_msg","payload":{"type":"entered_review_mode","target":{"type":"moon"}}}',
            ("event_msg/entered_review_mode", "payload.target.type=moon"),
        ),
    ],
)
def test_words_of_no_rule_are_told(line: bytes, field: tuple[str, str]) -> None:
    """A new word for how something ended, or what it is about, is reported with the member that holds it."""
    survey = Survey(Codex().known())
    survey.see([line])
    assert list(survey.fields) == [field]


def judged(*lines: bytes) -> list[str]:
    survey = Survey(Codex().known())
    survey.see(line.rstrip(b"\n") for line in lines)
    return list(survey.types)


@pytest.mark.parametrize(
    ("tool", "output", "unknown"),
    [
        ("exec_command", "the moon is in the way: x", True),
        ("apply_patch", "patch put off", True),
        ("view_image", [{"type": "input_text", "text": "no picture today"}], True),
        ("exec_command", "exec command rejected by user", False),
        ("exec_command", "Exit code: 0\nOutput:\nthe moon is in the way", False),
        ("exec_command", " \n", False),
        ("shell", '{"output":"x","metadata":{"exit_code":0}}', False),
        ("spawn_agent", '{"agent_id":"x"}', False),
        ("update_plan", "Plan updated", False),
        ("mcp__x__y", "the moon", False),
    ],
)
def test_texts_of_no_rule_are_told(
    rollout: Rollout, tool: str, output: object, unknown: bool
) -> None:
    """An output of Codex' own tool that no rule knows is counted by the tool, and its text is not shown."""
    told = judged(rollout.call(tool), rollout.output(output))
    assert told == ([f"response_item/function_call_output/text of {tool}"] if unknown else [])


def test_texts_of_calls_that_a_record_ends_are_not_judged(rollout: Rollout) -> None:
    """Where an item or event says how a call ended, its output may be a hook's."""
    call, output = rollout.call(), rollout.output("the hook dislikes it")
    assert judged(call, rollout.item("CommandExecution", status="completed"), output) == []
    assert judged(call, rollout.event("exec_command_end", call_id="c1"), output) == []
    assert judged(output) == []
    assert judged(call, output, output) == judged(call, output) != []


def test_first_rollouts_are_known() -> None:
    """Bare records of the first rollouts hold nothing unknown, and a new member of one is reported."""
    assert (
        judged(
            b'{"id":"s1","timestamp":"x","instructions":null,"git":{}}',
            b'{"record_type":"state"}',
            b'{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"x"}]}',
            b'{"type":"function_call","id":null,"name":"x","arguments":"{}","call_id":"c1"}',
            b'{"type":"function_call_output","call_id":"c1","output":"x"}',
        )
        == []
    )
    survey = Survey(Codex().known())
    survey.see([b'{"type":"function_call","novel":1}'])
    assert list(survey.fields) == [("function_call", "novel")]
