"""How fast a reader counts a log, beside the floor: what it costs at least to parse the same lines.

Times of two machines say nothing beside each other, and one machine is not always as fast; their
ratio, taken in one run, does. Nothing here is compared with a bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import orjson

from agentfeedback.reading import Log, Place, Reader
from agentfeedback.reading.tally import Tally

#: Bytes a log is repeated to, so that its time can be measured.
ENOUGH = 2_000_000
#: How often reader and floor are measured, in turn: the least of each counts, since other load only adds.
_ROUNDS = 3


class Speed(NamedTuple):
    """What counting some lines costs: CPU seconds of the reader, and of `orjson.loads` for each line."""

    size: int
    lines: int
    reading: float
    floor: float

    @property
    def ratio(self) -> float:
        """The reader's cost in that of the floor; a reader that skips what it does not know comes below 1."""
        return self.reading / self.floor

    def __str__(self) -> str:
        """As the summary of a run says it."""
        return (
            f"{self.size / self.reading / 1e6:.0f} MB/s, "
            f"{self.reading / self.lines * 1e6:.1f} microseconds a line, "
            f"{self.ratio:.2f} times the floor of orjson"
        )


def speed_of(
    reader: Reader,
    lines: Sequence[bytes],
    place: Place,
    log_of: Callable[[Sequence[bytes]], Log],
) -> Speed:
    """Count the lines of a log, repeated where they are few, and parse the same lines.

    Args:
        reader: The reader to measure.
        lines: Complete lines without their newlines; at least one.
        place: What the reader's `place` says of the session.
        log_of: Makes the log that `reader.read` takes.
    """
    size = sum(len(line) + 1 for line in lines)
    repeated = list(lines) * (ENOUGH // size + 1)
    reading, floor = [], []
    for _ in range(_ROUNDS):
        log, tally = log_of(repeated), Tally.for_reader(reader.rewrites)
        reading.append(_seconds(lambda log=log, tally=tally: reader.read(log, place, tally)))  # type: ignore[misc]
        floor.append(_seconds(lambda: _parse(repeated)))
    total = size * (len(repeated) // len(lines))
    return Speed(total, len(repeated), min(reading), min(floor))


def _seconds(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return max(time.process_time() - began, 1e-9)


def _parse(lines: Sequence[bytes]) -> None:
    for line in lines:
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
