"""The calls of a transcript and what becomes of them: results, interrupts, failures in the background."""

from __future__ import annotations

from agentfeedback.reading import Sink, Status, value
from agentfeedback_claude_code.lines import CONTENT, Block, Line, text_of
from agentfeedback_claude_code.notices import FailedTask
from agentfeedback_claude_code.results import (
    HELD,
    REFUSAL,
    Failure,
    exit_code_of,
    failure_of,
    killed_by_interrupt,
    was_interrupted,
)

#: The most results that wait for a call recorded behind them. In real logs one or two wait.
_MOST_EARLY = 1024


class _Call:
    """What is kept of a call for what comes later."""

    __slots__ = ("failed_later", "message_id", "status", "tool")

    def __init__(self, tool: str, message_id: str | None) -> None:
        self.tool = tool
        self.message_id = message_id
        self.status: Status | None = None
        #: A notice reported the failure: no result says better.
        self.failed_later = False


class Calls:
    """Reports the results of calls to a timeline, and knows what an interrupt of the user means for them."""

    def __init__(self, timeline: Sink) -> None:
        self._timeline = timeline
        self._calls: dict[str, _Call] = {}
        #: Results that stand before their calls: the failure, None for a result that is ok.
        self._early: dict[str, Failure | None] = {}
        #: Calls denied with `User rejected tool use`, by the API message that made them.
        self._rejected: dict[str, list[str]] = {}
        #: API messages of which an interrupt said that it broke them off.
        self._broken_off: set[str] = set()
        #: Calls of sub-agents that went to work.
        self._began: set[str] = set()
        #: Commands that an interrupt may have killed, if the next `user` line says so: ids and API messages.
        self._killed: list[tuple[str, str | None]] = []
        #: The user refused a call and nothing went on since: a marker may follow that is not an interrupt.
        self._refused = False

    # -- the turn ------------------------------------------------------------------------------

    def assistant_went_on(self, message_id: str | None, *, of_the_model: bool) -> None:
        """The assistant goes on; `of_the_model` unless the harness or a sub-agent speaks."""
        if of_the_model:
            self._refused = False
        if self._killed:
            self._killed = [each for each in self._killed if message_id and each[1] == message_id]

    def user_went_on(self) -> None:
        """The user wrote to the model."""
        self._refused = False

    def user_line(self, *, interrupted_tool: bool) -> None:
        """A `user` line without a result: only the marker of an interrupted tool says who killed a command."""
        killed, self._killed = self._killed, []
        if interrupted_tool:
            for id, _ in killed:
                self._change(id, self._calls[id], "interrupted")

    def interrupts(self, message_id: str | None) -> bool:
        """Whether a marker is an interrupt of the user; one with a message breaks off its calls.

        Without a message it only follows a refusal in a dialog, unless something went on since.
        """
        if message_id is None:
            return not self._refused
        self._broken_off.add(message_id)
        for id in self._rejected.pop(message_id, ()):
            call = self._calls[id]
            if call.status == "denied":
                self._change(id, call, "interrupted")
        return True

    # -- calls and results ---------------------------------------------------------------------

    def add(self, id: str, tool: str, message_id: str | None) -> None:
        """A call that was not known before."""
        call = self._calls[id] = _Call(tool, message_id)
        if id in self._early:
            self._settle(id, call, self._early.pop(id))

    def began(self, id: str | None) -> None:
        """A sub-agent that was called went to work."""
        if id is not None:
            self._began.add(id)

    def result(self, line: Line, block: Block, *, repeated: bool) -> None:
        """A result of a call. `repeated`: the line records the conversation again, without all it had said."""
        id = block.tool_use_id
        if not id:
            return
        call = self._calls.get(id)
        if repeated and call is not None and call.status is not None:
            return
        failure = None
        if block.is_error or was_interrupted(line):
            failure = Failure.of(line, text_of(value(block.content, CONTENT)))
        if call is not None:
            self._settle(id, call, failure)
        else:
            self._wait(id, failure)

    def failed(self, task: FailedTask) -> None:
        """A notice says that a call which had been fine failed in the background."""
        call = self._calls.get(task.call)
        if call is not None and call.status == "ok":
            call.failed_later = True
            self._change(task.call, call, "error", task.summary, task.exit_code)

    def _wait(self, id: str, failure: Failure | None) -> None:
        early = self._early.get(id)
        status = failure_of(failure, "") if failure is not None else "ok"
        self._refused = _is_refusal(failure, status)
        if early is not None and failure_of(early, "") == "interrupted":
            return
        if id in self._early or len(self._early) < _MOST_EARLY:
            self._early[id] = failure.held(HELD) if failure is not None else None

    def _settle(self, id: str, call: _Call, failure: Failure | None) -> None:
        if failure is None:  # nearly every result: none of what follows can apply
            if call.status not in ("ok", "interrupted") and not call.failed_later:
                self._change(id, call, "ok")
            self._refused = False
            return
        text = failure.text
        status = failure_of(failure, call.tool)
        if status == "denied" and failure.may_have_run and id in self._began:
            status = "interrupted"
        if failure.rejected and status == "denied" and call.message_id is not None:
            if call.message_id in self._broken_off:
                status = "interrupted"
            else:
                self._rejected.setdefault(call.message_id, []).append(id)
        # An interrupted call never changes back; a result that says the same again says nothing.
        if call.status not in (status, "interrupted") and not call.failed_later:
            self._change(id, call, status, text, exit_code_of(status, text, call.tool))
            if status == "error" and killed_by_interrupt(text, call.tool):
                self._killed.append((id, call.message_id))
        self._refused = _is_refusal(failure, call.status)

    def _change(
        self, id: str, call: _Call, status: Status, text: str = "", exit_code: int | None = None
    ) -> None:
        call.status = status
        self._timeline.refine(id, status, text, exit_code)


def _is_refusal(failure: Failure | None, status: Status | None) -> bool:
    """Whether a result is the user's own refusal, behind which a marker may stand that is not an interrupt."""
    if failure is None or status != "denied":
        return False
    return failure.rejected or failure.text.startswith(REFUSAL)
