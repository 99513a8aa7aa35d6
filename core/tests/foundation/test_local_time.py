"""Days and offsets of the machine's time zone, on both sides of its changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from agentfeedback.foundation.local_time import day_of, midnight, offset

SECOND = 1_000_000_000


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """The machine's time zone is the one the test is given, as POSIX spells it: no table of zones is needed."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> int:
    """A time of UTC in nanoseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.parametrize(
    ("zone", "moment", "day", "shown"),
    [
        ("UTC0", "2026-03-01T23:59:59", date(2026, 3, 1), "+00:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59", date(2026, 3, 29), "+01:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00", date(2026, 3, 29), "+02:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-07-01T21:59:59", date(2026, 7, 1), "+02:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-07-01T22:00:00", date(2026, 7, 2), "+02:00"),
        ("NST3:30", "2026-01-01T03:29:59", date(2025, 12, 31), "-03:30"),
        ("NST3:30", "2026-01-01T03:30:00", date(2026, 1, 1), "-03:30"),
        ("NPT-5:45", "2026-01-01T18:15:00", date(2026, 1, 2), "+05:45"),
        ("NPT-5:45", "2026-01-01T18:14:59", date(2026, 1, 1), "+05:45"),
        ("UTC0", "1969-12-31T23:59:59", date(1969, 12, 31), "+00:00"),
    ],
    indirect=["zone"],
)
def test_a_moment_is_on_a_local_day(zone: None, moment: str, day: date, shown: str) -> None:
    """To the second, and before the epoch too."""
    found = at(moment)
    assert day_of(found) == day_of(found + SECOND - 1) == day.toordinal()
    assert offset(found) == shown


@pytest.mark.parametrize(
    ("zone", "day", "moment"),
    [
        ("UTC0", date(2026, 3, 1), "2026-03-01T00:00:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", date(2026, 3, 29), "2026-03-28T23:00:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", date(2026, 3, 30), "2026-03-29T22:00:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", date(2026, 10, 26), "2026-10-25T23:00:00"),
        ("NST3:30", date(2026, 1, 1), "2026-01-01T03:30:00"),
    ],
    indirect=["zone"],
)
def test_a_day_begins_at_its_midnight(zone: None, day: date, moment: str) -> None:
    """Also on the days on which the clocks change, and the day before ends there."""
    begin = midnight(day)
    assert begin == at(moment)
    assert (day_of(begin), day_of(begin - 1)) == (day.toordinal(), day.toordinal() - 1)


@pytest.mark.parametrize("zone", ["UTC0"], indirect=True)
def test_a_change_of_the_zone_counts_at_once(zone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered of one zone is not said of another."""
    found = at("2026-01-01T23:30:00")
    before = day_of(found)
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    assert day_of(found) == before + 1


@pytest.mark.parametrize("zone", ["UTC0"], indirect=True)
def test_a_year_that_the_system_does_not_know_is_the_first_day(zone: None) -> None:
    """A log may hold any time: such a session is as old as can be, and nothing raises."""
    for far in (10**30, -(10**30), 400_000 * 365 * 86_400 * SECOND):
        assert day_of(far) == 1
