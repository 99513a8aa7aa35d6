"""What `sessions show` prints."""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from agentfeedback.wire.encode import omitted
from agentfeedback.wire.listing import Counts, State


@define(eq=False)
class Text:
    """A scrubbed text: its head, its tail, the bytes of all of it, and how many are left out between the two."""

    head: str
    tail: str = omitted("")
    bytes: int = 0
    left_out: int = omitted(0)


@define(eq=False)
class ShownEntry:
    """A prompt or a call of the entry; `input` stands for `command` where there is none, `repeats` is a failed call's span."""

    span: str
    ref: str
    at: str = omitted("")
    type: Literal["prompt", "tool_call"] = "prompt"
    text: Text | None = omitted()
    phrases: list[str] = omitted(factory=list)
    tool: str = omitted("")
    args_digest: str = omitted("")
    command: Text | None = omitted()
    input: Text | None = omitted()
    status: str = omitted("")
    exit_code: int | None = field(default=None, metadata={"omit": "none"})
    error_class: str = omitted("")
    result: Text | None = omitted()
    repeats: str = omitted("")
    own: bool = omitted(False, name="self")


@define(eq=False)
class Said:
    span: str
    at: str = omitted("")
    text: str = ""


@define(eq=False)
class Around:
    """The last prompt before the entry, and what the assistant said before and after it."""

    prompt: Said | None = omitted()
    said_before: Said | None = omitted()
    said_after: Said | None = omitted()


@define(eq=False)
class ShownSession:
    """The session that an entry is of; `counts` are of the whole log."""

    ref: str
    harness: str
    session_id: str
    project: str = ""
    cwd: str = ""
    start: str = omitted("")
    end: str = omitted("")
    model: str = omitted("")
    counts: Counts = field(factory=Counts)


@define(eq=False)
class Shown:
    """What `sessions show --json` prints: a session as its digest from the beginning with detail, or one entry of it.

    `session` is a `Digest` made plain, or with a span a `ShownSession`.
    """

    notice: str
    ref: str
    state: State
    reason: str = omitted("")
    session: Any = None
    entries: list[ShownEntry] | None = omitted()
    around: Around | None = field(default=None, metadata={"omit": "none"})
