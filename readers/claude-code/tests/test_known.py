"""What `doctor --formats` does not know of Claude Code; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

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
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = Survey(ClaudeCode().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)
