"""An owner-only cache of listing facts: what was read from a log, kept while its file stays as it is. No text of a log.

One file per store in the cache directory. It is never trusted: a file that is missing, damaged, of
another version or not ours counts as empty and is written again, by rename, so that two processes
only ever see whole files. An entry holds for one identity of the session's file (device, inode,
size, times) and one revision of its reader; what the policy says is never kept.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec

from agentfeedback.reading.load import LogFacts
from agentfeedback.reading.reader import Place, Reader, Session
from agentfeedback.sessions.cache_file import SUFFIX, VERSION, CacheFile, read
from agentfeedback.wire.records import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentfeedback.sessions.find import FoundStore

#: A file written this shortly before it was read (nanoseconds) may be written again within one tick of
#: its clock, unseen: its facts are not kept.
_SETTLED = 2_000_000_000


class _Kept(msgspec.Struct, array_like=True, gc=False):
    """What is kept of one session. `paths` are its declared directories; `declared`: by the log's own first line."""

    identity: tuple[int, int, int, int, int]
    revision: str
    first: int | None
    last: int | None
    cwds: list[str]
    counts: tuple[int, int, int, int, int, int, int]
    size: int
    head: str
    declared: bool
    paths: list[str]


class _File(msgspec.Struct):
    version: str
    sessions: dict[str, _Kept]


class FactsCache:
    """The facts of one store's sessions.

    `directory` is the program's cache directory, `now` the clock in nanoseconds since the epoch.
    """

    def __init__(
        self,
        directory: str,
        harness: str,
        location: str,
        *,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._file = CacheFile(os.path.join(directory, "listing"), harness, location)
        self._kept = _sessions(self._file.read(_File))
        self._now: dict[str, _Kept] = {}
        self._changed = False
        # Before anything is read: what is written while a long scan runs is too new as well.
        self._clock = now
        self._began = now()

    def find(self, reader: Reader, session: Session) -> tuple[LogFacts, Place, bool] | None:
        """The facts of an unchanged session, where it declared to have run, and whether the log itself declares that.

        Where it does not, the place has to be asked for again: other files than the log say it, and
        the facts hold only while they say the same.
        """
        kept = self._kept.get(session.path)
        if kept is None or kept.identity != session.identity or kept.revision != _revision(reader):
            return None
        self._now[session.path] = kept
        counts = Counts(*kept.counts)
        facts = LogFacts(kept.first, kept.last, kept.cwds, counts, kept.size, kept.head)
        return facts, Place(paths=tuple(kept.paths)), kept.declared

    def keep(self, reader: Reader, session: Session, place: Place, facts: LogFacts) -> None:
        """Keep what was read, if a later version of the file could be recognised."""
        settled = self._began - max(session.mtime, session.ctime) > _SETTLED
        if not session.inode or not settled or facts.boundary is not None:
            return
        counts = facts.counts
        kept = _Kept(
            identity=session.identity,
            revision=_revision(reader),
            first=facts.first,
            last=facts.last,
            cwds=facts.cwds,
            counts=(
                counts.entries,
                counts.prompts,
                counts.tool_calls,
                counts.tool_errors,
                counts.interrupts,
                counts.denials,
                counts.unparsed,
            ),
            size=facts.size,
            head=facts.head,
            declared=place.first_line is not None and not place.failed,
            paths=list(place.paths),
        )
        try:
            msgspec.msgpack.encode((session.path, kept))
        except (OverflowError, UnicodeEncodeError):
            return  # a time of another millennium, or a path that is not UTF-8: read again each time
        self._now[session.path] = kept
        self._changed = True

    def save(self, *, whole: bool) -> None:
        """Write what is new; `whole` says that every session of the store was asked for, so that others can go.

        A cache that cannot be written costs time at the next run and nothing else.
        """
        if whole:
            if not self._changed and len(self._now) == len(self._kept):
                return
            sessions = self._now
        else:
            if not self._changed:
                return
            sessions = {**self._kept, **self._now}
        self._file.write(_File(VERSION, sessions), self._clock())


def caches_of(
    directory: str, stores: Iterable[FoundStore], now: Callable[[], int]
) -> dict[str, FactsCache]:
    """The cache of each store, by harness; the arguments are those of `FactsCache`."""
    return {
        store.harness: FactsCache(directory, store.harness, store.report.location, now=now)
        for store in stores
    }


def kept(directory: str) -> tuple[str, int, int, int]:
    """The folder of the cache, and how many files, bytes and sessions are there that this program would use."""
    folder = os.path.join(directory, "listing")
    files = size = sessions = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and (usable := _sessions(read(entry.path, _File))):
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_size
                    sessions += len(usable)
    except OSError:  # none there, or not ours to read: nothing of it is used then
        return folder, 0, 0, 0
    return folder, files, size, sessions


def _revision(reader: Reader) -> str:
    return f"{reader.format}/{reader.revision}"


def _sessions(found: _File | None) -> dict[str, _Kept]:
    return found.sessions if found is not None and found.version == VERSION else {}
