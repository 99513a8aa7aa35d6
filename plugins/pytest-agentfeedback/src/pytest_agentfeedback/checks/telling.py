"""What is reported of a log: the same each time, whole from the first record on, and each line counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_agentfeedback import laws
from pytest_agentfeedback.recorder import Recorder
from pytest_agentfeedback.subject import Subject, no_faults

if TYPE_CHECKING:
    from pytest_agentfeedback.corpus import Bench


class TellChecks(Subject):
    def test_log_is_told_from_the_file_as_it_lies_there(self, bench: Bench) -> None:
        """What is reported of a session's file is what is reported of its complete lines."""
        faults = []
        for each in self._logs(bench):
            recorder = Recorder(rewrites=self._reader.rewrites)
            log = self._read(each.session, recorder)
            size = sum(len(line) + 1 for line in each.lines)
            if log is None:
                faults.append(f"{each.session.id}: unreadable now")
            elif (log.lines, log.size) != (len(each.lines), size):
                faults.append(
                    f"{each.session.id}: {log.lines} lines of {log.size} bytes were read, "
                    f"it has {len(each.lines)} of {size}"
                )
            elif recorder.recording().facts() != self._record(each.lines, each.place).facts():
                faults.append(f"{each.session.id}: its lines are reported otherwise in memory")
        no_faults("a session file", faults)

    def test_corpus_tells_something(self, bench: Bench) -> None:
        """The corpus holds prompts, calls and results, or no law says anything."""
        told = [self._record(each.lines, each.place) for each in self._logs(bench)]
        assert sum(each.counts.entries for each in told), "no entry in the whole corpus"
        if self._reader.digests:
            assert sum(each.counts.prompts for each in told), "no prompt in the whole corpus"
            assert sum(each.counts.tool_calls for each in told), "no call in the whole corpus"

    def test_unfinished_last_line_is_ignored(self, bench: Bench) -> None:
        """A line without its newline is not there yet."""
        self._skip_row_store("rows are whole")
        faults = []
        for each in self._logs(bench):
            whole, log = self._recorded(each.lines, each.place)
            for rest in dict.fromkeys((*each.lines, b'{"type":"us', b"\xff")):
                other, longer = self._recorded(each.lines, each.place, rest)
                if (other.facts(), longer.size) != (whole.facts(), log.size):
                    faults.append(f"{each.session.id}: {rest[:80]!r} is reported")
        no_faults("an unfinished line", faults)

    def test_prefix_law_holds(self, bench: Bench) -> None:
        """What is reported of the log up to any record stays true of the whole log: the prefix law."""
        faults = []
        for each in self._logs(bench):
            whole = self._record(each.lines, each.place)
            for cut in self.cuts(each.lines):
                part = self._record(each.lines[:cut], each.place)
                size = sum(len(line) + 1 for line in each.lines[:cut])
                faults += [
                    f"{each.session.id}, cut after {cut} lines: {fault}"
                    for fault in laws.prefix_faults(part, whole, size)
                ]
        no_faults("the prefix law", faults)

    def test_log_is_told_the_same_twice(self, bench: Bench) -> None:
        """A reader keeps nothing between two logs: read twice, and among others, a log is reported the same."""
        logs = self._logs(bench)
        first = [self._record(each.lines, each.place).facts() for each in logs]
        again = [self._record(each.lines, each.place).facts() for each in reversed(logs)][::-1]
        no_faults(
            "reported otherwise the second time",
            [
                each.session.id
                for each, one, two in zip(logs, first, again, strict=True)
                if one != two
            ],
        )

    def test_tally_and_timeline_agree(self, bench: Bench) -> None:
        """Listing and digest count the same, and see the same times and directories."""
        faults = []
        for each in self._logs(bench):
            told, tally = self._record(each.lines, each.place), self._tally(each.lines, each.place)
            found = laws.count_faults(tally.counts(), told.counts)
            mine = (tally.first, tally.last, tuple(tally.cwds))
            if mine != (told.first, told.last, told.cwds):
                found.append(f"times and directories: {mine}")
            faults += [f"{each.session.id}: {fault}" for fault in found]
        no_faults("a tally", faults)

    def test_spans_name_one_entry_each(self, bench: Bench) -> None:
        """Spans of prompts and calls are not empty, and only calls of one entry share one."""
        self._law(bench, "spans", laws.span_faults)

    def test_results_follow_their_calls(self, bench: Bench) -> None:
        """No result is reported before its call."""
        self._law(bench, "results", laws.result_faults)

    def test_times_are_nanoseconds(self, bench: Bench) -> None:
        """A time is None or nanoseconds since the epoch, in whatever zone this machine stands."""
        self._law(bench, "times", laws.time_faults)
        if not hasattr(time, "tzset"):
            pytest.skip("this system cannot change its time zone for a process")
        logs = self._logs(bench)
        told = []
        for zone in ("UTC", "Asia/Kolkata", "XYZ+9:30"):
            with _zone(zone):
                told.append([self._record(each.lines, each.place).facts() for each in logs])
        assert told[0] == told[1] == told[2], "times depend on the machine's time zone"

    def _law(self, bench: Bench, what: str, law: object) -> None:
        assert callable(law)
        faults = []
        for each in self._logs(bench):
            recording = self._record(each.lines, each.place)
            faults += [f"{each.session.id}: {fault}" for fault in law(recording)]
        no_faults(what, faults)


@contextmanager
def _zone(name: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        yield
    time.tzset()
