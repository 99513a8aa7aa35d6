"""The guard of a site: what every request passes, and what every answer has."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient

from agentfeedback.foundation.errors import StoreError
from agentfeedback_web import answers, bodies, logs
from agentfeedback_web.site import Site, application, caller, request_id, route

KEY = "the-key-" + "of-these-tests"
SECRET = "a text that somebody filed"


@frozen(eq=False)
class Inner:
    name: str
    size: int


@frozen(eq=False)
class Shape:
    text: str
    flag: bool
    count: int
    any: dict  # type: ignore[type-arg]
    inner: list[Inner]
    words: list[str] = field(factory=list)


async def shaped(request: Request) -> Response:
    found = bodies.fitted(await bodies.read(request, 4096), Shape)
    return answers.json({"count": found.count, "any": found.any, "inner": len(found.inner)})


async def whose(request: Request) -> Response:
    return answers.json({"caller": caller(request), "id": request_id(request)})


async def fails(request: Request) -> Response:
    raise RuntimeError(SECRET)


async def unusable(request: Request) -> Response:
    raise StoreError(f"the data in {SECRET} cannot be used")


async def breaks(request: Request) -> Response:
    async def pieces() -> Any:
        yield b"half"
        raise RuntimeError(SECRET)

    return StreamingResponse(pieces())


def authenticate(keys: Sequence[str]) -> str | None:
    return "me" if KEY in keys else None


class Site_:  # noqa: N801 - the site of these tests
    """An application with its log; `broken` makes it not ready."""

    def __init__(self) -> None:
        self.log = io.StringIO()
        self.broken = False
        self.app = application(
            Site(
                routes=[
                    route("/api/shape", POST=shaped),
                    route("/api/me", GET=whose, DELETE=whose),
                    route("/api/item/{name}", GET=whose),
                    route("/api/fails", GET=fails),
                    route("/api/unusable", GET=unusable),
                    route("/api/breaks", GET=breaks),
                    route("/open", GET=whose),
                ],
                needs_key=lambda path: path.startswith("/api/"),
                authenticate=authenticate,
                ready=self.ready,
                log=logs.log("info", self.log),
            )
        )
        self.client = TestClient(
            self.app, "http://site", headers={"X-Api-Key": KEY}, raise_server_exceptions=False
        )

    def ready(self) -> None:
        if self.broken:
            raise StoreError("no")

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


@pytest.fixture
def site() -> Site_:
    return Site_()


def raw(site: Site_, path: bytes, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Ask for a path as it is, which clients would bring into its one form."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = {"x-api-key": KEY, **headers}
    scope = {
        "type": "http",
        "method": "GET",
        "path": path.decode("latin-1"),
        "raw_path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs.items()],
    }
    anyio.run(site.app, scope, receive, send)
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(each.get("body", b"") for each in sent[1:])


@pytest.mark.parametrize(
    "path",
    [
        b"/api//me",
        b"/api/me/",
        b"/api/./me",
        b"/api/x/../me",
        b"//api/me",
        b"/api/%6de",
        b"/api/item/a%2fb",
        b"/api/item/%7e",
        b"/api/item/a%",
        b"/api/item/a%zz",
        b"/api/item/a b",
        b"/api/item/\xff",
        b"/api/item/a\\b",
        b"http://site/api/me",
        b"*",
        b"",
        b"/api/item/%2e%2e",
    ],
)
def test_a_path_has_one_form(site: Site_, path: bytes) -> None:
    """Any other is not found, and never redirected."""
    status, headers, body = raw(site, path)
    assert status == 404 and "location" not in headers
    assert json.loads(body)["error"] == "not_found"


@pytest.mark.parametrize(
    "path", [b"/api/item/a", b"/api/item/a%20b", b"/api/item/%C3%A9", b"/open"]
)
def test_a_path_in_its_form_is_answered(site: Site_, path: bytes) -> None:
    """Escapes that are needed are part of it."""
    assert raw(site, path)[0] == 200


def test_the_key_comes_before_the_route(site: Site_) -> None:
    """Without a good one nobody learns what there is; either header will do; what is open needs none."""
    for headers in ({}, {"X-Api-Key": "x"}, {"Authorization": f"Basic {KEY}"}, {"X-Api-Key": ""}):
        client = TestClient(site.app, "http://site", headers=headers)
        for path in ("/api/me", "/api/none", "/api/item/x"):
            for method in ("GET", "PATCH"):
                reply = client.request(method, path)
                assert (reply.status_code, reply.json()["error"]) == (401, "unauthorized")
                assert reply.headers["WWW-Authenticate"] == "Bearer"
                assert reply.headers["Cache-Control"] == "no-store"
        assert client.get("/open").json()["caller"] is None
    for headers in (
        {"X-Api-Key": KEY},
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer  {KEY} ", "X-Api-Key": "wrong"},
        {"Authorization": "Bearer wrong", "X-Api-Key": KEY},
    ):
        reply = TestClient(site.app, "http://site", headers=headers).get("/api/me")
        assert reply.json()["caller"] == "me"
    assert KEY not in site.log.getvalue()


@pytest.mark.parametrize(
    ("given", "echoed"),
    [
        ("a-B_c.9", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("", False),
        ("a b", False),
        ("<script>", False),
    ],
)
def test_every_answer_has_a_request_id(site: Site_, given: str, echoed: bool) -> None:
    """The client's own where it has the form of one, else 32 hex digits; in header, body and log."""
    for path, status in (("/api/me", 200), ("/none", 404), ("/api/fails", 500)):
        reply = site.client.get(path, headers={"X-Request-Id": given})
        id = reply.headers["X-Request-Id"]
        assert reply.status_code == status
        assert id == given if echoed else re.fullmatch("[0-9a-f]{32}", id)
        body = reply.json()
        assert body.get("request_id", body.get("id")) == id
        assert site.lines()[-1]["request_id"] == id


