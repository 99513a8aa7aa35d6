"""What a spool admits: the declared lifecycle in the smallest one, and no more than its limits in any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import LOCAL, Target
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.initialise import initialise
from agentfeedback_change_capture.spool.limits import (
    FLOOR_BYTES,
    FLOOR_RECORDS,
    HEADROOM_BYTES,
    HEADROOM_RECORDS,
    SpoolLimits,
)
from agentfeedback_change_capture.spool.outcome import SpoolFull
from agentfeedback_change_capture.spool.spool import Spool
from agentfeedback_change_capture.spool.storage import Storage, mutable
from tests.support import capture, spool_laws
from tests.support.capture import (
    accept_all,
    call,
    made_spool,
    opened,
    stream,
    tool_finish,
    tool_start,
)
from tests.support.disk import current
from tests.support.managed_run import GIT_CLEAN, RECIPE, Runner

FLOOR = SpoolLimits(FLOOR_RECORDS, FLOOR_BYTES, artifact_bytes=16_384)
ALIASED = stream("00000000-0000-4000-8000-000000000002", Target("wrk_demo", 1, "ses_demo"))


class Meter:
    """The largest number of files there ever were, the one that is being written included."""

    def __init__(self) -> None:
        self.records = 0
        self.bytes = 0


@contextmanager
def metered() -> Iterator[Meter]:
    meter, real = Meter(), Storage.put

    def put(self: Storage, folder: str, name: str, data: bytes, *, replace: bool = False) -> None:
        meter.records = max(meter.records, self.usage.records + 1)
        meter.bytes = max(meter.bytes, self.usage.bytes + len(data))
        real(self, folder, name, data, replace=replace)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Storage, "put", put)
        yield meter


HISTORY = {
    "device": 1,
    "generation": 1,
    "head_bytes": 4096,
    "head_sha256": "9" * 64,
    "inode": 2,
    "offset": 123_456,
    "open_request": None,
    "session": ALIASED.observed,
    "session_id": "ses_demo",
    "state": "following",
    "work_id": "wrk_demo",
}


def test_the_smallest_spool_holds_one_managed_run(tmp_path: Path) -> None:
    """Forty-eight records and 64 KiB: thirty-six for the lifecycle, the thirty-seventh is refused."""
    spool = tmp_path / "private" / "spool"
    spool.parent.mkdir(mode=0o700)
    initialise(str(spool), capture.NAMESPACE, FLOOR, created_at=capture.NOW)
    counts = []

    def counted(held: Spool) -> None:
        accept_all(held)
        counts.append(held.usage.records)

    with metered() as meter, opened(spool) as held:
        counts.append(held.usage.records)
        held.bind_checkout("/work/demo", 1, 2)
        held.keep_artifact(json.dumps(RECIPE).encode())
        counts.append(held.usage.records)
        assert held.append(ALIASED, capture.session_start(setup=True)).kind == "new"
        counted(held)
        history = mutable(layout.HISTORY, "0" * 32 + ".json", HISTORY, None)
        held._storage.put(
            layout.HISTORY, f"{identities.session_file(ALIASED.observed)}.json", history
        )
        binding = {"binding": GIT_CLEAN, "captured_at": capture.NOW, "device": 1, "inode": 2}
        source = f"{identities.digest(GIT_CLEAN)}.json"
        held._storage.put(layout.SOURCES, source, records.encode("source", binding))
        recipe = {"digest": identities.recipe_digest(RECIPE), "id": "unit-test"}
        assert held.start(ALIASED, tool_start(), call(), None, recipe=recipe).kind == "new"
        counted(held)
        runner = Runner(held)
        runner.start()
        counted(held)
        runner.finish()
        counted(held)
        assert held.finish(ALIASED, tool_finish(), call(), None).kind == "new"
        counted(held)
        # The history's record is there from the session's start on, so each count has one more.
        assert counts == [9, 12, 17, 22, 27, 33, 35]
        assert meter.records == 36 == FLOOR_RECORDS - HEADROOM_RECORDS
        assert meter.bytes < FLOOR_BYTES - HEADROOM_BYTES
        with pytest.raises(SpoolFull):
            held.keep_artifact(b"the thirty-seventh")
        assert held.append(ALIASED, capture.turn_end()).kind == "paused"
    print(f"the floor: {meter.records} records, {meter.bytes} bytes at most")
    assert len([each for each in current(spool).values() if each is not None]) <= FLOOR_RECORDS


@pytest.mark.parametrize(
    "bounds",
    [
        {"records": 47},
        {"records": 65_537},
        {"bytes": 65_535},
        {"bytes": 65_536},  # the default bound of an artifact is above it
        {"artifact_bytes": 0},
        {"replay_records": 0},
        {"replay_bytes": 100},
    ],
)
def test_bounds_that_hold_no_lifecycle_are_refused(bounds: dict[str, int]) -> None:
    """Each bound has a floor, and the records of a spool can still be looked at in one scan."""
    with pytest.raises(ValueError, match="than|fit|room"):
        SpoolLimits(**bounds)


def test_limits_only_grow(tmp_path: Path) -> None:
    """A spool keeps what it was allowed to keep."""
    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(records=100))
    with opened(spool) as held:
        with pytest.raises(ValueError, match="raised"):
            held.set_limits(SpoolLimits(records=99))
        held.set_limits(SpoolLimits(records=101))
    with opened(spool) as held:
        assert held.limits.records == 101


def test_a_full_spool_says_once_that_it_pauses_and_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    """One gap for each pause; a later fact has a higher number, and the gap stays."""
    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(records=48))
    with opened(spool) as held:
        kinds = [held.append(stream(), capture.turn_end()).kind for _ in range(30)]
        assert kinds.index("paused") < kinds.index("dropped") and kinds.count("paused") == 1
        assert set(kinds[kinds.index("paused") + 1 :]) == {"dropped"}
        held.set_limits(SpoolLimits(records=60))
        assert held.append(stream(), capture.turn_end()).kind == "new"
        kinds = [held.append(stream(), capture.turn_end()).kind for _ in range(30)]
        assert kinds.count("paused") == 1
    pauses = [each for each in capture.events(spool) if each.get("gap", {}).get("cause") == "quota"]
    assert len(pauses) == 2
    spool_laws.check(spool, {})


def test_what_was_started_is_finished_in_the_headroom(tmp_path: Path) -> None:
    """In a full spool an open action still gets its finish, without the event that does not fit."""
    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(records=48))
    with opened(spool) as held:
        assert held.start(stream(), tool_start(), call(), capture.action()).kind == "new"
        with pytest.raises(SpoolFull):
            for number in range(100):
                held.keep_artifact(bytes([number]))
        assert held.append(stream(), capture.turn_end()).kind == "paused"
        assert held.finish(stream(), tool_finish(), call(), capture.ending).kind == "paused"
        assert held.finish(stream(), tool_finish(), call(), capture.ending).kind == "duplicate"
        assert held.usage.open_actions == 0
    found = spool_laws.check(spool, {})
    assert {phase for _, phase in found.action_phases()} == {"start", "finish"}


def test_a_full_ledger_starts_nothing_and_says_so_once(tmp_path: Path) -> None:
    """The event of the call is kept; after compaction a start fits again."""
    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(records=400))
    with opened(spool) as held, pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "MOST_ACTIVE", 2)
        for number in range(4):
            use = f"t-{number}"
            assert held.start(stream(), tool_start(use), call(use), capture.action()).kind == "new"
            held.finish(stream(), tool_finish(use), call(use), capture.ending)
        gaps = [each.get("gap", {}) for each in capture.events(spool)]
        said = sum(gap.get("cause") == "order_ledger_full" for gap in gaps)
        accept_all(held)
        held.compact()
        assert held.start(stream(), tool_start("t-9"), call("t-9"), capture.action()).kind == "new"
        accept_all(held)
    found = spool_laws.check(spool, {})
    assert len({action for action, _ in found.action_phases()}) == 3
    assert said == 1


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["append", "start", "finish", "close", "defer", "accept", "compact", "body"]
        ),
        st.integers(0, 5),
    ),
    max_size=40,
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(operations=OPERATIONS, records_bound=st.integers(48, 90))
def test_no_sequence_of_operations_passes_the_limits(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int]], records_bound: int
) -> None:
    """Ordinary facts stop before the headroom, everything stops at the limits, and what was started is finished."""
    limits = SpoolLimits(records_bound, 200_000, artifact_bytes=8192)
    spool = made_spool(tmp_path_factory.mktemp("law") / "private" / "spool", limits)
    who = stream(mode=LOCAL)
    for name, number in operations:
        use = f"t-{number}"
        with opened(spool, thorough=False) as held:
            before = held.usage.open_actions
            if name == "append":
                outcome = held.append(who, capture.turn_end()).kind
                ordinary = held.usage.records <= limits.records - HEADROOM_RECORDS
                assert outcome != "new" or ordinary
            elif name == "body":
                held.append(who, capture.message(number, "x" * 3000 * number))
            elif name == "start":
                held.start(who, tool_start(use), call(use), capture.action())
            elif name == "finish":
                held.finish(who, tool_finish(use), call(use), capture.ending)
            elif name == "close":
                closed = held.close_starts(capture.OBSERVED, capture.NOW)
                assert closed == before and held.usage.open_actions == 0
            elif name == "defer":
                held.defer("native-9", capture.message(number), "unavailable", LOCAL)
            elif name == "accept":
                accept_all(held)
            else:
                held.compact()
            assert held.usage.records <= limits.records and held.usage.bytes <= limits.bytes
    spool_laws.check(spool, {})
