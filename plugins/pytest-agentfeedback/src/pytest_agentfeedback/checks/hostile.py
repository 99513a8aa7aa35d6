"""Any bytes at all: never an exception, never a lost line, and the laws hold."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentfeedback.reading.blocks import BLOCK
from agentfeedback.reading.log import Log
from agentfeedback.reading.tally import Tally
from pytest_agentfeedback import fuzz, laws
from pytest_agentfeedback.recorder import shifted
from pytest_agentfeedback.subject import Subject, no_faults

if TYPE_CHECKING:
    from agentfeedback.reading.reader import Place
    from pytest_agentfeedback.corpus import Bench

_NEAR = 8
#: Bytes of logs of which one is long.
_SHORT, _LONG = 1_000_000, 3_000_000


class Repeated(Log):
    """A log of the same bytes again and again, `size` of them or a little more, made while it is read."""

    def __init__(self, once: bytes, size: int) -> None:
        super().__init__()
        self._once = once * (BLOCK // len(once) + 1)
        self._times = size // len(self._once) + 1

    def blocks(self) -> Iterator[bytes]:
        for _ in range(self._times):
            for start in range(0, len(self._once), BLOCK):
                yield self._once[start : start + BLOCK]


class HostileChecks(Subject):
    #: How many logs at random each check reads; `AGENTFEEDBACK_FUZZ=n` in the environment: n times as many.
    examples: int = 60
    #: How many changed members are tried, spread over all there are; with `AGENTFEEDBACK_FUZZ`, all.
    mutations: int = 3500

    def test_line_that_is_no_object_is_counted(self, bench: Bench) -> None:
        """A line that is not a JSON object is one unparsed line; all others are reported as before, at their offsets."""
        faults = []
        for each in self._logs(bench):
            whole = self._record(each.lines, each.place)
            for index in self._positions(each.lines):
                for name, line in fuzz.NO_OBJECTS.items():
                    lines = [*each.lines[:index], line, *each.lines[index:]]
                    start = sum(len(before) + 1 for before in each.lines[:index])
                    told = shifted(self._record(lines, each.place), 0, 0)
                    want = shifted(whole, start, len(line) + 1)
                    where = f"{each.session.id}, {name} after line {index}"
                    if told.unparsed != tuple(sorted((*want.unparsed, start))):
                        faults.append(f"{where}: unparsed lines at {told.unparsed}")
                    elif told.entries != want.entries:
                        faults.append(f"{where}: the other lines are reported otherwise")
        no_faults("a line that is not an object", faults)

    def test_unknown_line_changes_nothing_else(self, bench: Bench) -> None:
        """A line of an unknown type, and one of 5 MB, leave what other lines tell as it was, at their offsets."""
        faults = []
        for each in self._logs(bench):
            whole = self._record(each.lines, each.place)
            index = max(1, len(each.lines) // 2)
            start = sum(len(before) + 1 for before in each.lines[:index])
            for name, line in fuzz.UNKNOWN.items():
                lines = [*each.lines[:index], line, *each.lines[index:]]
                told = shifted(self._record(lines, each.place), 0, 0)
                want = shifted(whole, start, len(line) + 1)
                if tuple(entry for entry in told.entries if entry.offset != start) != want.entries:
                    faults.append(f"{each.session.id}, {name} after line {index}")
        no_faults("the other lines are reported otherwise", faults)

    def test_any_member_may_have_any_type(self, bench: Bench) -> None:
        """Each member of each line replaced by a value of each JSON type, or left out, raises nothing and loses no line."""
        faults: list[str] = []
        logs = self._logs(bench)
        mutations = list(fuzz.mutations([each.lines for each in logs]))
        for number, index, what, line in fuzz.some(mutations, self.mutations):
            each = logs[number]
            # Among its neighbours: what a line means depends on some lines, not on hundreds.
            before = (
                each.lines[:index]
                if index <= _NEAR
                else [each.lines[0], *each.lines[index - _NEAR : index]]
            )
            lines = [*before, line, *each.lines[index + 1 : index + _NEAR]]
            where = f"{each.session.id}, line {index + 1}, {what}"
            faults += (f"{where}: {fault}" for fault in self._faults(lines, each.place))
        no_faults("a member of another type", faults)

    def test_any_log_is_read(self, bench: Bench) -> None:
        """Logs at random raise nothing, each complete line counts, and a tally counts what a timeline does."""
        place = self._logs(bench)[0].place

        def check(lines: list[bytes]) -> None:
            no_faults(f"log {lines!r:.2000}", self._faults(lines, place))

        self._each_log(bench, check)

    def test_prefix_law_holds_for_any_log(self, bench: Bench) -> None:
        """The prefix law holds for logs at random too: lines permuted, repeated, mutated and cut short."""
        place = self._logs(bench)[0].place

        def check(lines: list[bytes]) -> None:
            whole = self._record(lines, place)
            for cut in self.cuts(lines):
                part = self._record(lines[:cut], place)
                size = sum(len(line) + 1 for line in lines[:cut])
                faults = laws.prefix_faults(part, whole, size)
                no_faults(f"cut after {cut} lines of {lines!r:.3000}", faults)

        self._each_log(bench, check)

    def test_memory_is_bounded_by_one_record(self, bench: Bench) -> None:
        """A long log takes no more memory than its longest record, and what is kept of calls with names of their own."""
        self._skip_row_store("what it keeps of rows is seen where it opens the log")
        logs = self._logs(bench)
        once = b"".join(line + b"\n" for each in logs for line in each.lines)
        reader = self._reader
        peaks = []
        for size in (_SHORT, _LONG):
            log, tally = Repeated(once, size), Tally.for_reader(reader.rewrites)
            tracemalloc.start()
            try:
                reader.read(log, logs[0].place, tally)
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
        # The lines are the same ones again and again: what is kept of the first megabytes is all there is.
        assert peaks[1] < peaks[0] + (_LONG - _SHORT) // 8, (
            f"{_SHORT} bytes: {peaks[0]}, {_LONG} bytes: {peaks[1]}"
        )

    def _each_log(self, bench: Bench, check: object) -> None:
        assert callable(check)
        sessions = [each.lines for each in self._logs(bench)]
        fuzz.each_example(fuzz.logs(sessions), check, self.examples)
        if (more := self.more_logs()) is not None:
            fuzz.each_example(more, check, self.examples)

    def _positions(self, lines: Sequence[bytes]) -> list[int]:
        """After the first line, in the middle and at the end: a first line may be special."""
        return sorted({1, max(1, len(lines) // 2), len(lines)} if lines else {0})

    def _faults(self, lines: Sequence[bytes], place: Place) -> list[str]:
        try:
            told, log = self._recorded(lines, place)
            tally = self._tally(lines, place).counts()
        except Exception as error:  # noqa: BLE001 - whatever it raises is the fault looked for
            return [f"read raises {error!r}"]
        faults = laws.count_faults(tally, told.counts)
        size = sum(len(line) + 1 for line in lines)
        if (log.lines, log.size) != (len(lines), size):
            faults.append(
                f"{log.lines} lines of {log.size} bytes were read, of {len(lines)}, {size}"
            )
        starts, no_objects = set(), set()
        offset = 0
        for line in lines:
            starts.add(offset)
            if fuzz.is_object(line) is False:
                no_objects.add(offset)
            offset += len(line) + 1
        unparsed = set(told.unparsed)
        if len(unparsed) != len(told.unparsed) or not no_objects <= unparsed <= starts:
            faults.append(f"unparsed lines at {told.unparsed}, no objects at {sorted(no_objects)}")
        if both := unparsed & {entry.offset for entry in told.entries}:
            faults.append(f"lines that are unparsed and entries: {sorted(both)}")
        if self.every_object_is_an_entry and tally.entries + tally.unparsed != len(lines):
            faults.append(
                f"{tally.entries} entries and {tally.unparsed} unparsed, of {len(lines)} lines"
            )
        return faults
