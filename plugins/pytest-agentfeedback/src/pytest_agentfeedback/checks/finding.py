"""Finding sessions: by names and `stat` alone, whatever is in the store."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Any

from agentfeedback.reading import refs
from agentfeedback.reading.reader import Home, Report
from pytest_agentfeedback.audit import below, watching
from pytest_agentfeedback.subject import Subject, no_faults, replaced

if TYPE_CHECKING:
    from pytest_agentfeedback.corpus import Bench

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


class FindChecks(Subject):
    def test_identity_is_valid(self, bench: Bench) -> None:
        """The reader and each session it lists have names that refs, detectors and states can be made of."""
        reader = self._reader
        faults = []
        if reader.harness != self.harness or not _NAME.fullmatch(reader.harness):
            faults.append(
                f"harness {reader.harness!r}, want {self.harness!r}: words of a-z, 0-9 and dashes"
            )
        if not _NAME.fullmatch(reader.format):
            faults.append(f"format {reader.format!r}, want words of a-z, 0-9 and dashes")
        if type(reader.revision) is not int or reader.revision < 1:
            faults.append(f"revision {reader.revision!r}, want a whole number from 1 on")
        home = str(self._laid(bench).home)
        ids = set()
        for session in self._sessions(bench):
            if session.harness != self.harness:
                faults.append(f"{session.path}: harness {session.harness!r}")
            if not refs.valid_id(session.id):
                faults.append(f"{session.path}: id {session.id!r} can be part of no ref")
            if session.id in ids:
                faults.append(f"{session.path}: a second session {session.id!r}")
            ids.add(session.id)
            if not os.path.isabs(session.path) or not below(session.path, home):
                faults.append(f"{session.path}: no absolute path below the home")
            if not isinstance(session.mtime, int) or session.mtime < 10**17:
                faults.append(f"{session.path}: mtime {session.mtime!r}, want nanoseconds")
        no_faults("not valid", faults)

    def test_absent_store_yields_nothing(self, bench: Bench) -> None:
        """Where the harness never ran there are not sessions and no problems, and the store is absent."""
        empty = bench.fresh()
        for home in (empty, empty / "gone"):
            sessions, report = self._find(home)
            assert (sessions, report.problems, report.state) == ([], [], "absent")
            assert report.location, "an absent store has a location all the same"

    def test_unlistable_directory_is_a_problem(self, bench: Bench) -> None:
        """A directory that cannot be listed is reported, and what is elsewhere is still found."""
        home = str(self._laid(bench).home)
        with watching() as watch:
            before, clean = self._find(home)
        faults = []
        for directory in dict.fromkeys(path for path in watch.listed if below(path, home)):
            refuse = _refusing(directory)
            with replaced(os, scandir=refuse(os.scandir), listdir=refuse(os.listdir)):
                report = Report(self.harness)
                try:
                    after = list(self._reader.find(Home(home, {}), report))
                except Exception as error:  # noqa: BLE001 - whatever it raises is the fault looked for
                    faults.append(f"{directory}: find raises {error!r}")
                    continue
            if report.state != "unreadable" and len(report.problems) <= len(clean.problems):
                faults.append(f"{directory}: nothing is reported")
            lost = {s.id for s in before if not below(s.path, directory)} - {s.id for s in after}
            if lost and report.state != "unreadable":
                faults.append(f"{directory}: sessions elsewhere are lost: {sorted(lost)}")
        no_faults("a directory that cannot be listed", faults)

    def test_find_opens_no_session_file(self, bench: Bench) -> None:
        """Finding opens no session's log; a row store may open its database to read the session rows."""
        home = self._laid(bench).home
        with watching() as watch:
            sessions, _ = self._find(home)
        logs = {session.path for session in sessions}
        opened = sorted({path for path, _ in watch.opened if path in logs})
        if self.row_store:
            opened = []
        else:
            opened += sorted({path for path, _ in watch.connected if below(path, str(home))})
        no_faults("find opens", opened)

    def test_find_lists_the_same_twice(self, bench: Bench) -> None:
        """The same store is found the same, in the same order."""
        home = self._laid(bench).home
        first, second = (
            [(session.ref, session.path, session.identity) for session in self._find(home)[0]]
            for _ in range(2)
        )
        assert first == second


def _refusing(directory: str) -> Any:
    def refuse(real: Any) -> Any:
        def listing(path: Any = ".", /) -> Any:
            if not isinstance(path, int) and os.path.abspath(os.fsdecode(path)) == directory:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)
            return real(path)

        return listing

    return refuse
