"""What `doctor --formats` does not know of Codex; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

import pytest

from agentfeedback.drift import Survey
from agentfeedback_codex.reader import Codex


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
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = Survey(Codex().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)
