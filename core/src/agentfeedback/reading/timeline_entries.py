"""What a timeline keeps of a log: its entries with their calls, and the troubles around them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import define, field

from agentfeedback.reading.sink import Status, TroubleKind


@define(eq=False)
class Call:
    """A tool call; offsets in bytes. `status` is None while it has no result."""

    entry: Entry
    id: str | None
    span: str
    tool: str
    args_digest: str
    own: bool
    offset: int
    status: Status | None = None
    result_offset: int = 0
    exit_code: int | None = None
    excerpt: str = ""
    #: What was run and how its result ends, scrubbed and cut; only where details are kept.
    command: str = ""
    tail: str = ""
    marks: dict[str, Sequence[str]] = field(factory=dict)
    has_content: bool = False
    #: The start of a result's text without an excerpt, kept for a while: a later record may change the status.
    head: str = ""
    #: Interrupted with all open calls: what is recorded later is not its result.
    closed: bool = False


@define(eq=False)
class Entry:
    """A prompt, an interrupt, or an entry with calls. `at` is in nanoseconds since the epoch."""

    order: int
    offset: int
    span: str
    at: int | None
    kind: Literal["other", "prompt", "interrupt"] = "other"
    summary: str = ""
    marks: dict[str, Sequence[str]] = field(factory=dict)
    calls: list[Call] = field(factory=list)


@define
class AboutSession:
    """What the harness recorded about a session; tokens and US dollars are sums over its answers."""

    title: str = ""
    branch: str = ""
    version: str = ""
    parent: str = ""
    input: int = 0
    output: int = 0
    cost: float = 0.0


@define(eq=False)
class Trouble:
    """Something around the calls that failed; `at` is in nanoseconds since the epoch."""

    offset: int
    at: int | None
    kind: TroubleKind
    excerpt: str


@define(eq=False)
class Watched:
    """The facts of the entry asked for by `--context-from`."""

    span: str
    at: int | None
    cwd: str
    model: str
