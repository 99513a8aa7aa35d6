"""The reader of Copilot CLI logs (specification, "Copilot CLI"; details 14.3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agentfeedback.log import Log, small_file
from agentfeedback.reader import Home, Place, Reader, Report, Session, recorded
from agentfeedback.record import Raw, decoder
from agentfeedback.refs import valid_id
from agentfeedback.teller import Teller

from .lines import Arguments, Data, Event
from .results import outcome
from .workspace import recorded_directory

if TYPE_CHECKING:
    from agentfeedback.drift import Known

_LOG = "events.jsonl"
_WORKSPACE = "workspace.yaml"
_WORKSPACE_BYTES = 65_536
_SHELLS = ("bash", "powershell")
_ABORTED = "Operation aborted by user"

_arguments = decoder(Arguments)
_NOTHING = Data()


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
                    report.problem(file.path, "the folder name is no valid session id")
                elif (session := report.session(file, folder.name)) is not None:
                    yield session

    def place(self, session: Session, *, strict: bool) -> Place:
        path = os.path.join(os.path.dirname(session.path), _WORKSPACE)
        try:
            content = small_file(path, _WORKSPACE_BYTES)
        except OSError:
            return Place()  # the directories the log records decide after the read (C42)
        return Place(paths=recorded(recorded_directory(content) if content is not None else None))

    def known(self) -> Known:
        from .known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Teller) -> None:
        for cwd in place.paths:
            timeline.note(cwd=cwd)
        events = _Events(timeline)
        for event in log.records(Event, timeline):
            events.tell(event)


class _Events:
    """Tells one log, event by event. Every event is an entry."""

    def __init__(self, timeline: Teller) -> None:
        self._timeline = timeline
        #: The calls that have not completed yet, and whether their tool runs commands in a shell.
        self._running: dict[str, bool] = {}

    def tell(self, event: Event) -> None:
        verb = _VERBS.get(event.type)
        if verb is None or event.agent_id:  # what a sub-agent does is no part of the conversation
            self._timeline.entry(event.id or None, event.timestamp)
        else:
            verb(self, event, event.data or _NOTHING)

    def _session(self, event: Event, data: Data) -> None:
        cwd = data.context.cwd if data.context is not None else None
        self._timeline.entry(event.id or None, event.timestamp, cwd, data.selected_model)

    def _directory_changed(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp, data.cwd)

    def _model_changed(self, event: Event, data: Data) -> None:
        model = data.new_model or data.model or data.selected_model
        self._timeline.entry(event.id or None, event.timestamp, None, model)

    def _user_message(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        typed = data.source in (None, "", "user") and not data.is_autopilot_continuation
        if typed and data.content:
            self._timeline.prompt(data.content)

    def _assistant_message(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp, None, data.model)
        if data.content and not data.content.isspace():
            self._timeline.said(data.content)

    def _start(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp, None, data.model)
        id, tool, given = data.tool_call_id or None, data.tool_name or "", bytes(data.arguments)
        known = _arguments(given) if given.startswith(b"{") else None
        command = known.command if known is not None else None
        told = self._timeline.call(id, tool, input=given or None, command=command)
        if told and id is not None:
            self._running[id] = tool in _SHELLS or not _is_absent(data.shell_tool_info)

    def _complete(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp, None, data.model)
        id = data.tool_call_id
        # Only the first completion of a call is its result, even where it tells less than a later one.
        shell = self._running.pop(id, None) if id is not None else None
        if shell is not None:
            told = outcome(data, shell=shell)
            self._timeline.result(id, told.status, told.content, told.exit_code)

    def _permission(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        kind = (data.result.kind if data.result is not None else None) or ""
        if kind.startswith("denied-"):
            self._timeline.result(data.tool_call_id, "denied")
        elif kind == "cancelled":
            self._timeline.result(data.tool_call_id, "interrupted")

    def _abort(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        self._timeline.interrupt()
        self._timeline.interrupt_open(_ABORTED)


_Verb = Callable[[_Events, Event, Data], None]
_VERBS: dict[str | None, _Verb] = {
    "session.start": _Events._session,
    "session.resume": _Events._session,
    "session.context_changed": _Events._directory_changed,
    "session.model_change": _Events._model_changed,
    "user.message": _Events._user_message,
    "assistant.message": _Events._assistant_message,
    "tool.execution_start": _Events._start,
    "tool.execution_complete": _Events._complete,
    "permission.completed": _Events._permission,
    "abort": _Events._abort,
}


def _is_absent(member: Raw) -> bool:
    return bytes(member) in (b"", b"null")
