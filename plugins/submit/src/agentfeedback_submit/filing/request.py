"""What a caller wants filed: a kind, and members by flag, by JSON, or from a session entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.host import Host
from agentfeedback.reading.refs import Ref, split

#: The members of the payload that `submit friction` has a flag for.
PAYLOAD = ("category", "details", "suggested_fix", "fix_status", "fix_ref", "severity")


@frozen(eq=False)
class ContextFrom:
    """The entry a report is about, and which finding at that entry it is (from 1)."""

    ref: Ref
    span: str
    ordinal: int = 1
    allow_unknown: bool = False


@frozen(eq=False)
class Request:
    """One submission as asked for. Empty texts are not given; `json` is one JSON object as it was read, or None.

    `members` are envelope members, `payload` members of the payload, `context` entries in order.
    """

    kind: str
    members: Mapping[str, str] = field(factory=dict)
    schema_version: int | None = None
    payload: Mapping[str, str] = field(factory=dict)
    context: Sequence[tuple[str, str]] = ()
    json: bytes | None = None
    context_from: ContextFrom | None = None
    scrub: bool = False


def context_from(
    host: Host, text: str, ordinal: int = 1, *, allow_unknown: bool = False
) -> ContextFrom:
    """The entry that `<harness>:<session id>#<span>` names. Raises `UsageError`."""
    ref, hash, span = text.rpartition("#")
    if not hash or not span:
        raise UsageError(
            f'--context-from "{text}" names no span',
            "pass <harness>:<session id>#<span>, the ref of an event of a digest",
        )
    harness, id = split(ref)
    if ordinal < 1:
        raise UsageError(f"--ordinal {ordinal} is less than 1", "number findings from 1")
    return ContextFrom(Ref(host.harness(harness), id, ref), span, ordinal, allow_unknown)
