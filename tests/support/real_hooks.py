"""The payloads that Claude Code really sent its hooks, below the folder of real logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

#: The events that change capture wires, in the order they are wired.
EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
    *("MessageDisplay", "Stop", "PreCompact", "SubagentStart", "SubagentStop", "SessionEnd"),
)


def every(real: Path) -> list[tuple[str, bytes]]:
    """Return all payloads, ignored events too, with the name of their event."""
    folder = real / "hooks/claude-code-2.1.332"
    if not folder.is_dir():
        pytest.skip("no hook payloads among the logs of real harnesses here")
    paths = sorted(folder.glob("*.jsonl"))
    return [(path.stem, line) for path in paths for line in path.read_bytes().splitlines()]


def payloads(real: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return all payloads as objects, with the name of their event."""
    return [(event, json.loads(line)) for event, line in every(real)]
