"""The file `.aider.chat.history.md`: where each session in it begins, and its lines as records."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from agentfeedback.reading import Record, RowLog, UnreadableLog, dumps, open_regular

#: Bytes read at a time, and the most that are kept of one line.
_BLOCK = 1 << 20
#: Lines below a heading among which Aider names its version.
_START_LINES = 64
_HEADING = re.compile(rb"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ ]*$")
_VERSION = b"> Aider v"
_PROMPT = b"#### "
#: How far back the clock of a machine may go between two sessions: at the end of summer time.
_CLOCK = timedelta(hours=2)


class Part(NamedTuple):
    """One session in a history: from its heading (`start`, a byte; `line`, from 1) to the next one's."""

    started: str
    start: int
    end: int
    line: int


class Row(Record):
    """One line of a history; `line` counts from 1 in the file."""

    line: int | None = None
    text: str | None = None


def parts(path: str) -> list[Part]:
    """The sessions of a history, in their order; raises OSError and `UnreadableLog`.

    The answer of a model may hold a line like a heading. One counts where Aider's own start lines
    follow it, which name its version, and its time is not before that of the session above.
    """
    found: list[Part] = []
    candidate: tuple[str, int, int] | None = None
    latest: datetime | None = None
    offset = 0
    for line, (raw, size, _) in enumerate(_lines(_opened(path)), 1):
        heading = _HEADING.match(raw.rstrip(b"\r\n"))
        if heading is not None:
            started = heading[1].decode()
            candidate = (started, offset, line)
        elif candidate is not None and raw.startswith(_VERSION):
            time = _time(candidate[0])
            if time is not None and (latest is None or time >= latest - _CLOCK):
                latest = time if latest is None else max(latest, time)
                if found:
                    found[-1] = found[-1]._replace(end=candidate[1])
                found.append(Part(candidate[0], candidate[1], candidate[1], candidate[2]))
            candidate = None
        elif candidate is not None and (
            raw.startswith(_PROMPT) or line > candidate[2] + _START_LINES
        ):
            candidate = None
        offset += size
    if found:
        found[-1] = found[-1]._replace(end=offset)
    return found


class HistoryLog(RowLog):
    """The complete lines of one session in a history, each a record.

    `expected` is device and inode of the file that was listed. Raises OSError and `UnreadableLog`
    when it is opened, the latter while it is read, too: the file is another one, or shorter.
    """

    def __init__(self, path: str, part: Part, expected: tuple[int, int]) -> None:
        self._descriptor = _opened(path)
        self._part = part
        status = os.fstat(self._descriptor)
        if (status.st_dev, status.st_ino) != expected or status.st_size < part.end:
            self.close()
            raise UnreadableLog("the history changed since it was listed")
        super().__init__(self._laid_out())

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _laid_out(self) -> Iterator[bytes]:
        part = self._part
        line, left = part.line, part.end - part.start
        os.lseek(self._descriptor, part.start, os.SEEK_SET)
        for raw, size, complete in _lines(os.dup(self._descriptor)):
            left -= size
            if left < 0 or not complete:
                return
            yield dumps({"line": line, "text": raw.rstrip(b"\n").decode("utf-8", "replace")})
            line += 1


def _opened(path: str) -> int:
    try:
        return open_regular(path)
    except OSError as error:
        if error.errno is None:  # it is a pipe, a folder or a link
            raise UnreadableLog(str(error)) from None
        raise


def _lines(descriptor: int) -> Iterator[tuple[bytes, int, bool]]:
    """The lines of a file from where its descriptor stands: the start of each, its bytes, and whether it has its end.

    The descriptor is closed at the end.
    """
    with os.fdopen(descriptor, "rb", buffering=_BLOCK) as file:
        while kept := file.readline(_BLOCK):
            size, last = len(kept), kept
            while not last.endswith(b"\n") and (more := file.readline(_BLOCK)):
                size, last = size + len(more), more
            yield kept, size, last.endswith(b"\n")


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - local time, see local_time
    except ValueError:
        return None
