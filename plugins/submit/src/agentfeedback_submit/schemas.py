"""JSON Schemas of what this package prints with `--json`, of the API's answers, and of a report as it is sent. Pure.

Made from the records that are printed, the columns of the table and the rules of the envelope.
"""

from __future__ import annotations

from agentfeedback.cli.config import Shown
from agentfeedback.wire.schema import Schema, Shape, assembled, document
from agentfeedback_submissions import kinds
from agentfeedback_submissions.schemas import _TEXT, _WARNINGS, _array, _closed, answers
from agentfeedback_submit.delivery.flush import Flushed
from agentfeedback_submit.delivery.inbox import Ingested
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.health import Meta, Recent, SpoolHealth

#: The sections of `agentfeedback doctor --json`.
DOCTOR: dict[str, Shape] = {"meta": Meta, "spool": SpoolHealth, "recent": Recent}


def schemas() -> dict[str, Schema]:
    """Every schema of this package by its name."""
    found = {
        **answers(),
        "submit": document(
            "the last line of agentfeedback submit",
            SubmitOutcome,
            truer={(SubmitOutcome, "warnings"): _WARNINGS},
        ),
        "flush": document("agentfeedback flush", Flushed),
        "ingest": document("agentfeedback ingest --json", Ingested),
        "config": assembled(
            "agentfeedback config --json", {"path": _TEXT, "settings": _array(_setting())}
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
