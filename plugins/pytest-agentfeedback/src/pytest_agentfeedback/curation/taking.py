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
from agentfeedback.policy.gate import CollectGate
from agentfeedback.reading.load import LogFacts, SessionRefused, facts_of, load
from agentfeedback.reading.log import RowLog
from agentfeedback.reading.reader import Home, Place, Reader, Report, Session
from agentfeedback.reading.refs import split
from agentfeedback.scrub import SUBMIT, Format
from agentfeedback.sessions.engine import Engine
from agentfeedback.sessions.examiner import Examiner
from pytest_agentfeedback.audit import below, watching
from pytest_agentfeedback.recorder import Recorder, Recording

_BESIDE_BYTES = 1 << 20
_OFFSET_SPAN = re.compile(r"L[0-9]+", re.ASCII)


@frozen(eq=False)
class Taken:
    """A session as it lies in its store: whole lines without their newlines, and the small files beside it."""

    reader: Reader
    session: Session
    place: Place
    facts: LogFacts
    lines: list[bytes]
    recording: Recording
    #: The home it was found below, and the caller's.
    home: str
    own_home: str
    #: The store's directory as it is, and as it lies below a home where no variable moves it.
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
    harness, id = split(ref)
    if home is not None and not os.path.isdir(home):
        raise UsageError(f"--home {home} is not a directory", "name the one that holds the stores")
    host = Host(environ)
    engine = Engine(
        environ, home=None if home is None else os.path.abspath(home), host=host, cache=False
    )
    gate = CollectGate(engine.config, engine.paths.homes)
    store = next(iter(engine.stores([host.harness(harness)])), None)
    if store is None:
        raise AgentFeedbackError(f"no reader of {harness} works", "run agentfeedback plugins")
    reader = store.reader
    session = next((each for each in store.sessions if each.id == id), None)
    if session is None:
        raise AgentFeedbackError(
            f"{ref}: there is no such session in {store.report.location}",
            "copy the ref from agentfeedback sessions list",
        )
    if not reader.digests:
        raise AgentFeedbackError(f"{ref}: {harness} sessions hold too little for a digest")
    examiner = Examiner(host, disabled=gate.disabled, strict=gate.strict)
    lines: list[bytes] = []
    recorder = Recorder(rewrites=reader.rewrites)
    try:
        place = examiner.admit(reader, session)
        log = load(reader, session, place, recorder, lines.extend)
        facts = facts_of(log, recorder)
        seen = examiner.judge(session, None, facts)
        if seen.facts is None:
            raise SessionRefused(seen.state, seen.reason)
        if seen.state == "unknown-project" and not allow_unknown:
            raise SessionRefused(seen.state, "no policy can be asked; see --allow-unknown-project")
        rows = isinstance(log, RowLog)
        beside = {} if rows else _beside(examiner, reader, session)
    except SessionRefused as refused:
        reason = f" ({refused.reason})" if refused.reason else ""
        raise AgentFeedbackError(f"{ref}: session is {refused.state}{reason}") from None
    default = Report(session.harness)
    list(reader.find(Home(os.path.join(os.sep, "no-such-home")), default))
    formats = host.register_scrub_formats()
    return Taken(
        reader,
        session,
        place,
        facts,
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
