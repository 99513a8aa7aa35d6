"""What each line of a rollout reports: entries, prompts, calls and how they ended (`README.md` states the rules)."""

from __future__ import annotations

from collections.abc import Callable

from agentfeedback.reading import Raw, Sink, Status, decoder, loads
from agentfeedback_codex.calls import (
    action_command,
    argv_command,
    function_input,
    raw_input,
    tool_of,
)
from agentfeedback_codex.ends import EVENTS, STATUS, End, of_event, of_item
from agentfeedback_codex.lines import Item, Line, Payload, Source, Spoken, texts
from agentfeedback_codex.prompts import Prompts, directory, injected
from agentfeedback_codex.results import Answer, outcome, read, succeeded

#: The most answers that wait for their calls.
_EARLY = 1000
_SPAWN = "spawn_agent"
#: Kinds of user messages that Codex put in.
_PUT_IN = ("user_instructions", "environment_context")


class Rollout:
    """Reports one rollout, and remembers what later lines are judged by."""

    def __init__(self, timeline: Sink) -> None:
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
            if payload.type in _FAILED:
                self._timeline.trouble("provider", payload.message or "", line.timestamp)
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
        tool = tool_of(payload)
        if self._timeline.keeps_texts:
            self._call(payload, tool, *function_input(payload.arguments, tool))
        else:
            self._call(payload, tool)

    def _custom_tool_call(self, payload: Spoken) -> None:
        if self._timeline.keeps_texts:
            self._call(payload, tool_of(payload), raw_input(payload.input))
        else:
            self._call(payload, tool_of(payload))

    def _local_shell_call(self, payload: Spoken) -> None:
        if self._timeline.keeps_texts:
            command = action_command(payload.action)
            self._call(payload, tool_of(payload), raw_input(payload.action), command)
        else:
            self._call(payload, tool_of(payload))

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
        known = self._timeline.known(id)
        brief = known and not self._timeline.keeps_texts
        if brief and succeeded(payload.output, self._tools.get(id, "")):
            self._timeline.result(id, "ok")
            return
        answer = read(payload.output)
        if known:
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
        if payload.kind not in _PUT_IN:
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
        if item is None:
            return
        verb = _ITEMS.get(item.type)
        if verb is not None:
            verb(self, item, payload)
        elif (end := of_item(item, payload.turn_id)) is not None:
            self._ended(end)

    def _user_message_item(self, item: Item, payload: Payload) -> None:
        words = texts(item.content, "text")
        self._timeline.prompt(self._prompts.item(words, item.id, payload.thread_id))

    def _agent_message_item(self, item: Item, payload: Payload) -> None:
        self._prompts.answered()

    def _review_entered_item(self, item: Item, payload: Payload) -> None:
        self._prompts.review_entered(item.target, payload.thread_id)

    def _review_exited_item(self, item: Item, payload: Payload) -> None:
        self._prompts.review_exited()

    def _collab_item(self, item: Item, payload: Payload) -> None:
        if item.status == "failed" and item.receiver_thread_ids == []:
            self._not_spawned(item.id)

    def _end(self, payload: Payload) -> None:
        end = of_event(payload)
        if end is not None:
            self._ended(end)

    def _spawn_end(self, payload: Payload) -> None:
        if bytes(payload.new_thread_id) == b"null":
            self._not_spawned(payload.call_id)

    def _not_spawned(self, id: str | None) -> None:
        if id is not None and self._tools.get(id, "").rpartition(".")[2] == _SPAWN:
            self._timeline.refine(id, "error")

    def _dynamic_end(self, payload: Payload) -> None:
        if payload.success is not None:
            status: Status = "ok" if payload.success else "error"
            content = payload.error or texts(payload.content_items)
            self._timeline.refine(payload.call_id, status, content)

    def _dynamic_item(self, item: Item, payload: Payload) -> None:
        # The client says whether it failed; what it answers may read like anything.
        self._timeline.refine(item.id, STATUS.get(item.status), texts(item.content_items))

    def _ended(self, end: End) -> None:
        """Refine a call by the record of its end, or report the call that only that record names."""
        id, status, exit_code = end.id, end.status, end.exit_code
        if not id:
            return
        if not self._timeline.known(id):
            if end.source == "user_shell":
                return  # the user's own `! command`
            self._prompts.answered()
            input = command = None
            if self._timeline.keeps_texts:
                input = raw_input(end.given)
                if end.tool == "exec_command":
                    command = argv_command(loads(bytes(end.given)))
            self._timeline.call(id, end.tool, input=input, command=command, span=id)
            self._tools[id] = end.tool
        if status == "error" and end.turn in self._aborted:
            status = "interrupted"  # it outlived the user's interrupt; Codex closes it as failed
        if exit_code is not None and (exit_code < 0 or (status != "ok" and exit_code == 0)):
            exit_code = None
        if status in ("denied", "interrupted"):
            exit_code = None
        self._timeline.refine(id, status, end.content, exit_code)

    def _turn_aborted(self, payload: Payload) -> None:
        self._prompts.turn_aborted()
        if payload.reason != "interrupted":
            return
        if payload.turn_id not in self._aborted:  # else it is history recorded once more
            self._timeline.interrupt()
        if payload.turn_id:
            self._aborted.add(payload.turn_id)
        self._timeline.interrupt_open()


#: Events that say the model's provider failed: the turn ends with it, or the stream is opened again.
_FAILED = ("error", "stream_error")
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
    **dict.fromkeys(EVENTS, Rollout._end),
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
    "CollabAgentToolCall": Rollout._collab_item,
    "DynamicToolCall": Rollout._dynamic_item,
}


def _is_subagent(source: Raw) -> bool:
    decoded = decoder(Source)(bytes(source))
    return decoded is not None and bytes(decoded.subagent) not in (b"", b"null")
