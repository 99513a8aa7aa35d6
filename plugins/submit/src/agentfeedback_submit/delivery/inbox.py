"""Files that others drop into the inbox, filed as reports.

A file stays where it is until its report is kept, and its key is made from its name and content: a
killed run leaves it to the next one, for which it is then a duplicate.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable

from attrs import define, field

from agentfeedback.foundation.canonical import quoted
from agentfeedback.foundation.files import directory, regular_bytes
from agentfeedback.foundation.folder import Folder
from agentfeedback.foundation.json_text import NotJson, members, parse, text_bytes
from agentfeedback.foundation.lock import FileLock
from agentfeedback_submissions.envelope import BODY_LIMIT, EnvelopeRefused
from agentfeedback_submissions.texts import trimmed
from agentfeedback_submit.delivery.classify import classify
from agentfeedback_submit.delivery.deliver import Scrub, outcome_of
from agentfeedback_submit.delivery.destination import Destination
from agentfeedback_submit.delivery.flush import Tell
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.delivery.outcome_log import Line, line_of
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote.server import LOCAL

#: What the context of a report from the inbox has as its origin.
ORIGIN = "inbox"
#: Seconds a file may be no whole object, since it may still be written.
_UNFINISHED = 60
#: Seconds one run waits for another.
_PATIENCE = 2.0
#: Bytes of a name that is kept whole: file systems take 255, and ids, numbers and endings are added.
_NAME_BYTES = 180
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@define(eq=False)
class Ingested:
    """What one pass did; `pending` are files that wait for the next one, `skipped` those that are not regular files."""

    ingested: int = 0
    duplicates: int = 0
    rejected: int = 0
    pending: int = 0
    skipped: int = 0


def adopted(name: str, data: bytes) -> bytes | None:
    """The body of a dropped file: `context.origin` set, a key where it has none; None where it is not an object. Pure.

    Everything else stays byte for byte; a context that is not an object is left to the receiver.
    """
    try:
        found = members(data)
    except NotJson:
        return None
    if found is None:
        return None
    raw = dict(found)
    context = raw.get("context", "null")
    inner = {} if context == "null" else _members(context)
    if inner is not None:
        raw["context"] = _object(inner | {"origin": quoted(ORIGIN)})
    key = parse(text_bytes(raw.get("key", "null"))).value
    if key is None or (isinstance(key, str) and not trimmed(key)):
        digest = hashlib.sha256(os.fsencode(name) + b"\x00" + data).hexdigest()
        raw["key"] = quoted(f"inbox-{digest[:32]}")
    return text_bytes(_object(raw))


@define(eq=False)
class Inbox:
    """The folder `inbox/` below a data folder; `now` gives unix seconds. Nothing is made before there is a file."""

    data: str
    destination: Destination
    tell: Tell
    scrub: Scrub = str
    now: Callable[[], float] = time.time
    done: Ingested = field(factory=Ingested)
    _stopped: bool = False

    @property
    def folder(self) -> str:
        """Where files are dropped."""
        return os.path.join(self.data, "inbox")

    def run(self) -> Ingested:
        """File what is there, by name. Raises `OSError`; no file is lost then."""
        names = self._names()
        if not names:
            return self.done
        try:
            lock = os.path.join(self.folder, ".lock")
            with FileLock(lock, time.monotonic() + _PATIENCE) as held:
                try:
                    for name in self._names():
                        self._file(name)
                finally:
                    held.remove()
        except TimeoutError:
            self.done.pending += len(names)
        return self.done

    def _names(self) -> list[str]:
        try:
            found = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return sorted(name for name in found if name.endswith(".json") and name[0] != ".")

    def _file(self, name: str) -> None:
        path = os.path.join(self.folder, name)
        try:
            seen = os.lstat(path)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(seen.st_mode):
            self.done.skipped += 1
            return
        if self._stopped:
            self.done.pending += 1
            return
        if seen.st_size > BODY_LIMIT:
            self._reject(name, seen, f"it is larger than {BODY_LIMIT} bytes")
            return
        try:
            data = regular_bytes(path, BODY_LIMIT, follow=False)
        except OSError:  # not readable, or changed just now
            self.done.pending += 1
            return
        adopted_data = adopted(name, data)
        if adopted_data is None:
            if self.now() - seen.st_mtime < _UNFINISHED:
                self.done.pending += 1
            else:
                self._reject(name, seen, "it is not a JSON object")
            return
        try:
            body = Body.of(adopted_data)
        except EnvelopeRefused as refused:
            self._reject(name, seen, refused.message)
            return
        self._send(name, seen, body)

    def _send(self, name: str, seen: os.stat_result, body: Body) -> None:
        reply = self.destination.send(body)
        verdict = classify(reply, body.kind, body.key)
        outcome = outcome_of(body, reply, verdict, self.scrub)
        if verdict.action == "spool":
            self.done.pending += 1
            # A database that is busy or broken is so for the next file, too.
            self._stopped = verdict.stops or self.destination.name == LOCAL
            return
        if verdict.action in ("mismatch", "reject"):
            self._reject(name, seen, outcome.message or verdict.reason, body, outcome)
            return
        if outcome.outcome == "submitted":
            self.done.ingested += 1
        else:
            self.done.duplicates += 1
        self._move(name, seen, "done", f"{outcome.id}-{_short(name)}")
        self._told(body, outcome)

    def _reject(
        self,
        name: str,
        seen: os.stat_result,
        reason: str,
        body: Body | None = None,
        outcome: SubmitOutcome | None = None,
    ) -> None:
        folder = os.path.join(self.folder, "rejected")
        new, number = _short(name), 2
        while os.path.lexists(os.path.join(folder, new)):
            new, number = f"{_short(name).removesuffix('.json')}-{number}.json", number + 1
        # The reason first: a killed run then leaves none without its file's being tried again.
        text = _UNSAFE.sub(" ", reason).encode("utf-8", "replace") + b"\n"
        Folder(folder).put(f"{new}.reason", text, replace=True)
        self._move(name, seen, "rejected", new)
        self.done.rejected += 1
        if body is not None and outcome is not None:
            self._told(body, outcome)
        else:
            self.tell(Line(outcome="rejected", reason="invalid_body"))

    def _move(self, name: str, seen: os.stat_result, folder: str, new: str) -> None:
        to = os.path.join(self.folder, folder)
        directory(to)
        try:
            found = os.lstat(os.path.join(self.folder, name))
        except FileNotFoundError:
            return
        # What was put in its place meanwhile was not read: it is the next pass's.
        if _identity(found) == _identity(seen):
            Folder(self.folder, durable=False).move(name, new, Folder(to, durable=False))

    def _told(self, body: Body, outcome: SubmitOutcome) -> None:
        self.tell(line_of(outcome, body.session_id))


def _short(name: str) -> str:
    """The name a file is put aside under, cut where nothing could be put before and after it."""
    raw = os.fsencode(name)
    if len(raw) <= _NAME_BYTES:
        return name
    return raw[: _NAME_BYTES - len(".json")].decode("utf-8", "ignore") + ".json"


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _members(raw: str) -> dict[str, str] | None:
    found = members(text_bytes(raw))
    return None if found is None else dict(found)


def _object(raw: dict[str, str]) -> str:
    return "{" + ",".join(f"{quoted(name)}:{value}" for name, value in raw.items()) + "}"
