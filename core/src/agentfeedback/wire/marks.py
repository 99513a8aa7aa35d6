"""What `sessions mark` and `sessions forget` print."""

from __future__ import annotations

from attrs import define, field


@define(eq=False)
class Marked:
    marked: list[str]
    outcome: str
    uids: list[str] = field(factory=list)


@define(eq=False)
class Forgotten:
    forgotten: list[str]
