"""The messages of a Cline session, as far as they are read (README, "What")."""

from __future__ import annotations

from agentfeedback.reading import Raw, Record


class Block(Record):
    """One block of a message: `text`, `tool_use` or `tool_result`."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw()
    tool_use_id: str | None = None
    content: Raw = Raw()
    is_error: bool | None = None


class ModelInfo(Record):
    id: str | None = None


class Metrics(Record, rename="camel"):
    """The tokens of one answer, and what they cost in US dollars."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


class Metadata(Record, rename="camel"):
    """`display_only`: written for the person, by the program and not by the model."""

    display_only: bool | None = None
    display_role: str | None = None


class Message(Record, rename="camel"):
    """One message. `ts` is in milliseconds since the epoch."""

    id: str | None = None
    role: str | None = None
    content: list[Block] | None = None
    ts: int | None = None
    model_info: ModelInfo | None = None
    metrics: Metrics | None = None
    metadata: Metadata | None = None


class Item(Record):
    """What became of one command, file or query of a call."""

    result: str | None = None
    error: str | None = None
    success: bool | None = None


class State(Record):
    """`<session id>.json`: what the program keeps of a session beside its messages."""

    cwd: str | None = None


class Arguments(Record):
    """The input of `run_commands`."""

    commands: list[str] | None = None
