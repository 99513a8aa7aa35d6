"""What `doctor --formats` does not know of OpenCode; that it knows all real databases hold is tested for all readers at once."""

from __future__ import annotations

import pytest

from agentfeedback.drift import Survey
from agentfeedback.reader import Reader
from agentfeedback_opencode.reader import OpenCodeV1, OpenCodeV2


@pytest.mark.parametrize(
    ("reader", "line", "types"),
    [
        (OpenCodeV1, b'{"kind":"message","role":"novel"}', ["message/novel"]),
        (OpenCodeV1, b'{"kind":"part","type":"novel"}', ["part/novel"]),
        (OpenCodeV1, b'{"kind":"part","type":"tool","state":{"novel":1}}', []),
        (OpenCodeV2, b'{"kind":"message","type":"novel"}', ["message/novel"]),
        (OpenCodeV2, b'{"kind":"part","item":{"type":"novel"}}', ["part/novel"]),
        (
            OpenCodeV2,
            b'{"kind":"message","type":"assistant","content":[{"type":"novel"},{"type":"text"}]}',
            ["message/assistant/novel"],
        ),
    ],
)
def test_new_types_are_told(reader: type[Reader], line: bytes, types: list[str]) -> None:
    """A new type of message, part or content is told by its name."""
    survey = Survey(reader().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, [])
