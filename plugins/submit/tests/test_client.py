"""The client over real sockets: every row of the table, and what it sends to get there."""

from __future__ import annotations

import base64
import json
import os
import socket
import time
import tracemalloc
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submit.delivery.classify import classify
from agentfeedback_submit.delivery.destination import Remote
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote import client as client_module
from agentfeedback_submit.remote.client import Client
from agentfeedback_submit.remote.server import ClientSetupError, ServerSettings

BODY = b'{"kind":"note","key":"k","summary":"s","payload":{}}'
NOTE = Body(BODY, "note", "k")
#: What every answer of the test server comes to: action and reason, and what becomes of the pass.
WAITS = "waits"
STOPS = "stops"
TABLE = {
    "created": ("delivered", ""),
    "repeated": ("delivered", ""),
    **dict.fromkeys(
        ["wrong-kind", "wrong-key", "no-id", "zero-id", "true-id", "text-id", "accepted", "empty"],
        ("spool", "malformed_response", WAITS),
    ),
    **dict.fromkeys(
        ["no-content", "no-json", "list", "deep", "too-much", "odd-page"],
        ("spool", "malformed_response", WAITS),
    ),
    **{
        f"status-{status}": ("spool", f"server_{status}", WAITS)
        for status in (408, 500, 501, 502, 503, 504, 599)
    },
    **{
        f"status-{status}": ("reject", "rejected")
        for status in (400, 403, 405, 410, 413, 415, 418, 422, 451, 499)
    },
    "status-401": ("spool", "unauthorized", STOPS),
    "status-404": ("spool", "wrong_url", STOPS),
    "status-409": ("mismatch", "mismatch"),
    "status-429": ("spool", "rate_limited", WAITS),
    **{
        f"moved-{status}": ("spool", "wrong_url", STOPS)
        for status in (300, 301, 302, 303, 304, 307, 308)
    },
    "later-120": ("spool", "server_503", WAITS),
    "later-days": ("spool", "server_503", WAITS),
    "wait-120": ("spool", "rate_limited", WAITS),
    "later-now": ("spool", "server_503", WAITS),
    "later-date": ("spool", "server_503", WAITS),
    "later-odd": ("spool", "rate_limited", WAITS),
    "slow": ("spool", "timeout", WAITS, STOPS),
    "drip": ("spool", "timeout", WAITS, STOPS),
    "drip-body": ("spool", "timeout", WAITS, STOPS),
    "closed": ("spool", "network", WAITS, STOPS),
    "cut-short": ("spool", "network", WAITS, STOPS),
    "garbage": ("spool", "network", WAITS, STOPS),
    "echo": ("reject", "rejected"),
    "empties": ("spool", "malformed_response", WAITS),
    "many-values": ("spool", "malformed_response", WAITS),
    "many-levels": ("spool", "malformed_response", WAITS),
}


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies are those that a test sets."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def remote(server: Any, answer: str = "") -> Remote:
    url = f"{server.url}/{answer}".rstrip("/")
    return Remote(Client(ServerSettings(url, server.key)))


def test_table_has_every_answer_of_the_server(server: Any) -> None:
    """No way to go wrong is left out below."""
    known = type(server).__init__.__globals__["ANSWERS"]
    assert set(known) == set(TABLE)


