"""The lines of a Claude Code transcript, as far as this reader knows them."""

from __future__ import annotations

import msgspec

from agentfeedback.reading import Raw, Record


class TextItem(Record):
    """An item of a list that may hold text, images or references: only text is read."""

    type: str | None = None
    text: str | None = None


class Block(Record):
    """A content block of a message: `text`, `tool_use` or `tool_result`; others say nothing."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw()
    tool_use_id: str | None = None
    is_error: bool | None = None
    #: Text or a list of items; often large, and wanted only where the call failed.
    content: Raw = Raw()


class Message(Record):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None


class Origin(Record):
    kind: str | None = None


class BlockingError(Record, rename="camel"):
    """What a hook that objected said."""

    blocking_error: str | None = None


class Attachment(Record, rename="camel"):
    type: str | None = None
    blocking_error: BlockingError | None = None
    command_mode: str | None = None
    is_meta: bool | None = None
    origin: Origin | None = None
    prompt: str | list[TextItem] | None = None


class Outcome(Record):
    """`toolUseResult` as an object: the tool's own record, of which one member counts."""

    interrupted: bool | None = None


class Decision(Record):
    decision: str | None = None


class Input(Record):
    """A tool's input, as far as one member goes: the shell command."""

    command: str | None = None


class Progress(Record):
    """What a `progress` line reports on: a hook, a command, a sub-agent."""

    type: str | None = None


class ApiError(Record):
    """The `error` of a `system` line about a request that is tried again."""

    message: str | None = None
    formatted: str | None = None


class Line(Record, rename="camel"):
    type: str | None = None
    subtype: str | None = None
    #: The harness says with this message that the provider answered with an error.
    is_api_error_message: bool | None = None
    error: Raw = Raw()
    hook_errors: Raw = Raw()
    uuid: str | None = None
    #: `null` where a conversation starts; absent in lines that belong to none.
    parent_uuid: Raw = Raw()
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    message: Message | None = None
    attachment: Attachment | None = None
    is_meta: bool | None = None
    is_sidechain: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    origin: Origin | None = None
    prompt_source: str | None = None
    interrupted_message_id: str | None = None
    tool_use_result: Outcome | str | list[Raw] | None = None
    tool_denial_kind: str | None = None
    tool_denial_before_run: bool | None = None
    permission_decision: Decision | None = None
    #: Of a `queue-operation`: what is done with the queue of texts typed while the harness was busy.
    operation: str | None = None
    content: Raw = Raw()
    #: Of a `progress` line: what it reports on, and the call it belongs to.
    data: Raw = Raw()
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parentToolUseID")


#: What the content of a result, or a text of the queue, may be.
CONTENT = str | list[TextItem] | None


def text_of(content: str | list[TextItem] | list[Block] | None) -> str:
    """A content as text; its items of other types are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    return joined(content)


def joined(items: list[TextItem] | list[Block]) -> str:
    """The texts of the items of type `text`, joined by LF."""
    return "\n".join(item.text for item in items if item.type == "text" and item.text is not None)
