"""The lines of a rollout, with the members that matter."""

from __future__ import annotations

from typing import Annotated

import msgspec

from agentfeedback.reading import Raw, Record

#: A number beyond 64 bits is not an exit code: it counts as absent, like a member of another type.
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Part(Record):
    """One item of a content list: of a message, a prompt or an output."""

    type: str | None = None
    text: str | None = None


class Metadata(Record):
    exit_code: ExitCode | None = None


class Wrapped(Record):
    """An output that is an object: the oldest form of a command's result, or a bare `content`."""

    output: str | None = None
    metadata: Metadata | None = None
    content: str | list[Part] | None = None


class Problem(Record):
    message: str | None = None


class Target(Record):
    """What is reviewed; `instructions` are the words of whoever asked for a review of their own kind."""

    type: str | None = None
    instructions: str | None = None


class Item(Record):
    """What an `item_completed` event is about; `command`, `arguments` and `changes` are what a call was given."""

    type: str | None = None
    id: str | None = None
    source: str | None = None
    status: str | None = None
    exit_code: ExitCode | None = None
    aggregated_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    error: Problem | None = None
    content: list[Part] | None = None
    content_items: list[Part] | None = None
    server: str | None = None
    tool: str | None = None
    target: Target | None = None
    receiver_thread_ids: list[str] | None = None
    command: Raw = Raw()
    arguments: Raw = Raw()
    changes: Raw = Raw()


class Spoken(Record):
    """A message, a call or an output: the payload of a `response_item`, or a whole line of the first rollouts."""

    type: str | None = None
    id: str | None = None
    role: str | None = None
    name: str | None = None
    namespace: str | None = None
    call_id: str | None = None
    content: list[Part] | None = None
    #: Of a type of `OUTPUT`; often large, and all of it is wanted only where the call failed.
    output: Raw = Raw()
    arguments: Raw = Raw()
    input: Raw = Raw()
    action: Raw = Raw()


#: What an output may be.
OUTPUT = str | list[Part] | Wrapped | None


class Payload(Spoken):
    """The payload of any line. `Raw` members may be of any type, or large and rarely wanted."""

    cwd: str | None = None
    model: str | None = None
    turn_id: str | None = None
    thread_id: str | None = None
    reason: str | None = None
    status: str | None = None
    success: bool | None = None
    exit_code: ExitCode | None = None
    aggregated_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    message: str | None = None
    kind: str | None = None
    error: str | None = None
    content_items: list[Part] | None = None
    item: Item | None = None
    target: Target | None = None
    command: Raw = Raw()
    changes: Raw = Raw()
    invocation: Raw = Raw()
    new_thread_id: Raw = Raw()
    result: Raw = Raw()
    source: Raw = Raw()


class Line(Spoken):
    timestamp: str | None = None
    payload: Payload | None = None


class Action(Record):
    """The `action` of a `local_shell_call`."""

    command: Raw = Raw()


class Invocation(Record):
    """What an `mcp_tool_call_end` says of its call."""

    server: str | None = None
    tool: str | None = None
    arguments: Raw = Raw()


class McpAnswer(Record):
    is_error: bool | None = msgspec.field(default=None, name="isError")
    content: list[Part] | None = None


class McpResult(Record):
    """The `result` of an `mcp_tool_call_end`: an answer of the server, or why there is none."""

    answer: McpAnswer | None = msgspec.field(default=None, name="Ok")
    failure: str | None = msgspec.field(default=None, name="Err")


class Source(Record):
    """`session_meta.source` when it is an object."""

    subagent: Raw = Raw()


class FirstLine(Record):
    """A first line as the gate reads it: undecided members, since a wrong type is a refusal there."""

    type: str | None = None
    payload: Raw = Raw()


class FirstPayload(Record):
    cwd: Raw = Raw()


def texts(parts: list[Part] | None, kind: str | None = None) -> str:
    """The non-blank texts of a content list joined by LF; only items of type `kind` where it is given."""
    if not parts:
        return ""
    return "\n".join(
        part.text
        for part in parts
        if part.text and not part.text.isspace() and (kind is None or part.type == kind)
    )
