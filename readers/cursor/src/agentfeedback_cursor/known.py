"""The lines and members of transcripts as Cursor's own writer makes them, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known

_BLOCK = Fields(by="type", kinds={"text": Fields("text"), "tool_use": Fields("input name")})
_SAID = Fields("message", inside={"message": Fields("content", inside={"content": _BLOCK})})

# Transcripts do not record the version that wrote them. No session of Cursor itself was at hand: this
# is what the transcript writer of the vendor's own package writes.
KNOWN = Known(
    verified=("@cursor/sdk 1.0.32",),
    records=Fields(
        by="type",
        kinds={
            "": Fields(by="role", kinds={"user": _SAID, "assistant": _SAID}),
            "metadata": Fields("metadata"),
            "turn_ended": Fields("error status", words={"status": "aborted error success"}),
        },
    ),
)
