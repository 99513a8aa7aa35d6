"""The records of `agentfeedback doctor --json`, member by member in the order printed.

Like those of `wire`, and printed by it: what is declared with `omitted()` is left out when it is empty.
"""

from __future__ import annotations

from typing import Literal

from attrs import define, field

from agentfeedback.wire.encode import omitted
from agentfeedback.wire.records import InstalledPlugin


@define(eq=False)
class SeenVersion:
    """A harness version found in logs; `verified` when the reader was verified with it."""

    version: str
    sessions: int
    verified: bool


@define(eq=False)
class UnknownType:
    type: str
    count: int


@define(eq=False)
class UnknownField:
    """A member the reader does not know, as its path in a record of a type; `count` are records or parts of them."""

    type: str
    field: str
    count: int


@define(eq=False)
class Drift:
    """What `doctor --formats` reports of one harness.

    `described` is false where the reader does not say what it knows, `versioned` where logs do not
    record the version that wrote them. `sessions` were read, `skipped` were not: their number by state.
    """

    harness: str
    described: bool = False
    versioned: bool = False
    verified: list[str] = field(factory=list)
    versions: list[SeenVersion] = field(factory=list)
    sessions: int = 0
    skipped: dict[str, int] = field(factory=dict)
    records: int = 0
    unparsed: int = 0
    unknown_types: list[UnknownType] = field(factory=list)
    unknown_fields: list[UnknownField] = field(factory=list)


@define(eq=False)
class DatabaseFile:
    """The data-directory database; `loose` when others than its owner may read or write it."""

    path: str = ""
    exists: bool = False
    loose: bool = False


@define(eq=False)
class CacheFolder:
    """The cache of listing facts: what of it can be used. It may be removed at any time."""

    path: str = ""
    files: int = 0
    bytes: int = 0
    sessions: int = 0


@define(eq=False)
class ConfigFile:
    """The configuration file; `mode` in octal, empty when there is none; `warnings` about other tables than `[collect]`."""

    path: str = ""
    exists: bool = False
    mode: str = ""
    warnings: list[str] = field(factory=list)


@define(eq=False)
class Setting:
    """A setting; `source` is `env`, `config` or empty."""

    value: str = ""
    source: str = ""


@define(eq=False)
class Secret:
    """Whether a secret is set, and where; never its value."""

    set: bool = False
    source: str = ""


@define(eq=False)
class Versions:
    client: str


@define(eq=False)
class HarnessHealth:
    """A harness with a reader; `problems` are the paths of its store that could not be listed."""

    name: str
    store: str
    state: str
    reason: str = omitted("")
    sessions: int = 0
    problems: list[str] = omitted(factory=list)


@define(eq=False)
class Warnings:
    warnings: list[str] = field(factory=list)


@define(eq=False)
class Doctor:
    """What `agentfeedback doctor --json` prints; sections of plugins follow as members of their own."""

    status: Literal["ok", "error"]
    problems: list[str]
    versions: Versions
    mode: Literal["local", "remote"] = "local"
    database: DatabaseFile = field(factory=DatabaseFile)
    cache: CacheFolder = field(factory=CacheFolder)
    config: ConfigFile = field(factory=ConfigFile)
    url: Setting = field(factory=Setting)
    api_key: Secret = field(factory=Secret)
    collect: Warnings = field(factory=Warnings)
    harnesses: list[HarnessHealth] = field(factory=list)
    plugins: list[InstalledPlugin] = field(factory=list)
    missing: list[str] = field(factory=list)
    formats: list[Drift] | None = omitted()
