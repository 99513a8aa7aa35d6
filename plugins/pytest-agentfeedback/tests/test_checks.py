"""Each check of the kit catches a reader that breaks what it promises, and passes one that does not."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import socket
from collections.abc import Callable
from datetime import datetime

import pytest

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import FileLog, first_line
from agentfeedback.reading.reader import Place, Session
from agentfeedback.reading.record import decoder
from agentfeedback.reading.tally import Tally
from pytest_agentfeedback import ReaderConformance

#: Shown in test_kit.py, where pytest and syrupy run.
ELSEWHERE = {"test_goldens_match", "test_throughput_is_shown"}
#: Slow where they are not the point.
SLOW = {"test_place_reads_within_its_bound", "test_memory_is_bounded_by_one_record"}
CHECKS = [name for name in dir(ReaderConformance) if name.startswith("test_")]


class Broken:
    """A broken reader: `make(module)` gives its class, `also` are other checks that may see the same fault."""

    def __init__(self, check: str, make: Callable[..., type], also: tuple[str, ...]) -> None:
        self.check = check
        self.make = make
        self.also = also

    def __repr__(self) -> str:
        return f"{self.check}-{self.make.__name__}"


BROKEN: list[Broken] = []


def caught_by(check: str, *also: str) -> Callable[[Callable[..., type]], Callable[..., type]]:
    def keep(make: Callable[..., type]) -> Callable[..., type]:
        BROKEN.append(Broken(f"test_{check}", make, tuple(f"test_{name}" for name in also)))
        return make

    return keep


def failing(bench, *, but: str = "") -> set[str]:
    """The checks that fail for the reader installed now; of the slow ones only `but`, which gets more examples."""
    failed = set()
    for name in CHECKS:
        if name in ELSEWHERE or (name in SLOW and name != but):
            continue

        class Case(ReaderConformance):
            harness = "tiny"
            corpus = "corpus/tiny"
            examples = 120 if name == but else 3

        method = getattr(Case(), name)
        try:
            method(**({"bench": bench} if "bench" in inspect.signature(method).parameters else {}))
        except (Exception, pytest.fail.Exception):  # noqa: BLE001 - a check fails in any way it likes
            failed.add(name)
    return failed


def test_good_reader_passes(site, tiny_bench):
    """The reader that breaks nothing passes every check (the slow ones in test_kit.py)."""
    assert failing(tiny_bench) == set()


def test_every_check_has_a_broken_reader():
    """No check is without a reader that shows what it is for."""
    assert {broken.check for broken in BROKEN} | ELSEWHERE == set(CHECKS)


def test_every_check_says_what_it_promises():
    """Each check has a docstring of one sentence."""
    for name in CHECKS:
        text = inspect.getdoc(getattr(ReaderConformance, name))
        assert text, name
        assert text.endswith("."), name
        assert "\n" not in text, name


# -- finding -----------------------------------------------------------------------------------


@caught_by("identity_is_valid")
def odd_format(module):
    class Tiny(module.Tiny):
        format = "Tiny Log"

    return Tiny


@caught_by("absent_store_yields_nothing")
def absence_is_a_problem(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            found = list(super().find(home, report))
            if report.state == "absent":
                report.problem(report.location, "no such directory", directory=True)
            return found

    return Tiny


@caught_by("unlistable_directory_is_a_problem")
def listing_errors_swallowed(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            found = list(super().find(home, report))
            if report.state == "unreadable":
                report.state = "present"
            return found

    return Tiny


@caught_by("unlistable_directory_is_a_problem")
def listing_errors_raised(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            found = list(super().find(home, report))
            if report.state == "unreadable":
                os.listdir(report.location)
            return found

    return Tiny


@caught_by("find_opens_no_session_file", "refused_session_is_never_opened")
def peeks_while_finding(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            for session in super().find(home, report):
                os.close(os.open(session.path, os.O_RDONLY | os.O_NOATIME))
                yield session

    return Tiny


@caught_by("find_lists_the_same_twice")
def finds_in_any_order(module):
    class Tiny(module.Tiny):
        turn = 0

        def find(self, home, report):
            Tiny.turn += 1
            return list(super().find(home, report))[:: 1 if Tiny.turn % 2 else -1]

    return Tiny


# -- before the gate ---------------------------------------------------------------------------


@caught_by("place_reads_within_its_bound")
def reads_on_past_the_newline(module):
    class Tiny(module.Tiny):
        def place(self, session, *, strict):
            with contextlib.suppress(OSError, UnreadableLog):
                first_line(session.path, 1 << 20, 8192)
            return super().place(session, strict=strict)

    return Tiny


@caught_by("place_reads_within_its_bound")
def forgets_to_be_strict(module):
    class Tiny(module.Tiny):
        def place(self, session, *, strict):
            return super().place(session, strict=False)

    return Tiny


@caught_by("refused_session_is_never_opened", "find_opens_no_session_file")
def opens_while_finding(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            for session in super().find(home, report):
                try:
                    self.open(session).close()
                except (OSError, UnreadableLog):
                    report.problem(session.path, "not readable")
                yield session

    return Tiny


@caught_by("place_does_not_open_the_log", "refused_session_is_never_opened")
def opens_for_the_place(module):
    class Tiny(module.Tiny):
        def place(self, session, *, strict):
            try:
                self.open(session).close()
            except (OSError, UnreadableLog):
                return Place()
            return super().place(session, strict=strict)

    return Tiny


@caught_by("place_never_raises", "damaged_file_is_an_unreadable_session")
def trusts_the_first_line(module):
    class Tiny(module.Tiny):
        def place(self, session, *, strict):
            place = super().place(session, strict=strict)
            if place.first_line is not None:
                json.loads(place.first_line)
            return place

    return Tiny


# -- the store ---------------------------------------------------------------------------------


@caught_by("store_is_untouched", "nothing_is_written_or_sent")
def leaves_an_index(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            yield from super().find(home, report)
            if report.state == "present":
                with open(os.path.join(report.location, "index"), "w") as file:
                    file.write("1")

    return Tiny


@caught_by("nothing_is_written_or_sent")
def opens_for_writing(module):
    class Tiny(module.Tiny):
        def open(self, session):
            flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
            os.close(os.open(session.path, flags))
            return super().open(session)

    return Tiny


@caught_by("nothing_is_written_or_sent")
def uses_a_socket(module):
    class Tiny(module.Tiny):
        def open(self, session):
            socket.socket().close()
            return super().open(session)

    return Tiny


@caught_by("nothing_is_written_or_sent", "store_is_untouched")  # the access time, where it is kept
def connects_to_the_store(module):
    import sqlite3

    class Tiny(module.Tiny):
        def open(self, session):
            with contextlib.suppress(sqlite3.Error):
                sqlite3.connect(session.path).close()
            return super().open(session)

    return Tiny


@caught_by("linked_session_file_is_not_read")
def follows_links(module):
    class Tiny(module.Tiny):
        def find(self, home, report):
            yield from super().find(home, report)
            for entry in os.scandir(report.location) if report.state == "present" else ():
                if entry.is_symlink():
                    yield Session("tiny", entry.name, entry.path, entry.stat().st_mtime_ns)

        def open(self, session):
            return FileLog(os.path.realpath(session.path))

    return Tiny


@caught_by("fifo_is_never_waited_on")
def waits_on_a_fifo(module):
    class Tiny(module.Tiny):
        def open(self, session):
            os.close(os.open(session.path, os.O_RDONLY | os.O_NOATIME | os.O_NOFOLLOW))
            return super().open(session)

    return Tiny


@caught_by("directory_in_a_files_place_is_harmless")
def stumbles_over_a_directory(module):
    class Tiny(module.Tiny):
        def open(self, session):
            if os.path.isdir(session.path):
                raise RuntimeError("a directory")
            return super().open(session)

    return Tiny


@caught_by("damaged_file_is_an_unreadable_session")
def stumbles_over_an_empty_file(module):
    class Tiny(module.Tiny):
        def open(self, session):
            if not session.size:
                raise RuntimeError("empty")
            return super().open(session)

    return Tiny


# -- what is reported ------------------------------------------------------------------------------


@caught_by("log_is_told_from_the_file_as_it_lies_there")
def tells_files_otherwise(module):
    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            super().read(log, place, timeline)
            if isinstance(log, FileLog):
                timeline.note(model="of a file")

    return Tiny


@caught_by("corpus_tells_something")
def knows_no_prompts(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            line.type = "typed" if line.type == "user" else line.type
            super().tell(line, timeline)

    return Tiny


def by_hand(module, *, half_lines: bool, bad_lines: bool) -> type:
    """A reader with a loop of its own over the bytes: what it does with half lines and with bad ones."""

    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            decode = decoder(module.Line)
            *lines, rest = b"".join(log.blocks()).split(b"\n")
            offset = 0
            for line in lines:
                timeline.offset = offset
                record = decode(line)
                if record is not None:
                    self.tell(record, timeline)
                elif bad_lines:
                    timeline.unparsed()
                offset += len(line) + 1
            timeline.offset = offset
            if half_lines and (record := decode(rest)) is not None:
                self.tell(record, timeline)
            log.lines, log.size = len(lines), offset

    return Tiny


@caught_by("unfinished_last_line_is_ignored")
def tells_half_lines(module):
    return by_hand(module, half_lines=True, bad_lines=True)


@caught_by("line_that_is_no_object_is_counted", "any_log_is_read")
def skips_bad_lines(module):
    return by_hand(module, half_lines=False, bad_lines=False)


def looking_ahead(module, forgets: Callable[[list], bool]) -> type:
    """A reader that knows no prompts when `forgets` says so of the whole log."""

    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            told = [(timeline.offset, line) for line in log.records(module.Line, timeline)]
            end = timeline.offset
            forget = forgets([line for _, line in told])
            for offset, line in told:
                timeline.offset = offset
                if forget and line.type == "user":
                    line.type = "typed"
                self.tell(line, timeline)
            timeline.offset = end

    return Tiny


@caught_by("prefix_law_holds", "prefix_law_holds_for_any_log", "memory_is_bounded_by_one_record")
def looks_ahead(module):
    return looking_ahead(module, lambda lines: any(line.type == "stop" for line in lines))


@caught_by("prefix_law_holds_for_any_log")
def looks_ahead_for_what_the_corpus_has_not(module):
    return looking_ahead(module, lambda lines: [line.type for line in lines].count("meta") > 1)


@caught_by("prefix_law_holds", "prefix_law_holds_for_any_log", "labels_hold")
def settles_at_the_end(module):
    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            last = None
            for line in log.records(module.Line, timeline):
                self.tell(line, timeline)
                last = line.id if line.type == "call" else last
            timeline.offset = 0  # as if the first record had said so
            timeline.refine(last, "denied")

    return Tiny


@caught_by(
    "log_is_told_the_same_twice",
    "log_is_told_from_the_file_as_it_lies_there",
    "unfinished_last_line_is_ignored",
    "times_are_nanoseconds",
)
def remembers_other_logs(module):
    class Tiny(module.Tiny):
        reads = 0

        def read(self, log, place, timeline):
            Tiny.reads += 1
            super().read(log, place, timeline)
            timeline.note(model=f"model {Tiny.reads}")

    return Tiny


@caught_by("tally_and_timeline_agree", "any_member_may_have_any_type", "any_log_is_read")
def spares_the_tally(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            if line.type != "user" or not isinstance(timeline, Tally):
                super().tell(line, timeline)

    return Tiny


@caught_by("spans_name_one_entry_each", "labels_hold")
def names_entries_by_type(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            if line.type != "call":
                super().tell(line, timeline)
                return
            timeline.entry("call", line.time)
            timeline.call(line.id, line.tool or "", command=line.command)

    return Tiny


@caught_by("spans_name_one_entry_each")
def leaves_spans_empty(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            if line.type != "user":
                super().tell(line, timeline)
                return
            timeline.entry("", line.time)
            timeline.prompt(line.text or "")

    return Tiny


@caught_by("results_follow_their_calls")
def tells_results_first(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            if line.type == "call":
                timeline.result(line.id, "ok")
            super().tell(line, timeline)

    return Tiny


@caught_by("times_are_nanoseconds")
def tells_milliseconds(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            if line.type == "user":
                timeline.note(1_767_600_000_000)
            super().tell(line, timeline)

    return Tiny


@caught_by("times_are_nanoseconds")
def tells_local_times(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            local = datetime(2026, 1, 5, 7, 0, 0)  # noqa: DTZ001 - the mistake
            timeline.note(int(local.timestamp()) * 1_000_000_000)
            super().tell(line, timeline)

    return Tiny


# -- any bytes ---------------------------------------------------------------------------------


@caught_by("unknown_line_changes_nothing_else")
def settles_on_unknown_lines(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            super().tell(line, timeline)
            if line.type not in ("meta", "user", "say", "call", "result", "stop"):
                timeline.interrupt_open()

    return Tiny


@caught_by("any_member_may_have_any_type", "any_log_is_read", "prefix_law_holds_for_any_log")
def trusts_members(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            super().tell(line, timeline)
            if line.type == "call":
                line.command.split()

    return Tiny


@caught_by("any_log_is_read", "prefix_law_holds_for_any_log", "any_member_may_have_any_type")
def trusts_ids(module):
    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            prompts = set()
            for line in log.records(module.Line, timeline):
                self.tell(line, timeline)
                if line.type == "user" and line.id in prompts:
                    raise KeyError(line.id)
                prompts.add(line.id)

    return Tiny


@caught_by(
    "any_log_is_read",
    "any_member_may_have_any_type",
    "line_that_is_no_object_is_counted",
    "unknown_line_changes_nothing_else",
    "prefix_law_holds_for_any_log",
    "damaged_file_is_an_unreadable_session",
    "log_is_told_from_the_file_as_it_lies_there",
)
def stops_at_what_it_does_not_know(module):
    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            for line in log.records(module.Line, timeline):
                if line.type is None:
                    return
                self.tell(line, timeline)

    return Tiny


@caught_by("memory_is_bounded_by_one_record")
def keeps_the_whole_log(module):
    class Tiny(module.Tiny):
        def read(self, log, place, timeline):
            kept = []
            for line in log.records(module.Line, timeline):
                self.tell(line, timeline)
                kept.append(line)

    return Tiny


# -- the product -------------------------------------------------------------------------------


@caught_by("labels_hold")
def takes_denials_for_errors(module):
    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            line.status = "error" if line.status == "denied" else line.status
            super().tell(line, timeline)

    return Tiny


@caught_by("plugin_imports_lazily")
def imports_eagerly(module):
    plugin = os.path.join(os.path.dirname(module.__file__), "__init__.py")
    with open(plugin, "a") as file:
        file.write("\nfrom agentfeedback_tiny.reader import Tiny\n")
    return module.Tiny


@pytest.mark.parametrize("broken", BROKEN, ids=repr)
def test_broken_reader_is_caught(broken, site, tiny_bench, monkeypatch):
    """A reader broken on purpose fails the check that promises otherwise, and none that has nothing to do with it."""
    module = importlib.import_module("agentfeedback_tiny.reader")
    monkeypatch.setattr(module, "Tiny", broken.make(module))

    failed = failing(tiny_bench, but=broken.check)

    assert broken.check in failed
    assert failed <= {broken.check, *broken.also}
