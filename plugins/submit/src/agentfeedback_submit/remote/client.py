"""A server asked over HTTP: one request, one answer, never later than its time.

A missing answer is also an `ApiResponse`: `reply.unanswered`. What a reply holds of the server's
text never holds the key, even where the server sends it back.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from agentfeedback.foundation.json_text import NotJson, bounded, parse
from agentfeedback_submissions.response import ApiResponse, unanswered
from agentfeedback_submit.remote.proxies import Proxy, proxy_for
from agentfeedback_submit.remote.server import CLIENT, ServerSettings

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

#: Seconds until a connection has to stand, and until an answer has to be there.
DIAL, TOTAL = 2.0, 10.0
#: The longest wait that a server may ask for, in seconds.
LONGEST_ASKED = 86_400
#: The largest answer that is taken, in bytes: of a list with payloads, and of anything else.
LARGEST, ORDINARY = 48 << 20, 1 << 20
#: How many JSON values an answer may hold, and how deep: a few megabytes may be gigabytes as a tree.
VALUES, DEPTH = 200_000, 64
#: Seconds a stream may be silent.
IDLE = 60.0
_BLOCK = 1 << 16
#: What a report is known by: compared as it came, and no text of a server's own.
_NAMES = frozenset(("id", "uid", "kind", "key"))
_HIDDEN = "[REDACTED:api_key]"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)


class Client:
    """Asks one server; connections are kept between requests. Redirects are not followed.

    Proxies are those that the environment of the process names as the standard library reads it.
    Raises `ClientSetupError` where it names a proxy that cannot be used.
    """

    def __init__(self, server: ServerSettings) -> None:
        from urllib.request import getproxies_environment

        self.url = server.url
        self._key = server.key
        self._proxy = proxy_for(self.url, getproxies_environment())
        self._pool: PoolManager | None = None

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
        total: float = 0.0,
        until: float | None = None,
        type: str = "application/json",
        most: int = ORDINARY,
        values: int = VALUES,
        depth: int = DEPTH,
    ) -> ApiResponse:
        """Send one request.

        `total` seconds (`TOTAL` unless given) bound all of it, from the look-up of the name on;
        `until`, a time of `time.monotonic`, may leave less. An answer of more than `most` bytes, or
        of more JSON `values` or a larger `depth`, has no body.
        """
        total = total or TOTAL
        if until is not None:
            total = max(0.001, min(total, until - time.monotonic()))
        url = self._target(path, query)
        headers = self._headers("application/json")
        if body is not None:
            headers["Content-Type"] = type
        deadline = time.monotonic() + total
        answers: list[ApiResponse | BaseException] = []

        def work() -> None:
            try:
                reply = self._asked(method, url, headers, body, deadline, (most, values, depth))
                answers.append(reply)
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
                answers.append(error)

        # The time-outs of sockets begin again with every byte, and those of name look-ups do not
        # exist: only one who waits beside it can bound all of a request.
        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join(total)
        if not answers:
            self._pool = None  # its connection is still busy
            return unanswered("timeout")
        answer = answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @contextmanager
    def stream(
        self, method: str, path: str, *, query: Iterable[tuple[str, str]] = ()
    ) -> Iterator[ApiResponse | Iterator[bytes]]:
        """Send a request whose answer may have any length: its blocks, or the answer where it is not 200.

        There is no time for all of it; `IDLE` seconds without a byte end it. The blocks raise
        `StreamBroken` then.
        """
        from urllib3 import exceptions

        try:
            response = self._request(method, self._target(path, query), self._headers("*/*"), IDLE)
        except exceptions.HTTPError as error:
            yield unanswered(_why(error))
            return
        try:
            if response.status == 200:
                yield _blocks(response)
            else:
                data = _content(response, time.monotonic() + TOTAL, ORDINARY)
                yield self._reply(response, data, VALUES, DEPTH)
        except (TotalTimeout, exceptions.HTTPError, OSError) as error:
            raise StreamBroken(_why(error)) from None
        finally:
            response.close()

    def without_key(self, tree: Any) -> Any:
        """A tree of JSON without the key in any of its texts; not by recursion, since a server may nest deeply."""
        return self._hidden(tree)

    def _target(self, path: str, query: Iterable[tuple[str, str]]) -> str:
        pairs = list(query)
        return f"{self.url}{path}" + (f"?{urlencode(pairs)}" if pairs else "")

    def _headers(self, accept: str) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._key}",
            "X-Api-Key": self._key,
            "Accept": accept,
            "User-Agent": CLIENT,
        }

    def _request(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        read: float,
        body: bytes | None = None,
    ) -> BaseHTTPResponse:
        from urllib3 import Timeout

        if self._pool is None:
            self._pool = _pool(self._proxy)
        return self._pool.request(
            method,
            url,
            body=body,
            headers=headers,
            redirect=False,
            retries=False,
            preload_content=False,
            decode_content=False,
            timeout=Timeout(connect=DIAL, read=read),
        )

    def _asked(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes | None,
        deadline: float,
        limits: tuple[int, int, int],
    ) -> ApiResponse:
        from urllib3 import exceptions

        most, values, depth = limits
        try:
            left = max(0.001, deadline - time.monotonic())
            response = self._request(method, url, headers, left, body)
            data = _content(response, deadline, most)
        except (exceptions.HTTPError, TotalTimeout, OSError) as error:
            return unanswered(_why(error))
        return self._reply(response, data, values, depth)

    def _reply(
        self, response: BaseHTTPResponse, data: bytes | None, values: int, depth: int
    ) -> ApiResponse:
        body: Any = None
        text: bytes | None = None
        if data is not None and bounded(data, values, depth):
            try:
                body = self._hidden(parse(data, depth=depth).value, but=_NAMES)
            except NotJson:
                body = None
            if not isinstance(body, dict):
                text = data.replace(self._key.encode(), _HIDDEN.encode())
        id = response.headers.get("X-Request-Id", "")
        if not _REQUEST_ID.fullmatch(id):
            id = body.get("request_id", "") if isinstance(body, dict) else ""
        if not isinstance(id, str) or not _REQUEST_ID.fullmatch(id) or self._key in id:
            id = ""
        asked = _retry_after(response.headers.get("Retry-After", ""))
        headers = {"Retry-After": str(asked)} if asked else {}
        return ApiResponse(response.status, body, id, headers, text)

    def _hidden(self, value: Any, but: frozenset[str] = frozenset()) -> Any:
        root = [value]
        open: list[Any] = [root]
        while open:
            place = open.pop()
            items = place.items() if isinstance(place, dict) else enumerate(place)
            for name, item in list(items):
                if isinstance(item, str):
                    if name not in but:
                        place[name] = item.replace(self._key, _HIDDEN)
                elif isinstance(item, dict | list):
                    open.append(item)
                if isinstance(name, str) and self._key in name:
                    place[name.replace(self._key, _HIDDEN)] = place.pop(name)
        return root[0]


class TotalTimeout(Exception):
    """The time is over while the answer is still coming."""


class StreamBroken(Exception):
    """A stream ended before its time; `reason` is `network` or `timeout`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _why(error: Exception) -> Literal["network", "timeout"]:
    from urllib3 import exceptions

    # For urllib3 a connection that is refused at once is a time-out too.
    late = isinstance(error, exceptions.TimeoutError | TotalTimeout)
    return "timeout" if late and not isinstance(error, exceptions.NewConnectionError) else "network"


