"""What a reader is: `Reader` finds sessions below a home, says where each ran, and reports to a sink what its log says.

A reader holds knowledge of one format and nothing else: no policy, no watermark, no caps, no
scrubbing, no offsets. Everything here is public: third parties import it as `agentfeedback.reading.reader`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field, frozen

from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.paths import env_directory
from agentfeedback.reading.session import Session

if TYPE_CHECKING:
    from agentfeedback.reading.drift import Known
    from agentfeedback.reading.log import Log
    from agentfeedback.reading.sink import Sink

__all__ = ["Encoding", "Home", "Place", "Reader", "Report", "Session", "StoreState"]

StoreState = Literal["present", "absent", "unreadable", "unsupported-format"]


@frozen(eq=False)
class Home:
    """Where a reader looks: the home directory and the environment that may move its store.

    With `--home DIR` `path` is DIR and `environ` is empty. `cache` is the caller's own cache
    folder, also with `--home`: a reader that must copy what it reads does so below it; empty
    stands for the system's folder of temporary files. `closed`: the policy refuses every session, so
    `find` goes by names and `stat` alone, opens nothing, and reports what it could list only by
    opening it with `Report.left_closed`. `may_open(directory)`: whether the policy lets a file of that
    absolute directory be opened, for formats whose log is in the project's own folder and alone says which
    sessions it holds. One run has one `Home`: what a reader keeps for the run goes with the object.
    """

    path: str
    environ: dict[str, str] = field(factory=dict)
    cache: str = ""
    closed: bool = False
    may_open: Callable[[str], bool] = field(default=lambda directory: True)

    def directory(self, variable: str, *default: str) -> str:
        """The directory in an environment variable when that is an absolute path, else `default` below the home."""
        return env_directory(self.environ, variable, self.path, *default)


@frozen(eq=False)
class Place:
    """What is known of a session's working directory before its log is opened.

    `paths`: absolute directories the store declares outside the log (or in the one line the gate
    may read). `encoded` with `encodings`: a directory name that only encodes a path; the
    policy then encodes its own entries with `encodings` and compares names. `failed`: the metadata
    that should name the directory could not be read. `first_line` is the line `paths` came from;
    the load refuses a log whose first line is another. `unknown`: the store alone records where the
    session ran, and does not (or not wholly), so that no policy can be asked: the log stays closed.
    """

    paths: tuple[str, ...] = ()
    encoded: str | None = None
    encodings: Callable[[str], Iterable[Encoding]] | None = None
    failed: bool = False
    first_line: bytes | None = None
    unknown: bool = False


@frozen
class Encoding:
    """One way a harness may have written a policy path as a directory name.

    `exact` is false when the harness cut the name, so that a match of `name` as a prefix proves
    nothing and only the read can decide.
    """

    name: str
    exact: bool = True


@define(eq=False)
class Report:
    """What `find` reports of a store beside its sessions: where it is, its state, what it could not list.

    `problems` hold sessions hidden by an error: `(path, reason, is_directory)`.
    """

    harness: str
    location: str = ""
    state: StoreState = "present"
    reason: str = ""
    problems: list[tuple[str, str, bool]] = field(factory=list)

    def store(self, location: str, state: StoreState = "present", reason: str = "") -> None:
        """Name the store and, unless it can be listed, its state and why."""
        self.location, self.state, self.reason = location, state, reason

    def problem(self, path: str, reason: str, *, directory: bool = False) -> None:
        """Name a path whose session (or, for a directory, whose sessions) could not be listed."""
        self.problems.append((path, reason, directory))

    def left_closed(self, path: str, refused: str = "every session") -> None:
        """Name a store file whose sessions are known only by opening it, which the policy forbids.

        `refused` is what it refuses: every session (`Home.closed`), or, say, the folder of the file (`Home.may_open`).
        """
        self.problem(path, f"not opened: the policy refuses {refused}")

    def listing(self, directory: str, *, root: bool = False) -> list[os.DirEntry[str]]:
        """The entries of a directory in byte order of their names; an error is reported, never raised.

        With `root` the directory is the store itself: missing makes the store `absent`, any other
        error `unreadable`. A name that is not UTF-8 is a problem of the store and left out.
        """
        try:
            with os.scandir(directory) as found:
                entries = list(found)
        except (OSError, ValueError) as error:
            missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
            if root:
                self.state = "absent" if missing else "unreadable"
                self.reason = reason_of(error)
            else:
                self.problem(directory, reason_of(error), directory=True)
            return []
        kept = []
        for entry in entries:
            try:
                entry.name.encode()
            except UnicodeEncodeError:
                shown = os.fsencode(entry.path).decode("utf-8", "replace")
                self.problem(shown, "the file name is not UTF-8")
                continue
            kept.append(entry)
        kept.sort(key=lambda entry: os.fsencode(entry.name))
        return kept

    def directories(self, directory: str, *, root: bool = False) -> Iterator[os.DirEntry[str]]:
        """The real directories in a directory (symbolic links are never followed)."""
        for entry in self.listing(directory, root=root):
            if self._is(entry, os.DirEntry.is_dir):
                yield entry

    def files(self, directory: str, *, root: bool = False) -> Iterator[os.DirEntry[str]]:
        """The regular files in a directory (no links, FIFOs, sockets or devices)."""
        for entry in self.listing(directory, root=root):
            if self._is(entry, os.DirEntry.is_file):
                yield entry

    def session(self, entry: os.DirEntry[str], id: str, **more: Any) -> Session | None:
        """A session from a directory entry; a failing `stat` is reported as a problem and gives None."""
        try:
            stat = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.problem(entry.path, reason_of(error))
            return None
        return Session(
            harness=self.harness,
            id=id,
            path=entry.path,
            mtime=stat.st_mtime_ns,
            size=stat.st_size,
            device=stat.st_dev,
            inode=stat.st_ino,
            ctime=stat.st_ctime_ns,
            **more,
        )

    def _is(self, entry: os.DirEntry[str], test: Callable[..., bool]) -> bool:
        try:
            return test(entry, follow_symlinks=False)
        except OSError as error:
            self.problem(entry.path, reason_of(error))
            return False


class Reader:
    """Base class of readers. A reader sets `harness` and `format` and overrides `find`, `read` and mostly `place`.

    `harness` is the word before the colon in a ref, `format` names the log format (the detector of
    a filed report is `<format>/1`), `revision` goes up whenever the reader reports the same log
    differently. New methods always have a default, so an old reader keeps working.
    """

    harness: str = ""
    format: str = ""
    revision: int = 1
    #: False where the format holds too little for a digest (storage only).
    digests: bool = True
    #: True where `read` uses `rewrite`, so that the timeline keeps what an entry said.
    rewrites: bool = False

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        """List the sessions of the store below `home`, by names and `stat` alone; never raises for what is there."""
        raise NotImplementedError

    def place(self, session: Session, *, strict: bool) -> Place:
        """Where the session ran, from outside its log (bounded reads only).

        `strict` is true when the policy holds `deny_paths` or `opt_in_only`: nothing past what the
        gate needs may be read then.
        """
        return Place()

    def open(self, session: Session) -> Log:
        """Open the session's log. The default is a file of lines, decompressed when it ends in `.zst`."""
        from agentfeedback.reading.log import FileLog

        listed = (session.device, session.inode) if session.inode else None
        return FileLog(session.path, listed)

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        """Tell `timeline` what each record of `log` says, in order. Any bytes at all: never raises."""
        raise NotImplementedError

    def known(self) -> Known | None:
        """The record types and fields this reader knows, for `doctor --formats`; None: it does not say."""
        return None


def declared_paths(directory: str | None) -> tuple[str, ...]:
    """The `paths` of a `Place` for the directory a store records: none where it is not absolute."""
    if directory is None or not os.path.isabs(directory) or "\0" in directory:
        return ()
    return (directory,)
