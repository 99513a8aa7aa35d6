"""Compaction: a replayed hook gets the same answer before and after, and nothing that waits is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback_change_capture.facts import LOCAL, Target
from agentfeedback_change_capture.spool.limits import SpoolLimits
from agentfeedback_change_capture.spool.outcome import SpoolFull, SpoolRefused
from agentfeedback_change_capture.spool.spool import Spool, look_up
from tests.support import capture, spool_laws
from tests.support.capture import (
    OBSERVED,
    accept_all,
    call,
    made_spool,
    opened,
    stream,
    tool_finish,
    tool_start,
)
from tests.support.disk import current

WHO = stream(mode=LOCAL)
LATER = stream(target=Target("wrk_later", 7, "ses_later"), mode=LOCAL)


def done(held: Spool, step: tuple[str, int, str], who: Any = WHO) -> str:
    """Do what a hook does and return its answer."""
    name, number, fact = step
    use = f"t-{number}"
    if name == "message":
        return held.append(who, capture.message(number, fact)).kind
    if name == "start":
        action = capture.action() if number % 2 else None
        return held.start(who, tool_start(use), call(use, fact), action).kind
    return held.finish(who, tool_finish(use), call(use, fact), capture.ending).kind


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["message", "start", "finish"]), st.integers(0, 3), st.sampled_from("ab")
    ),
    max_size=14,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS, accepted=st.integers(0, 20), closes=st.booleans())
def test_a_replay_is_answered_alike_before_and_after(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, str]],
    accepted: int,
    closes: bool,
) -> None:
    """Whatever was accepted, each hook that runs again is the duplicate, conflict or news it was."""
    spool = made_spool(tmp_path_factory.mktemp("law") / "private" / "spool")
    twin = made_spool(tmp_path_factory.mktemp("law") / "private" / "spool")
    for path in (spool, twin):
        with opened(path) as held:
            for step in steps:
                done(held, step)
            if closes:
                held.close_starts(OBSERVED, capture.NOW)
            for each in held.pending(accepted) if accepted else ():
                held.acknowledge(each, capture.NOW)
    with opened(spool) as held:
        before = [each.name for each in held.pending(1000)]
        held.compact()
        assert [each.name for each in held.pending(1000)] == before
        compacted = current(spool)
        held.compact()
        assert current(spool) == compacted
    spool_laws.check(spool, {})
    again = [(name, number, fact) for name, number, _ in steps for fact in "ab"]
    with opened(spool) as held, opened(twin) as other:
        for step in [*steps, *again]:
            # A later target attributes nothing that is bound already.
            assert done(held, step, LATER) == done(other, step, LATER), step
    spool_laws.check(spool, {})
    spool_laws.check(twin, {})


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    numbers=st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True),
    order=st.randoms(use_true_random=False),
)
def test_hooks_that_run_again_add_nothing(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], order: Any
) -> None:
    """Whatever runs once, twice or three times, in any order of sessions, the account is that of each once."""
    once = [(name, number, "a") for number in numbers for name in ("message", "start", "finish")]
    often = [step for step in once for _ in range(order.randint(1, 3))]
    # A harness starts a call before it ends it; everything else comes in any order.
    order.shuffle(often)
    often.sort(key=lambda step: step[0] == "finish")
    found = []
    for steps in (once, often):
        spool = made_spool(tmp_path_factory.mktemp("law") / "private" / "spool")
        scope = (spool / "scope.json").read_bytes()
        for step in steps:
            with opened(spool, thorough=False) as held:
                done(held, step)
                if order.random() < 0.2:
                    accept_all(held)
                    held.compact()
        records = spool_laws.check(spool, {})
        assert scope == (spool / "scope.json").read_bytes()
        found.append(
            (len(records.event_ids()), records.action_phases(), records.below("deferred/"))
        )
    assert found[0] == found[1]


def test_what_is_kept_of_a_finished_action(tmp_path: Path) -> None:
    """Its receipts in compact form with the observed order, the claim's bindings, and a digest for each event."""
    spool = made_spool(tmp_path / "private" / "spool")
    with opened(spool) as held:
        held.append(WHO, capture.session_start())
        held.start(WHO, tool_start(), call(), capture.action())
        held.finish(WHO, tool_finish(), call(), capture.ending)
        receipts = [each["action"] for each in capture.envelopes(spool) if "action" in each]
        accept_all(held)
        report = held.compact()
        assert (report["events"], report["actions"], report["full_envelopes"]) == (5, 1, 0)
        assert report["reclaimed_records"] == 13 and report["index_records"] == 7
    found = spool_laws.check(spool, {})
    assert [found.index["actions"][0][phase] for phase in ("start", "finish")] == receipts
    assert found.index["actions"][0]["order"] == 1 and found.json("order.json")["active"] == []
    assert not found.envelopes and not found.claims and not found.receipts
    assert not found.below("acks/") and len([x for x in found.files if "artifacts/" in x]) == 2
    known = look_up(str(spool), OBSERVED, "t-1")
    assert known is not None and known.target == capture.TARGET and known.rule == capture.RULE
    with opened(spool) as held:
        assert held.append(WHO, capture.turn_end()).kind == "new"
    (name,) = (spool / "outbox").iterdir()
    assert name.name.startswith(f"{found.index['high_order'] + 1:016d}")


