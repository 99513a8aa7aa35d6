"""The transport over standard input and output, kept apart from everything else that may read or print.

It feeds the message streams of the SDK, as the SDK's own transport does, and differs in three ways:
JSON of ours goes through as text (`verbatim`), a line that cannot be served is answered, and the end
of the input is held back until what was asked is answered. `stop` is an end of the input at once.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Lock

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.terminal import screen
from agentfeedback_mcp.protocol.verbatim import incoming, outgoing

_BLOCK = 1 << 16
#: Seconds between looks at whether everything is answered.
_LOOK = 0.02


#: The two streams that a server of the SDK runs on.
Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class StdioTransport:
    """Both directions of one client: `streams` for the server, `stop` for any thread and any signal handler."""

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

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Carry messages between the client and a server until the input ends."""
        to_server, incoming_messages = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](0)
        outgoing_messages, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._receive, to_server)
            group.start_soon(self._send, from_server)
            yield incoming_messages, outgoing_messages

    async def _receive(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_server:
            while (message := await to_thread.run_sync(self._next_message)) is not None:
                try:
                    await to_server.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the server ended first

    async def _send(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for sent in from_server:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                line, answered = outgoing(text + "\n")
                # A client that went away is like one that closed the input.
                await to_thread.run_sync(self._put, line)
                self._open.discard(answered)

    def _next_message(self) -> JSONRPCMessage | None:
        """Wait for the next message; None at the end of the input, and after `stop`."""
        while True:
            while self._lines:
                line = incoming(self._lines.popleft())
                self._open.discard(line.cancelled)
                if line.request:
                    self._open.add(line.request)
                if line.message is not None:
                    return line.message
                if line.problem:
                    screen.note(
                        f"agentfeedback mcp: a line without an id was not served: {line.problem}."
                    )
                self._put(line.refusal)
            if self._ended:
                self._answered()
                return None
            ready, _, _ = select.select([self._source, self._woken], [], [])
            if self._woken in ready:
                return None
            self._read()

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