@pytest.mark.parametrize("answer", TABLE)
def test_each_answer_over_a_socket(
    server: Any, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One request is made, whatever is answered, and it means what the table says."""
    if answer in ("slow", "drip", "drip-body"):
        monkeypatch.setattr(client_module, "TOTAL", 0.4)
    started = time.monotonic()
    verdict = classify(remote(server, answer).send(NOTE), "note", "k")
    action, reason, *more = TABLE[answer]
    assert (verdict.action, verdict.reason) == (action, reason)
    assert (verdict.waits, verdict.stops) == (WAITS in more, STOPS in more)
    assert len(server.requests) == 1 and server.requests[0].body == BODY
    assert time.monotonic() - started < 5


def test_answer_is_bounded_before_it_is_built(server: Any) -> None:
    """Forty megabytes of empty arrays are not read, and what fits in a megabyte makes no large tree."""
    tracemalloc.start()
    try:
        for answer in ("empties", "many-values", "many-levels"):
            assert remote(server, answer).send(NOTE).body is None
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_report_may_be_answered_with_as_much_as_it_holds(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record comes back, and a warning or two for each of its values: no answer is too large for its own report."""
    monkeypatch.setattr(client_module, "VALUES", 300)
    monkeypatch.setattr(client_module, "ORDINARY", 1000)
    many = b",".join(b'"m%d":%d' % (n, n) for n in range(300))
    deep = b"[" * 500 + b"]" * 500
    for data in (
        b'{"kind":"note","key":"k",%s}' % many,
        b'{"kind":"note","key":"d","x":%s}' % deep,
    ):
        reply = remote(server).send(Body.of(data))
        assert (reply.status, reply.ok) == (201, True) and reply.body is not None
        assert reply.body["submission"]["kind"] == "note"


def test_request_has_both_forms_of_the_key_and_nothing_of_the_user(server: Any) -> None:
    """The headers are those the API asks for, each once."""
    reply = remote(server).send(NOTE)
    assert reply.status == 201
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/api/v1/submissions")
    shown = {name.lower(): value for name, value in request.headers.items()}
    assert shown.pop("user-agent").startswith("agentfeedback/")
    assert shown == {
        "host": server.url.removeprefix("http://"),
        "accept-encoding": "identity",
        "authorization": f"Bearer {server.key}",
        "x-api-key": server.key,
        "accept": "application/json",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
    }
    assert len(request.names) == len(set(request.names))


def test_real_answers(server: Any) -> None:
    """The same report twice is a duplicate, other content under its key a mismatch, a broken body refused."""
    here = remote(server)
    other = BODY.replace(b'"s"', b'"t"')
    replies = [here.send(Body(body, "note", "k")) for body in (BODY, BODY, other, b"{")]
    assert [reply.status for reply in replies] == [201, 200, 409, 400]
    assert [classify(reply, "note", "k").action for reply in replies] == [
        "delivered", "delivered", "mismatch", "reject",
    ]  # fmt: skip
    assert all(len(reply.request_id) == 32 for reply in replies)


def test_connection_is_used_again(server: Any) -> None:
    """A pass over many reports dials once."""
    here = remote(server)
    for number in range(3):
        here.send(Body(BODY.replace(b'"k"', b'"k%d"' % number), "note", f"k{number}"))
    assert len({request.connection for request in server.requests}) == 1


def test_after_a_time_out_the_next_request_works(server: Any) -> None:
    """What still hangs is left behind with its connection."""
    slow = Client(ServerSettings(f"{server.url}/slow", server.key))
    started = time.monotonic()
    assert slow.ask("GET", "", total=0.2).body["error"] == "timeout"
    assert time.monotonic() - started < 2
    slow.url = server.url
    assert slow.ask("GET", "/api/v1/meta").status == 200


def test_nothing_listens() -> None:
    """A refused connection and a name that is none are failures of the network, at once."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for url in (f"http://127.0.0.1:{port}", "http://no-such-host.invalid"):
            reply = Remote(Client(ServerSettings(url, "k"))).send(NOTE)
            assert classify(reply, "note", "k").reason == "network"


def test_dial_is_bounded_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that swallows connections costs the time of a dial, not that of an answer."""
    monkeypatch.setattr(client_module, "DIAL", 0.3)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = []
        for _ in range(4):  # fills the queue, so that the next connection waits
            each = socket.socket()
            each.setblocking(False)
            each.connect_ex(full.getsockname())
            waiting.append(each)
        started = time.monotonic()
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        reply = Remote(Client(ServerSettings(url, "k"))).send(NOTE)
        assert reply.body["error"] == "timeout" and time.monotonic() - started < 3
        for each in waiting:
            each.close()


def test_proxy_is_asked_instead(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a proxy variable the whole URL goes to the proxy, with the proxy's own credentials."""
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//us:er@"))
    there = Remote(Client(ServerSettings("http://feedback.invalid/created", server.key)))
    # The test server answers by path, and a proxy is given the whole URL.
    assert there.send(NOTE).status == 404
    (request,) = server.requests
    assert request.path == "http://feedback.invalid/created/api/v1/submissions"
    shown = {name.lower(): value for name, value in request.headers.items()}
    assert shown["proxy-authorization"] == "Basic " + base64.b64encode(b"us:er").decode()


def test_tls_goes_through_a_tunnel(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For an https URL the proxy is asked to connect; it never sees the key."""
    monkeypatch.setenv("https_proxy", server.url)
    there = Remote(Client(ServerSettings("https://feedback.invalid", server.key)))
    assert there.send(NOTE).body["error"] == "network"
    (request,) = server.requests
    assert (request.method, request.path) == ("CONNECT", "feedback.invalid:443")
    assert server.key not in str(request.headers)


def test_proxy_that_cannot_be_used_is_an_error_of_the_setup(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not gone around."""
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(ClientSetupError):
        Client(ServerSettings(server.url.replace("http:", "https:"), server.key))
    assert server.requests == []


def test_no_proxy_stands_between_this_machine_and_itself(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key of a server on loopback would leave the machine in clear text."""
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert remote(server).send(NOTE).status == 201


def texts(reply: ApiResponse) -> str:
    return json.dumps([str(reply.body), reply.request_id, dict(reply.headers), str(reply.text)])


def test_key_that_a_server_sends_back_is_not_in_its_reply(server: Any) -> None:
    """Not in the message, not as the id of the request, not in a text that is not JSON."""
    assert server.key not in texts(remote(server, "echo").send(NOTE))
    assert "[REDACTED:api_key]" in texts(remote(server, "echo").send(NOTE))
    reply = Client(ServerSettings(server.url, "welcome")).ask("POST", "/no-json")
    assert reply.text == b"<html>[REDACTED:api_key] to the hotel</html>"


def test_errors_and_representations_do_not_hold_the_key(server: Any) -> None:
    """What could end in a traceback is without it."""
    here = remote(server)
    assert server.key not in repr(here.client) + repr(ServerSettings(server.url, server.key))


def test_id_of_the_request(server: Any) -> None:
    """The header goes before the body; what is not an id is none."""
    here = Client(ServerSettings(server.url, server.key))
    reply = here.ask("POST", "/api/v1/submissions", body=BODY)
    assert reply.request_id and "request_id" not in reply.body
    assert here.ask("POST", "/status-500", body=BODY).request_id == ""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("0", 0),
        ("86401", 86_400),
        ("9" * 18, 86_400),
        ("9" * 5000, 0),
        ("-5", 0),
        ("1.5", 0),
        ("１２", 0),
        ("", 0),
        ("soon", 0),
        ("Monday", 0),
        ("Mon, 99 Foo 2026 99:99:99 GMT", 0),
    ],
)
def test_retry_after_in_seconds(text: str, seconds: int) -> None:
    """Whole seconds count, up to a day; anything odd is nothing."""
    assert client_module._retry_after(text) == seconds


def test_retry_after_as_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three forms of an HTTP date, rounded up; the past is not a wait, far away is a day."""
    now = 1_790_000_000.0
    monkeypatch.setattr(time, "time", lambda: now - 0.25)

    def at(shift: float) -> datetime:
        return datetime.fromtimestamp(now + shift, UTC)

    date = at(900)
    for text in (
        format_datetime(date, usegmt=True),
        date.strftime("%A, %d-%b-%y %H:%M:%S GMT"),
        date.strftime("%a %b %d %H:%M:%S %Y"),
    ):
        assert client_module._retry_after(text) == 901, text
    assert client_module._retry_after(format_datetime(at(-900), usegmt=True)) == 0
    assert client_module._retry_after(format_datetime(at(9e6), usegmt=True)) == 86_400


@given(st.text(max_size=60) | st.text("0123456789-:, JanMonGMT", max_size=40))
def test_retry_after_never_raises(text: str) -> None:
    """A header may hold anything."""
    assert 0 <= client_module._retry_after(text) <= 86_400
