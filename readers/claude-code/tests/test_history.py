"""A conversation that its own file records again, on a resume, is reported once."""

from __future__ import annotations

import json
from typing import Any

import pytest


def again(log: Any, lines: slice, time: str = "2026-12-01T00:00:00.000Z") -> None:
    """Record lines of the conversation again: other `uuid`s, one time, no outcome of tools."""
    for number, line in enumerate([json.loads(line) for line in log.lines[lines]]):
        line.pop("toolUseResult", None)
        more = {"uuid": f"{line['uuid']}-again", "timestamp": time}
        if not number:
            more["parentUuid"] = None
        log.lines.append(json.dumps({**line, **more}).encode())


def conversation(log: Any) -> None:
    log.user("list the files", parentUuid=None)
    log.call("t1", tool="Edit")
    log.result(
        "No, not that file", id="t1", version="2.0.2", toolUseResult="Error: No, not that file"
    )
    log.call("t2", message_id="m2")
    log.user("[Request interrupted by user for tool use]")
    log.user("try in src")


def test_a_conversation_recorded_again_is_told_once(log: Any) -> None:
    """In a block of one time behind a line without a parent, texts and results known before say nothing."""
    conversation(log)
    before = log.told().counts()
    again(log, slice(0, 6))
    after = log.told().counts()
    assert (after.prompts, after.interrupts, after.tool_calls) == (2, 1, 2)
    assert (after.denials, after.tool_errors) == (before.denials, before.tool_errors) == (1, 0)
    log.user("now sort them")
    log.user("try in src")
    assert [summary for _, summary in log.prompts()][2:] == ["now sort them", "try in src"]


def test_what_is_new_in_such_a_block_counts(log: Any) -> None:
    """A text that was not seen before is a prompt there, and a result of an open call is one."""
    conversation(log)
    again(log, slice(0, 1))
    time = "2026-12-01T00:00:00.000Z"
    log.user("something else", timestamp=time)
    log.result("Exit code 1", id="t2", timestamp=time)
    assert log.prompts()[2][1] == "something else"
    assert log.calls()[1].status == "error"


@pytest.mark.parametrize(
    "members",
    [
        {"parentUuid": "u1"},
        {},
        {"parentUuid": None, "isSidechain": True},
        {"parentUuid": None, "timestamp": None},
    ],
)
def test_the_same_words_typed_again_are_a_prompt(log: Any, members: dict[str, Any]) -> None:
    """Only a line of the main conversation without a parent, and with a time, opens a block."""
    conversation(log)
    log.user("list the files", **members)
    log.user("try in src", **members)
    told = 0 if members.get("isSidechain") else 2
    assert len(log.prompts()) == 2 + told


def test_lines_without_a_time_do_not_end_a_block(log: Any) -> None:
    """Snapshots and summaries among the copies have no time."""
    conversation(log)
    again(log, slice(0, 1))
    log.line("file-history-snapshot", uuid=None, timestamp=None)
    again(log, slice(5, 6))
    log.lines[-1] = log.lines[-1].replace(b'"parentUuid": null', b'"parentUuid": "x"')
    assert len(log.prompts()) == 2
