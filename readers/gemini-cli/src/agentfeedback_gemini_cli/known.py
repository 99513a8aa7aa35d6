"""The records and members seen in logs of the verified versions, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known, decoder
from agentfeedback_gemini_cli.lines import Line
from agentfeedback_gemini_cli.results import is_unknown_refusal

_PART = Fields("functionCall functionResponse text thought thoughtSignature inlineData")
#: How a sub-agent may end.
_ENDS = "ABORTED ERROR ERROR_NO_COMPLETE_TASK_CALL GOAL MAX_TURNS TIMEOUT"
_CALL = Fields(
    """
    agentId args description displayName id name renderOutputAsMarkdown result resultDisplay status
    timestamp
    """,
    words={"status": "awaiting_approval cancelled error executing scheduled success validating"},
    inside={
        "resultDisplay": Fields(
            open=True,
            words={"terminateReason": _ENDS, "state": "cancelled completed error running"},
        ),
    },
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
#: Lines without a type: the metadata, and what changes something reported before.
_CONTROL = Fields(
    "$patch $rewindTo $set directories kind lastUpdated projectHash sessionId startTime",
    inside={
        "$set": Fields("directories lastUpdated memoryScratchpad messages sessionId summary"),
    },
)


def _text(line: bytes) -> str:
    message = decoder(Line)(line)
    calls = (message.tool_calls if message is not None else None) or ()
    return "gemini/text of a call" if any(map(is_unknown_refusal, calls)) else ""


# Logs of Gemini CLI do not record the version that wrote them.
KNOWN = Known(
    verified=("0.54.4", "0.61.0"),
    texts=lambda: _text,
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
