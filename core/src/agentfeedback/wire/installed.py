"""What `plugins`, `install` and `uninstall` print."""

from __future__ import annotations

from typing import Literal

from attrs import define, field

from agentfeedback.wire.encode import omitted


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
