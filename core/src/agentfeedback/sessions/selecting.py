"""What a digest takes and how: sessions of what states and times, in what order, with what detail. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field, frozen

from agentfeedback.sessions.examiner import ExaminedSession


@frozen
class Options:
    """How a run digests: with `detail`, only sessions with `problems`, and whether it remembers how far it came (`mark`)."""

    detail: bool = False
    problems: bool = False
    mark: bool = True


@define(eq=False)
class Selected:
    """What to digest: `unprocessed` takes new and changed sessions, `since` (nanoseconds since the epoch) recent ones.

    Both together take what both allow. `limit` counts sessions that are digested or deferred; 0 is all.
    """

    unprocessed: bool = True
    since: int | None = None
    harness: str | None = None
    limit: int = 0
    newest: bool = False
    #: Set by `chosen`: the number of sessions that were not taken, by state.
    left_out: dict[str, int] = field(factory=dict, init=False)

    def chosen(
        self, seen: Iterable[ExaminedSession], *, allow_unknown: bool
    ) -> list[ExaminedSession]:
        """The sessions to take, oldest last entry first or newest first."""
        states = {"new", "changed"}
        if not self.unprocessed:
            states.add("processed")
        if allow_unknown:
            states.add("unknown-project")
        found = []
        for each in seen:
            if each.state in states:
                found.append(each)
            elif each.state != "processed":
                self.left_out[each.state] = self.left_out.get(each.state, 0) + 1
        sign = -1 if self.newest else 1
        found.sort(key=lambda each: (sign * each.when, each.ref.encode("utf-8", "replace")))
        return found
