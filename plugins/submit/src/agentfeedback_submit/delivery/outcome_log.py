"""The outcome log of the cache: what became of each report, a line each, never what is in it.

Past 10 MiB the file is moved to `.1`, over what is there. A line that cannot be written stops
nothing: the log may be lost with the cache.
"""

from __future__ import annotations

import os
import time

from attrs import define

from agentfeedback.foundation import times
from agentfeedback.foundation.folder import Folder
from agentfeedback.foundation.lock import FileLock
from agentfeedback.wire.encode import encode, omitted
from agentfeedback_submit.delivery.outcome import SubmitOutcome

#: Bytes past which the file is moved aside.
LIMIT = 10 << 20
#: Seconds another process may hold the log while it moves it.
_PATIENCE = 1.0


@define(eq=False)
class Line:
    """One line. `outcome` is a word of an outcome line, `flushed`, or `expired`."""

    ts: str = ""
    outcome: str = ""
    kind: str = omitted("")
    key: str = omitted("")
    id: int | None = omitted()
    request_id: str = omitted("")
    reason: str = omitted("")
    session_id: str = omitted("")


def line_of(outcome: SubmitOutcome, session_id: str = "") -> Line:
    """The line of an outcome."""
    return Line(
        outcome=outcome.outcome,
        kind=outcome.kind,
        key=outcome.key,
        id=outcome.id,
        request_id=outcome.request_id,
        reason=outcome.reason,
        session_id=session_id,
    )


class OutcomeLog:
    """The log below a cache folder."""

    def __init__(self, cache: str) -> None:
        self.path = os.path.join(cache, "log", "client.jsonl")

    def write(self, line: Line) -> None:
        """Append a line with the time of now. Raises `OSError`."""
        line.ts = times.digest_form(time.time_ns())
        folder, name = os.path.split(self.path)
        log = Folder(folder, durable=False)
        text = encode(line) + b"\n"
        if self._full():
            # Two processes that moved it at once would move the new file over the old one.
            with FileLock(f"{self.path}.lock", time.monotonic() + _PATIENCE):
                log.append(name, text, limit=LIMIT)
        else:
            log.append(name, text, limit=2**63)

    def _full(self) -> bool:
        try:
            return os.lstat(self.path).st_size > LIMIT
        except FileNotFoundError:
            return False
