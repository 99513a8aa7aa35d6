"""The reader of Codex rollouts (specification, "Codex"; details 14.2; where the two misreport, `README.md`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agentfeedback.log import Log, Unreadable, first_line
from agentfeedback.reader import Home, Place, Reader, Report, Session, recorded
from agentfeedback.record import Raw, decoder, loads
from agentfeedback.teller import Status, Teller

from . import store
from .calls import action_command, argv_command, function_input, raw_input
from .lines import FirstLine, FirstPayload, Item, Line, McpResult, Payload, Source, texts
from .results import outcome

if TYPE_CHECKING:
    from agentfeedback.drift import Known

#: Most bytes of a first line (specification, "Codex", Metadata).
_FIRST_LINE_BYTES = 1 << 20
_BLOCK_BYTES = 512

#: The status of an item, or of the end of a patch.
_STATUS: dict[str | None, Status] = {"completed": "ok", "failed": "error", "declined": "denied"}


class Codex(Reader):
    """Reads rollouts below `~/.codex`, plain and compressed, live and archived."""

    harness = "codex"
    format = "codex-rollout"

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        return store.sessions(home.directory("CODEX_HOME", ".codex"), report)

    def place(self, session: Session, *, strict: bool) -> Place:
        try:
            line = first_line(session.path, _FIRST_LINE_BYTES, 1 if strict else _BLOCK_BYTES)
        except (OSError, Unreadable):
            return Place()  # the load reports it; no refusal (details 14.2, "Gate")
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
        return Place(paths=recorded(cwd), first_line=line)

    def known(self) -> Known:
        from .known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Teller) -> None:
        rollout = _Rollout(timeline)
        for line in log.records(Line, timeline):
            rollout.tell(line)


class _Rollout:
    """Tells one rollout, and remembers what later lines are judged by."""

    def __init__(self, timeline: Teller) -> None:
        self._timeline = timeline
        #: False in a sub-agent's rollout: what is said there are the parent model's words.
        self._typed = True
        #: The tools whose output may start with Codex' own `error: `, by call.
        self._tools: dict[str, str] = {}
        #: The turns that the user interrupted.
        self._aborted: set[str] = set()

    def tell(self, line: Line) -> None:
        kind, payload = line.type, line.payload
        if payload is None:
            self._timeline.entry(None, line.timestamp)
            return
        span = None
        verb: _Verb | None = None
        if kind == "response_item":
            verb = _RESPONSES.get(payload.type)
            if payload.type in _CALLS:
                span = payload.call_id or None
        elif kind == "event_msg":
            verb = _EVENTS.get(payload.type)
            item = payload.item
            if item is not None and item.type == "UserMessage" and verb is _Rollout._item:
                span = item.id or None
        elif kind == "turn_context":
            self._timeline.entry(None, line.timestamp, payload.cwd, payload.model)
            return
        elif kind == "session_meta":
            if self._timeline.offset == 0:
                self._typed = not _is_subagent(payload.source)
            self._timeline.entry(None, line.timestamp, payload.cwd)
            return
        self._timeline.entry(span, line.timestamp)
        if verb is not None:
            verb(self, payload)

    # -- response items ------------------------------------------------------------------------

    def _message(self, payload: Payload) -> None:
        if payload.role == "assistant" and self._timeline.keeps_texts:
            text = texts(payload.content, "output_text")
            if text:
                self._timeline.said(text)

    def _function_call(self, payload: Payload) -> None:
        tool = _tool(payload)
        if self._timeline.keeps_texts:
            self._call(payload, tool, *function_input(payload.arguments, tool))
        else:
            self._call(payload, tool)

    def _custom_tool_call(self, payload: Payload) -> None:
        self._call(payload, _tool(payload), raw_input(payload.input), None)

    def _local_shell_call(self, payload: Payload) -> None:
        self._call(
            payload, "local_shell", raw_input(payload.action), action_command(payload.action)
        )

    def _call(
        self, payload: Payload, tool: str, input: bytes | None = None, command: str | None = None
    ) -> None:
        # A call without an id gets one that no record can hold: no result can name it, an abort ends it.
        id = payload.call_id or f"\ud800{self._timeline.offset}"
        if self._timeline.call(id, tool, input=input, command=command):
            self._tools[id] = tool

    def _output(self, payload: Payload) -> None:
        id = payload.call_id
        if not id or not self._timeline.known(id):
            return
        told = outcome(payload.output, self._tools.get(id, ""))
        self._timeline.result(id, told.status, told.content, told.exit_code)

    # -- events --------------------------------------------------------------------------------

    def _user_message(self, payload: Payload) -> None:
        if self._typed and payload.message:
            self._timeline.prompt(payload.message)

    def _item(self, payload: Payload) -> None:
        item = payload.item
        if item is None:
            return
        if item.type == "UserMessage":
            if self._typed:
                self._timeline.prompt(texts(item.content, "text"))
        elif item.id and item.type in _NESTED:
            if not self._timeline.known(item.id):
                if item.source == "user_shell":
                    return  # the user's own `! command`
                self._nested_call(item, item.id)
            self._refine_by_item(item, item.id, payload.turn_id)

    def _nested_call(self, item: Item, id: str) -> None:
        """A call made inside a code-mode script, of which the item is the only record."""
        if item.type == "CommandExecution":
            command = argv_command(loads(bytes(item.command)))
            self._timeline.call(
                id, "exec_command", input=raw_input(item.command), command=command, span=id
            )
        elif item.type == "FileChange":
            self._timeline.call(id, "apply_patch", input=raw_input(item.changes), span=id)
        else:
            tool = f"{item.server or ''}.{item.tool or ''}"
            self._timeline.call(id, tool, input=raw_input(item.arguments), span=id)

    def _refine_by_item(self, item: Item, id: str, turn_id: str | None) -> None:
        status = _STATUS.get(item.status)
        if status is None:
            return
        exit_code = item.exit_code
        if status == "denied" or (exit_code is not None and exit_code < 0):
            exit_code = None
        if status == "error" and turn_id in self._aborted:
            # The process outlived the user's interrupt; Codex closes it as failed.
            status, exit_code = "interrupted", None
        if item.type == "CommandExecution":
            content = item.aggregated_output or ""
        elif item.type == "FileChange":
            content = _both(item.stdout, item.stderr)
        else:
            content = (item.error.message if item.error is not None else None) or ""
        self._timeline.refine(id, status, content, exit_code)

    def _patch_end(self, payload: Payload) -> None:
        status = _STATUS.get(payload.status)
        if status is None and payload.success is not None:
            status = "ok" if payload.success else "error"
        self._timeline.refine(payload.call_id, status, _both(payload.stdout, payload.stderr))

    def _mcp_end(self, payload: Payload) -> None:
        result = decoder(McpResult)(bytes(payload.result))
        if result is None:
            return
        if result.failure is not None:
            self._timeline.refine(payload.call_id, "error", result.failure)
        elif result.answer is not None and result.answer.is_error:
            self._timeline.refine(payload.call_id, "error", texts(result.answer.content, "text"))
        elif result.answer is not None:
            self._timeline.refine(payload.call_id, "ok")

    def _turn_aborted(self, payload: Payload) -> None:
        if payload.reason == "interrupted":
            if payload.turn_id:
                self._aborted.add(payload.turn_id)
            self._timeline.interrupt()
            self._timeline.interrupt_open()


_Verb = Callable[[_Rollout, Payload], None]
_CALLS: dict[str | None, _Verb] = {
    "function_call": _Rollout._function_call,
    "custom_tool_call": _Rollout._custom_tool_call,
    "local_shell_call": _Rollout._local_shell_call,
}
_RESPONSES: dict[str | None, _Verb] = {
    **_CALLS,
    "message": _Rollout._message,
    "function_call_output": _Rollout._output,
    "custom_tool_call_output": _Rollout._output,
}
_EVENTS: dict[str | None, _Verb] = {
    "user_message": _Rollout._user_message,
    "item_completed": _Rollout._item,
    "patch_apply_end": _Rollout._patch_end,
    "mcp_tool_call_end": _Rollout._mcp_end,
    "turn_aborted": _Rollout._turn_aborted,
}
#: Items that tell of a call.
_NESTED = ("CommandExecution", "FileChange", "McpToolCall")


def _tool(payload: Payload) -> str:
    name = payload.name or ""
    return f"{payload.namespace}.{name}" if payload.namespace else name


def _is_absent(member: Raw) -> bool:
    return bytes(member) in (b"", b"null")


def _is_subagent(source: Raw) -> bool:
    decoded = decoder(Source)(bytes(source))
    return decoded is not None and not _is_absent(decoded.subagent)


def _both(stdout: str | None, stderr: str | None) -> str:
    return "\n".join(text for text in (stdout, stderr) if text and not text.isspace())
