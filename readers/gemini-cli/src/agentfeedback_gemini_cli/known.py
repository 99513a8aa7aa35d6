"""The records and members seen in logs of the verified versions, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.drift import Fields, Known

_PART = Fields("functionCall functionResponse text thought thoughtSignature inlineData")
_CALL = Fields(
    """
    agentId args description displayName id name renderOutputAsMarkdown result resultDisplay status
    timestamp
    """
)
_MESSAGE = Fields("content displayContent id timestamp", inside={"content": _PART})
_ANSWER = Fields(
    "content displayContent id model thoughts timestamp tokens toolCalls",
    inside={
        "content": _PART,
        "thoughts": Fields("description subject timestamp"),
        "tokens": Fields("cached input output thoughts tool total"),
        "toolCalls": _CALL,
    },
)
#: Lines without a type: the metadata, and what changes something told before.
_CONTROL = Fields(
    "$patch $rewindTo $set directories kind lastUpdated projectHash sessionId startTime",
    inside={
        "$set": Fields("directories lastUpdated memoryScratchpad messages sessionId summary"),
    },
)

# Logs of Gemini CLI do not record the version that wrote them.
KNOWN = Known(
    verified=("0.54.4", "0.61.0"),
    records=Fields(
        by="type",
        kinds={
            "": _CONTROL,
            "user": _MESSAGE,
            "gemini": _ANSWER,
            "info": _MESSAGE,
            "error": _MESSAGE,
            "warning": _MESSAGE,
        },
    ),
)
