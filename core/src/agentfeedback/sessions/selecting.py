"""What a digest takes and how: sessions of which states and times, in which order, with what detail. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field, frozen

from agentfeedback.sessions.cursor import Spot, spot
from agentfeedback.sessions.examiner import ExaminedSession


@frozen
class Options:
    """How a run digests: with `detail`, only sessions with `problems`, and whether it remembers how far it came (`mark`).

    `most` is the size in bytes from which on sessions are left for a later run; None is that of the
    command line. `paged`: the run says where the next one goes on.
    """

    detail: bool = False
    problems: bool = False
    mark: bool = True
    most: int | None = None
    paged: bool = False


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
    #: Take only what comes behind this place in the order.
    after: Spot | None = None
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
        found.sort(key=self.place)
        if self.after is not None:
            found = [each for each in found if self.place(each) > self._turned(self.after)]
        return found

    def place(self, each: ExaminedSession) -> Spot:
        """Where a session stands in the order of this selection."""
        return self._turned(spot(each.when, each.ref))

    def _turned(self, place: Spot) -> Spot:
        return (-place[0] if self.newest else place[0]), place[1]
