"""What `doctor --formats` does not know of Copilot CLI; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

import json

import pytest

from agentfeedback.reading.drift import Survey
from agentfeedback_copilot.reader import Copilot


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","data":{"x":1}}',
            ["novel"],
            [],
        ),
        (
            b'{"type":"abort","novel":1,"data":{"reason":"x","novel":1}}',
            [],
            [("abort", "novel"), ("abort", "data.novel")],
        ),
        (
            b'{"type":"tool.execution_complete","data":{"result":{"content":"x","novel":1}}}',
            [],
            [("tool.execution_complete", "data.result.novel")],
        ),
        (
            b'{"type":"tool.execution_complete","data":{"error":{"code":"novel","message":"x"}}}',
            [],
            [("tool.execution_complete", "data.error.code=novel")],
        ),
        (
            b'{"type":"permission.completed","data":{"result":{"kind":"novel","x":1}}}',
            [],
            [("permission.completed", "data.result.kind=novel")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is reported by its name."""
    survey = Survey(Copilot().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)


@pytest.mark.parametrize(
    ("tool", "content", "unknown"),
    [
        ("bash", "x\n<left with exit code 3>\n", True),
        ("read_bash", "<shell w1 is gone>", True),
        ("view", "<left with exit code 3>", False),
        ("bash", "<left with exit code 3>\nx", False),
        ("bash", "x\n<exited with exit code 3>", False),
        ("bash", "x\n<shellId: 0 completed with exit code 3>\n<sandbox is active>", False),
        ("bash", "<command started in background with shellId: w1>", False),
        ("read_bash", "<command with id: w1 stopped>", False),
        ("bash", "<html>", False),
        ("read_bash", "<command with id: w1 exited with exit code 3>", False),
        ("bash", "<exited with error: spawn>", False),
        ("bash", "<shellId: 0 exited with error: spawn>", False),
        ("bash", "<command started in detached background with shellId: w1>", False),
        ("bash", "<command with shellId: w1 is already running, wait for output>", False),
        ("stop_bash", "<left with exit code 3>", False),
    ],
)
def test_a_new_last_line_of_a_shell_is_told(tool: str, content: str, unknown: bool) -> None:
    """What looks like the harness's line about a shell is counted where no rule knows it; the text is never shown."""
    survey = Survey(Copilot().known())
    call = {"toolCallId": "c1", "toolName": tool}
    result = {"toolCallId": "c1", "result": {"content": content}}
    events = [("tool.execution_start", call), ("tool.execution_complete", result)]
    survey.see([json.dumps({"type": type, "data": data}).encode() for type, data in events])
    assert list(survey.types) == ["tool.execution_complete/text of a shell"] * unknown
    assert not survey.fields
