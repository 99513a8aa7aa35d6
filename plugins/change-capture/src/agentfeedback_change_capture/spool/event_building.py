"""Events out of facts: the id, the number, the bodies and the gaps that qualify it."""

from __future__ import annotations

from agentfeedback.foundation.canonical import canonical
from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import METADATA_ONLY, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.facts import Body, Fact, Stream
    from agentfeedback_change_capture.spool.sessions import SessionState

#: A body above this stays on the machine whatever the mode.
LARGEST_SHARED = 1_048_576
#: What a harness's setup consists of; those a payload does not show are listed as unobserved.
SETUP_PARTS = (
    *("agents", "effort", "hooks", "instructions", "mcp_servers", "model", "permission_mode"),
    *("settings", "skills", "system_prompt", "tools"),
)


class Built:
    """The events of one fact, and the artifacts they refer to by digest."""

    __slots__ = ("artifacts", "events")

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.artifacts: dict[str, bytes] = {}

    @property
    def event_id(self) -> str:
        """The id of the fact's own event."""
        found: str = self.events[0]["event_id"]
        return found


def known_id(scope: str, observed: str, fact: Fact) -> str | None:
    """Return the id of a fact that its provider identifies, or at least dates; None for one to be numbered."""
    if fact.identity is not None:
        return identities.provided_event(scope, observed, fact.event, fact.identity)
    if fact.timestamp is not None:
        return identities.timed_event(scope, observed, fact.event, fact.timestamp, fact.members)
    return None


def build(
    scope: str,
    stream: Stream,
    fact: Fact,
    state: SessionState,
    largest: int,
    *,
    with_bodies: bool,
) -> Built:
    """Give a fact its id and its numbers.

    `largest` is the bound of an artifact in bytes. Without `with_bodies` there was no room for
    what the fact brings along: the event says that it is missing, and is kept.
    """
    event_id = known_id(scope, stream.observed, fact)
    if event_id is None:
        number = state.number(fact.event)
        event_id = identities.numbered_event(scope, stream.observed, fact.event, number)
    built = Built()
    event = {
        **fact.members,
        "event_id": event_id,
        "kind": fact.kind,
        "observed_at": fact.observed_at,
        "sequence": state.take(),
        "time_source": fact.time_source,
    }
    built.events.append(event)
    gaps: list[tuple[str, str | None, int | None]] = []
    if fact.uncertain:
        gaps.append(("identity_uncertain", None, None))
    if _is_late(fact, state):
        state.native["start_event"] = event_id
        gaps.append(("adapter_started_late", None, None))
    if fact.setup and fact.setup != state.native.get("last_setup"):
        _add_setup(fact, event, built, state, with_bodies=with_bodies)
    missing = 0
    # Whatever an adapter hands over, this mode keeps none of it.
    bodies = [] if stream.capture_mode == METADATA_ONLY else fact.bodies
    for body in bodies:
        fits = body.data is not None and with_bodies and len(body.data) <= largest
        kept = body.data if fits else None
        missing += kept is None
        event.setdefault("bodies", []).append(_body(body, kept, stream, state, built))
    if missing:
        gaps.append(("capture_interrupted", "body_not_retained", None))
    if redactions := sum(body.redactions for body in bodies):
        gaps.append(("redacted", None, redactions))
    gaps += [("capture_interrupted", cause, None) for cause in fact.gaps]
    for kind, cause, count in gaps:
        built.events.append(
            gap_event(
                identities.gap_event(scope, state.stream, kind, cause, event_id),
                kind,
                cause,
                fact.observed_at,
                state.take(),
                time_source=fact.time_source,
                count=count,
            )
        )
    if fact.start == "original":
        state.native["start"] = "original"
        state.native["start_sequence"] = event["sequence"]
        state.native["start_event"] = event_id
    if fact.ends:
        state.native["end_seen"] = True
    return built


def gap_event(
    event_id: str,
    kind: str,
    cause: str | None,
    observed_at: int,
    sequence: int,
    *,
    time_source: str = "receipt",
    count: int | None = None,
) -> dict[str, Any]:
    """Return the event of a gap."""
    gap: dict[str, Any] = {"kind": kind}
    if cause is not None:
        gap["cause"] = cause
    if count is not None:
        gap["count"] = count
    return {
        "event_id": event_id,
        "gap": gap,
        "kind": "gap",
        "observed_at": observed_at,
        "sequence": sequence,
        "time_source": time_source,
    }


def artifact_entry(data: bytes, media_type: str, retention: str = "work-local") -> dict[str, Any]:
    """Return how an envelope refers to an artifact."""
    return {
        "availability": "local",
        "bytes": len(data),
        "media_type": media_type,
        "retention": retention,
        "sha256": identities.bytes_digest(data),
    }


def _is_late(fact: Fact, state: SessionState) -> bool:
    """Return whether this fact is the first to show that earlier history was not observed."""
    native = state.native
    if fact.start == "original" or native["start"] == "original" or native["late_gap_recorded"]:
        return False
    native["late_gap_recorded"] = True
    native["start"] = "late"
    return True


def _add_setup(
    fact: Fact, event: dict[str, Any], built: Built, state: SessionState, *, with_bodies: bool
) -> None:
    data = canonical(fact.setup)
    if not with_bodies:
        return
    built.artifacts[identities.bytes_digest(data)] = data
    event["setup"] = {
        **fact.setup,
        "artifact": artifact_entry(data, "application/json"),
        "unobserved": [part for part in SETUP_PARTS if part not in fact.setup],
    }
    state.native["last_setup"] = dict(fact.setup)


def _body(
    body: Body, kept: bytes | None, stream: Stream, state: SessionState, built: Built
) -> dict[str, Any]:
    if kept is None:
        entry: dict[str, Any] = {
            "availability": "missing",
            "media_type": body.media_type,
            "retention": "work-local",
        }
        size = body.size if body.data is None else len(body.data)
        if size is not None:
            entry["bytes"] = size
    else:
        shared = (
            stream.capture_mode == SHARED
            and state.native["sharing"]
            and len(kept) <= LARGEST_SHARED
        )
        retention = "shared-approved" if shared else "work-local"
        entry = artifact_entry(kept, body.media_type, retention)
        built.artifacts[entry["sha256"]] = kept
    entry["role"] = body.role
    if body.redactions:
        entry["redactions"] = body.redactions
    return entry
