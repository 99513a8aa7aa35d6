"""JSON Schemas of what this package prints with `--json`, of the API's answers, and of a report as it is sent. Pure.

Made from the records that are printed, the columns of the table and the rules of the envelope.
"""

from __future__ import annotations

from agentfeedback.cli.config import Shown
from agentfeedback.wire.schema import DIALECT, Schema, Shape, assembled, document
from agentfeedback_submissions import kinds
from agentfeedback_submissions.response import STATUS
from agentfeedback_submissions.schemas import (
    _COUNT,
    _DATE,
    _ID,
    _TEXT,
    _WARNINGS,
    _array,
    _closed,
    _detail,
    _envelope,
    _group,
    _or_null,
    _record,
    _recurring,
)
from agentfeedback_submit.delivery.flush import Flushed
from agentfeedback_submit.delivery.inbox import Ingested
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.health import Meta, Recent, SpoolHealth

#: The sections of `agentfeedback doctor --json`.
DOCTOR: dict[str, Shape] = {"meta": Meta, "spool": SpoolHealth, "recent": Recent}


def schemas() -> dict[str, Schema]:
    """Every schema of this package by its name."""
    found = {
        "submission-envelope": _envelope(),
        "submit": document(
            "the last line of agentfeedback submit",
            SubmitOutcome,
            truer={(SubmitOutcome, "warnings"): _WARNINGS},
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


def _setting() -> Schema:
    """A key of `config`: with its value, or whether it is set where the value is secret."""
    shown = document("", Shown)
    members = shown["properties"]
    found = _closed(members, ["key", "editable", "source"])
    return {**found, "oneOf": [{"required": ["value"]}, {"required": ["set"]}]}
