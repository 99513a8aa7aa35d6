"""A site: routes under one guard. What a server offers, made into an ASGI application.

The guard is what every request passes: it gets an id, its path has to be in its one form, its key is checked
before anything else looks at it, and whatever goes wrong below becomes an answer with the same shape.
"""

from __future__ import annotations

import re
import secrets
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import anyio
import prometheus_client
from anyio import to_thread
from attrs import field, frozen
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentfeedback.foundation.errors import StoreError
from agentfeedback_web import bodies
from agentfeedback_web.answers import HttpError, json, not_found, unavailable
from agentfeedback_web.logs import Log, silent
from agentfeedback_web.metrics import Metrics

Handler = Callable[[Request], Awaitable[Response]]
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
#: How many requests work at a time; each may hold a connection to the database.
THREADS = 16
#: How many keys of one request are tried.
_KEYS = 4
#: Characters that need no escape in a segment of a path.
_PLAIN = "-._~!$&'()*+,;=:@"


def no_lifespan() -> AbstractAsyncContextManager[None]:
    """Nothing to start or to stop."""
    return _nothing()


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


@frozen(eq=False)
class Site:
    """What a server offers.

    `authenticate` gets the keys of a request and returns whose they are, or None; it may block, and is asked
    for every path that `needs_key`. Handlers find what it returned by `caller`. `ready` raises `StoreError`
    while requests cannot be served. `label` names a caller in logs.
    """

    routes: Sequence[Route]
    needs_key: Callable[[str], bool]
    authenticate: Callable[[Sequence[str]], Any]
    ready: Callable[[], None]
    lifespan: Callable[[], AbstractAsyncContextManager[None]] = no_lifespan
    label: Callable[[Any], str] = str
    log: Log = field(factory=silent)