def test_methods(site: Site_) -> None:
    """Others are refused with those that are taken; HEAD is GET without its body."""
    reply = site.client.put("/api/me")
    assert (reply.status_code, reply.json()["error"]) == (405, "method_not_allowed")
    assert reply.headers["Allow"] == "DELETE, GET, HEAD"
    head, got = site.client.head("/api/me"), site.client.get("/api/me")
    assert head.status_code == 200 and head.content == b"" and got.content
    assert site.client.request("TRACE", "/none").status_code == 404
    metrics = site.client.get("/metrics").text
    assert 'method="other"' in metrics and "TRACE" not in metrics


def test_a_failure_says_nothing_of_what_was_filed(site: Site_) -> None:
    """Neither the answer nor the log has the text of an exception; the log says where it was raised."""
    reply = site.client.get("/api/fails")
    assert (reply.status_code, reply.json()["error"]) == (500, "internal_error")
    line = site.lines()[-1]
    assert line["problem"] == "RuntimeError" and "test_site.py" in line["where"][-1]
    assert (line["level"], line["route"], line["caller"]) == ("warning", "/api/fails", "me")
    assert SECRET not in reply.text + site.log.getvalue()
    reply = site.client.get("/api/unusable")
    assert (reply.status_code, reply.json()["error"]) == (503, "unavailable")
    assert reply.headers["Retry-After"] == "1" and SECRET not in reply.text
    broken = site.client.get("/api/breaks")
    assert broken.status_code in (200, 500) and SECRET not in broken.text + _logs(site)


def _logs(site: Site_) -> str:
    return "".join(line for line in site.log.getvalue().splitlines() if "unusable" not in line)


def test_health_readiness_and_metrics_need_no_key(site: Site_) -> None:
    """They say nothing of anybody; routes are counted as they are declared."""
    client = TestClient(site.app, "http://site", raise_server_exceptions=False)
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ready"}
    site.broken = True
    assert client.get("/ready").status_code == 503 and client.get("/health").status_code == 200
    site.client.get("/api/item/somebody")
    text = client.get("/metrics").text
    assert 'http_requests_total{method="GET",route="/api/item/{name}",status="200"} 1.0' in text
    assert "somebody" not in text and "somebody" not in site.log.getvalue()


GOOD = {"text": "t", "flag": True, "count": 1, "any": {"n": 1}, "inner": [{"name": "a", "size": 2}]}


