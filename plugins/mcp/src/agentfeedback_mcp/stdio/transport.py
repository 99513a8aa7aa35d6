"""Standard input and output as lines of the protocol, kept apart from everything else that may read or print.

The SDK reads and writes them as a file. The end of the input is held back until what was asked is
answered; `stop` is an end of the input at once.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_mcp.stdio.verbatim import incoming, outgoing

_BLOCK = 1 << 16
#: Seconds between looks at whether everything is answered.
_LOOK = 0.02


class StdioTransport:
    """Both directions of one client. `readline` is for one thread, `write` for one other, `stop` for any."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._woken, self._wake = os.pipe()
        self._blocks: list[bytes] = []
        self._writing = Lock()
        self._lines: deque[bytes] = deque()
        self._ended = False
        #: Ids of requests without an answer.
        self._open: set[str] = set()

    def readline(self) -> str:
        """The next line; an empty text at the end, and after `stop`."""
        while True:
            while self._lines:
                line = incoming(self._lines.popleft())
                self._open.discard(line.cancelled)
                if line.request:
                    self._open.add(line.request)
                if line.text:
                    return line.text
                self._put(line.refusal)
            if self._ended:
                self._answered()
                return ""
            ready, _, _ = select.select([self._source, self._woken], [], [])
            if self._woken in ready:
                return ""
            self._read()

    def write(self, text: str) -> None:
        """Write one line whole, unless `stop` is called. A client that went away is like one that closed the input."""
        line, id = outgoing(text)
        self._put(line)
        self._open.discard(id)

    def flush(self) -> None:
        """Nothing is kept back."""

    def stop(self) -> None:
        """End the input now, whatever is open. Safe in a signal handler."""
        os.write(self._wake, b"\0")

    def _put(self, line: str) -> None:
        rest = memoryview(line.encode())
        try:
            with self._writing:
                while rest:
                    # A client that reads nothing must not keep `stop` from ending this process.
                    stopped, _, _ = select.select([self._woken], [self._sink], [])
                    if stopped:
                        return
                    with suppress(BlockingIOError):
                        rest = rest[os.write(self._sink, rest[: select.PIPE_BUF]) :]
        except BrokenPipeError:
            self.stop()

    def _read(self) -> None:
        try:
            block = os.read(self._source, _BLOCK)
        except BlockingIOError:
            return
        if not block:
            self._ended = True
            if self._blocks:  # what has no end of line is a line all the same
                block = b"\n"
        first, *more = block.split(b"\n")
        self._blocks.append(first)
        for piece in more:
            self._lines.append(b"".join(self._blocks) + b"\n")
            self._blocks = [piece] if piece else []

    def _answered(self) -> None:
        """Wait until no request is open."""
        while self._open:
            stopped, _, _ = select.select([self._woken], [], [], _LOOK)
            if stopped:
                return


@contextmanager
def standard() -> Iterator[StdioTransport]:
    """The lines of this process. Meanwhile its standard input is empty and what it prints goes to standard error."""
    if sys.stdin is None or sys.stdout is None:
        raise AgentFeedbackError(
            "standard input or output is closed", "let an MCP client start this command"
        )
    sys.stdout.flush()
    source, sink = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.dup2(nothing, 0)
        os.dup2(nothing if sys.stderr is None else 2, 1)
        yield StdioTransport(source, sink)
        sys.stdout.flush()
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(nothing)
