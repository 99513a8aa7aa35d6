"""What `doctor --formats` does not know of Copilot CLI; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

import pytest

from agentfeedback.drift import Survey
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
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = Survey(Copilot().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)
