"""An owner-only cache of what unchanged sessions give a report: spans, times, tools, keyed hashes. No text of a log.

It is apart from the cache of listing facts, so that a listing does not load it. An entry holds for one
identity of the session's file and one revision of its reader, as there; the policy is asked again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from agentfeedback.digest.detect import DETECTOR_VERSION
from agentfeedback.foundation.files import small_file
from agentfeedback.foundation.folder import Folder
from agentfeedback.reading.load import LogFacts
from agentfeedback.reading.reader import Place, Reader, Session
from agentfeedback.report.facts import SessionEvents
from agentfeedback.sessions.cache_file import VERSION, CacheFile
from agentfeedback.wire.records import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

#: A file written this shortly before it was read (nanoseconds) may be written again within one tick of its clock.
_SETTLED = 2_000_000_000
_KEY_BYTES = 32


class _Kept(msgspec.Struct, array_like=True, gc=False):
    identity: tuple[int, int, int, int, int]
    revision: str
    last: int | None
    cwds: list[str]
    declared: bool
    paths: list[str]
    events: SessionEvents


class _File(msgspec.Struct):
    version: str
    sessions: dict[str, _Kept]


class EventsCache:
    """What the sessions of one store give a report. `folder` is made by `folder_of`, `now` the clock in nanoseconds."""

    def __init__(
        self, folder: str, harness: str, location: str, key: bytes, now: Callable[[], int]
    ) -> None:
        self._file = CacheFile(folder, harness, location)
        # What was kept under another key groups with nothing of today.
        self._version = f"{VERSION}/{DETECTOR_VERSION}/{hashlib.sha256(key).hexdigest()[:8]}"
        kept = self._file.read(_File)
        self._kept = kept.sessions if kept is not None and kept.version == self._version else {}
        self._now: dict[str, _Kept] = {}
        self._changed = False
        self._clock = now
        self._began = now()

    def find(
        self, reader: Reader, session: Session
    ) -> tuple[LogFacts, SessionEvents, Place, bool] | None:
        """What an unchanged session gives, where it declared to have run, and whether the log itself declares that."""
        kept = self._kept.get(session.path)
        if kept is None or kept.identity != session.identity or kept.revision != _revision(reader):
            return None
        self._now[session.path] = kept
        facts = LogFacts(None, kept.last, kept.cwds, Counts(), 0, "")
        return facts, kept.events, Place(paths=tuple(kept.paths)), kept.declared

    def keep(
        self,
        reader: Reader,
        session: Session,
        place: Place,
        facts: LogFacts,
        events: SessionEvents,
    ) -> None:
        """Keep what was read, if a later version of its file could be recognised."""
        settled = self._began - max(session.mtime, session.ctime) > _SETTLED
        if not session.inode or not settled or facts.boundary is not None:
            return
        declared = place.first_line is not None and not place.failed
        kept = _Kept(
            session.identity,
            _revision(reader),
            facts.last,
            facts.cwds,
            declared,
            list(place.paths),
            events,
        )
        try:
            msgspec.msgpack.encode((session.path, kept))
        except (OverflowError, UnicodeEncodeError):
            return  # what has no form there is read again each time
        self._now[session.path] = kept
        self._changed = True

    def save(self) -> None:
        """Write what is new, and keep what was not asked for: a report asks for the sessions of a period."""
        if self._changed:
            self._file.write(_File(self._version, {**self._kept, **self._now}), self._clock())


def folder_of(cache: str) -> tuple[str, bytes]:
    """The folder of these caches below the program's, and this machine's key of their hashes.

    Where no key can be kept it is made for this run alone, and nothing kept earlier is used.
    """
    folder = os.path.join(cache, "report")
    key = secrets.token_bytes(_KEY_BYTES)
    with suppress(OSError):  # unreadable, or not to be written: this run goes on without a cache
        known = small_file(os.path.join(folder, "key"), _KEY_BYTES)
        if known is not None and len(known) == _KEY_BYTES:
            return folder, known
        Folder(folder, durable=False).put("key", key, replace=True)
    return folder, key


def _revision(reader: Reader) -> str:
    return f"{reader.format}/{reader.revision}"
