"""What `doctor --formats` does not know of Gemini CLI; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

import pytest

from agentfeedback.drift import Survey
from agentfeedback_gemini_cli.reader import GeminiCli


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","x":1}',
            ["novel"],
            [],
        ),
        (
            b'{"$novel":1}',
            [],
            [("<none>", "$novel")],
        ),
        (
            b'{"$set":{"novel":1}}',
            [],
            [("<none>", "$set.novel")],
        ),
        (
            b'{"type":"gemini","novel":1,"toolCalls":[{"id":"c","args":{"novel":1},"novel":1}]}',
            [],
            [("gemini", "novel"), ("gemini", "toolCalls.novel")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = Survey(GeminiCli().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)
