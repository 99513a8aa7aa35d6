"""What `sessions list` and `sessions status` print."""

from __future__ import annotations

from typing import Literal, get_args

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
#: The order in which `sessions status` prints states.
STATES: tuple[State, ...] = get_args(State)


@define(eq=False)
class Counts:
    """What a session holds; `unparsed` are complete lines that are not an entry."""

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
    """What `sessions list --json` prints. `total` and `next_cursor` are those of a page, which the tool `sessions_list` answers."""

    stores: list[Store] = field(factory=list)
    sessions: list[Listed] = field(factory=list)
    total: int | None = field(default=None, metadata={"omit": "none"})
    next_cursor: str = omitted("")


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
