"""Facts as an adapter hands them to a spool, and a spool to hand them to."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from agentfeedback_change_capture.facts import (
    METADATA_ONLY,
    Action,
    Body,
    Call,
    Ending,
    Fact,
    Namespace,
    Stream,
    Target,
)
from agentfeedback_change_capture.spool.initialise import initialise
from agentfeedback_change_capture.spool.limits import SpoolLimits
from agentfeedback_change_capture.spool.spool import Spool

NAMESPACE = Namespace("https://hub.example", "demo/app", "checkout_demo")
TARGET = Target("wrk_demo", 1, "ses_demo")
OBSERVED = "native-1"
NOW = 1_796_031_238
SETUP, RECIPE = "5" * 64, "7" * 64
RULE = {"coverage": "partial", "kind": "execution", "result_source": "process_exit_code"}


def made_spool(path: Path, limits: SpoolLimits | None = None) -> Path:
    """A new spool below a private folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    initialise(str(path), NAMESPACE, limits or SpoolLimits(), created_at=NOW)
    return path


def opened(path: Path, *, thorough: bool = True) -> Spool:
    return Spool.open(str(path), NAMESPACE, time.monotonic() + 5, thorough=thorough)


def stream(observed: str = OBSERVED, target: Target = TARGET, mode: Any = METADATA_ONLY) -> Stream:
    return Stream(observed, target, mode)


def session_start(*, setup: bool = False) -> Fact:
    return Fact(
        "SessionStart",
        "session_start",
        NOW,
        uncertain=True,
        members={"boundary": "startup"},
        start="original",
        setup={"model": "m1"} if setup else {},
    )


def prompt(text: str = "hello") -> Fact:
    body = Body("prompt", text.encode(), "text/plain")
    return Fact("UserPromptSubmit", "prompt", NOW, uncertain=True, bodies=[body])


def turn_end() -> Fact:
    return Fact("Stop", "turn_end", NOW)


def session_end() -> Fact:
    return Fact(
        "SessionEnd", "session_end", NOW, uncertain=True, members={"boundary": "other"}, ends=True
    )


def message(index: int = 0, text: str = "hi", message_id: str = "m-1") -> Fact:
    return Fact(
        "MessageDisplay",
        "assistant_message",
        NOW,
        identity=(message_id, index),
        members={"correlation": {"final": True, "index": index, "message_id": message_id}},
        bodies=[Body("assistant", text.encode(), "text/plain")],
    )


def tool_start(
    tool_use_id: str = "t-1", *, body: bytes = b'{"command":"ls"}', agent: str = ""
) -> Fact:
    members: dict[str, Any] = {"tool": {"name": "Bash"}}
    if agent:
        members["subagent"] = {"agent_id": agent}
    return Fact(
        "PreToolUse",
        "tool_start",
        NOW,
        identity=(tool_use_id, "start"),
        members=members,
        bodies=[Body("tool_input", body, "application/json")],
        gaps=["source_unavailable"],
    )


def tool_finish(tool_use_id: str = "t-1", *, body: bytes = b'{"stdout":"x"}') -> Fact:
    return Fact(
        "PostToolUse",
        "tool_finish",
        NOW + 1,
        identity=(tool_use_id, "finish"),
        members={"tool": {"name": "Bash", "outcome": "returned"}},
        bodies=[Body("tool_result", body, "application/json")],
    )


def call(tool_use_id: str = "t-1", fingerprint: str = "a") -> Call:
    return Call("Bash", tool_use_id, fingerprint * 64)


def action() -> Action:
    return Action(RULE, RECIPE, SETUP)


def ending(rule: dict[str, str]) -> Ending:
    assert rule == RULE
    return Ending("succeeded", "unknown", SETUP, exit_code=0)


def accept_all(spool: Spool) -> int:
    """Acknowledge every pending envelope; returns how many there were."""
    waiting = spool.pending(10_000)
    for each in waiting:
        spool.acknowledge(each, NOW)
        spool.attempted(each)
    return len(waiting)


def envelopes(path: Path) -> list[dict[str, Any]]:
    """Every envelope of the outbox, in order."""
    return [json.loads(each.read_bytes()) for each in sorted((path / "outbox").iterdir())]


def events(path: Path) -> list[dict[str, Any]]:
    """Every event of the outbox, in order."""
    return [event for each in envelopes(path) for event in each.get("events", ())]


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path below it."""
    return {
        os.path.relpath(os.path.join(above, name), path): Path(above, name).read_bytes()
        for above, _, names in os.walk(path)
        for name in names
    }
