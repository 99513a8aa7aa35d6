"""What this reader knows of the format, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known

_BLOCK = Fields(
    "type",
    by="type",
    kinds={
        "text": Fields("text textSignature"),
        "thinking": Fields("thinking thinkingSignature redacted"),
        "image": Fields("data mimeType"),
        "toolCall": Fields("id name arguments thoughtSignature"),
    },
)
_CONTENT = {"content": _BLOCK}
_MESSAGE = Fields(
    "role timestamp",
    by="role",
    kinds={
        "user": Fields("content", inside=_CONTENT),
        "assistant": Fields(
            "api provider model responseId responseModel usage stopReason errorMessage content",
            inside=_CONTENT,
        ),
        "toolResult": Fields("toolCallId toolName details isError content", inside=_CONTENT),
        "bashExecution": Fields(
            "command output exitCode cancelled truncated fullOutputPath excludeFromContext"
        ),
        "custom": Fields("customType display details content", inside=_CONTENT),
        "branchSummary": Fields("summary fromId"),
        "compactionSummary": Fields("summary tokensBefore"),
    },
)

KNOWN = Known(
    verified=(),  # sessions hold the version of their format alone
    records=Fields(
        "type id parentId timestamp",
        by="type",
        kinds={
            "session": Fields("version cwd parentSession"),
            "message": Fields(inside={"message": _MESSAGE}),
            "model_change": Fields("provider modelId"),
            "thinking_level_change": Fields("thinkingLevel"),
            "compaction": Fields("summary firstKeptEntryId tokensBefore details fromHook"),
            "branch_summary": Fields("fromId summary details fromHook"),
            "custom": Fields("customType data"),
            "custom_message": Fields("customType display details content"),
            "label": Fields("targetId label"),
            "session_info": Fields("name"),
        },
    ),
)
