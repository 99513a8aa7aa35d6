"""The records of a Qwen Code chat, as far as they are read (README, "What")."""

from __future__ import annotations

from agentfeedback.reading import Raw, Record


class Response(Record):
    """What a tool answered: `output`, or `error` where the call did not succeed."""

    output: str | None = None
    error: str | None = None

    def text(self) -> str:
        return self.output if self.output is not None else self.error or ""


class FunctionResponse(Record):
    id: str | None = None
    response: Response | None = None


class FunctionCall(Record):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw()


class Part(Record, rename="camel"):
    """One part of a message; a thought has a text, too."""

    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None


class Message(Record):
    parts: list[Part] | None = None


class CallResult(Record, rename="camel"):
    """How a call ended; `status` says nothing about the exit code of a command."""

    call_id: str | None = None
    status: str | None = None
    error_type: str | None = None


class Event(Record):
    """An event of the telemetry that the terminal shows statistics from; 0.12 names the error otherwise."""

    name: str | None = None
    error_message: str | None = None
    error: str | None = None
    error_type: str | None = None


class Payload(Record, rename="camel"):
    ui_event: Raw = Raw()


class Usage(Record, rename="camel"):
    """The tokens of one answer."""

    prompt_token_count: int | None = None
    candidates_token_count: int | None = None


class Line(Record, rename="camel"):
    """One line of a chat."""

    uuid: str | None = None
    type: str | None = None
    subtype: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    model: str | None = None
    version: str | None = None
    git_branch: str | None = None
    usage_metadata: Usage | None = None
    message: Message | None = None
    tool_call_result: CallResult | None = None
    system_payload: Payload | None = None

    def parts(self) -> list[Part]:
        return (self.message.parts or []) if self.message is not None else []

    def text(self) -> str:
        """The texts of the message without thoughts, a line break between two."""
        texts = (part.text for part in self.parts() if not part.thought)
        return "\n".join(text for text in texts if text)


class Arguments(Record):
    """The input of `run_shell_command`."""

    command: str | None = None
