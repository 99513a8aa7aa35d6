"""Takes one session out of a store, under the user's own policy: what is refused is never read.

What is given out are the bytes the policy was asked about, not a second reading of the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from attrs import field, frozen

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.files import small_file
from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import LogFacts, SessionRefused
from agentfeedback.reading.log import RowLog
from agentfeedback.reading.reader import Home, Place, Reader, Report, Session
from agentfeedback.scrub import SUBMIT, Format
from agentfeedback.sessions.engine import Engine
from agentfeedback.sessions.examiner import Examiner
from pytest_agentfeedback.audit import below, watching
from pytest_agentfeedback.recorder import Recorder, Recording

_BESIDE_BYTES = 1 << 20
_OFFSET_SPAN = re.compile(r"L[0-9]+", re.ASCII)


@frozen(eq=False)
class Taken:
    """A session as it is in its store: whole lines without their newlines, and the small files beside it."""

    reader: Reader
    session: Session
    place: Place
    facts: LogFacts
    lines: list[bytes]
    recording: Recording
    #: The home it was found below, and the caller's.
    home: str
    own_home: str
    #: The store's directory as it is, and as it is below a home where no variable moves it.
    store: str
    default_store: str
    #: True where the lines are those of a virtual log, and `session.path` is a database.
    rows: bool
    #: What the reader needs beside the log to say where it ran, by path.
    beside: dict[str, bytes] = field(factory=dict)
    formats: tuple[Format, ...] = ()

    @property
    def by_offset(self) -> bool:
        """Whether spans of it are byte offsets, so that lines should keep their length."""
        return not self.rows and any(
            _OFFSET_SPAN.fullmatch(span)
            for entry in self.recording.entries
            for span in (entry.span, *(call.span for call in entry.calls))
        )


def take(
    ref: str, environ: Mapping[str, str], *, home: str | None, allow_unknown: bool = False
) -> Taken:
    """The session a ref names; raises AgentFeedbackError when there is none, or it may not be read."""
    if home is not None and not os.path.isdir(home):
        raise UsageError(f"--home {home} is not a directory", "name the one that holds the stores")
    host = Host(environ)
    engine = Engine(
        environ, home=None if home is None else os.path.abspath(home), host=host, cache=False
    )
    named = host.ref(ref)
    store = next(iter(engine.stores([named.harness])), None)
    if store is None:
        raise AgentFeedbackError(f"no reader of {named.harness} works", "run agentfeedback plugins")
    reader = store.reader
    if not reader.digests:
        raise AgentFeedbackError(f"{ref}: {named.harness} sessions hold too little for a digest")
    lines: list[bytes] = []
    recorder = Recorder(rewrites=reader.rewrites)
    try:
        read = engine.read(named, recorder, allow_unknown=allow_unknown, lines=lines.extend)
        rows = isinstance(read.log, RowLog)
        beside = {} if rows else _beside(engine.examiner, reader, read.session)
    except SessionRefused as refused:
        if refused.state == "absent":
            raise AgentFeedbackError(
                f"{ref}: there is no such session in {store.report.location}",
                "copy the ref from agentfeedback sessions list",
            ) from None
        reason = f" ({refused.reason})" if refused.reason else ""
        if refused.state == "unknown-project" and not allow_unknown:
            reason = " (no policy can be asked; see --allow-unknown-project)"
        raise AgentFeedbackError(f"{ref}: session is {refused.state}{reason}") from None
    default = Report(named.harness)
    list(reader.find(Home(os.path.join(os.sep, "no-such-home")), default))
    formats = host.register_scrub_formats()
    return Taken(
        reader,
        read.session,
        read.place,
        read.facts,
        lines,
        recorder.recording(),
        engine.home.path,
        engine.paths.home,
        store.report.location,
        os.path.relpath(default.location, os.path.join(os.sep, "no-such-home")),
        rows,
        beside,
        tuple(each for each in formats if each not in SUBMIT.formats),
    )


def _beside(examiner: Examiner, reader: Reader, session: Session) -> dict[str, bytes]:
    """The files that the reader opens to say where the session ran: a corpus needs them too."""
    with watching() as watch:
        place = reader.place(session, strict=False)
    # It was asked again, so the policy is: the answer may be another by now.
    examiner.admit(reader, session, place)
    found = {}
    for path, _ in watch.opened:
        if path != session.path and below(path, os.path.dirname(os.path.dirname(session.path))):
            content = small_file(path, _BESIDE_BYTES)
            if content is not None:
                found[path] = content
    return found
