"""Serve an application over HTTP until the process is asked to end; then finish what is open."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of


def address(text: str) -> tuple[str, int]:
    """Host and port of `host:port`; an IPv6 address is in brackets. Raises `UsageError`."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{text!r} is not an address", "write it like 127.0.0.1:8090")
    return host, int(port)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises `AgentFeedbackError`."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise AgentFeedbackError(
            f"{host}:{port} cannot be listened on: {reason_of(error)}", "choose another address"
        ) from None


def serve(
    app: ASGIApp, sock: socket.socket, *, grace_s: float, started: Callable[[], None]
) -> None:
    """Serve on a socket until SIGINT or SIGTERM; requests that are open then have `grace_s` seconds."""
    _Server(configuration(app, grace_s), started).run(sockets=[sock])


def configuration(app: ASGIApp, grace_s: float) -> uvicorn.Config:
    """How an application is served; uvicorn itself logs nothing of a request."""
    return uvicorn.Config(
        app,
        access_log=False,  # the application's own log has no path in it
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(grace_s)),
        ws="none",
    )


class _Server(uvicorn.Server):
    """Ends with status 0 after a signal, where uvicorn would send it to itself again."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