def _blocks(response: BaseHTTPResponse) -> Iterator[bytes]:
    while block := response.read1(_BLOCK, decode_content=False):
        yield block


def _content(response: BaseHTTPResponse, deadline: float, most: int) -> bytes | None:
    """The body; None where it is larger than what is taken."""
    blocks = []
    size = 0
    try:
        while block := response.read1(_BLOCK, decode_content=False):
            blocks.append(block)
            size += len(block)
            if size > most:
                response.close()
                return None
            if time.monotonic() > deadline:
                raise TotalTimeout
    finally:
        response.release_conn()
    return b"".join(blocks)


def _retry_after(text: str) -> int:
    """Seconds that a `Retry-After` header asks for, as seconds or an HTTP date; 0 for anything else."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    retry = Retry()
    retry.retry_after_max = LONGEST_ASKED  # its own is shorter
    try:
        # Rounded up: a server that names a second is not asked within it.
        return min(math.ceil(retry.parse_retry_after(text)), LONGEST_ASKED)
    except (InvalidHeader, ValueError, OverflowError):  # what it lets through of a hostile header
        return 0


def _pool(proxy: Proxy | None) -> PoolManager:
    import urllib3

    if proxy is None:
        return urllib3.PoolManager(num_pools=1, maxsize=1)
    headers = urllib3.make_headers(proxy_basic_auth=proxy.credentials) if proxy.credentials else {}
    return urllib3.ProxyManager(proxy.url, num_pools=1, maxsize=1, proxy_headers=headers)
