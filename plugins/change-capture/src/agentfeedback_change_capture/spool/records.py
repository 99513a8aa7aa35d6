"""Records as bytes: canonical JSON and a line feed, named by content or carrying a revision and a sum; pure.

So it can be decided of every temporary file that a crash left, without a journal, whether it was
written completely.
"""

from __future__ import annotations

import json

from agentfeedback.foundation.canonical import canonical
from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import envelope_shapes, layout, shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

#: The kind of record that a folder holds, and below the root the kind of each name.
FOLDER_KINDS = {
    layout.SESSIONS: "session",
    layout.OBSERVATIONS: "observation",
    layout.SOURCES: "source",
    layout.ACTIONS: "action",
    layout.ATTEMPTS: "attempt",
    layout.ACKS: "ack",
    layout.DEFERRED: "deferred",
    layout.HISTORY: "history",
}
ROOT_KINDS = {
    layout.FORMAT: "format",
    layout.NAMESPACE: "namespace",
    layout.SCOPE: "scope",
    layout.LIMITS: "limits",
    layout.ORDER: "order",
    layout.COMPACTION: "compaction",
    layout.CURSOR: "cursor",
    layout.CHECKOUT: "checkout",
}
_SUM = b',"sum":"'
_SUM_SIZE = len(_SUM) + 64 + 1


class MalformedRecord(ValueError):
    """Bytes that are not a record of the kind they should be; the text says what is wrong."""


def kind_of(folder: str, name: str) -> str | None:
    """Return the kind of record under a name; None for raw bytes and for envelopes."""
    return ROOT_KINDS.get(name) if folder == layout.ROOT else FOLDER_KINDS.get(folder)


def encode(kind: str, members: Mapping[str, Any]) -> bytes:
    """Return the bytes of a record that never changes."""
    return canonical({**members, "schema": f"{shapes.SCHEMA}{kind}/4"}) + b"\n"


def encode_mutable(kind: str, members: Mapping[str, Any], rev: int) -> bytes:
    """Return the bytes of a record that changes, with its revision and the digest of all the rest."""
    rest = {**members, "rev": rev, "schema": f"{shapes.SCHEMA}{kind}/4"}
    return canonical({**rest, "sum": identities.digest(rest)}) + b"\n"


def decode(kind: str, data: bytes) -> dict[str, Any]:
    """Return the members of a record, `schema` included.

    Raises:
        MalformedRecord: It is not one of this kind, or its sum is not that of its other members.
    """
    value = _parsed(data)
    if (wrong := shapes.RECORDS[kind](value, "")) is not None:
        raise MalformedRecord(wrong)
    if kind in shapes.MUTABLE and not _sum_fits(data, value["sum"]):
        raise MalformedRecord("the sum is not that of the other members")
    found: dict[str, Any] = value
    return found


def decode_envelope(data: bytes) -> dict[str, Any]:
    """Return the members of an envelope.

    Raises:
        MalformedRecord: It is not an envelope, or its id is not that of its other members.
    """
    value = _parsed(data)
    if (wrong := envelope_shapes.envelope(value, "")) is not None:
        raise MalformedRecord(wrong)
    if identities.envelope_id(value) != value["envelope_id"]:
        raise MalformedRecord("the envelope id is not that of the other members")
    found: dict[str, Any] = value
    return found


