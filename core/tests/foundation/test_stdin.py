"""Standard input, bounded in size and time."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

import pytest

from agentfeedback.foundation.stdin import read_until


@pytest.fixture
def pipe() -> Iterator[int]:
    """The writing end of a pipe that is descriptor 0 meanwhile."""
    kept = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    yield writing
    os.dup2(kept, 0)
    os.close(kept)
    with contextlib.suppress(OSError):
        os.close(writing)


def test_everything_up_to_the_end_is_read(pipe: int) -> None:
    """However many pieces it comes in; an end is not waited past."""
    os.write(pipe, b"ab")
    os.write(pipe, b"cd")
    os.close(pipe)
    assert read_until(time.monotonic() + 10, 100) == b"abcd"


def test_one_byte_over_the_limit_shows_that_there_is_more(pipe: int) -> None:
    """No more than that is read, and the rest is not waited for."""
    os.write(pipe, b"x" * 50)
    assert read_until(time.monotonic() + 10, 20) == b"x" * 21
    assert read_until(time.monotonic() + 10, 28) == b"x" * 29


def test_what_is_there_is_read_although_the_deadline_has_passed(pipe: int) -> None:
    """A process that was kept from running still gets its payload; an open end is not waited for."""
    os.write(pipe, b"late")
    assert read_until(time.monotonic() - 5, 100) == b"late"
    assert read_until(time.monotonic() - 5, 100) == b""


def test_closed_standard_input_is_empty(pipe: int) -> None:
    """A harness may start a hook without one."""
    os.close(0)
    assert read_until(time.monotonic() + 10, 100) == b""
    os.open(os.devnull, os.O_RDONLY)
