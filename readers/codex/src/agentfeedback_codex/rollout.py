"""What each line of a rollout reports: entries, prompts, calls and how they ended (`README.md` states the rules)."""

from __future__ import annotations

from collections.abc import Callable

from agentfeedback.record import Raw, decoder, loads, value
from agentfeedback.teller import Status, Teller

from .calls import action_command, argv_command, function_input, raw_input
from .lines import Invocation, Item, Line, McpResult, Payload, Source, Spoken, texts
from .prompts import Prompts, directory, injected
from .results import Answer, outcome, read

#: The status of an item, or of the event that came before it.
_STATUS: dict[str | None, Status] = {"completed": "ok", "failed": "error", "declined": "denied"}
#: The most answers that wait for their calls.
_EARLY = 1000
_SPAWN = "spawn_agent"


class Rollout:
    """Reports one rollout, and remembers what later lines are judged by."""

    def __init__(self, timeline: Teller) -> None:
        self._timeline = timeline
        self._prompts = Prompts()
        #: The tool of each call: some texts are Codex' own word in one tool only.
        self._tools: dict[str, str] = {}
        #: Answers whose call is not recorded yet.
        self._early: dict[str, Answer] = {}
        #: The turns that the user interrupted.
        self._aborted: set[str] = set()
        #: Whether lines have no payload, as those of the first rollouts.
        self._bare = False

    def report(self, line: Line) -> None:
        """Report what a line says; every line is an entry."""
        kind, payload = line.type, line.payload
        if payload is None:
            self._report_bare(line)
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
            if item is not None and item.type == "UserMessage" and verb is Rollout._item:
                span = None if self._prompts.names(item.id) else item.id or None
        elif kind == "turn_context":
            self._timeline.entry(None, line.timestamp, payload.cwd, payload.model)
            return
        elif kind == "session_meta":
            if self._timeline.offset == 0:
                self._prompts.by_person = not _is_subagent(payload.source)
            self._timeline.entry(None, line.timestamp, payload.cwd)
            return
        self._timeline.entry(span, line.timestamp)
        if verb is not None:
            verb(self, payload)

    def _report_bare(self, line: Line) -> None:
        """A line of the first rollouts is itself what later ones have as a payload."""
        if self._timeline.offset == 0:
            self._bare = line.type is None and bool(line.id)
        verb = _RESPONSES.get(line.type) if self._bare else None
        words = ""
        if verb is Rollout._message and line.role == "user":
            words = texts(line.content, "input_text")
        span = line.call_id or None if verb is not None and line.type in _CALLS else None
        self._timeline.entry(span, line.timestamp, directory(words))
        if verb is not None:
            verb(self, line)
        if words and not injected(words):
            self._timeline.prompt(self._prompts.event(words))

    # -- response items ------------------------------------------------------------------------

    def _message(self, payload: Spoken) -> None:
        if payload.role != "assistant":
            return
        self._prompts.answered()
        if self._timeline.keeps_texts:
            text = texts(payload.content, "output_text")
            if text:
                self._timeline.said(text)

    def _function_call(self, payload: Spoken) -> None:
        tool = _tool(payload)
        if self._timeline.keeps_texts:
            self._call(payload, tool, *function_input(payload.arguments, tool))
        else:
            self._call(payload, tool)

    def _custom_tool_call(self, payload: Spoken) -> None:
        self._call(payload, _tool(payload), raw_input(payload.input), None)

    def _local_shell_call(self, payload: Spoken) -> None:
        self._call(
            payload, "local_shell", raw_input(payload.action), action_command(payload.action)
        )

    def _call(
        self, payload: Spoken, tool: str, input: bytes | None = None, command: str | None = None
    ) -> None:
        self._prompts.answered()
        # A call without an id gets one that no record can hold: no result can name it, an abort ends it.
        id = payload.call_id or f"\ud800{self._timeline.offset}"
        if self._timeline.call(id, tool, input=input, command=command):
            self._tools[id] = tool
            answer = self._early.pop(id, None)
            if answer is not None:
                self._answer(id, answer)

    def _output(self, payload: Spoken) -> None:
        id = payload.call_id
        if not id:
            return
        answer = read(payload.output)
        if self._timeline.known(id):
            self._answer(id, answer)
        elif id not in self._early:
            if len(self._early) >= _EARLY:
                del self._early[next(iter(self._early))]
            self._early[id] = answer.shortened()

    def _answer(self, id: str, answer: Answer) -> None:
        ended = outcome(answer, self._tools.get(id, ""))
        self._timeline.result(id, ended.status, ended.content, ended.exit_code)

    # -- events --------------------------------------------------------------------------------

    def _user_message(self, payload: Payload) -> None:
        self._timeline.prompt(self._prompts.event(payload.message))

    def _agent_message(self, payload: Payload) -> None:
        self._prompts.answered()

    def _task_started(self, payload: Payload) -> None:
        self._prompts.turn_started(payload.turn_id)

    def _review_entered(self, payload: Payload) -> None:
        self._prompts.review_entered(payload.target, None)

    def _review_exited(self, payload: Payload) -> None:
        self._prompts.review_exited()

    def _item(self, payload: Payload) -> None:
        item = payload.item
        verb = _ITEMS.get(item.type) if item is not None else None
        if item is not None and verb is not None:
            verb(self, item, payload)

    def _user_message_item(self, item: Item, payload: Payload) -> None:
        words = texts(item.content, "text")
        self._timeline.prompt(self._prompts.item(words, item.id, payload.thread_id))

    def _agent_message_item(self, item: Item, payload: Payload) -> None:
        self._prompts.answered()

    def _review_entered_item(self, item: Item, payload: Payload) -> None:
        self._prompts.review_entered(item.target, payload.thread_id)

    def _review_exited_item(self, item: Item, payload: Payload) -> None:
        self._prompts.review_exited()

    def _command_item(self, item: Item, payload: Payload) -> None:
        self._ended(
            item.id,
            "exec_command",
            item.command,
            _STATUS.get(item.status),
            item.aggregated_output or "",
            item.exit_code,
            turn=payload.turn_id,
            source=item.source,
        )

    def _patch_item(self, item: Item, payload: Payload) -> None:
        status, content = _STATUS.get(item.status), _both(item.stdout, item.stderr)
        self._ended(
            item.id,
            "apply_patch",
            item.changes,
            status,
            content,
            turn=payload.turn_id,
            source=item.source,
        )

    def _mcp_item(self, item: Item, payload: Payload) -> None:
        self._ended(
            item.id,
            f"{item.server or ''}.{item.tool or ''}",
            item.arguments,
            _STATUS.get(item.status),
            (item.error.message if item.error is not None else None) or "",
            turn=payload.turn_id,
            source=item.source,
        )

    def _collab_item(self, item: Item, payload: Payload) -> None:
        if item.status == "failed" and item.receiver_thread_ids == []:
            self._not_spawned(item.id)

    def _command_end(self, payload: Payload) -> None:
        status = _STATUS.get(payload.status)
        if payload.status is None and payload.exit_code is not None:
            status = "error" if payload.exit_code else "ok"
        self._ended(
            payload.call_id,
            "exec_command",
            payload.command,
            status,
            payload.aggregated_output or _both(payload.stdout, payload.stderr),
            payload.exit_code,
            turn=payload.turn_id,
            source=value(payload.source, str),
        )

    def _patch_end(self, payload: Payload) -> None:
        status = _STATUS.get(payload.status)
        if status is None and payload.success is not None:
            status = "ok" if payload.success else "error"
        content = _both(payload.stdout, payload.stderr)
        self._ended(
            payload.call_id,
            "apply_patch",
            payload.changes,
            status,
            content,
            turn=payload.turn_id,
        )

    def _mcp_end(self, payload: Payload) -> None:
        result = decoder(McpResult)(bytes(payload.result))
        if result is None:
            return
        status: Status | None = None
        content = ""
        if result.failure is not None:
            status, content = "error", result.failure
        elif result.answer is not None:
            status = "error" if result.answer.is_error else "ok"
            if status == "error":
                content = texts(result.answer.content, "text")
        call = decoder(Invocation)(bytes(payload.invocation)) or Invocation()
        tool = f"{call.server or ''}.{call.tool or ''}"
        self._ended(payload.call_id, tool, call.arguments, status, content, turn=payload.turn_id)

    def _spawn_end(self, payload: Payload) -> None:
        if bytes(payload.new_thread_id) == b"null":
            self._not_spawned(payload.call_id)

    def _not_spawned(self, id: str | None) -> None:
        if id is not None and self._tools.get(id, "").rpartition(".")[2] == _SPAWN:
            self._timeline.refine(id, "error")

    def _dynamic_end(self, payload: Payload) -> None:
        if payload.success is False:
            self._timeline.refine(payload.call_id, "error", payload.error or "")

    def _ended(
        self,
        id: str | None,
        tool: str,
        given: Raw,
        status: Status | None,
        content: str,
        exit_code: int | None = None,
        *,
        turn: str | None,
        source: str | None = None,
    ) -> None:
        """How a command, a patch or an MCP call ended; the only record of one made inside a script."""
        if not id:
            return
        if not self._timeline.known(id):
            if source == "user_shell":
                return  # the user's own `! command`
            command = argv_command(loads(bytes(given))) if tool == "exec_command" else None
            self._prompts.answered()
            self._timeline.call(id, tool, input=raw_input(given), command=command, span=id)
            self._tools[id] = tool
        if status is None:
            return
        if status == "error" and turn in self._aborted:
            status = "interrupted"  # it outlived the user's interrupt; Codex closes it as failed
        if exit_code is not None and (
            exit_code < 0
            or status in ("denied", "interrupted")
            or (status == "error" and not exit_code)
        ):
            exit_code = None
        self._timeline.refine(id, status, content, exit_code)

    def _turn_aborted(self, payload: Payload) -> None:
        self._prompts.turn_aborted()
        if payload.reason != "interrupted":
            return
        if payload.turn_id:
            if payload.turn_id in self._aborted:
                return  # history recorded once more
            self._aborted.add(payload.turn_id)
        self._timeline.interrupt()
        self._timeline.interrupt_open()


