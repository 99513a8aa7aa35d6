"""What every record of a spool must look like; pure.

Records are as strict as envelopes: nothing that a payload holds can slip into one under a name of
its own.
"""

from __future__ import annotations

from agentfeedback.foundation.json_shape import (
    array,
    boolean,
    exactly,
    integer,
    members,
    nullable,
    one_of,
    text,
)
from agentfeedback.foundation.json_shape import mapping as each_of
from agentfeedback_change_capture.spool.envelope_shapes import (
    ACTION_FINISH,
    ACTION_ID,
    ACTION_START,
    ADAPTER,
    COUNT,
    EVENT,
    EVENT_ID,
    HALF,
    HEX,
    ID,
    MODE,
    RULE,
    SCOPE,
    TARGET,
    WORD,
    envelope,
    source,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.foundation.json_shape import Check

_PRE = members(
    {
        "envelope_order": integer(1),
        "events": array(EVENT, 8),
        "fingerprint": HEX,
        "recipe_digest": nullable(HEX),
        "start": nullable(ACTION_START),
    }
)
_POST = members(
    {
        "capture_mode": MODE,
        "envelope_order": nullable(integer(1)),
        "events": array(EVENT, 8),
        "finish": nullable(ACTION_FINISH),
        "fingerprint": nullable(HEX),
    }
)
_OUTAGE = members(
    {"count": integer(1), "first": integer(1), "last": integer(1)},
    {"closed": boolean, "observed_at": COUNT, "sequence": integer(1)},
)
_PAUSE = members(
    {
        "cause": one_of("quota", "order_ledger_full"),
        "number": integer(1),
        "open": boolean,
        "sequence": integer(1),
    }
)
_NATIVE_STATE = members(
    {
        "capture_mode_at_start": MODE,
        "end_seen": boolean,
        "late_gap_recorded": boolean,
        "occurrences": each_of(integer(1)),
        "sharing": boolean,
        "start": one_of("original", "late", "none"),
    },
    {
        "last_setup": each_of(WORD),
        "outage": _OUTAGE,
        "pause": _PAUSE,
        "start_event": EVENT_ID,
        "start_sequence": integer(1),
        "target": TARGET,
    },
)
_RECIPE = nullable(members({"digest": HEX, "id": ID}))
_PATH = text(longest=4096)


def a_list(value: object, where: str) -> str | None:
    """Check that it is a list.

    The index may have tens of thousands of entries, and every hook reads it: its sum says that they
    are as they were written.
    """
    return None if isinstance(value, list) else f"{where} is not an array"


_NAMES = array(text(longest=128))
_CLEANUP = members(
    dict.fromkeys(("acks", "envelopes", "observations", "receipts", "sources"), _NAMES)
    | {"orders": array(ACTION_ID)}
)

#: The members of each kind of record besides `schema`, and `rev` and `sum` of those that change.
IMMUTABLE: dict[str, dict[str, Check]] = {
    "ack": {"acknowledged_at": COUNT, "envelope_sha256": HEX},
    "action": {"envelope": envelope, "receipt": lambda value, where: None},
    "deferred": {
        "boundary": nullable(WORD),
        "cause": one_of("unavailable", "no_target", "conflict"),
        "event": WORD,
        "observed_at": COUNT,
        "observed_session": ID,
        "occurrence_id": nullable(HEX),
        "receipt_order": integer(1),
        "recipe_digest": nullable(HEX),
        "sequence": nullable(integer(1)),
        "source_digest": nullable(HEX),
        "target": nullable(TARGET),
        "tool": nullable(WORD),
    },
    "format": {
        "created_at": COUNT,
        "device": COUNT,
        "managed_lock_inode": COUNT,
        "spool_id": HALF,
        "spool_inode": COUNT,
        "spool_lock_inode": COUNT,
        "version": exactly(4),
    },
    "namespace": {"hub": text(longest=2048), "repository": text(longest=512), "worktree_id": ID},
    "scope": {"observation_scope": SCOPE},
    "source": {
        "binding": source,
        "captured_at": COUNT,
        "device": COUNT,
        "inode": COUNT,
    },
}
_ACTIVE = members(
    {
        "action_id": ACTION_ID,
        "occ32": HALF,
        "order": integer(1),
        "session_id": ID,
        "state": one_of("reserved", "started"),
    }
)
MUTABLE: dict[str, dict[str, Check]] = {
    "attempt": {
        "action_id": ACTION_ID,
        "boot": nullable(WORD),
        "device": COUNT,
        "fence": HEX,
        "generation": integer(1),
        "host": nullable(WORD),
        "inode": COUNT,
        "observed_session": ID,
        "occurrence_id": HEX,
        "order": integer(1),
        "phase": one_of("reserved", "spawned"),
        "pid": COUNT,
        "process": nullable(members({"pgid": COUNT, "pid": COUNT, "started": COUNT})),
        "recipe": members({"digest": HEX, "id": ID}),
        "session_id": ID,
        "setup_digest": HEX,
        "source_digest": nullable(HEX),
        "work_id": ID,
    },
    "checkout": {
        "device": COUNT,
        "inode": COUNT,
        "repository": text(longest=512),
        "root": _PATH,
        "worktree_id": ID,
    },
    "compaction": {
        "actions": a_list,
        "cleanup": _CLEANUP,
        "events": a_list,
        "full": a_list,
        "high_order": COUNT,
        "occurrences": a_list,
    },
    "cursor": {"position": COUNT},
    "history": {
        "device": COUNT,
        "generation": integer(1),
        "head_bytes": COUNT,
        "head_sha256": HEX,
        "inode": COUNT,
        "offset": COUNT,
        "open_request": nullable(each_of(nullable(WORD))),
        "session": ID,
        "session_id": ID,
        "state": one_of("following", "stopped"),
        "work_id": ID,
    },
    "limits": dict.fromkeys(
        ("artifact_bytes", "bytes", "records", "replay_bytes", "replay_records"), integer(1)
    ),
    "observation": {
        "action_id": nullable(ACTION_ID),
        "adapter": ADAPTER,
        "capture_mode": MODE,
        "closed": nullable(exactly("turn_end")),
        "observed_session": ID,
        "occurrence_id": HEX,
        "post": nullable(_POST),
        "pre": nullable(_PRE),
        "recipe": _RECIPE,
        "route": one_of("native", "managed"),
        "rule": nullable(RULE),
        "setup_digest": nullable(HEX),
        "sharing": boolean,
        "source_digest": nullable(HEX),
        "source_issue": nullable(WORD),
        "target": TARGET,
        "tool": WORD,
        "tool_use_id": WORD,
    },
    "order": {"active": array(_ACTIVE, 1024), "next_order": integer(1)},
    "session": {"id": ID, "native": nullable(_NATIVE_STATE), "next_sequence": integer(1)},
}
SCHEMA = "agentscm.spool."
RECORDS = {
    **{
        kind: members({**shape, "schema": exactly(f"{SCHEMA}{kind}/4")})
        for kind, shape in IMMUTABLE.items()
    },
    **{
        kind: members(
            {**shape, "rev": integer(1), "schema": exactly(f"{SCHEMA}{kind}/4"), "sum": HEX}
        )
        for kind, shape in MUTABLE.items()
    },
}
