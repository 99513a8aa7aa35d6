"""The store is read and nothing else: not changed, not waited on, and what it holds stays on this machine."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from typing import TYPE_CHECKING, Any

from agentfeedback.reading.tally import Tally
from pytest_agentfeedback.audit import watching
from pytest_agentfeedback.corpus import FIRST_TIME
from pytest_agentfeedback.recorder import Recorder
from pytest_agentfeedback.subject import Subject, content_files, no_faults

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentfeedback.reading.reader import Session
    from pytest_agentfeedback.corpus import Bench

#: Seconds after which a read of a FIFO is taken to wait for ever.
_PATIENCE = 3.0


class StoreChecks(Subject):
    def test_store_is_untouched(self, bench: Bench) -> None:
        """Bytes, times, inodes, modes and names of the store are after a full run what they were before."""
        laid = self._own(bench)
        before, seen = _snapshot(laid.home), _read_times(laid.home)
        sessions = self._read_all(laid.home)
        refs = [session.ref for session in sessions]
        laid.run("sessions", "list", "--harness", self.harness, "--json")
        laid.run("sessions", "digest", *refs, "--json", "--allow-unknown-project")
        laid.run("sessions", "mark", *refs, "--outcome", "nothing", "--json")
        reads, after = _read_times(laid.home), _snapshot(laid.home)
        faults = [
            f"{path}: {before.get(path, 'not there')} became {after.get(path, 'not there')}"
            for path in sorted(before.keys() | after.keys())
            if before.get(path) != after.get(path)
        ]
        if not self.row_store and hasattr(os, "O_NOATIME"):
            logs = {session.path for session in sessions}
            faults += [f"{path}: its access time" for path in logs if seen[path] != reads[path]]
        no_faults("the store changed", faults)

    def test_nothing_is_written_or_sent(self, bench: Bench) -> None:
        """Reading opens no file of the store for writing, uses no socket and starts no process."""
        home = self._own(bench).home
        with watching() as watch:
            self._read_all(home)
        no_faults("while reading", watch.writes_below(str(home)) + watch.outside)

    def test_linked_session_file_is_not_read(self, bench: Bench) -> None:
        """A symbolic link in the place of a session's file is not listed, or its log cannot be opened."""
        self._skip_row_store("its database may be a link")
        laid = self._own(bench)
        faults = []
        for session in self._find(laid.home)[0]:
            target = laid.base / "elsewhere"
            os.rename(session.path, target)
            os.symlink(target, session.path)
            for found in self._find(laid.home)[0]:
                linked = found.path == session.path
                if linked and not found.unsupported and self._read(found, Tally()) is not None:
                    faults.append(f"{found.path}: read through the link")
            os.unlink(session.path)
            os.rename(target, session.path)
        no_faults("a symbolic link", faults)

    def test_fifo_is_never_waited_on(self, bench: Bench) -> None:
        """A FIFO in the place of a session's file holds nothing up."""
        self._in_its_place(bench, "a FIFO", os.mkfifo)

    def test_directory_in_a_files_place_is_harmless(self, bench: Bench) -> None:
        """A directory in the place of a session's file makes nothing raise."""
        self._in_its_place(bench, "a directory", os.mkdir)

    def test_damaged_file_is_an_unreadable_session(self, bench: Bench) -> None:
        """A session file cut anywhere, emptied or overwritten never makes anything raise."""
        home = self._own(bench).home
        faults = []
        listed = (session.path for session in self._some(self._find(home)[0]))
        for session_path, path in ((each, file) for each in listed for file in content_files(each)):
            with open(path, "rb") as file:
                content = file.read()
            half = len(content) // 2
            for name, damaged in (
                ("cut short", content[:half]),
                ("its start lost", content[half:]),
                ("overwritten", content[:half] + b"\0\xff" * 200 + content[half + 400 :]),
                ("random", hashlib.sha512(content).digest() * 8),
                ("empty", b""),
            ):
                with open(path, "wb") as damaged_file:
                    damaged_file.write(damaged)
                faults += _raised(f"{path}, {name}", self._read_all, home, session_path)
            with open(path, "wb") as damaged_file:
                damaged_file.write(content)
        no_faults("a damaged file", faults)

    def _read_all(self, home: Path, only: str = "") -> list[Session]:
        """Find all sessions and read them, or those at one path alone."""
        sessions = self._find(home)[0]
        reader = self._reader
        for session in sessions:
            if not session.unsupported and only in ("", session.path):
                self._read(session, Tally.for_reader(reader.rewrites))
                self._read(session, Recorder(rewrites=reader.rewrites))
        return sessions

    def _in_its_place(self, bench: Bench, what: str, make: Callable[[str], None]) -> None:
        laid = self._own(bench)
        aside = str(laid.base / "aside")
        faults: list[str] = []
        for session in self._some(self._find(laid.home)[0]):
            os.rename(session.path, aside)
            make(session.path)

            def reading(session: Session = session) -> None:
                where = f"{what}: {session.path}"
                faults.extend(_raised(where, self._read_all, laid.home, session.path))
                # Listed while it was a file, something else when its turn came.
                faults.extend(_raised(where, self._read, session, Tally()))

            if waited := not _finishes(reading, session.path):
                faults.append(f"{session.path}: waited on")
            os.rmdir(session.path) if os.path.isdir(session.path) else os.unlink(session.path)
            os.rename(aside, session.path)
            if waited:
                break
        no_faults(what, faults)


def _raised(where: str, call: Callable[..., Any], *arguments: Any) -> list[str]:
    try:
        call(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the fault looked for
        return [f"{where}: raises {error!r}"]
    return []


def _finishes(call: Callable[[], None], path: str) -> bool:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    waited = thread.is_alive()
    while thread.is_alive():  # let go of it: a writer that comes and leaves ends the wait
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            break
        thread.join(0.05)
    return not waited


def _snapshot(home: Path) -> dict[str, tuple[Any, ...]]:
    """Names, and for each its mode, inode, links, owner, size, time and hash; reading times are put back."""
    found: dict[str, tuple[Any, ...]] = {}
    for folder, directories, names in os.walk(home):
        for path in (os.path.join(folder, name) for name in (*directories, *names)):
            seen = os.lstat(path)
            content = ""
            if stat.S_ISREG(seen.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
                os.utime(path, ns=(FIRST_TIME, seen.st_mtime_ns))
            found[path] = (
                stat.filemode(seen.st_mode),
                seen.st_ino,
                seen.st_nlink,
                seen.st_uid,
                seen.st_size if stat.S_ISREG(seen.st_mode) else 0,
                seen.st_mtime_ns,
                content,
            )
    return found


def _read_times(home: Path) -> dict[str, int]:
    return {
        path: os.lstat(path).st_atime_ns
        for folder, _, names in os.walk(home)
        for path in (os.path.join(folder, name) for name in names)
    }
