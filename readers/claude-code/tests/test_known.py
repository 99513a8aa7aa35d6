"""What `doctor --formats` does not know of Claude Code; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

import json

import pytest

from agentfeedback.reading.drift import Survey
from agentfeedback_claude_code.reader import ClaudeCode


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","x":1}',
            ["novel"],
            [],
        ),
        (
            b'{"type":"system","subtype":"novel"}',
            ["system/novel"],
            [],
        ),
        (
            b'{"type":"user","uuid":"u","novel":1}',
            [],
            [("user", "novel")],
        ),
        (
            b'{"type":"attachment","attachment":{"type":"file","novel":1}}',
            [],
            [("attachment/file", "attachment.novel")],
        ),
        (
            b'{"type":"assistant","message":{"content":[{"type":"novel"},{"type":"text","novel":1}]}}',
            ["assistant/novel"],
            [("assistant/text", "message.content.novel")],
        ),
        (
            b'{"type":"user","toolUseResult":{"novel":1},"message":{"content":[{"type":"tool_result","content":[{"type":"text","novel":1}]}]}}',
            [],
            [("user/tool_result/text", "message.content.content.novel")],
        ),
        (
            b'{"type":"user","toolDenialKind":"novel","promptSource":"typed","origin":{"kind":"new","x":1}}',
            [],
            [("user", "toolDenialKind=novel"), ("user", "origin.kind=new")],
        ),
        (
            b'{"type":"queue-operation","operation":"shuffle"}',
            [],
            [("queue-operation", "operation=shuffle")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is reported by its name."""
    survey = Survey(ClaudeCode().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)


REFUSAL = "The user doesn't want to proceed with this tool use. STOP."


@pytest.mark.parametrize(
    ("tool", "text", "version", "members", "unknown"),
    [
        ("Edit", "A new way to say no", "2.1.400", {}, True),
        ("Edit", "<tool_use_error>A new way to fail</tool_use_error>", "2.1.400", {}, True),
        ("Bash", "A new way to say no", "2.1.400", {}, True),
        ("Bash", "A new way to say no", "2.1.197", {}, False),
        ("Bash", "What the command printed", "2.0.0", {}, False),
        ("Bash", "Exit code 1\nwhat the command printed", "2.1.400", {}, False),
        ("Bash", "<tool_use_error>A new way to fail</tool_use_error>", "2.1.197", {}, True),
        (
            "Edit",
            "No, the other file",
            "2.0.2",
            {"toolUseResult": "Error: No, the other file"},
            False,
        ),
        ("Edit", "A new way", "2.1.400", {"toolDenialKind": "permission-rule"}, False),
        ("Edit", "A new way", "2.1.400", {"permissionDecision": {"decision": "accept"}}, False),
        ("Edit", REFUSAL, "2.1.400", {}, False),
        ("Read", "<tool_use_error>File does not exist.</tool_use_error>", "2.1.400", {}, False),
        ("Read", "EISDIR: illegal operation", "2.1.400", {}, False),
        ("Read", "", "2.1.400", {}, False),
        ("mcp__desk__ask", "What a server says", "2.1.400", {}, False),
        ("Secret", "What nobody knows", "2.1.400", {}, False),
    ],
)
def test_a_new_text_of_an_error_is_told(
    tool: str, text: str, version: str, members: dict[str, object], unknown: bool
) -> None:
    """A failed result of the harness's own tool, in words that no rule knows, is counted by its tool alone."""
    use = {"type": "tool_use", "id": "t1", "name": tool, "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": text}
    lines = [
        {"type": "assistant", "version": version, "message": {"content": [use]}},
        {"type": "user", "version": version, "message": {"content": [result]}, **members},
        {"type": "api-request-blob", "message": {"content": [use, result]}},
    ]
    survey = Survey(ClaudeCode().known())
    survey.see([json.dumps(line).encode() for line in lines])
    assert dict(survey.types) == ({f"user/tool_result/text of {tool}": 1} if unknown else {})
