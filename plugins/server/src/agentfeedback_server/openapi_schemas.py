"""The schemas of the OpenAPI document, by the names under which its operations mention them. Pure."""

from __future__ import annotations

from typing import Any

from agentfeedback_server.begin import FORMATS, Limits
from agentfeedback_submissions import queries
from agentfeedback_submissions.response import STATUS
from agentfeedback_submissions.schemas import answers

Schema = dict[str, Any]
#: The codes of refusals that only uploads have.
UPLOAD_ERRORS = ("capture_disabled", "consent_changed", "incomplete")
TEXT: Schema = {"type": "string"}
FILLED: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
ID: Schema = {"type": "integer", "minimum": 1, "maximum": 2**63 - 1}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
TRUTH: Schema = {"type": "boolean"}
UPLOAD_ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}


def schemas(limits: Limits) -> dict[str, Schema]:
    """All of them."""
    given = answers()
    found = {name: _bare(shown) for name, shown in given.items() if name != "error"}
    detail = given["error"]["properties"]["details"]
    error = {
        "error": {"enum": [*STATUS, *UPLOAD_ERRORS]},
        "message": TEXT,
        "request_id": TEXT,
        "details": detail,
        "limits": ref("limits"),
        "missing": {"type": "array", "items": ID},
    }
    found["error"] = _closed(error, ("error", "message", "request_id"))
    found["limits"] = _closed(dict.fromkeys(limits.shown(), ID))
    found["mark"] = _mark({})
    found["batch"] = _mark(
        {"ids": {"type": "array", "items": ID, "minItems": 1, "maxItems": queries.BATCH}}
    )
    found["policy"] = _closed(
        {
            "protocol": {"const": 1},
            "capture": {"enum": ["enabled", "disabled"]},
            "consent_id": FILLED,
            "organisation": _closed({"id": FILLED, "name": FILLED}),
            "formats": {"type": "array", "items": {"enum": list(FORMATS)}},
            "limits": ref("limits"),
            "ttl_s": COUNT,
        },
        ("protocol", "capture", "organisation", "formats", "limits", "ttl_s"),
    )
    part = _closed(
        {
            "bytes": {"type": "integer", "minimum": 1, "maximum": limits.part_bytes},
            "sha256": HASH,
        }
    )
    found["begin"] = _closed(
        {
            "consent_id": TEXT,
            "manifest": {"type": "object", "description": "the submission without its transcript"},
            "parts": {
                "type": "array",
                "items": part,
                "minItems": 1,
                "maxItems": limits.parts_max,
            },
            "transcript_bytes": ID,
            "transcript_sha256": HASH,
            "envelope_bytes": COUNT,
        }
    )
    received = {"type": "array", "items": ID}
    upload = _closed(
        {
            "id": UPLOAD_ID,
            "state": {"enum": ["open", "complete"]},
            "received": received,
            "part_bytes": ID,
            "expires_at": TEXT,
        }
    )
    begun = {"upload": upload, "submission": ref("submission")}
    found["begun"] = _closed(begun, ("upload",))
    found["received"] = _closed({"received": received})
    found["completed"] = _closed({"submission": ref("submission")})
    return found


def _mark(first: dict[str, Schema]) -> Schema:
    texts = {
        name: {"type": "string", "maxLength": most} for name, most in queries.MARK_LIMITS.items()
    }
    return _closed({**first, "processed": TRUTH, **texts}, tuple(first))


def ref(name: str) -> Schema:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _closed(members: dict[str, Schema], required: tuple[str, ...] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": members,
        "required": list(members if required is None else required),
        "additionalProperties": False,
    }


def _bare(schema: Schema) -> Schema:
    """A published schema as a part of the document, which has its dialect."""
    return {name: value for name, value in schema.items() if name != "$schema"}
