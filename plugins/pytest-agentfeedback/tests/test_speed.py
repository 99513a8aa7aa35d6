"""The speed of a reader is a ratio of one run: what it costs and what parsing the same lines costs."""

from __future__ import annotations

import importlib
import re

import pytest

from pytest_agentfeedback.speed import ENOUGH, Speed


@pytest.fixture
def tiny(site):
    return importlib.import_module("agentfeedback_tiny.reader").Tiny()


def test_few_lines_are_repeated_until_they_can_be_measured(tiny, reader_speed):
    """All lines are counted as often as one of them, and reader and floor have the same ones."""
    lines = [b'{"kind":"prompt","text":"x"}', b'{"kind":"note"}', b"not JSON at all"]
    speed = reader_speed(tiny, lines)
    assert speed.size >= ENOUGH
    assert speed.lines % len(lines) == 0
    assert speed.size == speed.lines // len(lines) * sum(len(line) + 1 for line in lines)
    assert speed.reading > 0 and speed.floor > 0


def test_a_log_that_is_long_enough_is_read_as_it_is(tiny, reader_speed):
    """What can be measured is not repeated."""
    lines = [b'{"kind":"prompt","text":"%s"}' % (b"x" * ENOUGH)] * 2
    assert reader_speed(tiny, lines).lines == 2


def test_speed_is_said_with_its_distance_from_the_floor():
    """The summary has what compares between machines: the ratio."""
    speed = Speed(size=4_000_000, lines=1000, reading=0.03, floor=0.02)
    assert str(speed) == "133 MB/s, 30.0 microseconds a line, 1.50 times the floor of orjson"
    assert re.fullmatch(r"1\.50*\d*", f"{speed.ratio:.3f}")
