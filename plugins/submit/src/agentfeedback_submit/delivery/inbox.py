"""Files that others drop into the inbox, filed as reports.

A file stays where it is until its report is kept, and its key is made from its name and content: a
killed run leaves it to the next one, for which it is then a duplicate.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable

from attrs import define, field

from agentfeedback.foundation.canonical import quoted
from agentfeedback.foundation.files import directory, open_regular, read_all
from agentfeedback.foundation.folder import Folder
from agentfeedback.foundation.json_text import NotJson, members, parse, text_bytes
from agentfeedback.foundation.lock import FileLock
from agentfeedback.scrub import cut
from agentfeedback.wire.encode import encode
from agentfeedback_submissions.envelope import BODY_LIMIT, EnvelopeRefused
from agentfeedback_submissions.texts import trimmed
from agentfeedback_submit.delivery.classify import classify
from agentfeedback_submit.delivery.deliver import Scrub, outcome_of
from agentfeedback_submit.delivery.destination import Destination
from agentfeedback_submit.delivery.flush import Tell
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.delivery.outcome_log import line_of
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote.server import LOCAL

#: What the context of a report from the inbox has as its origin.
ORIGIN = "inbox"
#: Seconds a file may be no whole object, since it may still be written.
_UNFINISHED = 60
#: Seconds one run waits for another.
_PATIENCE = 2.0
#: Bytes of a name: what file systems take, and what leaves room for `.reason` and for its being written.
_NAME_BYTES, _ASIDE_BYTES = 255, 200
#: Bytes of a server's answer that are kept beside a refused file.
_ANSWER = 1 << 16
#: Why a file is refused here, as an outcome has it.
INVALID, TOO_LARGE = "invalid_body", "body_too_large"


class NotUsable(Exception):
    """A dropped object that no report can be made of; the text says why."""


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

    A context that is not an object moves to `context_raw`, unless the body has one: then it is left
    to the receiver. Everything else stays byte for byte. Raises `NotUsable` for a key of another type.
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
    if inner is None and "context_raw" not in raw:
        raw["context_raw"], inner = context, {}
    if inner is not None:
        raw["context"] = _object(inner | {"origin": quoted(ORIGIN)})
    key = parse(text_bytes(raw.get("key", "null"))).value
    if key is not None and not isinstance(key, str):
        raise NotUsable("the key is not a string")
    if key is None or not trimmed(key):
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
    #: The paths that were left where they are.
    skipped: list[str] = field(factory=list)
    _stopped: bool = False

    @property
    def folder(self) -> str:
        """Where files are dropped."""
        return os.path.join(self.data, "inbox")

    def run(self) -> Ingested:
        """File what is there, by name. Raises `OSError`; no file is lost then.

        No link is followed: the folder and those in it have to be folders themselves.
        """
        for folder in (
            self.folder,
            *(os.path.join(self.folder, name) for name in ("done", "rejected")),
        ):
            _require_folder(folder)
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
            self.skipped.append(path)
            return
        if self._stopped:
            self.done.pending += 1
            return
        if seen.st_size > BODY_LIMIT:
            self._refuse(name, seen, TOO_LARGE, f"it is larger than {BODY_LIMIT} bytes")
            return
        try:
            data = self._read(path, seen)
        except OSError:  # not readable, or changed just now
            self.done.pending += 1
            return
        try:
            adopted_data = adopted(name, data.removeprefix(codecs.BOM_UTF8))
        except NotUsable as error:
            self._refuse(name, seen, INVALID, str(error))
            return
        if adopted_data is None:
            # A time yet to come is a clock's fault, and no reason to wait.
            if 0 <= self.now() - seen.st_mtime < _UNFINISHED:
                self.done.pending += 1
            else:
                self._refuse(name, seen, INVALID, "it is not a JSON object")
            return
        try:
            body = Body.of(adopted_data)
        except EnvelopeRefused as refused:
            reason = TOO_LARGE if refused.status == 413 else "rejected"
            self._refuse(name, seen, reason, refused.message)
            return
        self._send(name, seen, body)

    def _read(self, path: str, seen: os.stat_result) -> bytes:
        """The bytes of the file that was looked at. Raises OSError, also where its name holds another by now."""
        descriptor = open_regular(path)
        try:
            if _identity(os.fstat(descriptor)) != _identity(seen):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            return read_all(descriptor, BODY_LIMIT)
        finally:
            os.close(descriptor)

    def _send(self, name: str, seen: os.stat_result, body: Body) -> None:
        reply = self.destination.send(body)
        verdict = classify(reply, body.kind, body.key, self.scrub)
        outcome = outcome_of(body, reply, verdict, self.scrub)
        if verdict.action == "spool":
            self.done.pending += 1
            # A database that is busy or broken is so for the next file, too.
            self._stopped = verdict.stops or self.destination.name == LOCAL
            return
        if verdict.action in ("mismatch", "reject"):
            answer = reply.encoded() if reply.body or reply.text else b""
            text = self.scrub(answer.decode("utf-8", "replace"))
            self._put_aside(name, seen, outcome, text)
            self.done.rejected += 1
            self._told(body, outcome)
            return
        if outcome.outcome == "submitted":
            self.done.ingested += 1
        else:
            self.done.duplicates += 1
        before = f"{outcome.id}-"
        self._move(name, seen, "done", before + _tail(name, _NAME_BYTES - len(before)))
        self._told(body, outcome)

    def _refuse(self, name: str, seen: os.stat_result, reason: str, message: str) -> None:
        """Put a file aside that is sent nowhere."""
        outcome = SubmitOutcome("rejected", reason=reason, message=message)
        self._put_aside(name, seen, outcome)
        self.done.rejected += 1
        self.tell(line_of(outcome))

    def _put_aside(
        self, name: str, seen: os.stat_result, outcome: SubmitOutcome, answer: str = ""
    ) -> None:
        folder = os.path.join(self.folder, "rejected")
        new = _tail(name, _ASIDE_BYTES)
        if os.path.lexists(os.path.join(folder, new)):
            at = f"-{int(self.now() * 1e9)}.json"
            new = _tail(name.removesuffix(".json"), _ASIDE_BYTES - len(at)) + at
        # The reason first: a killed run then leaves none without its file's being tried again.
        lines = [encode(outcome), cut(answer, _ANSWER).replace("\n", " ").encode()]
        text = b"\n".join(line for line in lines if line) + b"\n"
        Folder(folder).put(f"{new}.reason", text, replace=True)
        self._move(name, seen, "rejected", new)

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


def _tail(name: str, most: int) -> str:
    """A name cut from the left to at most so many bytes."""
    raw = os.fsencode(name)
    return name if len(raw) <= most else raw[-most:].decode("utf-8", "ignore")


def _require_folder(path: str) -> None:
    """Raise NotADirectoryError for what is there and is not a folder itself."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _members(raw: str) -> dict[str, str] | None:
    found = members(text_bytes(raw))
    return None if found is None else dict(found)


def _object(raw: dict[str, str]) -> str:
    return "{" + ",".join(f"{quoted(name)}:{value}" for name, value in raw.items()) + "}"
