"""One body sent to where submissions go, and what its answer means (platform details 1.6 and 2.4)."""

from __future__ import annotations

from typing import Any, Protocol

from .build import Body
from .envelope import Refused, normalise
from .outcome import Outcome, Word
from .reply import Reply
from .service import Service


class Destination(Protocol):
    """Where submissions go: `name` is `local` or a base URL."""

    @property
    def name(self) -> str:
        """What a spool entry is bound to."""

    def send(self, body: bytes) -> Reply:
        """Create a submission; every answer of the other side is a reply, none an exception."""


class Local:
    """The database of this machine."""

    name = "local"

    def __init__(self, service: Service) -> None:
        self.service = service

    def send(self, body: bytes) -> Reply:
        """Create a submission in process."""
        return self.service.create(body)


def deliver(body: Body, destination: Destination) -> Outcome:
    """Send a body once and say what became of it."""
    return outcome_of(body, destination.send(body.data))


def outcome_of(body: Body, reply: Reply) -> Outcome:
    """What an answer to a create means."""
    answer: dict[str, Any] = reply.body if isinstance(reply.body, dict) else {}
    if not reply.ok:
        word, reason = _refusals(reply.status)
        existing = next(
            (item["existing_id"] for item in answer.get("details", ()) if "existing_id" in item),
            None,
        )
        return Outcome(
            word,
            body.kind,
            body.key,
            id=existing,
            request_id=reply.request_id,
            reason=reason,
            message=answer.get("message", ""),
            warnings=[warning.plain() for warning in body.warnings],
        )
    record = answer["submission"]
    return Outcome(
        "submitted" if reply.status == 201 else "duplicate",
        record["kind"],
        record.get("key", ""),
        id=record["id"],
        uid=record["uid"],
        request_id=reply.request_id,
        warnings=[*(warning.plain() for warning in body.warnings), *answer["warnings"]],
    )


def tried(body: Body) -> Outcome:
    """The outcome of a dry run: what the receiver would say, without asking it."""
    own = [warning.plain() for warning in body.warnings]
    try:
        found = normalise(body.data)
    except Refused as refused:
        word, reason = _refusals(refused.status)
        return Outcome(
            word, body.kind, body.key, reason=reason, message=refused.message, warnings=own
        )
    warnings = [*own, *(warning.plain() for warning in found.warnings)]
    return Outcome("valid", body.kind, body.key, warnings=warnings)


def _refusals(status: int) -> tuple[Word, str]:
    if status == 409:
        return "mismatch", ""
    if status == 413:
        return "rejected", "body_too_large"
    if status < 500:
        return "rejected", "rejected"
    return "error", "unavailable"
