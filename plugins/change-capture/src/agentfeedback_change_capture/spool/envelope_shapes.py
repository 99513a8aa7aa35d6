"""What an envelope must look like, whatever is in it: all that may leave the machine; pure.

Both ends are strict: an unknown member is refused, so that an older Hub refuses what it does not
know, and nothing that a payload holds can slip into a record under a name of its own.
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.foundation.json_shape import Check

WORD = text(longest=256)
HEX = text("[0-9a-f]{64}")
HALF = text("[0-9a-f]{32}")
ID = text("[A-Za-z0-9._:-]{1,128}")
EVENT_ID = text("evt_[0-9a-f]{64}")
ACTION_ID = text("act_[0-9a-f]{64}")
SCOPE = text("osc_[0-9a-f]{32}")
_NATIVE = text("nat_[0-9a-f]{32}")
_COVERAGE = one_of("complete", "partial", "unknown")
MODE = one_of("metadata-only", "local-conversation", "shared-conversation")
_MEDIA = one_of("text/plain", "application/json")
COUNT = integer()
ADAPTER = members({"name": ID, "version": ID})
TARGET = members({"generation": integer(1), "session_id": ID, "work_id": ID})

KINDS = (
    *("session_start", "prompt", "tool_start", "tool_finish", "assistant_message", "turn_end"),
    *("compaction", "subagent_start", "subagent_stop", "session_end", "gap"),
)
GAPS = ("adapter_started_late", "identity_uncertain", "capture_interrupted", "redacted")
CAUSES = (
    *("quota", "order_ledger_full", "body_not_retained", "source_unavailable", "deferred"),
    *("payload_unreadable", "history_replaced", "history_truncated", "history_malformed"),
    *("history_foreign", "history_work_changed", "history_conflict"),
    *("import_malformed", "import_oversized"),
)

_ARTIFACT = {
    "availability": one_of("local", "missing"),
    "media_type": _MEDIA,
    "retention": one_of("work-local", "shared-approved"),
}
_ARTIFACT_MORE = {"bytes": COUNT, "redactions": integer(1), "sha256": HEX}
_BODY = members(
    {**_ARTIFACT, "role": one_of("prompt", "assistant", "tool_input", "tool_result", "tool_error")},
    _ARTIFACT_MORE,
)
_EVIDENCE = members(
    {**_ARTIFACT, "role": one_of("stdout", "stderr", "descriptor", "status")}, _ARTIFACT_MORE
)
_SETUP = members(
    {"artifact": members(_ARTIFACT, _ARTIFACT_MORE), "unobserved": array(WORD, 16)},
    {"effort": WORD, "model": WORD, "permission_mode": WORD},
)
EVENT = members(
    {
        "event_id": EVENT_ID,
        "kind": one_of(*KINDS),
        "observed_at": COUNT,
        "sequence": integer(1),
        "time_source": one_of("host", "receipt", "transcript"),
    },
    {
        "bodies": array(_BODY, 8),
        "boundary": WORD,
        "correlation": members(
            {},
            {
                "final": boolean,
                "index": COUNT,
                "message_id": WORD,
                "prompt_id": WORD,
                "turn_id": WORD,
            },
        ),
        "gap": members({"kind": one_of(*GAPS)}, {"cause": one_of(*CAUSES), "count": integer(1)}),
        "origin": one_of("harness", "human"),
        "setup": _SETUP,
        "subagent": members({"agent_id": ID}, {"agent_type": WORD}),
        "tool": members(
            {"name": WORD}, {"interrupted": boolean, "outcome": one_of("returned", "failed")}
        ),
    },
)
RULE = members(
    {
        "coverage": _COVERAGE,
        "kind": one_of("execution", "verification"),
        "result_source": one_of("process_exit_code", "unverified"),
    }
)
_OMISSIONS = array(WORD, 64)
_GIT = {
    "base_ref": WORD,
    "coverage": _COVERAGE,
    "head": nullable(WORD),
    "merge_base": nullable(WORD),
    "omissions": _OMISSIONS,
    "tree": nullable(WORD),
}


def source(value: object, where: str) -> str | None:
    """Check the shared form of a source binding, by its type."""
    kind = value.get("type") if isinstance(value, dict) else None
    known = _SOURCES.get(kind) if isinstance(kind, str) else None
    return (known or _SOURCES["unavailable"])(value, where)


_SOURCES = {
    "git_clean": members({**_GIT, "type": exactly("git_clean")}),
    "git_worktree": members(
        {
            **_GIT,
            "files": COUNT,
            "manifest": members({"bytes": COUNT, "media_type": _MEDIA, "sha256": HEX}),
            "reason": one_of("dirty", "transformed"),
            "total_bytes": COUNT,
            "type": exactly("git_worktree"),
        }
    ),
    "unavailable": members({"cause": WORD, "type": exactly("unavailable")}),
}
ACTION_START = members(
    {
        "action_id": ACTION_ID,
        "assurance": exactly("caller_asserted"),
        "observed_order": integer(1),
        "occurrence": HEX,
        "recipe_digest": HEX,
        "route": one_of("native", "managed"),
        "rule": RULE,
        "setup_digest": HEX,
        "source": source,
        "started_at": COUNT,
        "tool": WORD,
    },
    {"recipe_id": ID},
)
_RESULT = one_of("succeeded", "failed", "incomplete", "unknown")
_VERDICT = one_of("passed", "failed", "incomplete", "unknown")
ACTION_FINISH = members(
    {
        "action_id": ACTION_ID,
        "assurance": exactly("caller_asserted"),
        "coverage": _COVERAGE,
        "drift": one_of("none_observed", "changed", "unknown"),
        "evidence": array(_EVIDENCE, 8),
        "execution": _RESULT,
        "finished_at": COUNT,
        "freshness": one_of("current", "stale", "unknown"),
        "start_sha256": nullable(HEX),
        "verification": _VERDICT,
    },
    {
        "cause": WORD,
        "exit_code": integer(-(2**31)),
        "input_changed": boolean,
        "signal": integer(1),
        "stop": one_of("timeout", "cancelled", "output_limit", "spawn", "io", "interrupted"),
    },
)
_USAGE = each_of(nullable(text(longest=256)))
_CONTENT: dict[str, tuple[str, Check]] = {
    "action_finish": ("action", ACTION_FINISH),
    "action_start": ("action", ACTION_START),
    "events": ("events", array(EVENT, 8)),
    "usage": ("usage", _USAGE),
}
ENVELOPE_SCHEMA = "agentscm.capture."
_ENVELOPES = {
    f"{ENVELOPE_SCHEMA}{kind}/1": members(
        {
            "adapter": ADAPTER,
            "capture_mode": MODE,
            "envelope_id": text("env_[0-9a-f]{64}"),
            "generation": integer(1),
            "hub": text(longest=2048),
            "native_ref": _NATIVE,
            "observation_scope": SCOPE,
            "repository": text(longest=512),
            "schema": exactly(f"{ENVELOPE_SCHEMA}{kind}/1"),
            "session_id": ID,
            "sharing": boolean,
            "work_id": ID,
            "worktree_id": ID,
            name: check,
        }
    )
    for kind, (name, check) in _CONTENT.items()
}


def envelope(value: object, where: str) -> str | None:
    """Check an envelope, by its schema."""
    schema = value.get("schema") if isinstance(value, dict) else None
    check = _ENVELOPES.get(schema) if isinstance(schema, str) else None
    return check(value, where) if check else f"{where or 'it'} has an unknown schema"
