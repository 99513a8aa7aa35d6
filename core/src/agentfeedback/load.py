"""Reads one log with its reader; what goes wrong is a `Refused` with the session's state and reason (details 9).

No policy here: whoever loads has asked the gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

from agentfeedback.log import Log, Unreadable
from agentfeedback.reader import Place, Reader, Session, reason_of
from agentfeedback.tally import Tally
from agentfeedback.teller import Teller
from agentfeedback.wire import Counts, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentfeedback.log import Watch


class Refused(Exception):
    """A session that is not read, or whose read is not shown. `fault` names the exception of a reader that raised."""

    def __init__(self, state: State, reason: str = "", fault: str = "") -> None:
        super().__init__(state, reason, fault)
        self.state = state
        self.reason = reason
        self.fault = fault


@define(eq=False)
class Facts:
    """What a whole log tells a listing. Times in nanoseconds since the epoch, `size` in bytes of complete lines."""

    first: int | None
    last: int | None
    cwds: list[str]
    counts: Counts
    size: int
    head: str
    #: Whether an offset is a record boundary, where that is in question (D26); rows only.
    boundary: Callable[[int], bool] | None = None


def load(
    reader: Reader, session: Session, place: Place, teller: Teller, watch: Watch | None = None
) -> Log:
    """Tell `teller` the session's log and return the log, closed; raises `Refused`."""
    try:
        log = reader.open(session)
        try:
            log.expected_first = place.first_line
            log.watch = watch
            reader.read(log, place, teller)
        finally:
            log.close()
    except Unreadable as error:
        raise Refused("unreadable", error.reason) from None
    except (OSError, MemoryError) as error:
        raise Refused("unreadable", reason_of(error)) from None
    except Exception as error:  # noqa: BLE001 - a reader must not raise; one that does is named and the rest goes on
        fault = type(error).__name__
        raise Refused("unreadable", f"reader {session.harness} failed: {fault}", fault) from None
    if log.lines == teller.unparsed_lines:
        raise Refused("unsupported-format")
    return log


def facts_of(log: Log, teller: Teller) -> Facts:
    """The facts of a log that was told to its end."""
    return Facts(
        teller.first,
        teller.last,
        list(teller.cwds),
        teller.counts(),
        log.size,
        log.head,
        log.boundary,
    )


def tallied(reader: Reader, session: Session, place: Place) -> Facts:
    """The facts of a session for a listing; raises `Refused`."""
    tally = Tally.for_reader(reader.rewrites)
    return facts_of(load(reader, session, place, tally), tally)
