"""How a call of OpenCode 2 ended, by what its message holds (README, "Rules: OpenCode 2"). Pure."""

from __future__ import annotations

from agentfeedback.reading import Raw, Record, Status
from agentfeedback_opencode.results import exit_code

#: The `finish` of a message whose answer broke off.
FAILED = "error"
#: What an `error.type` means; any other is an error, but for `unknown`, where the message decides.
_STATUS: dict[str | None, Status] = {"permission.rejected": "denied", "aborted": "interrupted"}
_UNKNOWN = "unknown"
_REFUSED_COMMAND = "Unable to execute command: "
_INTERRUPTED = "Tool execution interrupted"
#: The error of a message that the user broke off while the provider answered.
TURN_INTERRUPTED = "Provider turn interrupted"
#: How the harness starts what it says of a call that did not come to its end.
_LIKE_OURS = "Tool execution "


class Time(Record):
    """Milliseconds since the epoch."""

    created: int | None = None


class Failure(Record):
    type: str | None = None
    message: str | None = None


class Returned(Record):
    """What a tool gave back: a text or a file."""

    type: str | None = None
    text: str | None = None


class Metadata(Record):
    exit: Raw = Raw()


class Structured(Record):
    exit: Raw = Raw()
    timeout: bool | None = None


class State(Record):
    status: str | None = None
    input: Raw = Raw()
    content: list[Returned] | None = None
    error: Failure | None = None
    metadata: Metadata | None = None
    structured: Structured | None = None


class Item(Record):
    """One item of an assistant message: a text, a thought or a tool call."""

    type: str | None = None
    text: str | None = None
    name: str | None = None
    state: State | None = None
    time: Time | None = None


def outcome(
    tool: str | None,
    state: State,
    command: str | None,
    *,
    finish: str | None,
    failure: Failure | None,
) -> tuple[Status, str, int | None] | None:
    """Status, text and exit code of a call; None while it has no result.

    `finish` and `failure` are those of its message: `finish` says why the model stopped, and is
    absent where the turn just ended.
    """
    returned = "\n".join(each.text for each in state.content or [] if each.text)
    if state.status == "completed":
        structured = state.structured if state.structured is not None else Structured()
        metadata = state.metadata if state.metadata is not None else Metadata()
        code = exit_code(bytes(structured.exit) or bytes(metadata.exit))
        failed = code is not None or bool(structured.timeout)
        return "error" if failed else "ok", returned, code
    if state.status == "error":
        problem = state.error if state.error is not None else Failure()
        status = _STATUS.get(problem.type, "error")
        if problem.type == _UNKNOWN:
            status = _unknown(tool, problem.message, command, finish)
        return status, problem.message or returned, None
    if state.status == "pending" and finish == FAILED:  # what the model sent as input is not JSON
        return "error", (failure.message if failure is not None else None) or "", None
    return None


def is_unknown(state: State) -> bool:
    """Whether an error without a type of its own speaks of a call as the harness does, and in no words that are known."""
    error = state.error if state.error is not None else Failure()
    message = error.message or ""
    return error.type == _UNKNOWN and message.startswith(_LIKE_OURS) and message != _INTERRUPTED


def _unknown(
    tool: str | None, message: str | None, command: str | None, finish: str | None
) -> Status:
    """What an error without a type of its own means."""
    if tool == "bash" and command is not None and message == _REFUSED_COMMAND + command:
        return "denied"
    if message == _INTERRUPTED:
        # After an interrupt the model's turn has its end; after a plain refusal it just ends.
        return "interrupted" if finish else "denied"
    return "error"
