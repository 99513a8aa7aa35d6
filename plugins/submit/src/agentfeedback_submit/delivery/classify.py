"""What an answer to a create means for the report that was sent. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from attrs import frozen

from agentfeedback.foundation.json_text import Number
from agentfeedback_submissions.response import DATABASE, SCHEMA_TOO_NEW, UNANSWERED, ApiResponse

Action = Literal["delivered", "spool", "mismatch", "reject"]
#: Why a database did not take a report, and how that is said.
PROBLEMS = {
    SCHEMA_TOO_NEW: "the database was made by a newer agentfeedback",
    f"{DATABASE}busy": "the database is busy",
    f"{DATABASE}unwritable": "the database cannot be written",
    f"{DATABASE}full": "the database has no room on its disk",
    f"{DATABASE}damaged": "the database is damaged",
    f"{DATABASE}unusable": "the database cannot be used",
}
_DIGITS = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)


@frozen
class Classification:
    """What an answer means for the report that was sent.

    `reason` is a word of the outcome line; `waits` when the report is held back for a time, `stops`
    when nothing else sent there now would fare better.
    """

    action: Action
    reason: str = ""
    waits: bool = False
    stops: bool = False


def classify(
    reply: ApiResponse, kind: str, key: str, scrub: Callable[[str], str] = str
) -> Classification:
    """What to do with the report of this kind and key; an empty key means there is no key.

    A server may scrub what it takes: a kind or key that `scrub` makes of the one that was sent is the same.
    """
    status = reply.status
    if status == UNANSWERED:
        return Classification("spool", reply.body["error"], waits=True, stops=True)
    if status in (200, 201) and _names(reply.body, kind, key, scrub):
        return Classification("delivered")
    if status == 503 and (problem := _own_problem(reply.body)):
        # No wait would help where a newer program is wanted.
        return Classification("spool", problem, waits=problem != SCHEMA_TOO_NEW, stops=True)
    if status == 408 or 500 <= status < 600:
        return Classification("spool", f"server_{status}", waits=True)
    if status == 429:
        return Classification("spool", "rate_limited", waits=True)
    if status == 401:
        return Classification("spool", "unauthorized", stops=True)
    if status == 404 or 300 <= status < 400:
        return Classification("spool", "wrong_url", stops=True)
    if status == 409:
        return Classification("mismatch", "mismatch")
    if 400 <= status < 500:
        return Classification("reject", "rejected")
    return Classification("spool", "malformed_response", waits=True)


def positive(value: Any) -> int | None:
    """A positive whole number of a reply, in process or parsed; None for anything else."""
    if isinstance(value, Number) and _DIGITS.fullmatch(value.text):
        return int(value.text)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None


def _own_problem(body: Any) -> str:
    """What a database says is wrong with it, as a word; empty where nothing is said."""
    details = body.get("details") if isinstance(body, dict) else None
    for item in details if isinstance(details, list) else ():
        code = item.get("code") if isinstance(item, dict) else None
        if code in PROBLEMS:
            return str(code)
    return ""


def _names(body: Any, kind: str, key: str, scrub: Callable[[str], str]) -> bool:
    """Whether a body is that of the record that was sent: otherwise somebody else answered."""
    record = body.get("submission") if isinstance(body, dict) else None
    return (
        isinstance(record, dict)
        and positive(record.get("id")) is not None
        and _same(record.get("kind"), kind, scrub)
        and _same(record.get("key", ""), key, scrub)
    )


def _same(found: Any, sent: str, scrub: Callable[[str], str]) -> bool:
    return found == sent or (isinstance(found, str) and bool(sent) and found == scrub(sent))
