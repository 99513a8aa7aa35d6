"""What is observed of each harness: declared, so that nobody takes silence for completeness. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OBSERVED, _PARTIAL, _UNAVAILABLE = "observed", "partial", "unavailable"

#: By harness: the version whose payloads were tried, what is observed, and whether a session can be
#: complete within that scope. A tool's end is partial: denied, blocked and killed calls get no hook.
HARNESSES: dict[str, dict[str, Any]] = {
    "claude-code": {
        "qualified_version": "2.1.332",
        "fields": {
            "session_boundaries": _OBSERVED,
            "prompts": _OBSERVED,
            "assistant_messages": _OBSERVED,
            "tool_starts": _OBSERVED,
            "tool_finishes": _PARTIAL,
            "exit_codes": _UNAVAILABLE,
            "turn_ends": _OBSERVED,
            "compaction": _OBSERVED,
            "subagent_boundaries": _OBSERVED,
            "subagent_transcripts": _UNAVAILABLE,
            "setup": _PARTIAL,
            "host_timestamps": _UNAVAILABLE,
            "thinking": _UNAVAILABLE,
            "usage": _UNAVAILABLE,
            "retrospective_history": _UNAVAILABLE,
            "PostToolBatch": _UNAVAILABLE,
            "PermissionRequest": _UNAVAILABLE,
            "PermissionDenied": _UNAVAILABLE,
            "Notification": _UNAVAILABLE,
            "PostCompact": _UNAVAILABLE,
            "CwdChanged": _UNAVAILABLE,
            "InstructionsLoaded": _UNAVAILABLE,
            "UserPromptExpansion": _UNAVAILABLE,
            "StopFailure": _UNAVAILABLE,
            "TaskCreated": _UNAVAILABLE,
            "TaskCompleted": _UNAVAILABLE,
        },
        # Every session has a prompt or an end, and neither carries an identity or a time.
        "complete_possible": False,
    },
    "codex": {
        "qualified_version": "0.171.0",
        "fields": {
            "session_boundaries": _OBSERVED,
            "edit_starts": _PARTIAL,
            "prompts": _UNAVAILABLE,
            "assistant_messages": _UNAVAILABLE,
            "tool_finishes": _UNAVAILABLE,
            "retrospective_history": _UNAVAILABLE,
        },
        "complete_possible": False,
    },
}
