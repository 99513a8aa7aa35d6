"""One body sent to where submissions go, and what became of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from attrs import evolve

from agentfeedback.foundation.errors import reason_of
from agentfeedback.scrub import cut
from agentfeedback_submissions.envelope import EnvelopeRefused
from agentfeedback_submissions.response import SCHEMA_TOO_NEW, ApiResponse
from agentfeedback_submit.delivery import backoff
from agentfeedback_submit.delivery.classify import PROBLEMS, Classification, classify, positive
from agentfeedback_submit.delivery.destination import Destination
from agentfeedback_submit.delivery.outcome import SubmitOutcome, Word
from agentfeedback_submit.delivery.spool import Claim, Spool
from agentfeedback_submit.delivery.spool_entry import SpoolEntry
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote.server import LOCAL

#: Makes a server's text fit to be shown or kept.
Scrub = Callable[[str], str]
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
#: How much of a server's message is shown, in bytes of UTF-8.
_MESSAGE = 2000


def deliver(
    body: Body, destination: Destination, spool: Spool | None = None, scrub: Scrub = str
) -> SubmitOutcome:
    """Send a body once and say what became of it; what is not delivered goes to the spool, if there is one.

    For a server the body is in the spool before it is sent, so that not even a kill in between
    loses it. `scrub` is for the server's texts.
    """
    entry = SpoolEntry(body, destination.name, time.time_ns())
    held: Claim | None = None
    if spool is not None and destination.name != LOCAL:
        # Without room for it the report may still be delivered: if not, keeping it is tried again.
        with suppress(OSError):
            held = spool.hold(entry)
    reply = destination.send(body)
    verdict = classify(reply, body.kind, body.key, scrub)
    outcome = outcome_of(body, reply, verdict, scrub)
    if spool is None:
        return outcome
    if verdict.reason == SCHEMA_TOO_NEW and destination.name == LOCAL:
        outcome.reason = SCHEMA_TOO_NEW  # no wait would help
        return outcome
    try:
        if verdict.action == "spool":
            held = held or spool.hold(entry)
            spool.release(held, tried_once(entry, verdict, reply, spool.now()))
            outcome.outcome, outcome.reason = "spooled", verdict.reason
            outcome.message = kept_because(destination.name, verdict.reason, reply.status)
        elif verdict.action == "reject" or (
            # Whoever answered need not have the report: what another server says is not believed.
            verdict.action == "mismatch" and destination.name != LOCAL
        ):
            refuse(spool, entry, held, reply, scrub)
        elif held is not None:
            spool.done(held)
    except OSError as error:
        return _unkept(outcome, verdict, held, reason_of(error))
    return outcome


def kept_because(name: str, reason: str, status: int) -> str:
    """Why a report is kept for later, as a person reads it; empty where the reason says it all."""
    if reason == "unauthorized":
        return f"{name} refuses the key ({status})"
    if reason == "wrong_url":
        return f"{name} is not an agentfeedback server ({status})"
    return PROBLEMS.get(reason, "")


def tried_once(
    entry: SpoolEntry, verdict: Classification, reply: ApiResponse, now: int
) -> SpoolEntry:
    """An entry after an attempt that did not deliver it."""
    attempts = entry.attempts + 1
    until = 0
    if verdict.waits:
        asked = int(reply.headers.get("Retry-After", "0"))
        until = backoff.not_before(attempts, asked, now)
    return evolve(entry, attempts=attempts, not_before=until, last_error=verdict.reason)


def refuse(
    spool: Spool, entry: SpoolEntry, held: Claim | None, reply: ApiResponse, scrub: Scrub
) -> None:
    """Keep a refused entry beside the answer, at most 64 KiB of it. Raises `OSError`."""
    answer = scrub(reply.encoded().decode("utf-8", "replace")) if reply.body or reply.text else ""
    spool.refuse(entry, held, status=reply.status, response=cut(answer, 1 << 16))


def outcome_of(
    body: Body, reply: ApiResponse, verdict: Classification, scrub: Scrub = str
) -> SubmitOutcome:
    """What an answer to a create means, as long as nothing is kept of it."""
    answer: dict[str, Any] = reply.body if isinstance(reply.body, dict) else {}
    own = [warning.plain() for warning in body.warnings]
    if verdict.action == "delivered":
        record = answer["submission"]
        uid = record.get("uid")
        return SubmitOutcome(
            "submitted" if reply.status == 201 else "duplicate",
            body.kind,
            body.key,
            id=positive(record["id"]),
            uid=uid if isinstance(uid, str) and _UID.fullmatch(uid) else "",
            request_id=reply.request_id,
            warnings=[*own, *_warnings(answer, scrub)],
        )
    word, reason = _refusal(verdict, reply.status)
    message = answer.get("message")
    return SubmitOutcome(
        word,
        body.kind,
        body.key,
        id=_existing(answer),
        request_id=reply.request_id,
        reason=reason,
        message=cut(scrub(message), _MESSAGE) if isinstance(message, str) else "",
        warnings=own,
    )


def tried(body: Body) -> SubmitOutcome:
    """The outcome of a dry run: what the receiver would say, without asking it."""
    own = [warning.plain() for warning in body.warnings]
    try:
        found = body.envelope()
    except EnvelopeRefused as refused:
        reason = "body_too_large" if refused.status == 413 else "rejected"
        return SubmitOutcome(
            "rejected", body.kind, body.key, reason=reason, message=refused.message, warnings=own
        )
    warnings = [*own, *(warning.plain() for warning in found.warnings)]
    return SubmitOutcome("valid", body.kind, body.key, warnings=warnings)


def _unkept(
    outcome: SubmitOutcome, verdict: Classification, held: Claim | None, problem: str
) -> SubmitOutcome:
    """The outcome where the disk did not do its part."""
    if verdict.action == "spool" and held is None:
        outcome.outcome, outcome.reason = "error", "spool_unwritable"
        outcome.message = f"it was not delivered ({verdict.reason}) and not kept: {problem}"
    elif verdict.action == "spool":  # it is in the spool as it was written before it was sent
        outcome.outcome, outcome.reason = "spooled", verdict.reason
    elif verdict.action in ("reject", "mismatch"):
        outcome.reason = "rejected_unwritable"
    return outcome


def _refusal(verdict: Classification, status: int) -> tuple[Word, str]:
    if verdict.action == "mismatch":
        return "mismatch", "mismatch"
    if verdict.action == "reject":
        return "rejected", "body_too_large" if status == 413 else "rejected"
    return "error", "unavailable"


def _existing(answer: dict[str, Any]) -> int | None:
    details = answer.get("details")
    for item in details if isinstance(details, list) else ():
        if isinstance(item, dict) and (id := positive(item.get("existing_id"))) is not None:
            return id
    return None


def _warnings(answer: dict[str, Any], scrub: Scrub) -> list[dict[str, Any]]:
    """The receiver's well-formed warnings."""
    found = answer.get("warnings")
    kept = []
    for item in found if isinstance(found, list) else ():
        texts = (
            {name: item.get(name) for name in ("code", "pointer", "message")}
            if isinstance(item, dict)
            else {}
        )
        if texts and all(isinstance(value, str) for value in texts.values()):
            kept.append({name: scrub(str(value)) for name, value in texts.items()})
    return kept
