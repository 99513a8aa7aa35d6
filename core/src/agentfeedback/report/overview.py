"""The numbers of the last days at a glance. Pure."""

from __future__ import annotations

from attrs import define, field

from agentfeedback.wire.report import OfHarness, Totals


@define(eq=False)
class Overview:
    """What happened in the last `days`: over all and by agent; how many sessions are `unprocessed`, and how many there are."""

    days: int
    totals: Totals = field(factory=Totals)
    harnesses: list[OfHarness] = field(factory=list)
    unprocessed: int = 0
    sessions: int = 0