_Verb = Callable[[Rollout, Payload], None]
_ItemVerb = Callable[[Rollout, Item, Payload], None]
_SpokenVerb = Callable[[Rollout, Spoken], None]
_CALLS: dict[str | None, _SpokenVerb] = {
    "function_call": Rollout._function_call,
    "custom_tool_call": Rollout._custom_tool_call,
    "local_shell_call": Rollout._local_shell_call,
}
_RESPONSES: dict[str | None, _SpokenVerb] = {
    **_CALLS,
    "message": Rollout._message,
    "function_call_output": Rollout._output,
    "custom_tool_call_output": Rollout._output,
}
_EVENTS: dict[str | None, _Verb] = {
    "user_message": Rollout._user_message,
    "agent_message": Rollout._agent_message,
    "task_started": Rollout._task_started,
    "item_completed": Rollout._item,
    "exec_command_end": Rollout._command_end,
    "patch_apply_end": Rollout._patch_end,
    "mcp_tool_call_end": Rollout._mcp_end,
    "collab_agent_spawn_end": Rollout._spawn_end,
    "dynamic_tool_call_response": Rollout._dynamic_end,
    "entered_review_mode": Rollout._review_entered,
    "exited_review_mode": Rollout._review_exited,
    "turn_aborted": Rollout._turn_aborted,
}
_ITEMS: dict[str | None, _ItemVerb] = {
    "UserMessage": Rollout._user_message_item,
    "AgentMessage": Rollout._agent_message_item,
    "EnteredReviewMode": Rollout._review_entered_item,
    "ExitedReviewMode": Rollout._review_exited_item,
    "CommandExecution": Rollout._command_item,
    "FileChange": Rollout._patch_item,
    "McpToolCall": Rollout._mcp_item,
    "CollabAgentToolCall": Rollout._collab_item,
}


def _tool(payload: Spoken) -> str:
    name = payload.name or ""
    return f"{payload.namespace}.{name}" if payload.namespace else name


def _is_subagent(source: Raw) -> bool:
    decoded = decoder(Source)(bytes(source))
    return decoded is not None and bytes(decoded.subagent) not in (b"", b"null")


def _both(stdout: str | None, stderr: str | None) -> str:
    return "\n".join(text for text in (stdout, stderr) if text and not text.isspace())
