"""Code of other distributions while it is imported: it cannot spoil our output, hold us up or end us."""

from __future__ import annotations

import fcntl
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Any

#: Seconds a table of commands may take, which imports next to nothing; plugins may import what they need.
TABLE_LIMIT = 10.0


def described(error: BaseException) -> str:
    """Return type and scrubbed text of what foreign code raised while it was loaded."""
    from agentfeedback.scrub import SUBMIT, Scrubber

    kind = error.kind if isinstance(error, ForeignError) else type(error).__name__
    return f"{kind}: {Scrubber(SUBMIT).text(str(error))}"


class ForeignError(Exception):
    """Foreign code raised what is not an `Exception`, or took too long; `kind` is the class to name."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text

    def __str__(self) -> str:
        return self.text


class ForeignImport:
    """Within `with`, what foreign code prints goes to standard error, and what it raises is an `Exception`.

    That holds for what is written to descriptor 1 too, as C libraries and child processes do. SystemExit, a
    KeyboardInterrupt that no Ctrl-C caused, and any other BaseException become `ForeignError`; so does
    an import that takes longer than `limit` seconds (0: no limit). Signals that somebody else
    handles already are left to them, as are those of another thread than the main one: there is no limit then.
    """

    __slots__ = ("_descriptor", "_handlers", "_interrupted", "_late", "_limit", "_out")

    def __init__(self, limit: float = 0) -> None:
        self._limit = limit

    def __enter__(self) -> None:
        self._interrupted = self._late = False
        self._out = sys.stdout
        _flush(self._out)
        sys.stdout = sys.stderr
        self._descriptor = _standard_output_to_error()
        self._handlers: list[tuple[int, Any]] = []
        self._handle(signal.SIGINT, signal.default_int_handler, self._interrupt)
        if self._limit and self._handle(signal.SIGALRM, signal.SIG_DFL, self._too_late):
            # Again every second: the code may catch the first.
            signal.setitimer(signal.ITIMER_REAL, self._limit, 1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in reversed(self._handlers):
            if number == signal.SIGALRM:
                signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(number, handler)
        _flush(sys.stdout)
        sys.stdout = self._out
        if self._descriptor is not None:
            os.dup2(self._descriptor, 1)
            os.close(self._descriptor)
        if self._interrupted:
            raise KeyboardInterrupt
        if self._late:
            raise ForeignError("TimeoutError", f"not imported within {self._limit:g} s") from error
        if error is not None and not isinstance(error, Exception):
            raise ForeignError(type(error).__name__, str(error)) from error

    def _handle(self, number: int, usual: object, handler: Callable[..., None]) -> bool:
        if signal.getsignal(number) != usual:
            return False
        try:
            self._handlers.append((number, signal.signal(number, handler)))
        except ValueError:  # not the main thread
            return False
        return True

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        raise KeyboardInterrupt

    def _too_late(self, number: int, frame: FrameType | None) -> None:
        self._late = True
        raise TimeoutError


def _standard_output_to_error() -> int | None:
    """Let descriptor 1 write where 2 writes; return a copy of what it was, or None where it is closed."""
    try:
        kept = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)  # never in the place of a closed 2
    except OSError:
        return None
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed: what the code prints goes nowhere
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return kept


def _flush(stream: object) -> None:
    flush = getattr(stream, "flush", None)
    if flush is not None:
        flush()
