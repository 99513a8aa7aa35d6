"""The lines of a pi session as far as they are read; `README.md` says where each member is documented."""

from __future__ import annotations

from agentfeedback.reading import Raw, Record


class Block(Record):
    """One block of a message's content."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Raw = Raw()


class Cost(Record):
    """US dollars."""

    total: float | None = None


class Usage(Record):
    """The tokens of one answer, and what they cost."""

    input: int | None = None
    output: int | None = None
    cost: Cost | None = None


class Message(Record, rename="camel"):
    """What a `message` entry carries; which members there are depends on `role`."""

    role: str | None = None
    content: str | list[Block] | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None

    def blocks(self) -> list[Block]:
        """The blocks of the content; a text that stands for itself is one of them."""
        if isinstance(self.content, str):
            return [Block(type="text", text=self.content)]
        return self.content or []

    def text(self) -> str:
        """The text blocks, a line break between two."""
        texts = (block.text for block in self.blocks() if block.type == "text")
        return "\n".join(text for text in texts if text)


class Line(Record, rename="camel"):
    """One line: the header of the session, or an entry."""

    type: str | None = None
    id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    model_id: str | None = None
    name: str | None = None
    parent_session: str | None = None
    message: Message | None = None


class Arguments(Record):
    """The input of the tool `bash`."""

    command: str | None = None
