"""What this reader knows of the format, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known

_PART = Fields(
    "text thought thoughtSignature inlineData fileData functionCall functionResponse",
    inside={
        "functionCall": Fields("id name args"),
        "functionResponse": Fields("id name response"),
    },
)
_MESSAGE = Fields("role parts", inside={"parts": _PART})
_ENDED = "cancelled error success"

KNOWN = Known(
    verified=("0.12.0", "0.15.10"),
    records=Fields(
        "uuid parentUuid sessionId timestamp type cwd version gitBranch",
        by="type",
        kinds={
            "user": Fields("subtype message", inside={"message": _MESSAGE}),
            "assistant": Fields(
                "model message usageMetadata contextWindowSize", inside={"message": _MESSAGE}
            ),
            "tool_result": Fields(
                "message toolCallResult",
                inside={
                    "message": _MESSAGE,
                    "toolCallResult": Fields(
                        "callId status resultDisplay error errorType contentLength",
                        words={"status": _ENDED},
                    ),
                },
            ),
            "system": Fields(
                "subtype systemPayload",
                words={
                    "subtype": "attribution_snapshot chat_compression slash_command ui_telemetry"
                },
            ),
        },
    ),
)
