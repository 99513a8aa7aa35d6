"""How a call ended, by what its `toolCalls` item holds (README, "Refusals", "Shell results"). Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentfeedback.reading import Raw, Status, conform, decoder, loads, value
from agentfeedback_gemini_cli import shell
from agentfeedback_gemini_cli.lines import Cell, Progress, ToolCall

_STATUS: dict[str | None, Status] = {
    "success": "ok",
    "error": "error",
    "cancelled": "interrupted",
}
_SHELL = "run_shell_command"
#: How the result of a refused call starts, by how it ended. A hook's reason follows the last one.
_DENIED: dict[Status, tuple[str, ...]] = {
    "interrupted": ("[Operation Cancelled] Reason: User denied execution.",),
    "error": ("Tool execution denied by policy.", "Tool execution blocked: "),
}
#: The result of a call that a tool's own rule denies, or that needs a confirmation where nobody can give one; the
#: tool is named as it calls itself.
_DENIED_BY_NAME = re.compile(
    r'Tool execution for "[^"\n]*" (?:denied by policy\.'
    r"|requires user confirmation, which is not supported in non-interactive mode\.)"
)
#: The tool that asks whether a plan may be carried out, and how its answer starts where it may not.
_PLAN = "exit_plan_mode"
_PLAN_REJECTED = ("Plan rejected. User feedback: ", "Plan rejected. No feedback provided.")
#: How the result of a call starts that was broken off.
_BROKEN_OFF = "[Operation Cancelled] Reason: Operation cancelled by user"
#: How the harness starts what it says of a call that it did not run, or broke off.
_LIKE_OURS = ("Tool execution ", "[Operation Cancelled]")
#: How a sub-agent ended that has no reason for its end.
_STATE: dict[str | None, Status] = {"error": "error", "cancelled": "interrupted"}
_REACHED = "GOAL"
_STOPPED = "ABORTED"

_progress = decoder(Progress)


class Outcome(NamedTuple):
    """How a call ended; `exit_code` is None unless a failing one is recorded."""

    status: Status
    content: str
    exit_code: int | None = None


def outcome(call: ToolCall) -> Outcome | None:
    """The outcome of a call, None while it has none."""
    status = _STATUS.get(call.status)
    if status is None:
        return None
    text = _text(call)
    plan_rejected = status == "ok" and call.name == _PLAN and text.startswith(_PLAN_REJECTED)
    if plan_rejected or _is_refusal(status, text):
        return Outcome("denied", text)
    if status == "ok":
        status = _of_subagent(call.result_display)
    if call.name != _SHELL:
        return Outcome(status, text)
    text, said = shell.unwrapped(text)
    if said is not None:
        return Outcome(said if status == "ok" else status, text)
    if status != "interrupted":
        failed, code = _of_shell(text, call.result_display)
        if failed:
            return Outcome("error", text, code)
    return Outcome(status, text)


def succeeded(call: ToolCall) -> bool:
    """Whether the end of a shell's result tells by itself that the command was fine, as it nearly always does.

    Where this is true `outcome` says the same, and the result need not be decoded.
    """
    if call.status != "success" or call.name != _SHELL or len(call.result or ()) != 1:
        return False
    if bytes(memoryview(call.result_display)[:1]) == b"{":
        return False
    response = call.result[0].function_response if call.result else None
    answer = response.response if response is not None else None
    return answer is not None and answer.error is None and shell.succeeded(answer.output)


def is_unknown_refusal(call: ToolCall) -> bool:
    """Whether a result is the harness's own words about a call, and none of those that are known.

    Its words are those of a cancelled call, and of a failed one that start as its others do.
    """
    text, status = _text(call), _STATUS.get(call.status, "ok")
    ours = status == "interrupted" or (status == "error" and text.startswith(_LIKE_OURS))
    if not text or not ours or text.startswith(_BROKEN_OFF):
        return False
    return not _is_refusal(status, text)


def _is_refusal(status: Status, text: str) -> bool:
    # At its start: a server's words, and what a command printed, come behind words of the harness.
    if text.startswith(_DENIED.get(status, ())):
        return True
    return status == "error" and _DENIED_BY_NAME.fullmatch(text) is not None


def _text(call: ToolCall) -> str:
    texts = []
    for part in call.result or ():
        response = part.function_response
        answer = response.response if response is not None else None
        if answer is not None:
            text = answer.error if answer.error is not None else value(answer.output, str)
            if text is not None:
                texts.append(text)
    return "\n".join(texts)


def _of_subagent(display: Raw) -> Status:
    """A sub-agent's call succeeds for the harness however the sub-agent ended; its display knows."""
    if bytes(memoryview(display)[:1]) != b"{":
        return "ok"
    progress = _progress(bytes(display))
    if progress is None or not progress.is_subagent_progress:
        return "ok"
    if progress.terminate_reason is None:
        return _STATE.get(progress.state, "ok")
    if progress.terminate_reason == _STOPPED:
        return "interrupted"
    return "ok" if progress.terminate_reason == _REACHED else "error"


def _of_shell(text: str, display: Raw) -> tuple[bool, int | None]:
    starts = shell.trailer(text)
    told = shell.failure(text, starts)
    if not told[0]:
        return told
    shown = loads(bytes(display))
    if isinstance(shown, str) and not shell.is_whole_result(shown, text):
        starts = shell.written_by_harness(text, starts, shown, exact=True)
    elif isinstance(shown, list):
        starts = shell.written_by_harness(text, starts, _screen(shown), exact=False)
    return shell.failure(text, starts)


def _screen(rows: list[object]) -> str:
    """The text of a display of rows of cells."""
    return "\n".join(
        "".join(conform(cell, Cell).text or "" for cell in row if isinstance(cell, dict))
        for row in rows
        if isinstance(row, list)
    )
