"""One session through the gate, its log and the gate again, to its state.

What goes wrong with one session is that session's state and reason, so that all others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from attrs import define

from agentfeedback.foundation.foreign_call import ForeignCall
from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import LogFacts, SessionRefused, facts_of, load
from agentfeedback.reading.reader import Place, Reader, Session
from agentfeedback.state.watermark import SessionRow, compare

if TYPE_CHECKING:
    from agentfeedback.policy.rules import Verdict
    from agentfeedback.reading.log import Log, Watch
    from agentfeedback.reading.sink import Sink
    from agentfeedback.wire.records import State

CHANGED = "the session changed since its policy was checked"
UNSUPPORTED = "unsupported session store format: "

S = TypeVar("S", bound="Sink")


@define(eq=False)
class ExaminedSession:
    """A session with its state; `facts` are there when its log was read and not refused afterwards."""

    session: Session
    state: State
    reason: str = ""
    facts: LogFacts | None = None

    @property
    def ref(self) -> str:
        return self.session.ref

    @property
    def when(self) -> int:
        """The last entry's time, or the file's where the log records none; nanoseconds."""
        if self.facts is not None and self.facts.last is not None:
            return self.facts.last
        return self.session.mtime


@define(eq=False)
class ReadSession(Generic[S]):
    """A session that was read whole under the policy.

    `state` is `new`, `changed`, `processed`, or `unknown-project` where that was allowed; `start` is
    the offset, in bytes, at which what is new begins; `log` is closed.
    """

    reader: Reader
    session: Session
    place: Place
    log: Log
    sink: S
    facts: LogFacts
    state: State
    reason: str
    start: int


class Examiner:
    """Examines the sessions of one run under its gates. `strict`: readers read as little as they can before the policy is asked."""

    def __init__(self, host: Host, *, disabled: bool, strict: bool) -> None:
        self._host = host
        self._disabled = disabled
        self._strict = strict

    def admit(self, reader: Reader, session: Session, known: Place | None = None) -> Place:
        """Where the session ran, once the gates let it be opened; raises `SessionRefused`.

        `known` is what the reader would say, where that is known already.
        """
        place = self._place(reader, session) if known is None else known
        _pass(self._host.session_before_open(session, place))
        if session.unsupported:
            raise SessionRefused("unsupported-format", UNSUPPORTED + session.unsupported)
        if place.unknown:
            raise SessionRefused("unknown-project")
        return place

    def judge(self, session: Session, row: SessionRow | None, facts: LogFacts) -> ExaminedSession:
        """The state of a session by what its log recorded."""
        try:
            self._recorded(session, facts.cwds)
        except SessionRefused as refused:
            return self.refused(session, refused)
        state, reason, _ = _status(row, facts)
        return ExaminedSession(session, state, reason, facts)

    def refused(self, session: Session, refused: SessionRefused) -> ExaminedSession:
        """A session that is shown with its state alone."""
        self._name(session, refused)
        return ExaminedSession(session, refused.state, refused.reason)

    def read(
        self,
        reader: Reader,
        session: Session,
        sink: S | Callable[[int], S],
        *,
        row: SessionRow | None = None,
        allow_unknown: bool = False,
        lines: Watch | None = None,
    ) -> ReadSession[S]:
        """Read one session under the policy: ask the gates, read, ask again over what was recorded.

        Whoever passed `sink` or `lines` throws away what they received when this raises.

        Args:
            reader: The session's reader.
            session: The session, as it was found.
            sink: Receives what the reader reports of the whole log. Where the watermark decides what
                counts, a function that makes a sink for the offset at which what is new begins:
                should the log prove to be another than its size suggested, it is read again.
            row: What is remembered of the session.
            allow_unknown: Whether a log may be read to its end that records no working directory.
            lines: Sees the raw lines while they are read; again, where the log is read again.

        Raises:
            SessionRefused: The policy refuses the session, or it cannot be read.
        """
        start = _guess(session, row)
        try:
            for _ in range(3):
                target = sink(start) if callable(sink) else sink
                place = self.admit(reader, session)
                log = load(reader, session, place, target, lines)
                self._recorded(session, target.cwds)
                facts = facts_of(log, target)
                state, reason, begins = _status(row, facts)
                if state == "unknown-project" and not allow_unknown:
                    raise SessionRefused("unknown-project")
                if target is sink or begins == start:
                    return ReadSession(
                        reader, session, place, log, target, facts, state, reason, begins
                    )
                start = begins
            raise SessionRefused("unreadable", CHANGED)
        except SessionRefused as refused:
            self._name(session, refused)
            raise

    def _recorded(self, session: Session, cwds: Iterable[str]) -> None:
        directories = tuple(cwds)
        if directories:
            _pass(self._host.session_after_read(session, directories))

    def _place(self, reader: Reader, session: Session) -> Place:
        if self._disabled:  # then not even the store's metadata is read
            return Place()
        try:
            with ForeignCall():
                return reader.place(session, strict=self._strict)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a reader that fails here leaves the policy unchecked
            self._host.failed(session.harness, "place", error)
            return Place(failed=True)

    def _name(self, session: Session, refused: SessionRefused) -> None:
        if refused.fault:
            self._host.failed_in_read(session.harness, refused.fault, refused.place, refused.frames)


def _pass(verdict: Verdict | None) -> None:
    if verdict is not None:
        raise SessionRefused(verdict.state, verdict.reason)


def _status(row: SessionRow | None, facts: LogFacts) -> tuple[State, str, int]:
    """State, reason and the offset where what is new begins."""
    if not facts.cwds:
        return "unknown-project", "", 0
    found = compare(row, facts.size, facts.head, facts.boundary)
    return found.state, found.reason, found.start


def _guess(session: Session, row: SessionRow | None) -> int:
    """Where what is new will begin, if the file did what files of logs do: grow."""
    if row is None or row.processed_at is None or row.processed_size is None:
        return 0
    grown = session.size > row.processed_size or session.path.endswith(".zst") or not session.size
    return row.processed_size if grown else 0
