"""The readers of OpenCode V1 and OpenCode 2 (see `README.md`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.reading import Home, Place, Reader, Report, Session, declared_paths
from agentfeedback_opencode import location

if TYPE_CHECKING:
    from agentfeedback.reading import Known, Log, Sink
    from agentfeedback_opencode.store import Schema

# What reads a database is imported where there is one.


class _OpenCode(Reader):
    """What both have in common: the databases, and a session's row as what the gate checks."""

    def schema(self) -> Schema:
        """What the reader needs of a database."""
        raise NotImplementedError

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        at, databases = location.databases(home, report)
        if not databases:
            return ()
        if home.closed:  # sessions are rows, so that none is known without opening a database
            for path in databases:
                report.left_closed(path)
            return ()
        from agentfeedback_opencode import store

        return store.sessions(home, self.schema(), report, at, databases)

    def place(self, session: Session, *, strict: bool) -> Place:
        return Place(paths=declared_paths(session.detail.directory))

    def open(self, session: Session) -> Log:
        from agentfeedback_opencode.layout import SessionLog

        return SessionLog(session, self.schema())


class OpenCodeV1(_OpenCode):
    """Reads the databases of OpenCode V1."""

    harness = "opencode-v1"
    format = "opencode-sqlite"

    def schema(self) -> Schema:
        from agentfeedback_opencode.v1 import SCHEMA

        return SCHEMA

    def known(self) -> Known:
        from agentfeedback_opencode.known import V1

        return V1

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_opencode import v1

        timeline.note(cwd=place.paths[0] if place.paths else None)
        v1.tell(log, timeline)


class OpenCodeV2(_OpenCode):
    """Reads the databases of OpenCode 2."""

    harness = "opencode-v2"
    format = "opencode-v2-sqlite"

    def schema(self) -> Schema:
        from agentfeedback_opencode.v2 import SCHEMA

        return SCHEMA

    def known(self) -> Known:
        from agentfeedback_opencode.known import V2

        return V2

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_opencode import v2

        timeline.note(cwd=place.paths[0] if place.paths else None)
        v2.tell(log, timeline)
