"""Troubles: what failed around the calls, from the verb of a sink to the digest."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.digest.build import Digester
from agentfeedback.digest.caps import Caps
from agentfeedback.digest.detect import CORE_DETECTORS, Detector
from agentfeedback.plugins.checks import usable_detector
from agentfeedback.reading.reader import Session
from agentfeedback.reading.sink import Sink
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.scrub import SUBMIT, Scrubber
from agentfeedback.wire.encode import plain

SESSION = Session("demo", "s1", "/x/s1.jsonl", 0, 0)
DIGESTER = Digester([detector() for detector in CORE_DETECTORS], Scrubber(SUBMIT))
RECORD = 100
"""Bytes from one record to the next."""


def told(sink: Sink, records: list[str]) -> None:
    """A log of prompts (`p`) and troubles (`t`), as many of them as a record has letters."""
    for index, record in enumerate(records):
        sink.offset = index * RECORD
        sink.entry(f"e{index}", "2026-01-01T00:00:00Z")
        for number, letter in enumerate(record):
            if letter == "p":
                sink.prompt(f"{index} say something")
            else:
                sink.trouble("hook", f"{index}.{number} failed", "2026-01-02T00:00:00Z")
    if isinstance(sink, Timeline):
        sink.size = len(records) * RECORD


def digest(records: list[str], start: int = 0, cap: int = Caps().session) -> tuple[Any, int]:
    timeline = DIGESTER.timeline(start, rewrites=False)
    told(timeline, records)
    built = DIGESTER.build(SESSION, timeline, evolve(Caps(), session=cap))
    return built.digest, built.covered


def test_a_trouble_is_shown_with_its_kind_time_and_words() -> None:
    """The words are scrubbed and cut like any excerpt; what is not recorded is left out."""
    timeline = DIGESTER.timeline(0, rewrites=False)
    token = "gh" + "p_" + "0123456789" * 3 + "abcdef"
    timeline.trouble("provider", f"429 {token} " + "x" * 300, "2026-01-01T00:00:00Z")
    timeline.trouble("connection", "", "noon")
    provider, connection = DIGESTER.build(SESSION, timeline, Caps()).digest["findings"]["troubles"]
    assert (provider["kind"], provider["at"]) == ("provider", "2026-01-01T00:00:00.000Z")
    assert provider["excerpt"].startswith("429 ")
    assert token not in provider["excerpt"]
    assert len(provider["excerpt"].encode()) <= 240
    assert connection == {"kind": "connection"}


def test_a_trouble_opens_no_entry_and_counts_nothing() -> None:
    """Counts, times and events of a log are the same without its troubles, in a listing and a digest."""
    for make in (Tally, lambda: DIGESTER.timeline(0, rewrites=False)):
        with_troubles, without = make(), make()
        told(with_troubles, ["t", "pt", "tt"])
        told(without, ["", "p", ""])
        assert plain(with_troubles.counts()) == plain(without.counts())
        assert (with_troubles.first, with_troubles.last) == (without.first, without.last)
    assert digest(["t", "p"])[0]["events"] == digest(["", "p"])[0]["events"]


def test_without_troubles_there_are_no_findings() -> None:
    """The member is absent, and so it is where all troubles are before the start."""
    assert "findings" not in digest(["p"])[0]
    assert "findings" not in digest(["t", "p"], start=RECORD)[0]


@given(
    st.lists(st.text("pt", max_size=3), min_size=1, max_size=30),
    st.integers(600, 3000),
)
def test_increments_show_each_trouble_once(records: list[str], cap: int) -> None:
    """However small the cap, one digest after the other shows every trouble in order, or says how many it drops."""
    start, shown, dropped = 0, [], 0
    while start < len(records) * RECORD:
        found, covered = digest(records, start, cap)
        assert covered > start
        troubles = found.get("findings", {}).get("troubles", [])
        assert found["truncated"] or covered == len(records) * RECORD
        assert found.get("findings") != {}
        shown += [trouble["excerpt"] for trouble in troubles]
        dropped += found.get("dropped", 0)
        start = covered
    wanted = [
        f"{index}.{number} failed"
        for index, record in enumerate(records)
        for number, letter in enumerate(record)
        if letter == "t"
    ]
    assert [each for each in wanted if each in shown] == shown
    assert len(wanted) - len(shown) <= dropped
    if not dropped:
        assert shown == wanted


def test_the_name_is_taken() -> None:
    """A plugin's detector cannot put its findings among the core's."""

    class Mine(Detector):
        name = "troubles"

    with pytest.raises(ValueError, match="the core"):
        usable_detector(Mine())
    for detector in CORE_DETECTORS[3:]:
        usable_detector(detector())
