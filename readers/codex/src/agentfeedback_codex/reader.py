"""The reader of Codex rollouts: where they are, the directory the gate checks, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.reading import (
    Home,
    Place,
    Reader,
    Report,
    Session,
    declared_paths,
)
from agentfeedback_codex import store

if TYPE_CHECKING:
    from agentfeedback.reading import Known, Log, Raw, Sink

#: Most bytes of a first line that is looked at before the session is opened.
_FIRST_LINE_BYTES = 1 << 20
_BLOCK_BYTES = 512


class Codex(Reader):
    """Reads rollouts below `~/.codex`, plain and compressed, live and archived."""

    harness = "codex"
    format = "codex-rollout"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        return store.sessions(home.directory("CODEX_HOME", ".codex"), report)

    def place(self, session: Session, *, strict: bool) -> Place:
        from agentfeedback.reading import UnreadableLog, decoder, first_line, loads
        from agentfeedback_codex.lines import FirstLine, FirstPayload

        try:
            line = first_line(session.path, _FIRST_LINE_BYTES, 1 if strict else _BLOCK_BYTES)
        except (OSError, UnreadableLog):
            return Place()  # the read reports it; no refusal
        if line is None:
            return Place(failed=True)
        first = decoder(FirstLine)(line)
        if first is None or first.type != "session_meta":
            return Place(failed=True, first_line=line)
        if _is_absent(first.payload):
            return Place(first_line=line)
        payload = decoder(FirstPayload)(bytes(first.payload))
        if payload is None:
            return Place(failed=True, first_line=line)
        if _is_absent(payload.cwd):
            return Place(first_line=line)
        cwd = loads(bytes(payload.cwd))
        if not isinstance(cwd, str):
            return Place(failed=True, first_line=line)
        return Place(paths=declared_paths(cwd), first_line=line)

    def known(self) -> Known:
        from agentfeedback_codex.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_codex.lines import Line
        from agentfeedback_codex.rollout import Rollout

        rollout = Rollout(timeline)
        for line in log.records(Line, timeline):
            rollout.report(line)


def _is_absent(member: Raw) -> bool:
    return bytes(member) in (b"", b"null")
