"""The format of OpenCode 2: how its rows are laid out, and what the lines say (`README.md`).

Second-hand: no OpenCode 2 was run for it. No I/O but queries.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec

from agentfeedback.reading import Log, Raw, Record, Sink, Status, decoder, dumps, times
from agentfeedback_opencode.layout import Laid, Shape, decoded, lay, picked
from agentfeedback_opencode.results import Input, completed, running
from agentfeedback_opencode.store import MESSAGE_V2, SESSION, V2_TABLE, Schema, text
from agentfeedback_opencode.v2_calls import (
    FAILED,
    TURN_INTERRUPTED,
    Failure,
    Item,
    State,
    Time,
    outcome,
)

PARTS = "session_part"
_MESSAGES = "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq, id"
_LATEST = """
    SELECT id FROM session_message WHERE session_id = ? AND type = 'assistant'
    ORDER BY seq DESC, id DESC LIMIT 1
"""
_PARTS = "SELECT ordinal, data FROM session_part WHERE message_id = ? ORDER BY ordinal"
_HAS_PARTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'session_part'"


def layout(connection: sqlite3.Connection, session: str) -> Iterator[bytes]:
    """The virtual log of a session, up to the first message or part that is not complete yet."""
    has_parts = connection.execute(_HAS_PARTS).fetchone() is not None
    latest = connection.execute(_LATEST, (session,)).fetchone()
    # Everything before the latest assistant message is final as it stands: who wrote it is gone.
    final = latest is not None
    for raw_id, raw_type, data in connection.execute(_MESSAGES, (session,)):
        if final and raw_id == latest[0]:
            final = False
        id, type = text(raw_id), text(raw_type)
        message = decoded(data)
        if message is not None and type == "assistant" and not final and _unfinished(message):
            return
        shape = _SHAPES.get(type, _MESSAGE)
        yield lay(data, message, shape, {"id": id, "kind": "message", "type": type})
        if has_parts:
            for ordinal, part in connection.execute(_PARTS, (id,)):
                item = decoded(part)
                if item is not None and not final and running(item):
                    return
                columns = {"kind": "part", "messageID": id, "ordinal": _number(ordinal)}
                yield lay_part(part, item, columns)


def lay_part(data: object, item: dict[str, Any] | None, columns: dict[str, Any]) -> bytes:
    """The line of a part row: its item below a member of its own, since both may have an `id`."""
    if item is None:
        return lay(data, None, {}, columns)
    return dumps({"item": _item(item), **columns})


def _item(value: Any) -> dict[str, Any]:
    # What is not an object leaves an empty one, so that every other item keeps its index.
    if not isinstance(value, dict):
        return {}
    type = value.get("type")
    return picked(value, _ITEMS.get(type, _TYPE) if isinstance(type, str) else _TYPE)


def _items(value: Any) -> Any:
    return [_item(item) for item in value] if isinstance(value, list) else None


def _returned(value: Any) -> Any:
    if not isinstance(value, list):
        return None
    return [picked(item, _RETURNED) for item in value if isinstance(item, dict)]


def _place(value: Any) -> Any:
    return picked(value, {"directory": None}) if isinstance(value, dict) else value


def _number(ordinal: object) -> int | str:
    return ordinal if isinstance(ordinal, int) else text(ordinal)


def _unfinished(message: dict[str, Any]) -> bool:
    if completed(message) and message.get("finish") == FAILED:
        return False  # the provider's answer broke off: its calls never run
    content = message.get("content")
    items = content if isinstance(content, list) else []
    return not completed(message) or any(isinstance(i, dict) and running(i) for i in items)


_TYPE: Shape = {"type": None}
_RETURNED: Shape = {"mime": None, "name": None, "text": None, "type": None}
_ITEMS: dict[str, Shape] = {
    "text": {"text": None, "type": None},
    "reasoning": {"text": None, "type": None},
    "tool": {
        "id": None,
        "name": None,
        "state": {
            "content": _returned,
            "error": {"message": None, "type": None},
            "input": None,
            "metadata": {"exit": None},
            "status": None,
            "structured": {"exit": None, "timeout": None},
        },
        "time": {"created": None},
        "type": None,
    },
}
_MESSAGE: Shape = {"id": None, "kind": None, "time": {"created": None}, "type": None}
_SHAPES: dict[str, Shape] = {
    "user": {"id": None, "kind": None, "text": None, "time": {"created": None}, "type": None},
    "assistant": {
        "content": _items,
        "error": {"message": None, "type": None},
        "finish": None,
        "id": None,
        "kind": None,
        "model": {"id": None, "providerID": None},
        "time": {"completed": None, "created": None},
        "type": None,
    },
    "idle": {"id": None, "kind": None, "outcome": None, "time": {"created": None}, "type": None},
    "location-switched": {
        "id": None,
        "kind": None,
        "location": _place,
        "previous": _place,
        "time": {"created": None},
        "type": None,
    },
}


SCHEMA = Schema(
    "opencode-v2",
    V2_TABLE,
    layout,
    {V2_TABLE: SESSION, "session_message": MESSAGE_V2},
    by_second_engine=True,
    optional={PARTS: ("message_id", "ordinal", "data")},
)


# -- what the lines say ----------------------------------------------------------------------------


class Model(Record):
    id: str | None = None


class Location(Record):
    directory: str | None = None


class Line(Laid):
    """A message, or a part with its `item`; `data` is there when the row held no object."""

    id: str | None = None
    type: str | None = None
    text: str | None = None
    time: Time | None = None
    model: Model | None = None
    content: list[Item] | None = None
    finish: str | None = None
    error: Failure | None = None
    outcome: str | None = None
    location: Location | str | None = None
    previous: Location | str | None = None
    message: str | None = msgspec.field(default=None, name="messageID")
    ordinal: int | str | None = None
    item: Item | None = None
    data: Raw = Raw()


#: How the error of a message starts in the second engine when the provider answered with one.
_REFUSED = "Provider request failed with "


def tell(log: Log, timeline: Sink) -> None:
    """Tell what a virtual log says."""
    message = Line()
    for line in log.records(Line, timeline):
        if line.kind == "message":
            message = line
        if bytes(line.data) or line.kind not in ("message", "part"):
            timeline.unparsed()
        elif line.kind == "message":
            _tell_message(line, timeline)
        else:
            _tell_part(line, timeline, message)


def _tell_message(line: Line, timeline: Sink) -> None:
    if line.type == "location-switched":
        timeline.note(cwd=_directory(line.previous))
    model = line.model.id if line.type == "assistant" and line.model is not None else None
    timeline.entry(line.id or None, _at(line.time), _directory(line.location), model)
    if line.type == "user":
        timeline.prompt(line.text or "")
    elif line.type == "idle" and line.outcome == "interrupted":
        timeline.interrupt()
    elif line.type == "assistant":
        _tell_answer(line, timeline)


def _tell_answer(line: Line, timeline: Sink) -> None:
    content = line.content or []
    said = "\n".join(i.text for i in content if i.type == "text" and i.text and i.text.strip())
    if said:
        timeline.said(said)
    interrupted = False
    for index, item in enumerate(content):
        if item.type == "tool":
            timeline.note(time=_at(item.time))
            span = f"{line.id or f'L{timeline.offset}'}/{index}"
            status = _tell_call(item, span, timeline, line)
            interrupted = interrupted or status == "interrupted"
    if not interrupted and line.error is not None and line.error.message == TURN_INTERRUPTED:
        timeline.interrupt()
    elif line.error is not None and _is_of_the_provider(line.error):
        timeline.trouble("provider", line.error.message or line.error.type or "", _at(line.time))


def _is_of_the_provider(error: Failure) -> bool:
    """Whether a message failed by the provider: its type says so, or the words of an engine without types."""
    kind, told = error.type or "", error.message or ""
    return kind.startswith("provider.") or (kind == "unknown" and told.startswith(_REFUSED))


def _tell_part(line: Line, timeline: Sink, message: Line) -> None:
    item = line.item if line.item is not None else Item()
    span = f"{line.message}/{line.ordinal}"
    timeline.entry(span, _at(item.time))
    if item.type == "tool":
        _tell_call(item, span, timeline, message)
    elif item.type == "text" and message.type == "assistant" and item.text and item.text.strip():
        timeline.said(item.text)


def _tell_call(item: Item, span: str, timeline: Sink, message: Line) -> Status | None:
    state = item.state if item.state is not None else State()
    input = bytes(state.input) or None
    given = decoder(Input)(input) if input is not None else None
    command = given.command if given is not None else None
    timeline.call(span, item.name or "", input=input, command=command, span=span)
    ended = outcome(item.name, state, command, finish=message.finish, failure=message.error)
    if ended is None:
        return None
    timeline.result(span, *ended)
    return ended[0]


def _at(time: Time | None) -> int | None:
    return times.milliseconds(time.created) if time is not None else None


def _directory(place: Location | str | None) -> str | None:
    return place.directory if isinstance(place, Location) else place
