"""The reader of Copilot CLI logs (specification, "Copilot CLI"; details 14.3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from agentfeedback.reading import (
    Home,
    Log,
    Place,
    Raw,
    Reader,
    Report,
    Session,
    Sink,
    declared_paths,
    decoder,
    small_file,
    valid_id,
    value,
)
from agentfeedback_copilot.lines import Arguments, Data, Event, Notification
from agentfeedback_copilot.results import SHELL_READERS, SHELLS, of_64_bits, outcome
from agentfeedback_copilot.workspace import recorded_directory

if TYPE_CHECKING:
    from agentfeedback.reading import Known

_LOG = "events.jsonl"
_WORKSPACE = "workspace.yaml"
_WORKSPACE_BYTES = 65_536
_SHELL_COMPLETED = "shell_completed"
#: Whose a message is: typed here, or from afar (the id of what was sent follows).
_USER, _REMOTE = "user", "command-"
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
        return Place(
            paths=declared_paths(recorded_directory(content) if content is not None else None)
        )

    def known(self) -> Known:
        from agentfeedback_copilot.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        for cwd in place.paths:
            timeline.note(cwd=cwd)
        events = _Events(timeline)
        for event in log.records(Event, timeline):
            events.tell(event)


class _Called(NamedTuple):
    """What decides how the result of a call is read.

    `shell`: its tool runs commands in a shell. `reads`: the shell whose output it shows.
    """

    shell: bool
    reads: str | None


class _Events:
    """Tells one log, event by event. Every event is an entry."""

    def __init__(self, timeline: Sink) -> None:
        self._timeline = timeline
        #: The calls that have not completed yet.
        self._running: dict[str, _Called] = {}
        #: By shell: the call whose command goes on in it, until how that ended is declared_paths.
        self._left_running: dict[str, str] = {}

    def tell(self, event: Event) -> None:
        verb = _VERBS.get(event.type)
        data = event.data or _NOTHING
        # What a sub-agent does is no part of the conversation; the first releases name only the call it works for.
        if verb is None or event.agent_id or data.parent_tool_call_id:
            self._timeline.entry(event.id or None, event.timestamp)
        else:
            verb(self, event, data)

    def _resume(self, event: Event, data: Data) -> None:
        self._left_running.clear()  # shells end with the process, and another uses their names again
        self._session(event, data)

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
        source = data.source or _USER
        typed = source == _USER or source.startswith(_REMOTE)
        if typed and data.content and not data.is_autopilot_continuation:
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
            shell = tool in SHELLS or not _is_absent(data.shell_tool_info)
            named = known.shell_id if known is not None else None
            reads = str(named) if named is not None and tool in SHELL_READERS else ""
            self._running[id] = _Called(shell, reads if tool in SHELL_READERS else None)

    def _complete(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp, None, data.model)
        id = data.tool_call_id
        # Only the first completion of a call is its result, even where it tells less than a later one.
        called = self._running.pop(id, None) if id is not None else None
        if id is None or called is None:
            return
        ended = outcome(data, shell=called.shell, reads=called.reads)
        if ended.running is not None:
            self._left_running[ended.running] = id
        elif called.reads is not None and ended.exit_code is not None:
            self._left_running.pop(called.reads, None)  # this call is the one that failed with it
        self._timeline.result(id, ended.status, ended.content, ended.exit_code)

    def _notification(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        ended = value(data.kind, Notification)
        if ended is None or ended.type != _SHELL_COMPLETED or ended.shell_id is None:
            return
        call, code = self._left_running.pop(ended.shell_id, None), of_64_bits(ended.exit_code)
        if call is not None and code:
            self._timeline.refine(call, "error", "", code)

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
    "session.resume": _Events._resume,
    "session.context_changed": _Events._directory_changed,
    "session.model_change": _Events._model_changed,
    "user.message": _Events._user_message,
    "assistant.message": _Events._assistant_message,
    "tool.execution_start": _Events._start,
    "tool.execution_complete": _Events._complete,
    "permission.completed": _Events._permission,
    "abort": _Events._abort,
    "system.notification": _Events._notification,
}


def _is_absent(member: Raw) -> bool:
    return bytes(member) in (b"", b"null")
