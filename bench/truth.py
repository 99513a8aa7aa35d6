"""Whether a listing counts what is in the store."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from typing import Any

#: The seven counts of a session, by their names in a listing.
COUNTS = (
    "entries",
    "prompts",
    "tool_calls",
    "tool_errors",
    "interrupts",
    "denials",
    "unparsed",
)


def truth_of(home: str) -> dict[str, dict[str, int]]:
    """What `truth.json` says of each harness."""
    with open(os.path.join(home, "truth.json"), encoding="utf-8") as file:
        told: dict[str, dict[str, int]] = json.load(file)
    return {harness: truth for harness, truth in told.items() if harness != "made_of"}


def differences(listing: dict[str, Any], truth: dict[str, dict[str, int]]) -> list[str]:
    """Every count of a harness that differs, and every number of sessions; none when all are right."""
    counted: defaultdict[str, dict[str, int]] = defaultdict(
        lambda: dict.fromkeys(("sessions", *COUNTS), 0)
    )
    for session in listing["sessions"]:
        counts, told = counted[session["harness"]], session.get("counts", {})
        counts["sessions"] += 1
        for name in COUNTS:
            counts[name] += told.get(name, 0)
    return [
        f"{harness}: {name} is {counted[harness][name]}, the truth is {truth.get(harness, {}).get(name, 0)}"
        for harness in sorted({*truth, *counted})
        for name in ("sessions", *COUNTS)
        if counted[harness][name] != truth.get(harness, {}).get(name, 0)
    ]
