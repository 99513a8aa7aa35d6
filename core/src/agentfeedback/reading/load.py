"""Reads one log with its reader; what goes wrong is a `SessionRefused` with the session's state and reason.

No policy here: whoever loads has asked the gate.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from attrs import define

from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.foreign_call import ForeignCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentfeedback.reading.log import Log, Watch
    from agentfeedback.reading.reader import Place, Reader, Session
    from agentfeedback.reading.sink import Sink
    from agentfeedback.wire.records import Counts, State

# What reads logs is imported where one is read: a run that finds no session to read goes without.

#: Bytes up to which memory that was freed stays with the process, for the next line.
_KEPT_MEMORY = 8 << 20


class SessionRefused(Exception):
    """A session that is not read, or whose read is not shown.

    `fault` names the exception of a reader that raised, `place` the file and the line it was at, and
    `frames` where in the reader's code that was, a line each.
    """

    def __init__(
        self, state: State, reason: str = "", fault: str = "", place: str = "", frames: str = ""
    ) -> None:
        super().__init__(state, reason, fault, place, frames)
        self.state = state
        self.reason = reason
        self.fault = fault
        self.place = place
        self.frames = frames


@define(eq=False)
class LogFacts:
    """What a listing shows of a completely read log. Times in nanoseconds since the epoch, `size` in bytes of complete lines."""

    first: int | None
    last: int | None
    cwds: list[str]
    counts: Counts
    size: int
    head: str
    #: Whether an offset is a record boundary, where that is in question; rows only.
    boundary: Callable[[int], bool] | None = None


def load(
    reader: Reader, session: Session, place: Place, sink: Sink, watch: Watch | None = None
) -> Log:
    """Read the session's log into `sink` and return the log, closed; raises `SessionRefused`."""
    from agentfeedback.reading.blocks import UnreadableLog

    _keep_memory()
    try:
        with ForeignCall():
            log = reader.open(session)
            try:
                log.expected_first = place.first_line
                log.session = session
                log.watch = watch
                reader.read(log, place, sink)
            finally:
                log.close()
    except KeyboardInterrupt:
        raise
    except UnreadableLog as error:
        raise SessionRefused("unreadable", error.reason) from None
    except (OSError, MemoryError) as error:
        raise SessionRefused("unreadable", reason_of(error)) from None
    except BaseException as error:  # noqa: BLE001 - a reader must not raise; one that does is named and the rest goes on
        fault = type(error).__name__
        raise SessionRefused(
            "unreadable",
            f"reader {session.harness} failed: {fault}",
            fault,
            _place_of(reader, session, sink.offset),
            _frames(error),
        ) from None
    if log.lines == sink.unparsed_lines:
        raise SessionRefused("unsupported-format")
    return log


def _place_of(reader: Reader, session: Session, offset: int) -> str:
    """File and line (from 1) of the record at an offset; looked for once more, since nothing counts lines while it reads."""
    number, at = 1, 0
    try:
        with ForeignCall():
            log = reader.open(session)
            try:
                for line in log.complete_lines():
                    at += len(line) + 1
                    if at > offset:
                        break
                    number += 1
            finally:
                log.close()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the reader failed before, and this only says where
        return session.path
    return f"{session.path} line {number}"


def _frames(error: BaseException) -> str:
    """Where an exception was raised, without its text and without source lines: both may quote a log."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return "\n".join(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)


def facts_of(log: Log, sink: Sink) -> LogFacts:
    """The facts of a completely read log."""
    return LogFacts(
        sink.first,
        sink.last,
        list(sink.cwds),
        sink.counts(),
        log.size,
        log.head,
        log.boundary,
    )


def tallied(reader: Reader, session: Session, place: Place) -> LogFacts:
    """The facts of a session for a listing; raises `SessionRefused`."""
    from agentfeedback.reading.tally import Tally

    tally = Tally.for_reader(reader.rewrites)
    return facts_of(load(reader, session, place, tally), tally)


@cache
def _keep_memory() -> None:
    """Let the allocator keep the memory of a large line for the next one, once for the process.

    Logs have lines of some hundred kilobytes. The C library gives each such block back to the
    system and asks for it again, and the system clears every page of it: a fifth of the time of
    a listing. glibc takes the largest block that was ever given back for the size of blocks worth
    keeping, so one is given back that was never touched. Elsewhere this does nothing.
    """
    bytes(_KEPT_MEMORY)
