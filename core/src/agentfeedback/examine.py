"""One session through the gate, its log and the gate again, to its state (details 9, "Pipeline").

What goes wrong with one session is that session's state and reason, so that all others go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attrs import define

from agentfeedback.host import CORE, Host
from agentfeedback.log import Log, Unreadable, Watch
from agentfeedback.policy import Verdict, strictest
from agentfeedback.reader import Place, Reader, Session, reason_of
from agentfeedback.tally import Tally
from agentfeedback.teller import Teller
from agentfeedback.timeline import Timeline
from agentfeedback.watermark import Row, standing
from agentfeedback.wire import Counts, State

T = TypeVar("T", bound=Teller)

CHANGED = "the session changed since its policy was checked"
UNSUPPORTED = "unsupported session store format: "


@define(eq=False)
class Facts:
    """What a whole log tells a listing. Times in nanoseconds since the epoch, `size` in bytes of complete lines."""

    first: int | None
    last: int | None
    cwds: list[str]
    counts: Counts
    size: int
    head: str


@define(eq=False)
class Seen:
    """A session with its state; `facts` are there when its log was read and not refused afterwards."""

    session: Session
    state: State
    reason: str = ""
    facts: Facts | None = None
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


@define(eq=False)
class _Refused(Exception):
    state: State
    reason: str


class Examiner:
    """Examines the sessions of one run under its gates. `strict` tells readers how little they may read (D14)."""

    def __init__(self, host: Host, *, disabled: bool, strict: bool) -> None:
        self._host = host
        self._disabled = disabled
        self._strict = strict

    def list(self, reader: Reader, session: Session, row: Row | None) -> Seen:
        """The session's state and facts, for a listing."""
        try:
            log, tally = self._read(reader, session, Tally.for_reader(reader.rewrites))
            return self._standing(session, row, log, tally)
        except _Refused as refused:
            return Seen(session, refused.state, refused.reason)

    def digest(
        self,
        reader: Reader,
        session: Session,
        row: Row | None,
        timeline_from: Callable[[int], Timeline],
    ) -> Seen:
        """The session's state with the timeline its digest is built from, read from where its state says.

        `timeline_from(start)` makes an empty timeline. Where the watermark proves to be another than
        the file's size suggested, the log is read once more.
        """
        start = _guess(session, row)
        try:
            for _ in range(3):
                log, timeline = self._read(reader, session, timeline_from(start))
                seen = self._standing(session, row, log, timeline)
                if seen.start == start:
                    timeline.size = log.size
                    seen.timeline = timeline
                    return seen
                start = seen.start
            return Seen(session, "unreadable", CHANGED)
        except _Refused as refused:
            return Seen(session, refused.state, refused.reason)

    def watch(self, reader: Reader, session: Session, lines: Watch) -> State | None:
        """Show the log's lines to `lines` while it is read; None when the policy let it be read to its end.

        With a state what was shown must be thrown away: the read failed, or the directories it told are refused.
        """
        try:
            self._read(reader, session, Tally.for_reader(reader.rewrites), lines)
        except _Refused as refused:
            return refused.state
        return None

    def _read(
        self,
        reader: Reader,
        session: Session,
        teller: T,
        watch: Watch | None = None,
    ) -> tuple[Log, T]:
        if session.unsupported:
            self._pass(session, self._place(reader, session), "before-open")
            raise _Refused("unsupported-format", UNSUPPORTED + session.unsupported)
        place = self._place(reader, session)
        self._pass(session, place, "before-open")
        if place.unknown:
            raise _Refused("unknown-project", "")
        log = self._load(reader, session, place, teller, watch)
        if log.lines == teller.unparsed_lines:
            raise _Refused("unsupported-format", "")
        if teller.cwds:
            self._pass(session, Place(paths=tuple(teller.cwds)), "after-read")
        return log, teller

    def _place(self, reader: Reader, session: Session) -> Place:
        if self._disabled:  # then not even the store's metadata is read
            return Place()
        try:
            return reader.place(session, strict=self._strict)
        except Exception as error:  # noqa: BLE001 - a reader that fails here leaves the policy unchecked
            self._host.failed(session.harness, "place", error)
            return Place(failed=True)

    def _pass(self, session: Session, place: Place, stage: str) -> None:
        """Ask every gate; the strictest refusal wins, and a gate that fails refuses (D19)."""
        verdicts = [Verdict("denied", f"gate {name} failed") for name in self._host.failed_gates]
        for name, answer in self._host.each(
            "session_verdict", session=session, place=place, stage=stage
        ):
            if isinstance(answer, BaseException):
                self._host.failed(name, "session_verdict", answer)
                verdicts.append(Verdict("denied", f"gate {name} failed"))
            elif answer is None:
                continue
            elif name == CORE:
                verdicts.insert(0, answer)
            else:
                verdicts.append(
                    Verdict("denied", f"gate {name}: {getattr(answer, 'reason', answer)}")
                )
        if (verdict := strictest(verdicts)) is not None:
            raise _Refused(verdict.state, verdict.reason)

    def _load(
        self,
        reader: Reader,
        session: Session,
        place: Place,
        teller: Teller,
        watch: Watch | None,
    ) -> Log:
        try:
            log = reader.open(session)
            try:
                log.expected_first = place.first_line
                log.watch = watch
                reader.read(log, place, teller)
            finally:
                log.close()
            return log
        except Unreadable as error:
            raise _Refused("unreadable", error.reason) from None
        except (OSError, MemoryError) as error:
            raise _Refused("unreadable", reason_of(error)) from None
        except Exception as error:  # noqa: BLE001 - a reader must not raise; one that does is named and the rest goes on
            self._host.failed(session.harness, "read", error)
            raise _Refused(
                "unreadable", f"reader {session.harness} failed: {type(error).__name__}"
            ) from None

    def _standing(self, session: Session, row: Row | None, log: Log, teller: Teller) -> Seen:
        counts = teller.counts()
        facts = Facts(teller.first, teller.last, list(teller.cwds), counts, log.size, log.head)
        if not teller.cwds:
            return Seen(session, "unknown-project", "", facts)
        found = standing(row, log.size, log.head, log.boundary)
        return Seen(session, found.state, found.reason, facts, found.start)


def _guess(session: Session, row: Row | None) -> int:
    """Where a digest will begin, if the file did what files of logs do: grow."""
    if row is None or row.processed_at is None or row.processed_size is None:
        return 0
    grown = session.size > row.processed_size or session.path.endswith(".zst") or not session.size
    return row.processed_size if grown else 0
