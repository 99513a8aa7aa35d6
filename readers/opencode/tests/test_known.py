"""What `doctor --formats` does not know of OpenCode; that it knows all real databases hold is tested for all readers at once."""

from __future__ import annotations

import pytest

from agentfeedback.reading.drift import Survey
from agentfeedback.reading.reader import Reader
from agentfeedback_opencode.reader import OpenCodeV1, OpenCodeV2

PART = b'{"kind":"part","type":"tool","state":{"status":"%s","%s":"%s","metadata":{"exit":%s}}}'
ITEM = b'{"kind":"message","type":"assistant","content":[{"type":"tool","state":{"error":{%s}}}]}'


def error(text: bytes) -> bytes:
    return PART % (b"error", b"error", text, b"null")


def note(tag: bytes, text: bytes, exit: bytes = b"null", more: bytes = b"") -> bytes:
    output = b"x\\n\\n<%s>\\n%s\\n</%s>%s" % (tag, text, tag, more)
    return PART % (b"completed", b"output", output, exit)


@pytest.mark.parametrize(
    ("reader", "line", "unknown"),
    [
        (OpenCodeV1, error(b"The user did something new"), True),
        (OpenCodeV1, error(b"Tool execution novel"), True),
        (OpenCodeV1, error(b"The user dismissed this question"), False),
        (OpenCodeV1, error(b"Tool execution aborted"), False),
        (OpenCodeV1, error(b"File not found: The user x"), False),
        (OpenCodeV1, note(b"bash_metadata", b"novel"), True),
        (OpenCodeV1, note(b"new_metadata", b"User aborted the command"), True),
        (OpenCodeV1, note(b"bash_metadata", b"User aborted the command"), False),
        (OpenCodeV1, note(b"bash_metadata", b"novel", exit=b"0"), False),
        (OpenCodeV1, note(b"new_metadata", b"x", more=b"more"), False),
        (OpenCodeV2, ITEM % b'"type":"unknown","message":"Tool execution novel"', True),
        (OpenCodeV2, ITEM % b'"type":"aborted","message":"Tool execution novel"', False),
        (OpenCodeV2, ITEM % b'"type":"unknown","message":"Tool execution interrupted"', False),
        (OpenCodeV2, ITEM % b'"type":"unknown","message":"Unknown tool: x"', False),
    ],
)
def test_new_texts_about_a_call_are_told(reader: type[Reader], line: bytes, unknown: bool) -> None:
    """What looks like the harness's words about a call is counted where no rule knows it; the text is never shown."""
    survey = Survey(reader().known())
    survey.see([line])
    kind = "part/tool" if reader is OpenCodeV1 else "message/assistant"
    assert list(survey.types) == [f"{kind}/text of a call"] * unknown
    assert not survey.fields


@pytest.mark.parametrize(
    ("reader", "line", "fields"),
    [
        (OpenCodeV1, PART % (b"novel", b"output", b"x", b"0"), ["state.status=novel"]),
        (
            OpenCodeV1,
            b'{"kind":"message","role":"assistant","error":{"name":"Novel","data":1}}',
            ["error.name=Novel"],
        ),
        (OpenCodeV2, ITEM % b'"type":"novel","x":1', ["content.state.error.type=novel"]),
        (OpenCodeV2, b'{"kind":"message","type":"assistant","finish":"novel"}', ["finish=novel"]),
        (OpenCodeV2, b'{"kind":"message","type":"idle","outcome":"novel"}', ["outcome=novel"]),
    ],
)
def test_new_words_are_told(reader: type[Reader], line: bytes, fields: list[str]) -> None:
    """A new word of the harness is counted under its member."""
    survey = Survey(reader().known())
    survey.see([line])
    assert [name for _, name in survey.fields] == fields


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
    """A new type of message, part or content is reported by its name."""
    survey = Survey(reader().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, [])
