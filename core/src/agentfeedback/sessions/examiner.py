"""One session through the gate, its log and the gate again, to its state (details 9, "Pipeline").

What goes wrong with one session is that session's state and reason, so that all others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from attrs import define

from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import LogFacts, SessionRefused, facts_of, load
from agentfeedback.reading.log import Watch
from agentfeedback.reading.reader import Place, Reader, Session
from agentfeedback.reading.tally import Tally
from agentfeedback.state.watermark import SessionRow, compare
from agentfeedback.wire.records import State

if TYPE_CHECKING:
    from agentfeedback.policy.rules import Verdict
    from agentfeedback.reading.timeline import Timeline

CHANGED = "the session changed since its policy was checked"
UNSUPPORTED = "unsupported session store format: "


@define(eq=False)
class ExaminedSession:
    """A session with its state; `facts` are there when its log was read and not refused afterwards."""

    session: Session
    state: State
    reason: str = ""
    facts: LogFacts | None = None
    #: The offset an `--unprocessed` digest begins at.
    start: int = 0
    #: What a digest needs, when it was asked for.
    timeline: Timeline | None = None

    @property
    def ref(self) -> str:
        return self.session.ref

    @property
    def when(self) -> int:
        """The last entry's time, or the file's where the log tells none (details 4.3); nanoseconds."""
        if self.facts is not None and self.facts.last is not None:
            return self.facts.last
        return self.session.mtime


class Examiner:
    """Examines the sessions of one run under its gates. `strict` tells readers how little they may read (D14)."""

    def __init__(self, host: Host, *, disabled: bool, strict: bool) -> None:
        self._host = host
        self._disabled = disabled
        self._strict = strict

    def admit(self, reader: Reader, session: Session, known: Place | None = None) -> Place:
        """Where the session ran, once the gate let it be opened; raises `SessionRefused`.

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
        """The state of a session by what its log told."""
        try:
            self._recorded(session, facts.cwds)
        except SessionRefused as refused:
            return self.refused(session, refused)
        return _standing(session, row, facts)

    def refused(self, session: Session, refused: SessionRefused) -> ExaminedSession:
        """A session that is shown with its state alone."""
        if refused.fault:
            self._host.warn(f"plugin {session.harness} failed in read: {refused.fault}")
        return ExaminedSession(session, refused.state, refused.reason)

    def digest(
        self,
        reader: Reader,
        session: Session,
        row: SessionRow | None,
        timeline_from: Callable[[int], Timeline],
    ) -> ExaminedSession:
        """The session's state with the timeline its digest is built from, read from where its state says.

        `timeline_from(start)` makes an empty timeline. Where the watermark proves to be another than
        the file's size suggested, the log is read once more.
        """
        start = _guess(session, row)
        try:
            for _ in range(3):
                timeline = timeline_from(start)
                log = load(reader, session, self.admit(reader, session), timeline)
                self._recorded(session, timeline.cwds)
                seen = _standing(session, row, facts_of(log, timeline))
                if seen.start == start:
                    timeline.size = log.size
                    seen.timeline = timeline
                    return seen
                start = seen.start
            return ExaminedSession(session, "unreadable", CHANGED)
        except SessionRefused as refused:
            return self.refused(session, refused)

    def watch(self, reader: Reader, session: Session, lines: Watch) -> State | None:
        """Show the log's lines to `lines` while it is read; None when the policy let it be read to its end.

        With a state what was shown must be thrown away: the read failed, or the directories it told are refused.
        """
        tally = Tally.for_reader(reader.rewrites)
        try:
            load(reader, session, self.admit(reader, session), tally, lines)
            self._recorded(session, tally.cwds)
        except SessionRefused as refused:
            return self.refused(session, refused).state
        return None

    def _recorded(self, session: Session, cwds: Iterable[str]) -> None:
        paths = tuple(cwds)
        if paths:
            _pass(self._host.session_after_read(session, paths))

    def _place(self, reader: Reader, session: Session) -> Place:
        if self._disabled:  # then not even the store's metadata is read
            return Place()
        try:
            return reader.place(session, strict=self._strict)
        except Exception as error:  # noqa: BLE001 - a reader that fails here leaves the policy unchecked
            self._host.failed(session.harness, "place", error)
            return Place(failed=True)


def _pass(verdict: Verdict | None) -> None:
    if verdict is not None:
        raise SessionRefused(verdict.state, verdict.reason)


def _standing(session: Session, row: SessionRow | None, facts: LogFacts) -> ExaminedSession:
    if not facts.cwds:
        return ExaminedSession(session, "unknown-project", "", facts)
    found = compare(row, facts.size, facts.head, facts.boundary)
    return ExaminedSession(session, found.state, found.reason, facts, found.start)


def _guess(session: Session, row: SessionRow | None) -> int:
    """Where a digest will begin, if the file did what files of logs do: grow."""
    if row is None or row.processed_at is None or row.processed_size is None:
        return 0
    grown = session.size > row.processed_size or session.path.endswith(".zst") or not session.size
    return row.processed_size if grown else 0