def test_what_a_replay_needs_whole_is_kept_whole(tmp_path: Path) -> None:
    """The events of a managed call: its target or times must not make new work of a replay."""
    spool = made_spool(tmp_path / "private" / "spool")
    recipe = {"digest": "8" * 64, "id": "unit-test"}
    with opened(spool) as held:
        held.start(WHO, tool_start(), call(), None, recipe=recipe)
        held.finish(WHO, tool_finish(), call(), None)
        whole = [each for each in capture.envelopes(spool) if "events" in each]
        accept_all(held)
        assert held.compact()["full_envelopes"] == 2
        assert held.start(LATER, tool_start(), call(), None, recipe=recipe).kind == "duplicate"
    assert spool_laws.check(spool, {}).index["full"] == whole


def test_what_waits_is_never_compacted(tmp_path: Path) -> None:
    """Pending envelopes, open starts, deferred facts and artifacts stay, byte for byte."""
    spool = made_spool(tmp_path / "private" / "spool")
    with opened(spool) as held:
        held.start(WHO, tool_start("t-1"), call("t-1"), capture.action())
        accept_all(held)
        held.start(WHO, tool_start("t-2"), call("t-2"), capture.action())
        held.close_starts(OBSERVED, capture.NOW, most=1)
        held.defer("native-9", capture.turn_end(), "no_target", LOCAL)
        before = current(spool)
        assert held.compact()["reclaimed_records"] == 0
    assert current(spool) == before


@pytest.mark.parametrize("bounds", [{"replay_records": 3}, {"replay_bytes": 4096}])
def test_a_full_index_refuses_and_changes_nothing(tmp_path: Path, bounds: dict[str, int]) -> None:
    """The refusal names both remedies; with a larger bound the same compaction is done."""
    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(**bounds))
    with opened(spool) as held:
        for number in range(15):
            held.append(WHO, capture.message(number))
        accept_all(held)
        before = current(spool)
        with pytest.raises(SpoolFull) as refused:
            held.compact()
        assert current(spool) == before
        assert "export" in refused.value.remedy and "larger" in refused.value.remedy
        assert held.append(WHO, capture.message(0)).kind == "duplicate"
        held.set_limits(SpoolLimits())
        assert held.compact()["events"] == 16
    spool_laws.check(spool, {})


@pytest.mark.parametrize("data", [b"", b"{}\n", b"other", None])
def test_an_acknowledgement_that_is_not_one_stops_delivery_and_compaction(
    tmp_path: Path, data: bytes | None
) -> None:
    """Facts are still retained; nothing repairs the mark, and the error names it."""
    spool = made_spool(tmp_path / "private" / "spool")
    with opened(spool) as held:
        held.append(WHO, capture.turn_end())
        (pending,) = held.pending()
        mark = spool / "acks" / pending.name
        if data is None:
            os.mkfifo(mark, 0o600)
        else:
            mark.write_bytes(data)
            mark.chmod(0o600)
    before = current(spool)
    with opened(spool) as held:
        for refused in (held.pending, held.compact):
            with pytest.raises(SpoolRefused) as error:
                refused()
            assert str(mark) in str(error.value)
        assert held.append(WHO, capture.turn_end()).kind == "new"
    after = current(spool)
    assert all(after[name] == content for name, content in before.items() if "acks" in name)


def test_an_acknowledgement_of_other_bytes_stops_delivery(tmp_path: Path) -> None:
    """A mark is of exactly the bytes that were accepted."""
    spool = made_spool(tmp_path / "private" / "spool")
    with opened(spool) as held:
        held.append(WHO, capture.turn_end())
        (pending,) = held.pending()
        pending.sha256 = "0" * 64
        held.acknowledge(pending, capture.NOW)
        with pytest.raises(SpoolRefused, match="digest"):
            held.pending()


def test_an_empty_folder_in_the_place_of_a_mark_says_nothing(tmp_path: Path) -> None:
    """The envelope stays pending; a folder with something in it stops delivery."""
    spool = made_spool(tmp_path / "private" / "spool")
    with opened(spool) as held:
        held.append(WHO, capture.turn_end())
        (pending,) = held.pending()
        (spool / "acks" / pending.name).mkdir(0o700)
    with opened(spool) as held:
        assert [each.name for each in held.pending()] == [pending.name]
    (spool / "acks" / pending.name / "x").write_bytes(b"")
    with opened(spool) as held, pytest.raises(SpoolRefused):
        held.pending()


def test_every_envelope_is_offered_however_the_first_ones_fare(tmp_path: Path) -> None:
    """The cursor moves behind each attempt and wraps, also where it names what is compacted."""
    spool = made_spool(tmp_path / "private" / "spool")
    with opened(spool) as held:
        for number in range(25):
            held.append(WHO, capture.message(number))
    offered: list[int] = []
    for _ in range(6):
        with opened(spool) as held:
            for each in held.pending(10):
                held.attempted(each)
                offered.append(each.order)
                if each.order % 2:
                    held.acknowledge(each, capture.NOW)
            held.compact()
    assert set(offered) == set(range(1, 26))
    assert offered[:25] == list(range(1, 26)) and all(order % 2 == 0 for order in offered[25:])
