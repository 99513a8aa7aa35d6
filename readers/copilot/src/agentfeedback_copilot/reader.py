"""The reader of Copilot CLI logs (README, "What counts")."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.reading import (
    Home,
    Place,
    Reader,
    Report,
    Session,
    declared_paths,
    small_file,
    valid_id,
)

if TYPE_CHECKING:
    from agentfeedback.reading import Known, Log, Sink

_LOG = "events.jsonl"
_WORKSPACE = "workspace.yaml"
_WORKSPACE_BYTES = 65_536


class Copilot(Reader):
    """Reads the event logs below `~/.copilot/session-state`, one folder for each session."""

    harness = "copilot"
    format = "copilot-events"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        store = os.path.join(home.directory("COPILOT_HOME", ".copilot"), "session-state")
        report.store(store)
        for folder in report.directories(store, root=True):
            for file in report.files(folder.path):
                if file.name != _LOG:
                    continue
                if not valid_id(folder.name):
                    report.problem(file.path, "the folder name is not a valid session id")
                elif (session := report.session(file, folder.name)) is not None:
                    yield session

    def place(self, session: Session, *, strict: bool) -> Place:
        path = os.path.join(os.path.dirname(session.path), _WORKSPACE)
        try:
            content = small_file(path, _WORKSPACE_BYTES)
        except OSError:
            return Place()  # the directories the log records decide after the read
        from agentfeedback_copilot.workspace import recorded_directory

        return Place(
            paths=declared_paths(recorded_directory(content) if content is not None else None)
        )

    def known(self) -> Known:
        from agentfeedback_copilot.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_copilot.events import Events
        from agentfeedback_copilot.lines import Event

        for cwd in place.paths:
            timeline.note(cwd=cwd)
        events = Events(timeline)
        for event in log.records(Event, timeline):
            events.tell(event)
