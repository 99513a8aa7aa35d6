"""The events of a Copilot CLI log, with the members that matter."""

from __future__ import annotations

from agentfeedback.reading import Raw, Record, value


class Context(Record):
    cwd: str | None = None


class Result(Record):
    """What a tool answered (`content`), or how a permission was decided (`kind`)."""

    #: A text; often large, and all of it is wanted only where the call failed.
    content: Raw = Raw()
    kind: str | None = None


class Problem(Record):
    message: str | None = None
    code: str | None = None


class ShellExecution(Record, rename="camel"):
    exit_code: int | None = None


class Data(Record, rename="camel"):
    """The `data` of any event."""

    selected_model: str | None = None
    new_model: str | None = None
    model: str | None = None
    cwd: str | None = None
    context: Context | None = None
    content: str | None = None
    source: str | None = None
    is_autopilot_continuation: bool | None = None
    tool_call_id: str | None = None
    parent_tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Raw = Raw()
    shell_tool_info: Raw = Raw()
    success: bool | None = None
    result: Result | None = None
    error: Problem | None = None
    #: Of a `session.error`.
    message: str | None = None
    shell_execution: ShellExecution | None = None
    kind: Raw = Raw()


class Event(Record, rename="camel"):
    """One line of `events.jsonl`. `agent_id` names the sub-agent whose event it is."""

    type: str | None = None
    id: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    data: Data | None = None


class Arguments(Record, rename="camel"):
    """What a tool was given, as far as it matters: the shell command, and the shell it is about."""

    command: str | None = None
    shell_id: str | int | None = None


class Notification(Record, rename="camel"):
    """The `kind` of a `system.notification`: what the harness says to the model by itself."""

    type: str | None = None
    shell_id: str | None = None
    exit_code: int | None = None


def answer_of(data: Data) -> str:
    """What the tool of a completed call answered."""
    return (value(data.result.content, str) if data.result is not None else None) or ""
