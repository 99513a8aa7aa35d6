"""The records that commands print with `--json`, member by member in the order printed (details 4, 5, 6, 7).

`plain` turns a record into the object that is printed, `encode` into the bytes: one compact line.
A member declared with `omitted()` is left out when it is empty; all others are always there, so
the JSON never changes shape by accident. The JSON Schemas are generated from these classes.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from agentfeedback.wire.encode import omitted

State = Literal[
    "new",
    "changed",
    "processed",
    "absent",
    "disabled",
    "denied",
    "unknown-project",
    "unreadable",
    "unsupported-format",
]
#: The order in which `sessions status` prints states (details 5).
STATES: tuple[State, ...] = (
    "new",
    "changed",
    "processed",
    "absent",
    "disabled",
    "denied",
    "unknown-project",
    "unreadable",
    "unsupported-format",
)


@define(eq=False)
class Counts:
    """What a session holds; `unparsed` are complete lines that are not an entry (sessions.md, Digest format)."""

    entries: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    interrupts: int = 0
    denials: int = 0
    unparsed: int = 0


@define(eq=False)
class Store:
    harness: str
    location: str
    state: str
    problems: list[str] = omitted(factory=list)


@define(eq=False)
class Listed:
    """One session of `sessions list`; `start` and `end` are RFC 3339 in UTC with up to nine decimals."""

    ref: str
    harness: str
    session_id: str
    path: str
    project: str = omitted("")
    cwds: list[str] = omitted(factory=list)
    start: str = omitted("")
    end: str = omitted("")
    counts: Counts | None = omitted()
    state: State = "new"
    reason: str = omitted("")


@define(eq=False)
class Listing:
    stores: list[Store] = field(factory=list)
    sessions: list[Listed] = field(factory=list)


@define(eq=False)
class Selection:
    """The saved selection of the processor; `since` is kept as written."""

    harnesses: list[str] = field(factory=list)
    since: str = ""
    limit: int = 0


@define(eq=False)
class HarnessStatus:
    """A store with its sessions by state; `storage_only` where its sessions are listed, but never digested."""

    harness: str
    location: str
    store: str
    problems: list[str] = omitted(factory=list)
    states: dict[str, int] = field(factory=dict)
    storage_only: bool = omitted(default=False)


@define(eq=False)
class Status:
    harnesses: list[HarnessStatus] = field(factory=list)
    selection: Selection | None = omitted()


@define(eq=False)
class Marked:
    marked: list[str]
    outcome: str
    uids: list[str] = field(factory=list)


@define(eq=False)
class Forgotten:
    forgotten: list[str]


@define(eq=False)
class InstalledPlugin:
    name: str
    kind: str
    dist: str
    version: str
    hooks: list[str] = field(factory=list)
    error: str = omitted("")


@define(eq=False)
class Plugins:
    """What `agentfeedback plugins --json` prints; `missing` are harnesses of this project without a reader."""

    plugins: list[InstalledPlugin] = field(factory=list)
    missing: list[str] = field(factory=list)


@define(eq=False)
class Wiring:
    """What `install` and `uninstall` print with `--json`: `changed` are the hook files written (or to be, with `--dry-run`).

    `diff` is a scrubbed unified diff, with `--dry-run` only; `next` is what a person has to do now.
    """

    status: Literal["changed", "unchanged"]
    harnesses: list[str] = field(factory=list)
    changed: list[str] = field(factory=list)
    dry_run: bool = omitted(False)
    diff: str = omitted("")
    next: list[str] = omitted(factory=list)


@define(eq=False)
class Event:
    """A prompt, or a tool call that did not succeed; `at` is UTC with three decimals, truncated."""

    span: str
    ref: str
    at: str = omitted("")
    type: Literal["prompt", "tool_call"] = "prompt"
    summary: str = omitted("")
    tool: str = omitted("")
    args_digest: str = omitted("")
    status: str = omitted("")
    exit_code: int | None = field(default=None, metadata={"omit": "none"})
    error_class: str = omitted("")
    excerpt: str = omitted("")
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
class Digest:
    """The digest of one session; `from_offset` is in bytes.

    `dropped` are events that are left out for good: one record completed more of them than fit.
    `findings` holds what detectors of plugins report, by detector name; it is there only when one is installed.
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


@define(eq=False)
class DigestError:
    ref: str
    state: str
    message: str


@define(eq=False)
class DigestRun:
    """What `sessions digest --json` prints; `sessions` holds `Digest` objects already made plain."""

    notice: str
    detector_version: str
    sessions: list[Any] = field(factory=list)
    errors: list[DigestError] = field(factory=list)
    deferred: list[str] = field(factory=list)
