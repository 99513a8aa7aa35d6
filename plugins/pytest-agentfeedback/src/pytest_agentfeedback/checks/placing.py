"""Before the gate: how little is read, and that what is refused stays closed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from agentfeedback.reading.log import Log
from pytest_agentfeedback.audit import watching
from pytest_agentfeedback.subject import Subject, content_files, no_faults, replaced

if TYPE_CHECKING:
    from agentfeedback.reading.reader import Reader, Session
    from pytest_agentfeedback.audit import Watch
    from pytest_agentfeedback.corpus import Bench

#: What a reader may read of one file before the gate.
_BOUND = 1 << 20
#: What it may read past a first line's newline.
_PAST = 511
_READ_BYTES = "/proc/thread-self/io"


class PlaceChecks(Subject):
    def test_place_reads_within_its_bound(self, bench: Bench) -> None:
        """Of a log the gate's read takes the first line, at most 1 MiB, and 511 bytes more; none more when strict."""
        self._skip_row_store("its session rows are read in C, out of sight")
        if not os.path.exists(_READ_BYTES):
            pytest.skip(f"the bytes read are counted by {_READ_BYTES}, which this system has not")
        faults = []
        sessions = self._find(self._own(bench).home)[0]
        # What is read of a compressed file is not what it holds.
        for session in (plain := [s for s in sessions if not s.path.endswith(".zst")]):
            with open(session.path, "rb") as file:
                line = len(file.readline())
            self._reader.place(
                session, strict=False
            )  # an import on first use is not a reading of its
            faults += self._beyond(session, line)
        assert plain, "find lists no session that is not compressed"
        session = plain[0]
        with open(session.path, "wb") as file:
            file.write(b'{"endless":"' + b"x" * (3 * _BOUND))
        faults += self._beyond(session, _BOUND + 1)
        no_faults("place reads too much", faults)

    def test_refused_session_is_never_opened(self, bench: Bench) -> None:
        """A session whose place the policy refuses is listed as denied and its log is not opened."""
        laid = self._own(bench)
        reader = self._reader
        known: dict[str, Session] = {}
        places: set[str] = set()
        for session in self._find(laid.home)[0]:
            place = reader.place(session, strict=True)
            if place.paths or place.encoded is not None:
                known[session.id] = session
                places.update(place.paths)
        # Where everything is refused a database is not opened, so none of its sessions is listed.
        refused = json.dumps(sorted(places) if self.row_store else ["/"])
        opened: list[str] = []
        with _noting_opens(type(reader), opened):
            laid.configure("[collect]\ndisabled = true\n")
            with watching() as watch:
                self._states(laid)
            files = {session.path for session in self._find(laid.home)[0]}
            touched = [] if self.row_store else [path for path, _ in watch.opened if path in files]
            no_faults("opened though all collecting is disabled", opened + touched)
            laid.configure(f"[collect]\ndeny_paths = {refused}\n")
            states = self._states(laid)
        faults = [
            f"{id} is {states.get(id)}, want denied" for id in known if states.get(id) != "denied"
        ]
        faults += [f"{id} was opened" for id in known if id in opened]
        no_faults("a session the policy refuses", faults)

    def test_place_does_not_open_the_log(self, bench: Bench) -> None:
        """Where a session ran is asked without the door that is behind the gate."""
        reader, sessions = self._reader, self._sessions(bench)
        opened: list[str] = []
        with _noting_opens(type(reader), opened):
            for session in sessions:
                for strict in (False, True):
                    reader.place(session, strict=strict)
        no_faults("place opens the log of", opened)

    def test_place_never_raises(self, bench: Bench) -> None:
        """Whatever a session's file holds, or if it is gone, its place is known or not, and nothing is raised."""
        reader = self._reader
        faults = []
        for session in self._some(self._find(self._own(bench).home)[0]):
            for name, content in _HOSTILE.items():
                for path in content_files(session.path):
                    _write(path, content)
                for strict in (False, True):
                    try:
                        reader.place(session, strict=strict)
                    except Exception as error:  # noqa: BLE001 - whatever it raises is the fault looked for
                        faults.append(f"{session.id}, {name}: {error!r}")
        no_faults("place raises", faults)

    def _beyond(self, session: Session, line: int) -> list[str]:
        reader = self._reader
        faults = []
        for strict in (False, True):
            with watching() as watch:
                before = _bytes_read()
                own = _bytes_read() - before
                reader.place(session, strict=strict)
                count = _bytes_read() - before - 2 * own
            allowed = min(line, _BOUND + 1) + (0 if strict else _PAST) + _others(watch, session)
            # The count itself is read from a file, whose length varies by some digits.
            if count > allowed + _DIGITS:
                faults.append(f"{session.id}: {count} bytes, at most {allowed} (strict={strict})")
        return faults

    def _states(self, laid: Any) -> dict[str, str]:
        refs = [f"{self.harness}:{session.id}" for session in self._find(laid.home)[0]]
        laid.run("sessions", "digest", *refs, "--json", "--allow-unknown-project")
        outcome = laid.run("sessions", "list", "--harness", self.harness, "--json")
        assert outcome.status == 0, outcome.stderr
        return {
            each["session_id"]: each["state"] for each in json.loads(outcome.stdout)["sessions"]
        }


_DIGITS = 16
_HOSTILE: dict[str, bytes | None] = {
    "empty": b"",
    "no newline": b'{"type":"session_meta"',
    "not UTF-8": b"\xff\xfe\x00\n\xff",
    "a list": b"[]\n",
    "deep nesting": b'{"payload":' + b"[" * 100_000 + b"\n",
    "odd members": b'{"type":"session_meta","cwd":5,"payload":{"cwd":["/srv"]}}\n',
    "gone": None,
}


def _write(path: str, content: bytes | None) -> None:
    if content is None:
        os.unlink(path)
    else:
        with open(path, "wb") as file:
            file.write(content)


def _noting_opens(kind: type[Reader], opened: list[str]) -> Any:
    real = kind.open

    def noting(self: Reader, session: Session) -> Log:
        opened.append(session.id)
        return real(self, session)

    return replaced(kind, open=noting)


def _others(watch: Watch, session: Session) -> int:
    """The bytes of other files that were opened, each within the bound."""
    paths = {path for path, _ in watch.opened if path not in (session.path, _READ_BYTES)}
    return sum(min(os.path.getsize(path), _BOUND) for path in paths if os.path.isfile(path))


def _bytes_read() -> int:
    with open(_READ_BYTES, "rb", buffering=0) as file:
        return int(file.read(512).split(b"rchar:", 1)[1].split(None, 1)[0])
