"""What each event of a log says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from agentfeedback.reading import decoder, value
from agentfeedback_copilot.lines import Arguments, Data, Event, Notification
from agentfeedback_copilot.results import SHELL_READERS, SHELLS, of_64_bits, outcome, succeeded

if TYPE_CHECKING:
    from agentfeedback.reading import Raw, Sink

_SHELL_COMPLETED = "shell_completed"
#: Whose a message is: typed here, or from afar (the id of what was sent follows).
_USER, _REMOTE = "user", "command-"
_ABORTED = "Operation aborted by user"

_arguments = decoder(Arguments)
_NOTHING = Data()


class _Called(NamedTuple):
    """What decides how the result of a call is read.

    `shell`: its tool runs commands in a shell. `reads`: the shell whose output it shows. `ended`: a
    permission ended it, so that its completion decides nothing.
    """

    shell: bool
    reads: str | None
    ended: bool = False


class Events:
    """Tells one log, event by event. Every event is an entry."""

    def __init__(self, timeline: Sink) -> None:
        self._timeline = timeline
        #: The calls that have not completed yet.
        self._running: dict[str, _Called] = {}
        #: By shell: the call whose command goes on in it, until how that ended is recorded.
        self._left_running: dict[str, str] = {}

    def tell(self, event: Event) -> None:
        verb = _VERBS.get(event.type)
        data = event.data or _NOTHING
        # What a sub-agent does is not part of the conversation; the first releases name only the call it works for.
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
        if self._timeline.keeps_texts and data.content and not data.content.isspace():
            self._timeline.said(data.content)

    def _start(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp, None, data.model)
        id, tool, given = data.tool_call_id or None, data.tool_name or "", bytes(data.arguments)
        wanted = self._timeline.keeps_texts or tool in SHELL_READERS
        known = _arguments(given) if wanted and given.startswith(b"{") else None
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
        # Only the first completion of a call is its result, even where it says less than a later one.
        called = self._running.pop(id, None) if id is not None else None
        if id is None or called is None:
            return
        brief = not self._timeline.keeps_texts
        if brief and succeeded(data, shell=called.shell, reads=called.reads):
            self._timeline.result(id, "ok")
            return
        ended = outcome(data, shell=called.shell, reads=called.reads)
        if called.ended:
            pass  # what becomes of a command does not end its call a second time
        elif ended.running is not None:
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
        id = data.tool_call_id
        called = self._running.get(id) if id is not None else None
        if id is None or called is None:
            return
        if kind.startswith("denied-"):
            self._timeline.result(id, "denied")
        elif kind == "cancelled":
            self._timeline.result(id, "interrupted")
        else:
            return
        self._running[id] = called._replace(ended=True)

    def _session_error(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        self._timeline.trouble("provider", data.message or "", event.timestamp)

    def _hook_ended(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        if data.success is False:
            message = data.error.message if data.error is not None else None
            self._timeline.trouble("hook", message or "", event.timestamp)

    def _abort(self, event: Event, data: Data) -> None:
        self._timeline.entry(event.id or None, event.timestamp)
        self._timeline.interrupt()
        self._timeline.interrupt_open(_ABORTED)
        self._running.clear()  # what completes after it adds nothing


_Verb = Callable[[Events, Event, Data], None]
_VERBS: dict[str | None, _Verb] = {
    "session.start": Events._session,
    "session.resume": Events._resume,
    "session.context_changed": Events._directory_changed,
    "session.model_change": Events._model_changed,
    "user.message": Events._user_message,
    "assistant.message": Events._assistant_message,
    "tool.execution_start": Events._start,
    "tool.execution_complete": Events._complete,
    "permission.completed": Events._permission,
    "abort": Events._abort,
    "session.error": Events._session_error,
    "hook.end": Events._hook_ended,
    "system.notification": Events._notification,
}


def _is_absent(member: Raw) -> bool:
    return bytes(member) in (b"", b"null")
