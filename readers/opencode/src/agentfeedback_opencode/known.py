"""The types of messages and parts seen in databases, for `agentfeedback doctor --formats`.

A virtual log holds what was laid out of a row and no version: a member nobody knows, or another
version, does not show in it. A new type does, and so do new words and texts of the harness.
"""

from __future__ import annotations

from agentfeedback.reading import Fields, Known, decoder
from agentfeedback_opencode import v1, v2
from agentfeedback_opencode.v2_calls import is_unknown

_V1_ERRORS = """
    APIError ContextOverflowError MessageAbortedError MessageOutputLengthError ProviderAuthError
    StructuredOutputError UnknownError
    """
_V1_MESSAGE = Fields(
    "data error id modelID path providerID time",
    inside={"error": Fields(open=True, words={"name": _V1_ERRORS})},
)
_V1_TOOL = Fields(
    "callID data id ignored messageID metadata state synthetic text tool",
    inside={
        "state": Fields(
            open=True,
            words={"status": "completed error pending running"},
        )
    },
)
_V1_PART = Fields("callID data id ignored messageID metadata state synthetic text tool")
_V1_PARTS = ("file", "patch", "reasoning", "step-finish", "step-start", "text")


def _text_v1(line: bytes) -> str:
    part = decoder(v1.Line)(line)
    unknown = part is not None and part.state is not None and v1.is_unknown(part.state)
    return "part/tool/text of a call" if unknown else ""


V1 = Known(
    verified=("1.3.2", "1.17.19", "1.18.33", "1.18.34"),
    texts=lambda: _text_v1,
    records=Fields(
        by="kind",
        kinds={
            "message": Fields(
                by="role",
                kinds={"user": _V1_MESSAGE, "assistant": _V1_MESSAGE},
            ),
            "part": Fields(
                by="type", kinds=dict.fromkeys(_V1_PARTS, _V1_PART) | {"tool": _V1_TOOL}
            ),
        },
    ),
)

_V2_ERRORS = """
    aborted permission.rejected provider.auth provider.content-filter provider.internal
    provider.invalid-output provider.invalid-request provider.no-route provider.quota
    provider.rate-limit provider.transport provider.unknown tool.execution tool.input-json unknown
    """
_V2_ERROR = Fields(open=True, words={"type": _V2_ERRORS})
_V2_STATE = Fields(
    open=True,
    words={"status": "completed error pending running streaming"},
    inside={"error": _V2_ERROR},
)
_V2_ITEM = Fields(
    by="type",
    kinds={
        "text": Fields("text"),
        "reasoning": Fields("text"),
        "tool": Fields("id name state time", inside={"state": _V2_STATE}),
    },
)
_V2_MESSAGE = Fields(
    "content data error finish id location model outcome previous text time",
    inside={"content": _V2_ITEM, "error": _V2_ERROR},
    words={
        "finish": "content-filter error length other stop tool-calls unknown",
        "outcome": "failed interrupted succeeded",
    },
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


def _text_v2(line: bytes) -> str:
    message = decoder(v2.Line)(line)
    items = [message.item, *(message.content or [])] if message is not None else []
    unknown = any(i is not None and i.state is not None and is_unknown(i.state) for i in items)
    return "message/assistant/text of a call" if unknown else ""


# First-hand: the engine inside V1 1.18.34. No OpenCode 2 itself was run for the reader.
V2 = Known(
    verified=("1.18.34",),
    texts=lambda: _text_v2,
    records=Fields(
        by="kind",
        kinds={
            "message": Fields(by="type", kinds=dict.fromkeys(_V2_MESSAGES, _V2_MESSAGE)),
            "part": Fields("data item messageID ordinal", inside={"item": _V2_ITEM}),
        },
    ),
)
