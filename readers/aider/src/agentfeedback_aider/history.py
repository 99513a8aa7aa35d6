"""The file `.aider.chat.history.md`: where each session in it begins."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from agentfeedback.reading import text_lines

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


def parts(path: str) -> list[Part]:
    """The sessions of a history, in their order; raises OSError and `UnreadableLog`.

    The answer of a model may hold a line like a heading. One counts where Aider's own start lines
    follow it, which name its version, and its time is not before that of the session above.
    """
    found: list[Part] = []
    candidate: tuple[str, int, int] | None = None
    latest: datetime | None = None
    offset = 0
    for line, (raw, size) in enumerate(text_lines(path), 1):
        heading = _HEADING.match(raw.rstrip(b"\r\n"))
        if heading is not None:
            candidate = (heading[1].decode(), offset, line)
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


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - its zone is not recorded
    except ValueError:
        return None
