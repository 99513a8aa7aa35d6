"""What `doctor --formats` does not know of Gemini CLI; that it knows all real logs hold is tested for all readers at once."""

from __future__ import annotations

import json

import pytest

from agentfeedback.reading.drift import Survey
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
        (
            b'{"type":"gemini","toolCalls":[{"status":"novel","resultDisplay":{"terminateReason":"NOVEL","x":1}}]}',
            [],
            [
                ("gemini", "toolCalls.status=novel"),
                ("gemini", "toolCalls.resultDisplay.terminateReason=NOVEL"),
            ],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is reported by its name."""
    survey = Survey(GeminiCli().known())
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, fields)


@pytest.mark.parametrize(
    ("status", "error", "unknown"),
    [
        ("error", "Tool execution stopped: no", True),
        ("cancelled", "[Operation Cancelled] Reason: novel", True),
        ("cancelled", "Tool execution denied by policy.", True),
        ("cancelled", "the gatekeeper stopped it", True),
        ("cancelled", "", False),
        ("success", "Tool execution stopped: no", False),
        ("error", "Tool execution blocked: no", False),
        ("error", "Tool execution denied by policy.", False),
        ("cancelled", "[Operation Cancelled] Reason: User denied execution.", False),
        ("cancelled", "[Operation Cancelled] Reason: Operation cancelled by user", False),
        ("error", "File not found: Tool execution stopped", False),
    ],
)
def test_new_words_about_a_call_are_told(status: str, error: str, unknown: bool) -> None:
    """What looks like the harness's words about a call is counted where no rule knows it; the text is never shown."""
    call = {"status": status, "result": [{"functionResponse": {"response": {"error": error}}}]}
    survey = Survey(GeminiCli().known())
    survey.see([json.dumps({"type": "gemini", "toolCalls": [call]}).encode()])
    assert list(survey.types) == ["gemini/text of a call"] * unknown
    assert not survey.fields
