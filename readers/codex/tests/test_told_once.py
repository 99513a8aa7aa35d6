"""Whatever is recorded late, each event is in one digest: the whole one, or one of those made as the log grows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.digest.detect import is_event
from agentfeedback.reading.timeline import Timeline

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Rollout

Event = tuple[str, str, str | None]


@pytest.fixture(scope="session")
def corpus(pytestconfig: pytest.Config) -> list[list[bytes]]:
    """The lines of each short session of the corpus."""
    home: Path = pytestconfig.rootpath / "corpus" / "codex" / "home"
    found = [path.read_bytes().splitlines(keepends=True) for path in sorted(home.rglob("*.jsonl"))]
    assert len(found) > 20
    return [lines for lines in found if len(lines) <= 60]


def events(timeline: Timeline) -> Counter[Event]:
    """The events of a digest from `timeline.start` on."""
    found: Counter[Event] = Counter()
    for entry in timeline.entries:
        if entry.kind == "prompt" and entry.offset >= timeline.start:
            found[f"{entry.span}@{entry.offset}", "prompt", entry.summary] += 1
        for call in entry.calls:
            if is_event(call, timeline.start):
                found[f"{call.span}@{call.offset}", "call", call.status] += 1
    return found


@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck), deadline=None)
def test_each_event_is_in_one_digest(
    rollout: Rollout, corpus: list[list[bytes]], data: st.DataObject
) -> None:
    """Of a log that grows in steps, in whatever order its records come, each digest adds what is new.

    All that the whole digest holds is in one of the steps; nothing is in two of them, but a call whose
    status changed is in the later one with its new status; and what only a step holds changed later.
    """
    lines = data.draw(st.sampled_from(corpus))
    if data.draw(st.booleans()):
        lines = data.draw(st.permutations(lines))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(lines) - 1), max_size=4)))
    steps: Counter[Event] = Counter()
    start = 0
    for end in (*cuts, len(lines)):
        steps += events(rollout.read(*lines[:end], start=start))
        start = sum(map(len, lines[:end]))
    whole = events(rollout.read(*lines))
    assert set(steps.values()) <= {1}
    assert whole <= steps
    final = {(where, kind): words for where, kind, words in whole}
    for where, kind, words in steps - whole:
        assert kind == "call"
        assert final.get((where, kind)) != words
