"""The JSON Schemas of submissions, and of what queries over them answer."""

from __future__ import annotations

from typing import Any, get_type_hints

from agentfeedback.wire.schema import Schema, assembled
from agentfeedback_submissions import envelope, queries, row

_TEXT: Schema = {"type": "string"}


_COUNT: Schema = {"type": "integer", "minimum": 0}


_ID: Schema = {"type": "integer", "minimum": 1}


_TIME: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$",
}


_DATE: Schema = {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}


#: Members of a record that are more than a text or a number.
_MEMBERS: dict[str, Schema] = {
    "id": _ID,
    "schema_version": {"type": "integer", "minimum": 1},
    "context": {
        "type": "object",
        "maxProperties": envelope.CONTEXT_ENTRIES,
        "additionalProperties": {"type": "string", "maxLength": envelope.CONTEXT_BYTES},
    },
    "payload": {"type": "object"},
    **{name: {"type": "string", "maxLength": most} for name, most in envelope.LIMITS.items()},
    **{name: _TIME for name in row.COLUMNS if name.endswith("_at")},
}


def _envelope() -> Schema:
    shown: dict[str, Any] = {name: _MEMBERS.get(name, _TEXT) for name in envelope.MEMBERS}
    shown["occurred_at"] = {"type": "string", "format": "date-time"}
    found = assembled(
        "a report as it is sent",
        shown,
        optional=[*envelope.MEMBERS],
        about="Every JSON object is taken. What is not a member is moved to the payload, what has another type or "
        "is too long is mended; each time there is a warning. Lengths are bytes of UTF-8. Recommended: "
        f"kind, {', '.join(envelope.RECOMMENDED)}.",
    )
    return {**found, "additionalProperties": True}


def _record(*, payload: bool = True) -> Schema:
    """A record as `Row.record` shows it; without `payload` that member may be missing."""
    hints = get_type_hints(row.SubmissionRow)
    members = {
        name: _MEMBERS.get(name, {"type": "integer"} if hints[name] is int else _TEXT)
        for name in row.COLUMNS
    }
    required = [
        name
        for name in row.COLUMNS
        if type(None) not in getattr(hints[name], "__args__", ()) and (payload or name != "payload")
    ]
    return _closed(members, required)


def _group() -> Schema:
    keys = _closed({name: _MEMBERS.get(name, _TEXT) for name in queries.GROUPS}, [])
    return _closed({"keys": keys, "total": _COUNT, "open": _COUNT, "processed": _COUNT})


def _recurring() -> Schema:
    texts = {name: _MEMBERS.get(name, _TEXT) for name in ("summary", "kind", "project")}
    numbers = {"count": _COUNT, "first_id": _ID, "last_id": _ID}
    members = {"content_hash": _TEXT, **numbers, **texts}
    return _closed(members, ["content_hash", *numbers])


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _detail() -> Schema:
    members = dict.fromkeys(("code", "pointer", "message"), _TEXT)
    return _closed({**members, "existing_id": _ID}, list(members))


def _closed(members: dict[str, Schema], required: list[str] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": members,
        "required": list(members) if required is None else required,
        "additionalProperties": False,
    }


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_WARNINGS = _array(_closed(dict.fromkeys(("code", "pointer", "message"), _TEXT)))
