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


def in_order(real: Path) -> dict[str, list[bytes]]:
    """Return the payloads of each session in the order they were sent, as far as they say it.

    Payloads have no time. Each file has its own order; prompts bind the files together.
    """
    lines: dict[str, dict[str, list[tuple[dict[str, Any], bytes]]]] = {}
    for event, line in every(real):
        value = json.loads(line)
        events = lines.setdefault(value["session_id"], {})
        events.setdefault(event, []).append((value, line))
    return {session: _merged(events) for session, events in sorted(lines.items())}


def _merged(events: dict[str, list[tuple[dict[str, Any], bytes]]]) -> list[bytes]:
    groups: dict[str, dict[str, list[tuple[dict[str, Any], bytes]]]] = {
        prompt: {} for prompt in _prompts(events)
    }
    for event, sent in events.items():
        if event != "SessionStart":
            for value, line in sent:
                group = groups[value.get("prompt_id", "")]
                group.setdefault(event, []).append((value, line))
    starts = list(events.get("SessionStart", ()))
    compact = [line for value, line in starts if value["source"] == "compact"]
    fresh = [line for value, line in starts if value["source"] != "compact"]
    found = [*fresh[:1]]
    rest = fresh[1:]
    for at, group in enumerate(groups.values()):
        ends = sum("SessionEnd" in each for each in [*groups.values()][at:-1])
        while rest and at == len(groups) - 1 and len(rest) > ends:
            found.append(rest.pop(0))  # the one before was killed without an end
        found += _group(group, compact)
        if "SessionEnd" in group and rest:
            found.append(rest.pop(0))
    return found


def _prompts(events: dict[str, list[tuple[dict[str, Any], bytes]]]) -> list[str]:
    """Return the ids of a session's prompts in an order that every file agrees with."""
    chains = [
        list(dict.fromkeys(value.get("prompt_id", "") for value, _ in sent))
        for event, sent in events.items()
        if event != "SessionStart"
    ]
    found: list[str] = []
    while chains := [chain for chain in chains if chain]:
        free = next(
            chain[0] for chain in chains if all(chain[0] not in other[1:] for other in chains)
        )
        found.append(free)
        chains = [[each for each in chain if each != free] for chain in chains]
    return found


def _group(
    events: dict[str, list[tuple[dict[str, Any], bytes]]], compact: list[bytes]
) -> list[bytes]:
    ends: dict[str, bytes] = {}
    for event in ("PostToolUse", "PostToolUseFailure"):
        ends |= {value["tool_use_id"]: line for value, line in events.get(event, ())}
    found = [line for _, line in events.get("UserPromptSubmit", ())]
    found += [line for _, line in events.get("SubagentStart", ())]
    for value, line in events.get("PreToolUse", ()):
        found.append(line)
        if value["tool_use_id"] in ends:
            found.append(ends.pop(value["tool_use_id"]))
    found += ends.values()
    late = ("MessageDisplay", "SubagentStop", "PreCompact")
    for event in (*sorted(events.keys() - {*EVENTS}), *late):
        found += [line for _, line in events.get(event, ())]
    if "PreCompact" in events:
        found += [compact.pop(0)] if compact else []
    for event in ("Stop", "SessionEnd"):
        found += [line for _, line in events.get(event, ())]
    return found
