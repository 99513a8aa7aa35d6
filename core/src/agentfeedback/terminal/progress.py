"""One line on standard error that says how far a long run is; it leaves nothing behind."""

from __future__ import annotations

import os
import sys
from time import monotonic

from agentfeedback.terminal.screen import Screen, is_terminal, shorten, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Self

_DELAY = 0.5  # seconds before a run is long enough to be worth a line
_PAUSE = 0.1  # seconds between two updates
_ERASE = "\r\x1b[K"


class Progress:
    """Counts steps of `total` (0: not known), silent unless standard error can erase a line.

    Use it as a context manager, or call `done` before anything else is printed.
    """

    __slots__ = ("_clock", "_due", "_label", "_room", "_shown", "_stream", "_total", "count")

    def __init__(
        self,
        label: str,
        total: int = 0,
        *,
        stream: IO[str] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        stream = sys.stderr if stream is None else stream
        usable = is_terminal(stream) and os.environ.get("TERM", "") not in ("", "dumb")
        self._stream = stream if usable else None
        self._room = Screen.of(stream, os.environ).columns - 1 if usable else 0
        self._label = label
        self._total = total
        self._clock = clock
        self._due = clock() + _DELAY if usable else 0.0
        self._shown = False
        self.count = 0

    def step(self, n: int = 1) -> None:
        """`n` more are done."""
        self.count += n
        if self._stream is None:
            return
        now = self._clock()
        if now < self._due:
            return
        self._due = now + _PAUSE
        self._shown = True
        of = f"/{self._total}" if self._total else ""
        self._print(_ERASE + shorten(visible(f"{self._label} {self.count}{of}"), self._room))

    def done(self) -> None:
        """Erase the line."""
        if self._shown:
            self._shown = False
            self._print(_ERASE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done()

    def _print(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, UnicodeError):
            # A terminal that went away must not end the run it only watches.
            self._stream = None
