"""A server of the API to test against, over real sockets on loopback: a real one, and one for each thing that may go wrong.

What goes wrong is chosen by the base URL: below `<url>/<name of an answer>` every request gets that answer.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from agentfeedback.state.database import Database
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions

#: The largest answer that a client takes, and a little more.
TOO_MUCH = (48 << 20) + 1
#: Set by tests: how long a slow answer takes, in seconds.
SLOW = 30.0


class Request:
    """What was asked."""

    def __init__(self, handler: Handler, body: bytes) -> None:
        self.method = handler.command
        self.path = handler.path
        self.headers = dict(handler.headers.items())
        self.names = [name.lower() for name in handler.headers]
        self.body = body
        self.connection = handler.client_address[1]


class Handler(BaseHTTPRequestHandler):
    """Answers by the first part of the path."""

    protocol_version = "HTTP/1.1"
    server: Server

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.server.requests.append(Request(self, body))
        _, first, *rest = self.path.split("/", 2)
        if first in ANSWERS:
            ANSWERS[first](self, body)
        elif first == "api":
            self._real(f"/{first}/{rest[0]}", body)
        else:
            self.answer(404, {"error": "not_found", "message": "no such route"})

    do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = _any  # noqa: N815 - names of the base

    def _real(self, path: str, body: bytes) -> None:
        if self.headers.get("X-Api-Key") != self.server.key:
            self.answer(401, {"error": "unauthorized", "message": "the key is wrong"})
        elif (self.command, path) == ("GET", "/api/v1/meta"):
            self.answer(200, self.server.meta)
        else:
            self._served(urlsplit(path), body)

    def _served(self, url: SplitResult, body: bytes) -> None:
        service, query = self.server.service, parse_qsl(url.query, keep_blank_values=True)
        name = url.path.rpartition("/")[2]
        routes: dict[tuple[str, str], Callable[[], ApiResponse]] = {
            ("POST", "/api/v1/submissions"): lambda: service.create(body),
            ("GET", "/api/v1/submissions"): lambda: service.list(query),
            ("POST", "/api/v1/submissions/processed"): lambda: service.mark_all(body),
            ("GET", f"/api/v1/submissions/{name}"): lambda: service.get(name),
            ("DELETE", f"/api/v1/submissions/{name}"): lambda: service.redact(name),
            ("GET", "/api/v1/stats"): lambda: service.stats(query),
            ("GET", "/api/v1/export"): lambda: service.export(query),
            ("POST", "/api/v1/import"): lambda: service.import_(body),
        }
        route = routes.get((self.command, url.path))
        if route is None:
            self.answer(404, {"error": "not_found", "message": "no such route"})
            return
        reply = route()
        self.raw(reply.status, reply.encoded(), {"X-Request-Id": reply.request_id})

    def answer(self, status: int, body: Any, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.raw(status, json.dumps(body).encode(), named)

    def raw(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if status not in (204, 304):
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """One server; `requests` is all that was asked of it."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, folder: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.key = "key-of-" + "the-test-server-1"
        self.requests: list[Request] = []
        self.service = Service(SqliteSubmissions(Database(f"{folder}/server.db", "submissions")))
        self.meta: Any = {
            "client": {"min_version": "0.1.0", "latest_known": "0.1.0"},
            "features": ["sessions.push"],
            "dedupe_window_s": 86400,
        }
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, address: Any) -> None:
        """A client that went away is what some tests are about."""


def _record(body: bytes, **other: Any) -> dict[str, Any]:
    given = json.loads(body) if body else {}
    record = {"id": 7, "uid": "01a22c67-3499-7dba-a585-e5b41f2f9e22", "kind": given.get("kind")}
    return {"submission": record | {"key": given.get("key")} | other, "warnings": []}


def _status(
    status: int, message: str = "it is so", **headers: str
) -> Callable[[Handler, bytes], None]:
    def answer(handler: Handler, body: bytes) -> None:
        given = {name: value() if callable(value) else value for name, value in headers.items()}
        handler.answer(status, {"error": "some_error", "message": message}, **given)

    return answer


def _created(status: int, **other: Any) -> Callable[[Handler, bytes], None]:
    return lambda handler, body: handler.answer(status, _record(body, **other))


def _sent(status: int, body: bytes) -> Callable[[Handler, bytes], None]:
    return lambda handler, _: handler.raw(status, body)


