"""The virtual log: rows laid out as lines that never change once they are complete.

A line is compact JSON with the members of its own and of its nested objects sorted by name; a value
the harness nested (a call's input) stays as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from agentfeedback.reading import (
    Log,
    Record,
    Session,
    Sink,
    SqliteLog,
    UnreadableLog,
    dumps,
    loads,
)
from agentfeedback_opencode.store import Row, Schema, text

R = TypeVar("R", bound="Laid")

#: Members to lay out, sorted by name: None for the whole value, else what to take of an object.
Shape = dict[str, Any]

MOVED = "the session's directory changed since it was listed"


class Laid(Record):
    """A line of a virtual log: of a message, or of a part of the message before it."""

    kind: str | None = None


class SessionLog(SqliteLog):
    """The virtual log of one session."""

    def __init__(self, session: Session, schema: Schema) -> None:
        self._id = session.id
        self._row: Row = session.detail
        self._schema = schema
        super().__init__(self._row.databases, self._row.database, self._session)

    def _session(self, connection: sqlite3.Connection) -> Iterator[bytes]:
        query = f"SELECT directory FROM {self._row.table} WHERE id = ?"
        found = connection.execute(query, (self._id,)).fetchone()
        if found is None:
            raise UnreadableLog("the session was deleted since it was listed")
        if text(found[0]) != self._row.directory:
            raise UnreadableLog(MOVED)
        return self._schema.layout(connection, self._id)


def lay(data: object, value: dict[str, Any] | None, shape: Shape, columns: dict[str, Any]) -> bytes:
    """The line of a row: what `shape` names of `columns` and of `value`, the object its `data` holds.

    Without one the line has the text of `data` instead.
    """
    if value is None:
        return dumps(dict(sorted({"data": text(data), **columns}.items())))
    return dumps(picked(value | columns, shape))


def decoded(data: object) -> dict[str, Any] | None:
    """The object in a column of JSON text; None when it holds anything else."""
    if isinstance(data, bytes):
        value = loads(data)
        if isinstance(value, dict):
            return value
    return None


def picked(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """The members of an object that `shape` names, in its order; an object of which nothing is left is left out."""
    kept = {}
    for name, inner in shape.items():
        if name not in value:
            continue
        member = value[name]
        if inner is None:
            kept[name] = member
        elif callable(inner):
            kept[name] = inner(member)
        elif isinstance(member, dict) and (part := picked(member, inner)):
            kept[name] = part
    return kept


class Group(Generic[R]):
    """A message and its parts: what the message is may only show in its parts."""

    def __init__(self, timeline: Sink) -> None:
        self._timeline = timeline
        self._offsets: list[int] = []
        self.lines: list[R] = []

    def add(self, line: R) -> None:
        self._offsets.append(self._timeline.offset)
        self.lines.append(line)

    def in_turn(self) -> Iterator[R]:
        """Each line, made the current one of the timeline again."""
        for offset, line in zip(self._offsets, self.lines, strict=True):
            self._timeline.offset = offset
            yield line


def groups(log: Log, kind: type[R], timeline: Sink) -> Iterator[Group[R]]:
    """The lines of a virtual log, message by message."""
    group: Group[R] = Group(timeline)
    for line in log.records(kind, timeline):
        if line.kind == "message" and group.lines:
            offset = timeline.offset
            yield group
            timeline.offset = offset
            group = Group(timeline)
        group.add(line)
    if group.lines:
        yield group
