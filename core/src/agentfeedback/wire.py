"""The records that commands print with `--json`, member by member in the order printed (details 4, 5, 6, 7).

`plain` turns a record into the object that is printed, `encode` into the bytes: one compact line.
A member declared with `omitted()` is left out when it is empty; all others are always there, so
the JSON never changes shape by accident. The JSON Schemas are generated from these classes.
"""

from __future__ import annotations

from typing import Any, Literal

import orjson
from attrs import define, field, fields

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


def omitted(default: Any = None, *, factory: Any = None, name: str = "") -> Any:
    """A member that is left out when it is None, empty or false; `name` is its JSON name where Python has no such one."""
    metadata = {"omit": True, "name": name}
    if factory is not None:
        return field(factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


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
    harness: str
    location: str
    store: str
    problems: list[str] = omitted(factory=list)
    states: dict[str, int] = field(factory=dict)


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


def plain(record: Any) -> Any:
    """The JSON object of a record: members in declared order, empty optional ones left out."""
    if isinstance(record, (str, int, float)) or record is None:
        return record
    if isinstance(record, (list, tuple)):
        return [item if item.__class__ in _SCALARS else plain(item) for item in record]
    if isinstance(record, dict):
        return {name: plain(value) for name, value in record.items()}
    members = {}
    for name, shown, omit in _members(type(record)):
        value = getattr(record, name)
        if omit and (value is None or (omit is True and not value)):
            continue
        members[shown] = value if value.__class__ in _SCALARS else plain(value)
    return members


_SCALARS = frozenset((str, int, bool, float, type(None)))


_MEMBERS: dict[type, tuple[tuple[str, str, Any], ...]] = {}


def _members(kind: type) -> tuple[tuple[str, str, Any], ...]:
    """Of each member of a record class its attribute, its JSON name, and whether it is left out when empty."""
    known = _MEMBERS.get(kind)
    if known is None:
        known = _MEMBERS[kind] = tuple(
            (item.name, item.metadata.get("name") or item.name, item.metadata.get("omit"))
            for item in fields(kind)
        )
    return known


def encode(value: Any) -> bytes:
    """Compact JSON in raw UTF-8, exactly as printed without the newline; all size caps are measured on it (D2)."""
    return orjson.dumps(plain(value))


def line(record: Any) -> bytes:
    """A record as a command prints it, with the newline. What of a path or an argument is not UTF-8 becomes U+FFFD."""
    shown = plain(record)
    try:
        return orjson.dumps(shown) + b"\n"
    except TypeError:
        return orjson.dumps(_in_unicode(shown)) + b"\n"


def _in_unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_in_unicode(item) for item in value]
    if isinstance(value, dict):
        return {_in_unicode(name): _in_unicode(item) for name, item in value.items()}
    return value