def _slow(handler: Handler, body: bytes) -> None:
    time.sleep(SLOW)


def _drip(handler: Handler, body: bytes) -> None:
    """A header that never ends: every byte comes in time, the answer never does."""
    for char in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000:
        handler.wfile.write(bytes((char,)))
        time.sleep(0.02)


def _drip_body(handler: Handler, body: bytes) -> None:
    handler.send_response(201)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(10_000):
        handler.wfile.write(b" ")
        time.sleep(0.02)


def _closed(handler: Handler, body: bytes) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def _cut_short(handler: Handler, body: bytes) -> None:
    handler.raw(201, b'{"submission":', {"Content-Length": "1000"})
    _closed(handler, body)


def _garbage(handler: Handler, body: bytes) -> None:
    handler.wfile.write(b"220 mail.example ESMTP\r\n")
    _closed(handler, body)


def _too_much(handler: Handler, body: bytes) -> None:
    handler.send_response(201)
    handler.send_header("Content-Length", str(TOO_MUCH))
    handler.end_headers()
    block = b" " * (1 << 20)
    for _ in range(49):
        handler.wfile.write(block)


def _empties(handler: Handler, body: bytes) -> None:
    """Forty megabytes that would be gigabytes as a tree."""
    handler.send_response(201)
    handler.send_header("Content-Length", str(40 << 20))
    handler.end_headers()
    block = b"[" + b"[]," * (1 << 19)
    with suppress(OSError):  # the client goes away early
        for _ in range(27):
            handler.wfile.write(block)


def _echo(handler: Handler, body: bytes) -> None:
    """A refusal that sends back what it was sent, the key too."""
    headers = dict(handler.headers.items())
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    message = f"not with {headers}, nor {secret}, \x1b[31m"
    handler.answer(422, {"error": "no", "message": message}, X_Request_Id=headers["X-Api-Key"])


def _redirect(status: int) -> Callable[[Handler, bytes], None]:
    return lambda handler, _: handler.raw(status, b"", {"Location": "/api/v1/submissions"})


ANSWERS: dict[str, Callable[[Handler, bytes], None]] = {
    "created": _created(201),
    "repeated": _created(200),
    "wrong-kind": _created(201, kind="other"),
    "wrong-key": _created(201, key="other"),
    "no-id": _created(201, id=None),
    "zero-id": _created(201, id=0),
    "true-id": _created(201, id=True),
    "text-id": _created(201, id="7"),
    "accepted": _created(202),
    "empty": _sent(201, b""),
    "no-content": _sent(204, b""),
    "no-json": _sent(201, b"<html>welcome to the hotel</html>"),
    "list": _sent(201, b"[1]"),
    "deep": _sent(201, b"[" * 100_000),
    "too-much": _too_much,
    "empties": _empties,
    "many-values": _sent(201, b'{"a":[%s[]]}' % (b"[]," * 201_000)),
    "many-levels": _sent(201, b'{"a":%s}' % (b"[" * 64 + b"]" * 64)),
    **{
        f"status-{status}": _status(status)
        for status in (
            400,
            401,
            403,
            404,
            405,
            408,
            409,
            410,
            413,
            415,
            418,
            422,
            429,
            451,
            499,
            500,
            501,
            502,
            503,
            504,
            599,
        )
    },
    **{f"moved-{status}": _redirect(status) for status in (300, 301, 302, 303, 304, 307, 308)},
    "later-120": _status(503, Retry_After="120"),
    "wait-120": _status(429, Retry_After="120"),
    "later-days": _status(503, Retry_After="864000"),
    "later-now": _status(503, Retry_After="0"),
    "later-odd": _status(429, Retry_After="soon, maybe"),
    "later-date": _status(
        503,
        Retry_After=lambda: time.strftime(
            "%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 900)
        ),
    ),
    "slow": _slow,
    "drip": _drip,
    "drip-body": _drip_body,
    "closed": _closed,
    "cut-short": _cut_short,
    "garbage": _garbage,
    "echo": _echo,
    # Members of the API with values that are none of it.
    "odd-page": lambda handler, _: handler.answer(
        200,
        {
            "submissions": [{"id": 1, "kind": "note"}],
            "total": "one",
            "id": -1,
            "groups": [{}],
            "updated": None,
        },
    ),
}


if __name__ == "__main__":  # as a process of its own, for tests that fork
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        print(server.url, flush=True)
        sys.stdin.read()
