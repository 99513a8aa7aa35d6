"""The promises every reader makes, over the corpus and a rollout written here; and that no line is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from agentfeedback.wire.encode import plain
from pytest_agentfeedback import ReaderConformance, fuzz

if TYPE_CHECKING:
    from conftest import Rollout
    from hypothesis.strategies import SearchStrategy


@pytest.fixture(scope="session")
def lines(rollout: Rollout) -> list[bytes]:
    """A small rollout in which every kind of line has its turn."""
    command = ["bash", "-lc", "ls"]
    local = {"type": "local_shell_call", "call_id": "c3", "action": {"command": command}}
    custom = {"type": "custom_tool_call", "name": "exec", "call_id": "c2", "input": "x"}
    answer = {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"text": "error: x"}]}
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x"}],
    }
    ok = {"Ok": {"isError": True, "content": [{"type": "text", "text": "no"}]}}
    return [
        rollout.meta(),
        rollout.line("turn_context", {"cwd": "/srv/app", "model": "m"}),
        rollout.event("user_message", message="hello"),
        rollout.item("UserMessage", "i1", content=[{"type": "text", "text": "and again"}]),
        rollout.call(arguments='{"cmd": "ls"}', namespace="a"),
        rollout.output("Exit code: 2\nOutput:\nbad"),
        rollout.item("CommandExecution", status="failed", exit_code=2, aggregated_output="x"),
        rollout.line("response_item", custom),
        rollout.item("McpToolCall", "e1", server="s", tool="t", error={"message": "x"}),
        rollout.item("FileChange", "e2", stdout="a", stderr="b", status="failed", changes={}),
        rollout.item("CommandExecution", "e3", command=command, source="agent", status="failed"),
        rollout.line("response_item", answer),
        rollout.line("response_item", local),
        rollout.event("patch_apply_end", call_id="c3", status="failed", success=False, stdout="x"),
        rollout.event("mcp_tool_call_end", call_id="c3", result=ok),
        rollout.line("response_item", said),
        rollout.call("shell", '{"command": "ls"}', call_id="c4"),
        rollout.aborted(),
        rollout.item("CommandExecution", "c4", status="failed", exit_code=-1),
    ]


class TestCodex(ReaderConformance):
    harness = "codex"
    corpus = "corpus/codex"
    every_object_is_an_entry = True

    @pytest.fixture(autouse=True)
    def _written(self, lines: list[bytes]) -> None:
        self.written = [line[:-1] for line in lines]

    def more_logs(self) -> SearchStrategy[list[bytes]]:
        return fuzz.logs([self.written])


def test_the_rollout_says_what_it_was_written_to_say(rollout: Rollout, lines: list[bytes]) -> None:
    """The rollout written here has prompts, calls that ended in each way and interrupts, so the laws say something."""
    counts = rollout.read(*lines).counts()
    assert (counts.prompts, counts.tool_calls, counts.tool_errors) == (2, 7, 4)
    assert (counts.interrupts, counts.denials) == (3, 0)


def test_members_of_any_type_leave_the_line_an_entry(rollout: Rollout, lines: list[bytes]) -> None:
    """Whatever type a member has, nothing raises, the line counts, and both sinks count the same."""
    for index, line in enumerate(lines):
        for _, _, what, changed in fuzz.mutations([[line]]):
            log = [*lines[:index], changed + b"\n", *lines[index + 1 :]]
            tally = rollout.tally(*log)
            assert (tally.entries, tally.unparsed_lines) == (len(lines), 0), what
            assert plain(rollout.read(*log).counts()) == plain(tally.counts()), what


def test_nesting_is_no_crash(rollout: Rollout) -> None:
    """500 levels of nesting are an entry; a hundred thousand are at worst unparsed."""
    deep = '{"type":"response_item","payload":{"type":"function_call","arguments":%s}}\n'
    for depth in (500, 100_000):
        nested = "[" * depth + "]" * depth
        for arguments in (nested, json.dumps(nested)):
            timeline = rollout.read((deep % arguments).encode())
            counts = timeline.counts()
            assert counts.entries + counts.unparsed == 1
            if depth == 500:
                assert counts.tool_calls == 1
