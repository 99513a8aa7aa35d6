"""The readers of OpenCode V1 and OpenCode 2 (specification, "OpenCode" and "OpenCode 2"; details 14.5; `README.md`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from agentfeedback.reading import Home, Log, Place, Reader, Report, Session, Sink, declared_paths
from agentfeedback_opencode import store, v1, v2
from agentfeedback_opencode.layout import SessionLog

if TYPE_CHECKING:
    from agentfeedback.reading import Known


class _OpenCode(Reader):
    """What both have in common: the databases, and a session's row as what the gate checks."""

    schema: ClassVar[store.Schema]

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        return store.sessions(home, self.schema, report)

    def place(self, session: Session, *, strict: bool) -> Place:
        return Place(paths=declared_paths(session.detail.directory))

    def open(self, session: Session) -> Log:
        return SessionLog(session, self.schema)


class OpenCodeV1(_OpenCode):
    """Reads the databases of OpenCode V1."""

    harness = "opencode-v1"
    format = "opencode-sqlite"
    schema = v1.SCHEMA

    def known(self) -> Known:
        from agentfeedback_opencode.known import V1

        return V1

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        timeline.note(cwd=place.paths[0] if place.paths else None)
        v1.tell(log, timeline)


class OpenCodeV2(_OpenCode):
    """Reads the databases of OpenCode 2."""

    harness = "opencode-v2"
    format = "opencode-v2-sqlite"
    schema = v2.SCHEMA

    def known(self) -> Known:
        from agentfeedback_opencode.known import V2

        return V2

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        timeline.note(cwd=place.paths[0] if place.paths else None)
        v2.tell(log, timeline)
