"""The JSON Schemas of submissions, and of what queries over them answer."""

from __future__ import annotations

from typing import Any, get_type_hints

from agentfeedback.wire.schema import DIALECT, Schema, assembled
from agentfeedback_submissions import envelope, queries, row
from agentfeedback_submissions.response import STATUS

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


def answers() -> dict[str, Schema]:
    """What the API takes and answers, by name; commands print the same."""
    return {
        "submission-envelope": _envelope(),
        "submission": {
            "$schema": DIALECT,
            "title": "agentfeedback show --json, redact --json",
            **_record(),
        },
        "submission-created": assembled(
            "what the API answers to a submission",
            {"submission": _record(), "warnings": _WARNINGS},
        ),
        "submissions-list": assembled(
            "agentfeedback list --json",
            {
                "submissions": _array(_record(payload=False)),
                "limit": _ID,
                "total": _COUNT,
                "has_more": bool,
                "next_before_id": _or_null(_ID),
                "next_after_id": _or_null(_ID),
            },
        ),
        "submissions-processed": assembled(
            "agentfeedback processed --json",
            {
                "processed": bool,
                "verdict": _TEXT,
                "updated": _array(_ID),
                "unchanged": _array(_ID),
                "not_found": _array(_ID),
            },
            optional=("verdict",),
        ),
        "submissions-stats": assembled(
            "agentfeedback stats --json",
            {
                "total": _COUNT,
                "open": _COUNT,
                "processed": _COUNT,
                "redacted": _COUNT,
                "groups": _array(_group()),
                "recurring": _array(_recurring()),
                "series": _array(_closed({"bucket": _DATE, "total": _COUNT, "open": _COUNT})),
            },
            optional=("groups", "series"),
        ),
        "submissions-import": assembled(
            "agentfeedback import --json",
            {
                "imported": _COUNT,
                "skipped": _COUNT,
                "conflicts": _array(
                    _closed(
                        {
                            "line": _ID,
                            "uid": _TEXT,
                            "existing_id": _ID,
                            "reason": {"const": "key_mismatch"},
                        }
                    )
                ),
                "warnings": _array(
                    _closed({"line": _ID, **dict.fromkeys(("code", "pointer", "message"), _TEXT)})
                ),
                "first_id": _ID,
                "last_id": _ID,
            },
            optional=("first_id", "last_id"),
        ),
        "error": assembled(
            "what the API answers when it refuses",
            {
                "error": {"enum": list(STATUS)},
                "message": _TEXT,
                "request_id": _TEXT,
                "details": _array(_detail()),
            },
            optional=("details",),
        ),
    }
