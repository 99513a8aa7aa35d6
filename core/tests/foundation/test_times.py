"""Times of log entries: every day of the calendar there and back, every form, and all that is not a time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.times import (
    digest_form,
    filing_form,
    list_form,
    milliseconds,
    parse,
    table_form,
)

SECOND = 1_000_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST = -62_135_596_800 * SECOND  # 0001-01-01T00:00:00Z
END = 253_402_300_800 * SECOND  # 10000-01-01T00:00:00Z
MOMENTS = st.integers(FIRST, END - 1)


def midnight(day: date) -> int:
    return (day.toordinal() - 719_163) * 86_400 * SECOND


def test_every_year_has_its_leap_day_or_none() -> None:
    """Of every year: its first and last day, the end of February, and 29 February where it exists."""
    for year in range(1, 10_000):
        days = [date(year, 1, 1), date(year, 2, 28), date(year, 3, 1), date(year, 12, 31)]
        leap = date(year, 3, 1) - date(year, 2, 28) == timedelta(days=2)
        if leap:
            days.append(date(year, 2, 29))
        else:
            assert parse(f"{year:04d}-02-29T00:00:00Z") is None
        for day in days:
            text = f"{day.isoformat()}T00:00:00Z"
            assert parse(text) == midnight(day)
            assert table_form(midnight(day)) == text


@pytest.mark.parametrize("year", [1, 1600, 1899, 1900, 1970, 2000, 2026, 2028, 2100, 9999])
def test_every_day_of_a_year(year: int) -> None:
    """Each month begins and ends where the calendar says, in years of every kind."""
    day = date(year, 1, 1)
    while True:
        text = f"{day.isoformat()}T00:00:00Z"
        assert parse(text) == midnight(day)
        assert table_form(midnight(day)) == text
        if (day.month, day.day) == (12, 31):
            break
        day += timedelta(days=1)
    for month in range(1, 13):
        last = 28
        while True:
            try:
                date(year, month, last + 1)
            except ValueError:
                break
            last += 1
        assert parse(f"{year:04d}-{month:02d}-{last + 1:02d}T00:00:00Z") is None


def test_every_second_of_a_day() -> None:
    """Hours, minutes and seconds turn over where they should."""
    for second in range(86_400):
        shown = f"1970-01-01T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
        assert table_form(second * SECOND) == shown
        assert parse(shown) == second * SECOND


def test_the_last_nanosecond_before_a_digit() -> None:
    """Truncation at each digit of a form: 999 of a unit stay below the next."""
    assert digest_form(999_000_000) == "1970-01-01T00:00:00.999Z" == digest_form(999_999_999)
    assert digest_form(998_999_999) == "1970-01-01T00:00:00.998Z"
    assert filing_form(999_999_000) == "1970-01-01T00:00:00.999999Z" == filing_form(999_999_999)
    assert filing_form(999_998_999) == "1970-01-01T00:00:00.999998Z"


@given(MOMENTS)
def test_each_form_is_the_calendars_truncated_to_its_digits(at: int) -> None:
    """The forms agree with `datetime`, cut, never rounded; what a form keeps is read back exactly."""
    seconds, rest = divmod(at, SECOND)
    whole = (EPOCH + timedelta(seconds=seconds)).strftime("%m-%dT%H:%M:%S")
    whole = f"{(EPOCH + timedelta(seconds=seconds)).year:04d}-{whole}"
    assert table_form(at) == f"{whole}Z"
    assert digest_form(at) == f"{whole}.{rest // 1_000_000:03d}Z"
    assert filing_form(at) == f"{whole}.{rest // 1_000:06d}Z"
    assert parse(list_form(at)) == at
    assert parse(digest_form(at)) == at - rest % 1_000_000
    assert parse(filing_form(at)) == at - rest % 1_000


@pytest.mark.parametrize(
    ("nanoseconds", "fraction"),
    [
        (0, ""),
        (500_000_000, ".5"),
        (1, ".000000001"),
        (120_000_000, ".12"),
        (999_999_999, ".999999999"),
    ],
)
def test_a_listing_drops_trailing_zeros(nanoseconds: int, fraction: str) -> None:
    """As many decimals as the time has, and no point where it has none."""
    assert list_form(nanoseconds) == f"1970-01-01T00:00:00{fraction}Z"


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31)),  # noqa: DTZ001
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_an_offset_is_taken_off(local: datetime, minutes: int) -> None:
    """A local time with its offset is the moment `datetime` makes of it, to the microsecond."""
    zoned = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    text = f"{local.isoformat()}{sign}{size // 60:02d}:{size % 60:02d}"
    assert parse(text) == (zoned - EPOCH) // timedelta(microseconds=1) * 1_000


@given(st.text("0123456789", min_size=1, max_size=30), st.sampled_from(".,"))
def test_digits_beyond_nanoseconds_are_dropped(digits: str, point: str) -> None:
    """A fraction of any length counts with its first nine digits, behind a point or a comma."""
    expected = int(digits[:9].ljust(9, "0"))
    assert parse(f"1970-01-01T00:00:00{point}{digits}Z") == expected


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-01T00:00:60Z", 60 * SECOND),
        ("1970-01-01T23:59:59Z", 86_399 * SECOND),
        ("1970-01-01T00:00:00-23:59", 86_340 * SECOND),
        ("1970-01-02T00:00:00+23:59", 60 * SECOND),
        ("0001-01-01T00:00:00Z", FIRST),
        ("9999-12-31T23:59:59.999999999Z", END - 1),
    ],
)
def test_the_last_value_of_each_member_is_a_time(text: str, at: int) -> None:
    """The edges of hours, minutes, seconds, offsets and years."""
    assert parse(text) == at


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00-00:60",
        "1970-00-01T00:00:00Z",
        "1970-13-01T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "0000-12-31T00:00:00-23:59",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:60Z",
        "9999-12-31T23:59:59-00:01",
        "1970-01-01t00:00:00Z",
        "1970-01-01T00:00:00z",
        "1970-01-01T00:00:00",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00Z ",
        "1970-01-01T00:00:00Z\n",
        "\u0661970-01-01T00:00:00Z",
        "1970-01-01 00:00:00Z",
    ],
    ids=repr,
)
def test_anything_else_is_no_time(text: str | None) -> None:
    """One step beyond each edge, and texts of another form."""
    assert parse(text) is None


def test_milliseconds_of_a_row_store() -> None:
    """Whole milliseconds, within the years that have a form."""
    assert milliseconds(None) is None
    assert milliseconds(0) == 0
    assert milliseconds(1_700_000_000_123) == 1_700_000_000_123_000_000
    assert milliseconds(FIRST // 1_000_000) == FIRST
    assert milliseconds(FIRST // 1_000_000 - 1) is None
    assert milliseconds(END // 1_000_000 - 1) == END - 1_000_000
    assert milliseconds(END // 1_000_000) is None
