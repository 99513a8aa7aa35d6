"""What `sessions mark` and `sessions forget` print."""

from __future__ import annotations

from attrs import define, field


@define(eq=False)
class LeftOut:
    """A session that `mark --digested` did not mark; `reason` is `changed` or `absent`."""

    ref: str
    reason: str


@define(eq=False)
class Marked:
    """What `sessions mark --json` prints; `skipped` is there with `--digested` only."""

    marked: list[str]
    outcome: str
    uids: list[str] = field(factory=list)
    skipped: list[LeftOut] | None = field(default=None, metadata={"omit": "none"})


@define(eq=False)
class Forgotten:
    forgotten: list[str]
