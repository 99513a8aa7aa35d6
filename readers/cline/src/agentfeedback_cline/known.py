"""What this reader knows of the format, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known

_BLOCK = Fields(
    "type",
    by="type",
    kinds={
        "text": Fields("text"),
        "thinking": Fields("thinking signature"),
        "image": Fields("source"),
        "tool_use": Fields("id name input"),
        "tool_result": Fields("tool_use_id name content is_error"),
    },
)

KNOWN = Known(
    verified=(),  # messages hold no version
    records=Fields(
        "id role content ts modelInfo metrics metadata",
        by="role",
        kinds={
            role: Fields(
                inside={
                    "content": _BLOCK,
                    "modelInfo": Fields("id provider family"),
                    "metadata": Fields("displayOnly displayRole kind"),
                }
            )
            for role in ("user", "assistant")
        },
    ),
)
