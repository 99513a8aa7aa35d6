"""What the harness recorded about a session, from a sink's verbs to the digest."""

from __future__ import annotations

from typing import Any

from agentfeedback.digest.build import Digester
from agentfeedback.digest.caps import Caps
from agentfeedback.digest.detect import CORE_DETECTORS
from agentfeedback.reading.reader import Session
from agentfeedback.reading.sink import Sink
from agentfeedback.reading.tally import Tally
from agentfeedback.scrub import SUBMIT, Scrubber
from agentfeedback.wire.encode import plain

SESSION = Session("demo", "s1", "/x/s1.jsonl", 0, 0)
DIGESTER = Digester([detector() for detector in CORE_DETECTORS], Scrubber(SUBMIT))


def told(sink: Sink) -> None:
    token = "gh" + "p_" + "0123456789" * 3 + "abcdef"
    sink.about(title="First", branch="main", version="1.2")
    sink.used(input=10, output=5, cost=0.25)
    sink.offset = 100
    sink.about(title=f"Use {token} " + "x" * 300, parent="s0", branch=None)
    sink.used(input=1, output=-3, cost=0.5)
    sink.used(cost=float("nan"))
    sink.used(cost=float("inf"))


def digest(start: int = 0) -> dict[str, Any]:
    timeline = DIGESTER.timeline(start, rewrites=False)
    told(timeline)
    timeline.size = 200
    return DIGESTER.build(SESSION, timeline, Caps()).digest


def test_what_was_said_last_counts_and_uses_add_up() -> None:
    """Of the whole session, wherever its digest begins; texts are scrubbed and cut."""
    for start in (0, 150):
        about = digest(start)["about"]
        title = about.pop("title")
        assert title.startswith("Use ") and len(title.encode()) <= 160 and "ghp" not in title
        assert about == {
            "branch": "main",
            "version": "1.2",
            "parent": "s0",
            "tokens_in": 11,
            "tokens_out": 5,
            "cost_usd": 0.75,
        }


def test_without_any_the_member_is_absent() -> None:
    """So are those of which nothing was recorded."""
    timeline = DIGESTER.timeline(0, rewrites=False)
    assert "about" not in DIGESTER.build(SESSION, timeline, Caps()).digest
    timeline.about(branch="main")
    assert DIGESTER.build(SESSION, timeline, Caps()).digest["about"] == {"branch": "main"}


def test_it_counts_nothing() -> None:
    """Counts and times are what they are without it."""
    with_it, without = Tally(), Tally()
    told(with_it)
    assert plain(with_it.counts()) == plain(without.counts())
