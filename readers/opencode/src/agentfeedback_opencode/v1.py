"""The format of OpenCode V1: how its rows are laid out, and what the lines say. No I/O but queries."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec

from agentfeedback.reading import Log, Raw, Record, Sink, Status, decoder, times
from agentfeedback_opencode.layout import Group, Laid, Shape, decoded, groups, lay
from agentfeedback_opencode.results import Input, completed, exit_code, running
from agentfeedback_opencode.store import V1_COLUMNS, V1_TABLE, Schema, text

_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_LATEST = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC"
# The plus keeps SQLite from the index on session_id: it would read all parts for each message.
_PARTS = "SELECT id, data FROM part WHERE message_id = ? AND +session_id = ? ORDER BY id"

_MESSAGE: Shape = {
    "error": {"data": {"message": None}, "name": None},
    "id": None,
    "kind": None,
    "modelID": None,
    "path": {"cwd": None},
    "providerID": None,
    "role": None,
    "time": {"created": None},
}
_ASSISTANT: Shape = {**_MESSAGE, "time": {"completed": None, "created": None}}
_PART: Shape = {
    "callID": None,
    "id": None,
    "ignored": None,
    "kind": None,
    "messageID": None,
    "metadata": {"interrupted": None},
    "state": {
        "error": None,
        "input": None,
        "metadata": {"exit": None, "interrupted": None},
        "output": None,
        "status": None,
        "time": {"start": None},
    },
    "synthetic": None,
    "tool": None,
    "type": None,
}
_SPOKEN: Shape = {name: (_PART | {"text": None})[name] for name in sorted([*_PART, "text"])}


def layout(connection: sqlite3.Connection, session: str) -> Iterator[bytes]:
    """The virtual log of a session, up to the first message or part that is not complete yet."""
    latest = _latest_assistant(connection, session)
    # Everything before the latest assistant message is final as it stands: who wrote it is gone.
    final = latest is not None
    for raw_id, data in connection.execute(_MESSAGES, (session,)):
        if raw_id == latest:
            final = False
        id = text(raw_id)
        message = decoded(data)
        role = message.get("role") if message is not None else None
        if message is not None and role == "assistant" and not final and not completed(message):
            return
        parts = connection.execute(_PARTS, (id, session))
        part = parts.fetchone()
        if role == "user" and not final and part is None:
            return
        shape = _ASSISTANT if role == "assistant" else _MESSAGE
        yield lay(data, message, shape, {"id": id, "kind": "message"})
        while part is not None:
            value = decoded(part[1])
            if not final and value is not None and running(value):
                return
            spoken = value is not None and value.get("type") in ("text", "reasoning")
            columns = {"id": text(part[0]), "kind": "part", "messageID": id}
            yield lay(part[1], value, _SPOKEN if spoken else _PART, columns)
            part = parts.fetchone()


def _latest_assistant(connection: sqlite3.Connection, session: str) -> Any:
    for id, data in connection.execute(_LATEST, (session,)):
        message = decoded(data)
        if message is not None and message.get("role") == "assistant":
            return id
    return None


SCHEMA = Schema(
    "opencode-v1",
    V1_TABLE,
    layout,
    V1_COLUMNS,
    by_second_engine=False,
)


# -- what the lines say ----------------------------------------------------------------------------


class Time(Record):
    """Milliseconds since the epoch."""

    created: int | None = None
    start: int | None = None


class Path(Record):
    cwd: str | None = None


class Told(Record):
    message: str | None = None


class Failure(Record):
    name: str | None = None
    data: Told | None = None


class Metadata(Record):
    exit: Raw = Raw()
    interrupted: bool | None = None


class State(Record):
    status: str | None = None
    input: Raw = Raw()
    output: str | None = None
    error: str | None = None
    metadata: Metadata | None = None
    time: Time | None = None


class Line(Laid):
    """A message or a part; `data` is there when the row held no object."""

    id: str | None = None
    role: str | None = None
    time: Time | None = None
    model: str | None = msgspec.field(default=None, name="modelID")
    path: Path | None = None
    error: Failure | None = None
    type: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    tool: str | None = None
    state: State | None = None
    metadata: Metadata | None = None
    data: Raw = Raw()

    @property
    def typed(self) -> str:
        """The text of a text part that the harness did not put there itself."""
        if self.type != "text" or self.synthetic or self.ignored:
            return ""
        return self.text or ""


def tell(log: Log, timeline: Sink) -> None:
    """Tell what a virtual log says, message by message."""
    for group in groups(log, Line, timeline):
        _tell(group, timeline)


def _tell(group: Group[Line], timeline: Sink) -> None:
    head = group.lines[0]
    role = head.role if head.kind == "message" else None
    for line in group.in_turn():
        if bytes(line.data) or line.kind not in ("message", "part"):
            timeline.unparsed()
        elif line.kind == "message":
            _tell_message(line, group, timeline)
        elif line.type == "tool":
            _tell_call(line, timeline)
        elif line.type != "text" or role != "user":
            timeline.entry(span=line.id or None)
            if role == "assistant" and line.typed.strip():
                timeline.said(line.typed)


#: Errors of a message that are the provider's; others say too little about what failed.
_OF_THE_PROVIDER = (
    "APIError",
    "ContextOverflowError",
    "MessageOutputLengthError",
    "ProviderAuthError",
)


def _tell_message(line: Line, group: Group[Line], timeline: Sink) -> None:
    time = times.milliseconds(line.time.created) if line.time is not None else None
    if line.role != "assistant":
        timeline.entry(span=line.id or None, time=time)
        if line.role == "user":
            typed = (part.typed for part in group.lines)
            timeline.prompt("\n".join(said for said in typed if said))
        return
    cwd = line.path.cwd if line.path is not None else None
    timeline.entry(span=line.id or None, time=time, cwd=cwd, model=line.model)
    if line.error is not None and line.error.name == "MessageAbortedError":
        outcomes = (outcome(part) for part in group.lines if part.type == "tool")
        if not any(found is not None and found[0] == "interrupted" for found in outcomes):
            timeline.interrupt()
    elif line.error is not None and line.error.name in _OF_THE_PROVIDER:
        told = line.error.data.message if line.error.data is not None else None
        timeline.trouble("provider", told or line.error.name, time)


def _tell_call(line: Line, timeline: Sink) -> None:
    state = line.state if line.state is not None else State()
    time = times.milliseconds(state.time.start) if state.time is not None else None
    span = line.id or f"L{timeline.offset}"
    timeline.entry(span=span, time=time)
    input = bytes(state.input) or None
    given = decoder(Input)(input) if input is not None else None
    command = given.command if given is not None else None
    timeline.call(span, line.tool or "", input=input, command=command)
    found = outcome(line)
    if found is not None:
        timeline.result(span, *found)


# -- results ---------------------------------------------------------------------------------------

#: How the error of a refused call starts. Other tools' errors may quote such words; older releases name the class first.
_DENIED = re.compile(
    r"(?:[A-Za-z.]*Error: )?(?:"
    "The user rejected permission to use this specific tool call"
    "|The user has specified a rule which prevents you from using this specific tool call"
    "|The user dismissed this question)"
)
_ABORTED = "Tool execution aborted"
_CANCELLED = "Task cancelled"
#: How the harness starts what it says of a call that it did not run, or broke off.
_LIKE_OURS = ("The user ", "Tool execution ", "Task ")
#: How the shell tool's note starts (1.18.33 and 1.3.2), and what it says.
_TAGS = ("<shell_metadata>", "<bash_metadata>")
_BROKEN_OFF = "User aborted the command"
_TOOK_TOO_LONG = re.compile(r"(?:shell|bash) tool terminated command after exceeding timeout")
#: No note is longer.
_NOTE_CHARACTERS = 2000
#: A note at the end of an output, under whatever name.
_LIKE_A_NOTE = re.compile(r"<(?P<name>\w+)_metadata>\n(?P<note>[^<>]*)\n</(?P=name)_metadata>\s*\Z")


def outcome(line: Line) -> tuple[Status, str, int | None] | None:
    """Status, text and exit code of a tool part; None while it has no result."""
    state = line.state
    if state is None:
        return None
    metadata = state.metadata if state.metadata is not None else Metadata()
    if state.status == "completed":
        output = state.output or ""
        # The harness runs a tool `invalid` in place of a call that it rejects.
        failed = line.tool == "invalid"
        code = None if failed else exit_code(bytes(metadata.exit))
        status: Status = "error" if failed or code is not None else "ok"
        if not failed and bytes(metadata.exit) == b"null":
            status = _noted(output)
        return status, output, code
    if state.status == "error":
        problem = state.error or ""
        part = line.metadata if line.metadata is not None else Metadata()
        if metadata.interrupted or part.interrupted or problem.startswith(_ABORTED):
            return "interrupted", problem, None
        if line.tool == "task" and problem == _CANCELLED:
            return "interrupted", problem, None
        return "denied" if _DENIED.match(problem) else "error", problem, None
    return None


def _noted(output: str) -> Status:
    """What the shell tool's own note says of a command without an exit code; the command cannot print below it."""
    start, tag = max((output.rfind(tag), tag) for tag in _TAGS)
    note = output[start + len(tag) :] if start >= 0 else ""
    if _BROKEN_OFF in note:
        return "interrupted"
    return "error" if _TOOK_TOO_LONG.search(note) else "ok"


def is_unknown(state: State) -> bool:
    """Whether a result holds words about the call that look like the harness's and that no rule knows."""
    if state.status == "error":
        error = state.error or ""
        known = error.startswith(_ABORTED) or error == _CANCELLED or _DENIED.match(error)
        return error.startswith(_LIKE_OURS) and not known
    exit = bytes(state.metadata.exit) if state.metadata is not None else b""
    return exit == b"null" and _has_unknown_note(state.output or "")


def _has_unknown_note(output: str) -> bool:
    """Whether an output ends with a note of the harness that is not known, or under another name."""
    found = _LIKE_A_NOTE.search(output[-_NOTE_CHARACTERS:])
    if found is None:
        return False
    known = _BROKEN_OFF in found["note"] or _TOOK_TOO_LONG.search(found["note"])
    return f"<{found['name']}_metadata>" not in _TAGS or not known
