"""The lines of a Gemini CLI log, with the members that matter."""

from __future__ import annotations

import msgspec

from agentfeedback.reading import Raw, Record


class Present(Record):
    """An object of which only matters that it is there."""


class Part(Record, rename="camel"):
    """One part of a content: a text, a thought, a tool's answer, or something else."""

    text: str | None = None
    thought: bool | None = None
    function_response: Present | None = None


class Answer(Record):
    #: A text; often large, and all of it is wanted only where the call failed.
    output: Raw = Raw()
    error: str | None = None


class Response(Record):
    response: Answer | None = None


class ResultPart(Record, rename="camel"):
    function_response: Response | None = None


class ToolCall(Record, rename="camel"):
    """A call inside a `gemini` message; its display is decoded only where it decides something."""

    id: str | None = None
    name: str | None = None
    status: str | None = None
    args: Raw = Raw()
    result: list[ResultPart] | None = None
    result_display: Raw = Raw()


class Recorded(Record):
    """A message of `$set.messages`, as far as it shows which texts were recorded before."""

    type: str | None = None
    content: str | list[Part] | None = None


class Set(Record):
    directories: list[str] | None = None
    messages: list[Recorded] | None = None


class Line(Record, rename="camel"):
    """Any line: a message, the metadata, or a control line."""

    set: Set | None = msgspec.field(default=None, name="$set")
    rewind_to: str | None = msgspec.field(default=None, name="$rewindTo")
    patch: Present | None = msgspec.field(default=None, name="$patch")
    id: str | None = None
    timestamp: str | None = None
    type: str | None = None
    content: str | list[Part] | None = None
    model: str | None = None
    tool_calls: list[ToolCall] | None = None
    session_id: str | None = None
    start_time: str | None = None
    kind: str | None = None
    directories: list[str] | None = None


class Arguments(Record):
    """What a tool was given, as far as one member goes: the shell command."""

    command: str | None = None


class Progress(Record, rename="camel"):
    """The display of a sub-agent's call."""

    is_subagent_progress: bool | None = None
    state: str | None = None
    terminate_reason: str | None = None


class Cell(Record):
    """A run of characters on the screen of a terminal; a display may be rows of them."""

    text: str | None = None


def texts(content: str | list[Part] | None) -> list[str]:
    """The texts of a content, without the model's thoughts and the answers of tools."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    return [
        part.text
        for part in content
        if part.text is not None and not part.thought and part.function_response is None
    ]


def only_responses(content: str | list[Part] | None) -> bool:
    """Whether a content is nothing but the answers of tools."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(part.function_response is not None for part in content)
    )
