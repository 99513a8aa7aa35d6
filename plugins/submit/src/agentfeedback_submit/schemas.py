"""JSON Schemas of what this package prints with `--json`, of the API's answers, and of a report as it is sent. Pure.

Made from the records that are printed, the columns of the table and the rules of the envelope.
"""

from __future__ import annotations

from typing import Any, get_type_hints

from agentfeedback.schema import DIALECT, Schema, Shape, assembled, document

from . import envelope, kinds, queries, row
from .configuration import Shown
from .flush import Flushed
from .health import Meta, Recent, SpoolHealth
from .inbox import Ingested
from .outcome import Outcome
from .reply import STATUS

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_ID: Schema = {"type": "integer", "minimum": 1}
_TIME: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$",
}
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
#: The sections of `agentfeedback doctor --json`.
DOCTOR: dict[str, Shape] = {"meta": Meta, "spool": SpoolHealth, "recent": Recent}


def schemas() -> dict[str, Schema]:
    """Every schema of this package by its name."""
    found = {
        "submission-envelope": _envelope(),
        "submit": document(
            "the last line of agentfeedback submit",
            Outcome,
            truer={(Outcome, "warnings"): _WARNINGS},
        ),
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
                "next_before_id": _ID,
                "next_after_id": _COUNT,
            },
            optional=("next_before_id", "next_after_id"),
        ),
        "submissions-processed": assembled(
            "agentfeedback processed --json",
            {
                "processed": bool,
                "verdict": _TEXT,
                "updated": _COUNT,
                "unchanged": _COUNT,
                "not_found": _array(_ID),
            },
            optional=("verdict",),
        ),
        "submissions-stats": assembled(
            "agentfeedback stats --json",
            {
                "total": _COUNT,
                "unprocessed": _COUNT,
                "groups": _array(_group()),
                "other": _COUNT,
                "buckets": _array(_closed({"start": _TIME, "count": _COUNT})),
            },
            optional=("groups", "other", "buckets"),
        ),
        "submissions-import": assembled(
            "agentfeedback import --json",
            {
                "imported": _COUNT,
                "skipped": _COUNT,
                "conflicts": _COUNT,
                "warnings": _array(_detail()),
                "first_id": _ID,
                "last_id": _ID,
            },
            optional=("warnings", "first_id", "last_id"),
        ),
        "flush": document("agentfeedback flush", Flushed),
        "ingest": document("agentfeedback ingest --json", Ingested),
        "config": assembled(
            "agentfeedback config --json", {"path": _TEXT, "settings": _array(_setting())}
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
    for guide in kinds.GUIDES.values():
        found[f"payload-{guide.kind}-{guide.version}"] = kinds.schema(guide)
    return found


def _envelope() -> Schema:
    shown: dict[str, Any] = {name: _MEMBERS.get(name, _TEXT) for name in envelope.MEMBERS}
    shown["occurred_at"] = {"type": "string", "format": "date-time"}
    found = assembled(
        "a report as it is sent",
        shown,
        optional=[*envelope.MEMBERS],
        about="Every JSON object is taken. What is no member is moved to the payload, what has another type or "
        "is too long is mended; each time there is a warning. Lengths are bytes of UTF-8. Recommended: "
        f"kind, {', '.join(envelope.RECOMMENDED)}.",
    )
    return {**found, "additionalProperties": True}


def _record(*, payload: bool = True) -> Schema:
    """A record as `Row.record` shows it; without `payload` that member may be missing."""
    hints = get_type_hints(row.Row)
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
    members = {name: _MEMBERS.get(name, _TEXT) for name in queries.GROUPS}
    return _closed({**members, "count": _COUNT}, ["count"])


def _detail() -> Schema:
    members = dict.fromkeys(("code", "pointer", "message"), _TEXT)
    return _closed({**members, "existing_id": _ID}, list(members))


def _setting() -> Schema:
    """A key of `config`: with its value, or whether it is set where the value is secret."""
    shown = document("", Shown)
    members = shown["properties"]
    found = _closed(members, ["key", "editable", "source"])
    return {**found, "oneOf": [{"required": ["value"]}, {"required": ["set"]}]}


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
