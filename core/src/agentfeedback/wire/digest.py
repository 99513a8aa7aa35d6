"""What `sessions digest` prints."""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from agentfeedback.wire.encode import omitted
from agentfeedback.wire.listing import Counts


@define(eq=False)
class Event:
    """A prompt, or a tool call that did not succeed; `at` is UTC with three decimals, truncated.

    `command` (what was run, else the input as JSON) and `tail` (how a long result ends, beyond what
    `excerpt` shows) are there with `--detail` only.
    """

    span: str
    ref: str
    at: str = omitted("")
    type: Literal["prompt", "tool_call"] = "prompt"
    summary: str = omitted("")
    tool: str = omitted("")
    args_digest: str = omitted("")
    command: str = omitted("")
    status: str = omitted("")
    exit_code: int | None = field(default=None, metadata={"omit": "none"})
    error_class: str = omitted("")
    excerpt: str = omitted("")
    tail: str = omitted("")
    own: bool = omitted(False, name="self")


@define(eq=False)
class Retry:
    span: str
    of_span: str
    tool: str
    args_digest: str


@define(eq=False)
class Flagged:
    span: str
    phrase: str


@define(eq=False)
class Trouble:
    kind: str
    at: str = omitted("")
    excerpt: str = omitted("")


@define(eq=False)
class About:
    """What the harness recorded about the session; tokens and US dollars are sums over its answers."""

    title: str = omitted("")
    branch: str = omitted("")
    version: str = omitted("")
    parent: str = omitted("")
    tokens_in: int = omitted(0)
    tokens_out: int = omitted(0)
    cost_usd: float = omitted(0.0)


@define(eq=False)
class Digest:
    """The digest of one session; `from_offset` is in bytes.

    `dropped` are events that are left out for good: one record completed more of them than fit.
    `findings` holds what else detectors report, by detector name: `Trouble` objects under `troubles`
    where there are any, and what those of installed plugins find. It is left out when it has no member.
    """

    ref: str
    harness: str
    session_id: str
    project: str = ""
    cwd: str = ""
    start: str = omitted("")
    end: str = omitted("")
    model: str = omitted("")
    from_offset: int = 0
    truncated: bool = False
    dropped: int = omitted(0)
    counts: Counts = field(factory=Counts)
    events: list[Event] = field(factory=list)
    retries: list[Retry] = field(factory=list)
    denials: list[str] = field(factory=list)
    flagged: list[Flagged] = field(factory=list)
    final_excerpt: str = omitted("")
    findings: dict[str, list[Any]] | None = omitted()
    about: About | None = omitted()


@define(eq=False)
class DigestError:
    ref: str
    state: str
    message: str


@define(eq=False)
class DigestRun:
    """What `sessions digest --json` prints; `sessions` holds `Digest` objects already made plain.

    `clean` is there with `--problems` only: sessions in which nothing was found, which are met again.
    `next_cursor`, of the tool `sessions_digest` alone, leads to the sessions behind these.
    """

    notice: str
    detector_version: str
    sessions: list[Any] = field(factory=list)
    errors: list[DigestError] = field(factory=list)
    deferred: list[str] = field(factory=list)
    clean: list[str] | None = field(default=None, metadata={"omit": "none"})
    next_cursor: str = omitted("")
