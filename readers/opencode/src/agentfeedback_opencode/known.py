"""The types of messages and parts seen in databases, for `agentfeedback doctor --formats`.

A virtual log holds what was laid out of a row and no version: a member nobody knows, or another
version, does not show in it. A new type does.
"""

from __future__ import annotations

from agentfeedback.drift import Fields, Known

_V1_MESSAGE = "data error id modelID path providerID time"
_V1_PART = Fields("callID data id ignored messageID metadata state synthetic text tool")
_V1_PARTS = ("file", "patch", "reasoning", "step-finish", "step-start", "text", "tool")

V1 = Known(
    verified=("1.3.2", "1.17.19", "1.18.33", "1.18.34"),
    records=Fields(
        by="kind",
        kinds={
            "message": Fields(
                by="role",
                kinds={"user": Fields(_V1_MESSAGE), "assistant": Fields(_V1_MESSAGE)},
            ),
            "part": Fields(by="type", kinds=dict.fromkeys(_V1_PARTS, _V1_PART)),
        },
    ),
)

_V2_ITEM = Fields(
    by="type",
    kinds={
        "text": Fields("text"),
        "reasoning": Fields("text"),
        "tool": Fields("id name state time"),
    },
)
_V2_MESSAGE = Fields(
    "content data error finish id location model outcome previous text time",
    inside={"content": _V2_ITEM},
)
_V2_MESSAGES = (
    "agent-switched",
    "assistant",
    "compaction",
    "idle",
    "location-switched",
    "model-switched",
    "shell",
    "skill",
    "synthetic",
    "system",
    "user",
)

# First-hand: the engine inside V1 1.18.34. No OpenCode 2 itself was run for the reader.
V2 = Known(
    verified=("1.18.34",),
    records=Fields(
        by="kind",
        kinds={
            "message": Fields(by="type", kinds=dict.fromkeys(_V2_MESSAGES, _V2_MESSAGE)),
            "part": Fields("data item messageID ordinal", inside={"item": _V2_ITEM}),
        },
    ),
)