def test_a_body_of_another_shape_is_refused(site: Site_) -> None:
    """Each member removed, retyped, given twice, or one more; the pointer names it."""
    assert site.client.post("/api/shape", json=GOOD).json() == {
        "count": 1,
        "any": {"n": 1},
        "inner": 1,
    }
    cases: list[tuple[Any, str, str]] = [
        ({**GOOD, "more": 1}, "unknown_field", "/more"),
        ({**GOOD, "inner": [{"name": "a", "size": 2, "x": 1}]}, "unknown_field", "/inner/0/x"),
        ({**GOOD, "inner": [{"name": "a"}]}, "required", "/inner/0/size"),
        ({**GOOD, "inner": [{"name": "a", "size": 2}, {"name": 1, "size": 2}]}, "type_mismatch", "/inner/1/name"),
        ({**GOOD, "inner": {}}, "type_mismatch", "/inner"),
        ({**GOOD, "inner": [1]}, "type_mismatch", "/inner/0"),
        ({**GOOD, "words": [None]}, "type_mismatch", "/words/0"),
        ({**GOOD, "count": -1}, "type_mismatch", "/count"),
        ({**GOOD, "count": 10**18}, "out_of_range", "/count"),
        ({**GOOD, "count": True}, "type_mismatch", "/count"),
        ({**GOOD, "count": 1.0}, "type_mismatch", "/count"),
        ({**GOOD, "flag": 1}, "type_mismatch", "/flag"),
        ({**GOOD, "text": None}, "type_mismatch", "/text"),
        ({**GOOD, "any": []}, "type_mismatch", "/any"),
        *(({k: v for k, v in GOOD.items() if k != name}, "required", f"/{name}") for name in GOOD),
    ]  # fmt: skip
    for body, code, pointer in cases:
        reply = site.client.post("/api/shape", json=body)
        (detail,) = reply.json()["details"]
        assert (reply.status_code, reply.json()["error"]) == (400, "validation_error"), body
        assert (detail["code"], detail["pointer"]) == (code, pointer), body
    twice = json.dumps(GOOD)[:-1] + ',"any":{"a":{"b":1,"b":2}}}'
    reply = site.client.post("/api/shape", content=twice)
    assert reply.json()["details"][0]["code"] == "duplicate_key"
    for text in (b"", b"1", b"[]", b"{", b'{"a":NaN}', b"{}" * 2, b"[" * 2000):
        reply = site.client.post("/api/shape", content=text)
        assert (reply.status_code, reply.json()["error"]) == (400, "bad_request"), text


def test_numbers_inside_an_object_stay_as_they_are_spelled(site: Site_) -> None:
    """What is handed on is not rounded."""
    text = json.dumps(GOOD).replace('{"n": 1}', '{"n":1.50e+1}')
    assert (
        site.client.post("/api/shape", content=text).text
        == '{"count":1,"any":{"n":1.50e+1},"inner":1}'
    )


def test_a_large_body_is_refused_before_it_is_read(site: Site_) -> None:
    """By what it says of its length; one that says nothing, when it has come that far."""
    taken = []

    def pieces() -> Any:
        for _ in range(100):
            taken.append(1)
            yield b" " * 1024

    reply = site.client.post("/api/shape", content=pieces(), headers={"Content-Length": "102400"})
    assert (reply.status_code, reply.json()["error"]) == (413, "request_too_large")
    reply = site.client.post("/api/shape", content=pieces())
    assert reply.status_code == 413
    full = json.dumps(GOOD).encode()
    assert (
        site.client.post("/api/shape", content=full + b" " * (4096 - len(full))).status_code == 200
    )
    assert (
        site.client.post("/api/shape", content=full + b" " * (4097 - len(full))).status_code == 413
    )


def test_few_large_bodies_are_in_memory_at_a_time() -> None:
    """The next one waits for its turn, and is refused when that does not come; a small one does not wait."""

    async def main() -> None:
        open_, most = 0, 0
        turns = anyio.Semaphore(bodies.LARGE_AT_A_TIME)

        def asked(length: int) -> Request:
            headers = [(b"content-length", str(length).encode())]
            return Request({"type": "http", "headers": headers, "state": {"large_bodies": turns}})

        async def one(length: int) -> None:
            nonlocal open_, most
            async with bodies.room(asked(length), 1 << 30):
                open_ += 1
                most = max(most, open_)
                await anyio.sleep(0.01)
                open_ -= 1

        async with anyio.create_task_group() as group:
            for _ in range(3 * bodies.LARGE_AT_A_TIME):
                group.start_soon(one, 1 << 20)
        assert most == bodies.LARGE_AT_A_TIME
        for _ in range(bodies.LARGE_AT_A_TIME):
            await turns.acquire()
        await one(bodies.SMALL)
        bodies.TURN_S, before = 0, bodies.TURN_S
        try:
            with pytest.raises(answers.HttpError) as refused:
                await one(1 << 20)
        finally:
            bodies.TURN_S = before
        assert refused.value.status == 503

    anyio.run(main)


@given(st.text(max_size=30), st.binary(max_size=30))
def test_no_request_is_without_an_answer(text: str, data: bytes) -> None:
    """Whatever path, header and body: the answer has the one form, and the guard does not fail."""
    site = Site_()
    path = b"/api/item/" + data
    odd = text.encode("latin-1", "replace").decode("latin-1")
    status, headers, body = raw(site, path, **{"x-request-id": odd, "authorization": odd})
    assert status in (200, 404) and len(headers["x-request-id"]) >= 1
    assert json.loads(body)
    assert site.client.post("/api/shape", content=data).status_code == 400
