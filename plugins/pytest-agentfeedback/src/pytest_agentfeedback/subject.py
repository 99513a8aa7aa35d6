"""What is tested: a reader, its corpus, and how its logs are read and cut. Base class of all checks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen

from agentfeedback.plugins.host import Host
from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import Log, RowLog
from agentfeedback.reading.reader import Home, Place, Reader, Report, Session
from agentfeedback.reading.tally import Tally
from pytest_agentfeedback.recorder import Recorder, Recording

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from agentfeedback.reading.sink import Sink
    from pytest_agentfeedback.corpus import Bench, Laid

_SOME = 3


class LineLog(Log):
    """A log of lines in memory, each with its newline; `rest` is an unfinished line after them."""

    def __init__(self, lines: Iterable[bytes], rest: bytes = b"") -> None:
        super().__init__()
        self._data = b"".join(line + b"\n" for line in lines) + rest

    def blocks(self) -> Iterator[bytes]:
        yield self._data


@frozen(eq=False)
class CorpusLog:
    """A readable session of the corpus: the complete lines of its log (rows, for a row store)."""

    session: Session
    place: Place
    lines: list[bytes]


class Subject:
    """The reader under test. A reader's test class sets `harness` and `corpus`; the rest has defaults."""

    #: The word before the colon in a ref; the reader's plugin is installed under this name.
    harness: str = ""
    #: The corpus folder, relative to pytest's rootdir.
    corpus: str = ""
    #: True where the sessions are rows of a database and not files of lines.
    row_store: bool = False
    #: True where every line that is a JSON object is an entry, whatever it holds.
    every_object_is_an_entry: bool = False

    # -- what a reader's test may override -----------------------------------------------------

    def reader(self) -> Reader:
        """The reader under test: that of the installed plugin named `harness`."""
        found = Host({}).reader(self.harness)
        assert found is not None, f"no installed plugin brings a reader of {self.harness!r}"
        return found

    def cuts(self, lines: Sequence[bytes]) -> Iterable[int]:
        """Numbers of lines after which a log may end: all of them; in a row store those between messages."""
        return range(1, len(lines))

    def log(self, lines: Sequence[bytes], rest: bytes = b"") -> Log:
        """A log of these lines in memory, as `read` takes it; `rest` is an unfinished line (files only)."""
        return RowLog(iter(lines)) if self.row_store else LineLog(lines, rest)

    def more_logs(self) -> SearchStrategy[list[bytes]] | None:
        """A hypothesis strategy of logs of the format, for the laws, beside those made from the corpus."""
        return None

    # -- what checks are made of ---------------------------------------------------------------

    @cached_property
    def _reader(self) -> Reader:
        return self.reader()

    def _folder(self, bench: Bench) -> Path:
        assert self.corpus, "the test class says no corpus"
        return bench.root / self.corpus

    def _laid(self, bench: Bench) -> Laid:
        """The shared copy of the corpus: not to be changed."""
        return bench.laid(self._folder(bench))

    def _own(self, bench: Bench) -> Laid:
        """A copy of the corpus that the check may change."""
        return bench.lay(self._folder(bench))

    def _find(self, home: str | os.PathLike[str]) -> tuple[list[Session], Report]:
        report = Report(self.harness)
        sessions = list(self._reader.find(Home(os.fspath(home), {}), report))
        return sessions, report

    def _sessions(self, bench: Bench) -> list[Session]:
        sessions, _ = self._find(self._laid(bench).home)
        assert sessions, "find lists no session of the corpus"
        return sessions

    def _logs(self, bench: Bench) -> list[CorpusLog]:
        """The sessions of the corpus whose log can be read, with their lines."""
        reader = self._reader
        found = []
        for session in self._sessions(bench):
            if session.unsupported:
                continue
            with contextlib.suppress(UnreadableLog, OSError):
                lines = _lines(reader, session)
                found.append(CorpusLog(session, reader.place(session, strict=False), lines))
        assert found, "no session of the corpus can be read"
        return found

    def _record(self, lines: Sequence[bytes], place: Place, rest: bytes = b"") -> Recording:
        """What the reader reports of a log in memory."""
        return self._recorded(lines, place, rest)[0]

    def _recorded(
        self, lines: Sequence[bytes], place: Place, rest: bytes = b""
    ) -> tuple[Recording, Log]:
        reader = self._reader
        recorder = Recorder(rewrites=reader.rewrites)
        log = self.log(lines, rest)
        reader.read(log, place, recorder)
        return recorder.recording(), log

    def _tally(self, lines: Sequence[bytes], place: Place) -> Tally:
        reader = self._reader
        tally = Tally.for_reader(reader.rewrites)
        reader.read(self.log(lines), place, tally)
        return tally

    def _read(self, session: Session, sink: Sink) -> Log | None:
        """Read a session as the engine does; None when its log cannot be read."""
        reader = self._reader
        place = reader.place(session, strict=False)
        try:
            log = reader.open(session)
            try:
                log.expected_first = place.first_line
                reader.read(log, place, sink)
            finally:
                log.close()
        except (UnreadableLog, OSError):
            return None
        return log

    def _some(self, sessions: Sequence[Session]) -> list[Session]:
        """A few sessions of each kind of file: what does not depend on the log need not be tried with each."""
        kinds: dict[str, list[Session]] = {}
        for session in {each.path: each for each in sessions}.values():
            kinds.setdefault(os.path.splitext(session.path)[1], []).append(session)
        return [session for some in kinds.values() for session in some[:_SOME]]

    def _skip_row_store(self, why: str) -> None:
        if self.row_store:
            pytest.skip(f"a row store: {why}")


@contextlib.contextmanager
def replaced(owner: Any, **values: Any) -> Iterator[None]:
    """Attributes replaced for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(owner, name, value)
        yield


def content_files(path: str) -> list[str]:
    """Return the files that hold a session: the one it is listed by, or those in its folder."""
    if not os.path.isdir(path):
        return [path]
    return sorted(each.path for each in os.scandir(path) if each.is_file(follow_symlinks=False))


def no_faults(what: str, faults: Sequence[str]) -> None:
    """Fail with the faults, the first few in full."""
    if faults:
        more = f"\n(and {len(faults) - 5} more)" if len(faults) > 5 else ""
        shown = "\n".join(each[:600] for each in faults[:5])
        pytest.fail(f"{what}:\n{shown}{more}", pytrace=False)


def _lines(reader: Reader, session: Session) -> list[bytes]:
    log = reader.open(session)
    try:
        return list(log.complete_lines())
    finally:
        log.close()