class Resource:
    """What is at one path: a handler for each method; HEAD is a GET without its body."""

    def __init__(self, path: str, handlers: Mapping[str, Handler]) -> None:
        self.path = path
        self.handlers = dict(handlers)
        if "GET" in self.handlers:
            self.handlers.setdefault("HEAD", self.handlers["GET"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["state"]["route"] = self.path
        handler = self.handlers.get(scope["method"])
        if handler is None:
            allowed = ", ".join(sorted(self.handlers))
            problem = f"{self.path} takes {allowed}"
            raise HttpError(405, "method_not_allowed", problem, headers={"Allow": allowed})
        response = await handler(Request(scope, receive))
        await response(scope, receive, send)


def route(path: str, **handlers: Handler) -> Route:
    """A route with a handler for each method it takes."""
    return Route(path, Resource(path, handlers))


def caller(request: Request) -> Any:
    """Whose key the request came with."""
    return request.scope["state"]["caller"]


def request_id(request: Request) -> str:
    """The id of a request: the client's own, where it has the form of one."""
    id: str = request.scope["state"]["request_id"]
    return id


def application(site: Site) -> ASGIApp:
    """The site as an ASGI application, with `/health`, `/ready` and `/metrics` beside its own routes."""
    metrics = Metrics()

    async def health(request: Request) -> Response:
        return json({"status": "ok"})

    async def ready(request: Request) -> Response:
        await to_thread.run_sync(site.ready)
        return json({"status": "ready"})

    async def shown(request: Request) -> Response:
        text = prometheus_client.generate_latest(metrics.registry)
        return Response(text, media_type=prometheus_client.CONTENT_TYPE_LATEST)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = THREADS
        async with site.lifespan():
            yield

    own = [route("/health", GET=health), route("/ready", GET=ready), route("/metrics", GET=shown)]
    router = Router(
        [*own, *site.routes], redirect_slashes=False, default=_missing, lifespan=lifespan
    )
    return _Guard(site, router, metrics)


async def _missing(scope: Scope, receive: Receive, send: Send) -> None:
    raise not_found()


class _Guard:
    def __init__(self, site: Site, app: ASGIApp, metrics: Metrics) -> None:
        self._site = site
        self._app = app
        self._metrics = metrics
        self._large_bodies: anyio.Semaphore | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            if self._large_bodies is None:
                self._large_bodies = anyio.Semaphore(bodies.LARGE_AT_A_TIME)
            scope["state"] = {**scope.get("state", {}), "large_bodies": self._large_bodies}
            await _Exchange(self._site, self._metrics, scope, send).run(self._app, receive)
        # Nothing here speaks WebSocket: without an answer the server refuses the handshake.


class _Exchange:
    """One request on its way, and what has been sent of its answer."""

    def __init__(self, site: Site, metrics: Metrics, scope: Scope, send: Send) -> None:
        self._site = site
        self._metrics = metrics
        self._scope = scope
        self._send = send
        self._headers = Headers(scope=scope)
        given = self._headers.get("x-request-id", "")
        self._id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(16)
        self._state: dict[str, Any] = {"request_id": self._id, "route": "none", "caller": None}
        self._guarded = site.needs_key(scope["path"])
        self._status = 0

    async def run(self, app: ASGIApp, receive: Receive) -> None:
        """Answer, measure and log."""
        self._scope["state"] = {**self._scope.get("state", {}), **self._state}
        self._state = self._scope["state"]
        began = time.perf_counter()
        more: dict[str, Any] = {}
        try:
            try:
                await self._checked()
                await app(self._scope, receive, self.send)
            except HttpError as refusal:
                await self._refuse(refusal)
            except StoreError as error:
                # Its text names the database, which is nobody's business.
                more["problem"] = str(error)
                await self._refuse(unavailable("the data cannot be read or written now"))
            except ClientDisconnect:
                more["problem"] = "the client went away"
            except Exception as error:  # noqa: BLE001 - the client gets an answer, and the server goes on
                # Not the error's text, which may quote a report.
                more["problem"] = type(error).__name__
                more["where"] = [
                    f"{frame.filename}:{frame.lineno}"
                    for frame in traceback.extract_tb(error.__traceback__)[-8:]
                ]
                await self._refuse(
                    HttpError(500, "internal_error", "the server failed; its log says where")
                )
        finally:
            self._done(time.perf_counter() - began, more)

    async def send(self, message: Message) -> None:
        """Pass on what is sent, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._id
            headers["X-Content-Type-Options"] = "nosniff"
            if self._guarded:
                headers["Cache-Control"] = "no-store"
        elif self._scope["method"] == "HEAD":
            message = {**message, "body": b""}
        await self._send(message)

    async def _checked(self) -> None:
        if self._guarded:
            keys = _keys(self._headers)
            found = await to_thread.run_sync(self._site.authenticate, keys) if keys else None
            if found is None:
                problem = "the key is wrong" if keys else "there is no key"
                raise HttpError(
                    401, "unauthorized", problem, headers={"WWW-Authenticate": "Bearer"}
                )
            self._state["caller"] = found
        if not _is_canonical(self._scope.get("raw_path") or b""):
            raise not_found()

    async def _refuse(self, refusal: HttpError) -> None:
        if self._status:  # an answer has begun: all that is left is to break it off
            raise ConnectionAbortedError
        await refusal.response(self._id)(self._scope, _no_body, self.send)

    def _done(self, seconds: float, more: Mapping[str, Any]) -> None:
        route = self._state["route"]
        self._metrics.count(self._scope["method"], route, self._status, seconds)
        found = self._state["caller"]
        self._site.log.request(
            request_id=self._id,
            method=self._scope["method"],
            route=route,
            status=self._status,
            ms=round(seconds * 1000, 1),
            **({} if found is None else {"caller": self._site.label(found)}),
            **more,
        )


async def _no_body() -> Message:
    return {"type": "http.disconnect"}


def _keys(headers: Headers) -> list[str]:
    found = list(headers.getlist("x-api-key"))
    for value in headers.getlist("authorization"):
        scheme, _, key = value.partition(" ")
        if scheme.lower() == "bearer":
            found.append(key.strip())
    return [key for key in dict.fromkeys(found) if key][:_KEYS]


def _is_canonical(path: bytes) -> bool:
    """Whether a path is in its one form: no empty segment, no dots, and nothing escaped that need not be."""
    first, *segments = path.decode("latin-1").split("/")
    if first or (segments != [""] and "" in segments):
        return False
    return all(
        segment not in (".", "..") and quote(unquote_to_bytes(segment), safe=_PLAIN) == segment
        for segment in segments
    )