def envelope(kind: str, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return an envelope, its schema and id added.

    Raises:
        MalformedRecord: A member is not what a Hub accepts: the adapter handed over something odd.
    """
    made = {**members, "schema": f"{envelope_shapes.ENVELOPE_SCHEMA}{kind}/1"}
    made["envelope_id"] = identities.envelope_id(made)
    if (wrong := envelope_shapes.envelope(made, "")) is not None:
        raise MalformedRecord(wrong)
    return made


def envelope_kind(envelope: Mapping[str, Any]) -> str:
    """Return `events`, `action_start`, `action_finish` or `usage`."""
    schema: str = envelope["schema"]
    return schema[len(envelope_shapes.ENVELOPE_SCHEMA) : -2]


def envelope_primary(envelope: Mapping[str, Any]) -> str:
    """Return what an envelope is named by: its first event, its action and phase, its usage."""
    kind = envelope_kind(envelope)
    if kind == "events":
        first: str = envelope["events"][0]["event_id"]
        return first.removeprefix("evt_")
    if kind == "usage":
        usage: str = envelope["usage"]["usage_id"]
        return usage.removeprefix("use_")
    return action_primary(kind.removeprefix("action_"), envelope["action"]["action_id"])


def action_primary(phase: str, action_id: str) -> str:
    """Return what the envelope of an action's start or finish is named by."""
    return identities.digest([phase, action_id])


def is_complete(folder: str, name: str, data: bytes) -> bool:
    """Return whether bytes are a whole record that belongs under a name: what a temporary file was to become."""
    try:
        return _fits(folder, name, data)
    except (MalformedRecord, KeyError, TypeError, IndexError):
        return False


def unchecked(data: bytes) -> Any:
    """Return a record's JSON as it is.

    Raises:
        MalformedRecord: It is not JSON of this program.
    """
    return _parsed(data)


def is_any_record(data: bytes) -> bool:
    """Return whether bytes are a whole record or envelope of any kind."""
    try:
        value = _parsed(data)
    except MalformedRecord:
        return False
    schema = value.get("schema") if isinstance(value, dict) else None
    for kind in shapes.RECORDS:
        if schema == f"{shapes.SCHEMA}{kind}/4":
            try:
                decode(kind, data)
            except MalformedRecord:
                return False
            return True
    return envelope_shapes.envelope(value, "") is None


def _fits(folder: str, name: str, data: bytes) -> bool:
    if folder == layout.ARTIFACTS:
        return identities.bytes_digest(data) == name
    if folder == layout.OUTBOX:
        envelope = decode_envelope(data)
        return layout.envelope_primary(name) == envelope_primary(envelope)[:32] and (
            canonical(envelope) + b"\n" == data
        )
    kind = kind_of(folder, name)
    if kind is None or not layout.is_known(folder, name):
        return False
    record = decode(kind, data)
    if canonical(record) + b"\n" != data:
        return False
    expected = _content_name(kind, record)
    return expected is None or name.startswith(expected)


def _content_name(kind: str, record: dict[str, Any]) -> str | None:
    """Return the beginning of the name that a record's content gives it; None for one without."""
    if kind == "session":
        return identities.session_file(record["id"])
    if kind == "history":
        return identities.session_file(record["session"])
    if kind == "observation":
        return identities.occurrence_file(record["occurrence_id"])
    if kind == "source":
        return identities.digest(record["binding"])
    if kind == "attempt":
        fence: str = record["fence"]
        return fence[:32]
    if kind == "deferred":
        return f"{record['receipt_order']:012d}."
    if kind == "action":
        if record["receipt"] != record["envelope"]["action"]:
            raise MalformedRecord("the receipt is not that of the envelope")
        action = identities.action_file(record["receipt"]["action_id"])
        phase = envelope_kind(record["envelope"]).removeprefix("action_")
        return layout.receipt_name(action, phase)
    return None


def _parsed(data: bytes) -> Any:
    if not data.endswith(b"\n"):
        raise MalformedRecord("it does not end in a line feed")
    try:
        return json.loads(data[:-1], parse_float=_refuse, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedRecord("it is not JSON of this program") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _sum_fits(data: bytes, found: str) -> bool:
    # The record is canonical, so the other members are the bytes without this one.
    at = data.rfind(_SUM + found.encode() + b'"')
    rest = data[:at] + data[at + _SUM_SIZE : -1]
    return at > 0 and identities.bytes_digest(rest) == found
