"""Facts without a target: local and sanitised, and an outage that is made visible where it belongs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentfeedback_change_capture.facts import LOCAL, SHARED, Target
from agentfeedback_change_capture.spool.inspection import deferred
from agentfeedback_change_capture.spool.snapshot import Snapshot
from tests.support import capture, spool_laws
from tests.support.capture import (
    call,
    contents,
    envelopes,
    events,
    made_spool,
    opened,
    stream,
    tool_start,
)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return made_spool(tmp_path / "private" / "spool")


OWN = stream("native-1", Target("wrk_1", 1, "native-1"), mode=LOCAL)
NEXT = stream("native-1", Target("wrk_1", 2, "native-1"), mode=LOCAL)
ALIAS = stream("native-2", Target("wrk_1", 1, "ses_1"), mode=LOCAL)


def gaps(spool: Path) -> list[tuple[int, int]]:
    """Generation and count of every gap of an outage."""
    return [
        (each["generation"], event["gap"]["count"])
        for each in envelopes(spool)
        for event in each.get("events", ())
        if event.get("gap", {}).get("cause") == "deferred"
    ]


def test_a_deferred_fact_holds_nothing_of_a_conversation(spool: Path) -> None:
    """Event, boundary, tool name, numbers and time; no text, input or path, in no record of the spool."""
    with opened(spool) as held:
        held.defer("native-1", capture.prompt("a secret text"), "no_target", LOCAL)
        start = tool_start("t-1", body=b'{"command":"a secret input"}')
        held.defer("native-1", start, "unavailable", LOCAL, call=call(), recipe_digest="7" * 64)
    assert b"secret" not in b"".join(contents(spool).values())
    rows = list(deferred(Snapshot(str(spool))))
    assert [(row["receipt_order"], row["sequence"], row["cause"]) for row in rows] == [
        (1, 1, "no_target"),
        (2, 2, "unavailable"),
    ]
    assert rows[1]["tool"] == "Bash" and not rows[0]["target"] and "native-1" not in str(rows)
    record = json.loads(sorted((spool / "deferred").iterdir())[1].read_bytes())
    assert (record["recipe_digest"], record["occurrence_id"] is not None) == ("7" * 64, True)


def test_a_deferred_call_stays_deferred_when_its_hook_runs_again(spool: Path) -> None:
    """With or without a target by then, nothing is written a second time, and nothing is attributed."""
    with opened(spool) as held:
        held.defer("native-1", tool_start(), "unavailable", LOCAL, call=call())
        before = contents(spool)
        again = held.defer("native-1", tool_start(), "unavailable", LOCAL, call=call())
        assert again.kind == "duplicate"
        assert held.start(OWN, tool_start(), call(), capture.action()).kind == "duplicate"
        held.defer("native-1", capture.message(), "unavailable", LOCAL)
        assert held.append(OWN, capture.message()).kind == "duplicate"
    after = contents(spool)
    assert {name for name in after if name not in before} <= {
        name for name in after if name.startswith("deferred/")
    }
    assert not envelopes(spool)


def test_an_outage_under_the_same_target_is_a_hole_in_the_numbers(spool: Path) -> None:
    """Where observed and canonical id are equal the hole itself says it; no gap is published."""
    with opened(spool) as held:
        held.append(OWN, capture.session_start())
        held.defer("native-1", capture.turn_end(), "unavailable", LOCAL)
        held.append(OWN, capture.turn_end())
    assert [each["sequence"] for each in events(spool)] == [1, 2, 4]
    assert gaps(spool) == []
    spool_laws.check(spool, {})


@pytest.mark.parametrize(("before", "after"), [(OWN, NEXT), (ALIAS, ALIAS)])
def test_an_outage_elsewhere_is_a_gap_under_the_target_it_began_with(
    spool: Path, before: Any, after: Any
) -> None:
    """A later generation cannot take the gap over, and an alias's stream cannot hide it; it is published once."""
    with opened(spool) as held:
        held.append(before, capture.session_start())
        for _ in range(3):
            held.defer(before.observed, capture.turn_end(), "unavailable", LOCAL)
    for _ in range(2):
        with opened(spool) as held:
            held.append(after, capture.turn_end())
    assert gaps(spool) == [(1, 3)]
    spool_laws.check(spool, {})


def test_an_outage_of_a_session_that_never_had_a_target_is_never_published(spool: Path) -> None:
    """Its facts stay unassociated; what comes later does not say that its start was seen."""
    with opened(spool) as held:
        held.defer("native-1", capture.session_start(), "no_target", LOCAL)
        held.append(OWN, capture.turn_end())
    assert gaps(spool) == []
    assert [each.get("gap", {}).get("kind") for each in events(spool)] == [
        None,
        "adapter_started_late",
    ]


def test_sharing_is_fixed_by_the_first_fact_though_it_was_deferred(spool: Path) -> None:
    """A session that began while the mode did not share never shares."""
    with opened(spool) as held:
        held.defer("native-1", capture.turn_end(), "unavailable", LOCAL)
        held.defer("native-2", capture.turn_end(), "unavailable", SHARED)
        assert (held.sharing("native-1"), held.sharing("native-2")) == (False, True)
        target = Target("wrk_1", 1, "native-1")
        held.append(stream("native-1", target, mode=SHARED), capture.prompt())
    assert envelopes(spool)[0]["sharing"] is False
    assert events(spool)[0]["bodies"][0]["retention"] == "work-local"
