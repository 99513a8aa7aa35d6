"""The server as a process: what it prints, how it ends, and the commands beside it."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from agentfeedback_web import serve
from tests.support.machine import Machine
from tests.support.uploads import Upload, sha256

WAIT = 60.0
#: How often the server is killed while sessions arrive.
KILLS = int(os.environ.get("AGENTFEEDBACK_KILLS", "1"))


class Served:
    """A server process; `printed` are the lines before it said where it listens."""

    def __init__(self, machine: Machine, *words: str, **environ: str) -> None:
        self.log = machine.home / "server.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "agentfeedback", "server", "serve", *words],
                env=machine.environ | environ,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.printed = []
        for line in self.process.stdout:
            self.printed.append(line)
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                return
        raise AssertionError(self.log.read_text())

    def ask(self, path: str, key: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=WAIT)
        connection.request("GET", path, headers={"X-Api-Key": key})
        reply = connection.getresponse()
        found = reply.status, reply.read()
        connection.close()
        return found

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        status = self.process.wait(WAIT)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


@contextmanager
def served(machine: Machine, *words: str, **environ: str) -> Iterator[Served]:
    found = Served(machine, "--listen", "127.0.0.1:0", *words, **environ)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.process.kill()
        found.process.wait(WAIT)
        if found.process.stdout is not None:
            found.process.stdout.close()


def test_one_command_serves_and_ends_well(machine: Machine) -> None:
    """The key is printed once; the files are the owner's; a request that is open at SIGTERM is answered."""
    with served(machine) as first:
        (shown,) = re.findall(r"shown this once: (afk_\S+)", "".join(first.printed))
        assert first.ask("/api/v1/meta", shown)[0] == 200
        assert first.ask("/api/v1/meta", "x")[0] == 401
        added = machine.call("server", "keys", "add", "--name", "laptops", "--json").json
        assert first.ask("/api/v1/meta", added["key"])[0] == 200
        assert machine.call("server", "keys", "revoke", added["id"]).status == 0
        assert first.ask("/api/v1/meta", added["key"])[0] == 401
        listed = machine.call("server", "keys", "list", "--json")
        assert [each["name"] for each in listed.json["keys"]] == ["first", "laptops"]
        assert "revoked_at" in listed.json["keys"][1] and added["key"] not in listed.text
        enabled = machine.call("server", "policy", "enable", "--json").json
        policy = json.loads(first.ask("/api/v1/sessions/policy", shown)[1])
        assert policy["consent_id"] == enabled["periods"][0]["consent_id"]
        machine.call("server", "policy", "disable")
        assert b'"disabled"' in first.ask("/api/v1/sessions/policy", shown)[1]
        connection = http.client.HTTPConnection(urlsplit(first.url).netloc, timeout=WAIT)
        connection.putrequest("POST", "/api/v1/submissions")
        connection.putheader("X-Api-Key", shown)
        connection.putheader("Content-Length", "15")
        connection.endheaders(b'{"kind":')
        assert first.ask("/health", "")[0] == 200
        first.process.send_signal(signal.SIGTERM)
        connection.send(b'"note"}')
        assert connection.getresponse().status == 201
        connection.close()
        assert first.end() == 0
    with served(machine, GRACEFUL_SHUTDOWN_TIMEOUT="1s") as second:
        assert "once" not in "".join(second.printed)
        assert json.loads(second.ask("/api/v1/submissions", shown)[1])["total"] == 1
        assert second.end(signal.SIGINT) == 0
    folder = machine.home / ".local/share/agentfeedback/server"
    assert {path.stat().st_mode & 0o777 for path in folder.glob("server.db*")} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    log = first.log.read_text()
    assert shown not in log and added["key"] not in log
    for line in log.splitlines():
        assert {"event", "level", "timestamp"} <= json.loads(line).keys()


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"API_KEY": "short"}, "too short"),
        ({"API_KEY": "x" * 20, "API_KEY_FILE": "/nowhere"}, "both set"),
        ({"API_KEY_FILE": "/nowhere"}, "API_KEY_FILE /nowhere cannot be read"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL is 'loud'"),
        ({"INGEST_SCRUB": "yes"}, "INGEST_SCRUB is 'yes'"),
        ({"PUBLIC_URL": "ftp://x"}, "PUBLIC_URL is not"),
        ({"GRACEFUL_SHUTDOWN_TIMEOUT": "soon"}, "GRACEFUL_SHUTDOWN_TIMEOUT is 'soon'"),
        ({"SESSIONS_ENVELOPE_BYTES": "1"}, "SESSIONS_ENVELOPE_BYTES is '1'"),
        ({"HTTP_LISTEN_ADDR": "here"}, "'here' is not an address"),
        ({"AGENTFEEDBACK_SERVER_DATABASE": "oracle://h/d"}, "oracle"),
        ({"AGENTFEEDBACK_SERVER_OBJECTS": "ftp://h/d"}, "none that is supported"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    machine: Machine, environ: dict[str, str], problem: str
) -> None:
    """On one line, before anything listens."""
    given = {"HTTP_LISTEN_ADDR": "127.0.0.1:0", **environ}
    result = machine.call("server", "serve", **given)
    assert result.status in (1, 2) and problem in result.err
    assert result.err.count("\n") == 1 and "x" * 20 not in result.err


def test_an_address_that_is_taken_is_named(machine: Machine) -> None:
    """Nothing is made, and no key is shown."""
    with serve.listening("127.0.0.1", 0) as sock:
        taken = f"127.0.0.1:{sock.getsockname()[1]}"
        result = machine.call("server", "serve", "--listen", taken)
    assert result.status == 1 and f"{taken} cannot be listened on" in result.err
    assert result.out == b""
    assert not (machine.home / ".local/share/agentfeedback/server").exists()


def test_a_killed_server_keeps_what_it_acknowledged(machine: Machine) -> None:
    """Killed again and again while sessions arrive: each is there once, whole, and no part is asked for twice."""
    uploads = [
        Upload(f"{number} line\n".encode() * 4000, session_id=f"s{number}", part=9000)
        for number in range(4)
    ]
    key = "a-key-of-" + "the-environment"
    with served(machine, API_KEY=key):
        assert machine.call("server", "policy", "enable").status == 0
    chance = random.Random(7)
    acknowledged: dict[tuple[str, int], int] = {}
    done: set[str] = set()
    for round in range(KILLS + 1):
        with served(machine, API_KEY=key) as found:
            timer = threading.Timer(chance.uniform(0.05, 0.4), found.process.kill)
            if round < KILLS:
                timer.start()
            try:
                for upload in uploads:
                    if upload.session_id not in done:
                        push(found.url, key, upload, acknowledged)
                        done.add(upload.session_id)
            except (OSError, http.client.HTTPException):
                continue
            finally:
                timer.cancel()
    assert len(done) == len(uploads)
    assert set(acknowledged.values()) == {1}
    with served(machine, API_KEY=key) as found:
        page = json.loads(found.ask("/api/v1/submissions", key)[1])
        assert page["total"] == len(uploads)
        for record in page["submissions"]:
            (upload,) = (each for each in uploads if each.manifest["key"] == record["key"])
            where = f"/api/v1/submissions/{record['id']}/transcript"
            assert found.ask(where, key) == (200, upload.transcript)
        assert found.end() == 0
    folder = machine.home / ".local/share/agentfeedback/server/objects/transcripts"
    finished = [path for path in folder.rglob("*") if path.is_file() and path.name[0] != "."]
    assert len(finished) == sum(len(upload.parts) for upload in uploads)


def push(url: str, key: str, upload: Upload, acknowledged: dict[tuple[str, int], int]) -> None:
    """Upload as a client does that remembers nothing but what the server says."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=WAIT)

    def ask(method: str, path: str, body: bytes, **headers: str) -> Any:
        connection.request(method, path, body, {"X-Api-Key": key, **headers})
        reply = connection.getresponse()
        data = reply.read()
        assert reply.status in (200, 201), data
        return json.loads(data)

    try:
        consent = ask("GET", "/api/v1/sessions/policy", b"")["consent_id"]
        body = json.dumps(upload.body(consent)).encode()
        begun = ask("POST", "/api/v1/sessions/uploads", body)["upload"]
        where = f"/api/v1/sessions/uploads/{begun['id']}"
        if begun["state"] == "complete":
            return
        for number, data in enumerate(upload.parts, 1):
            if number not in begun["received"]:
                ask("PUT", f"{where}/parts/{number}", data, **{"X-Content-Sha256": sha256(data)})
                at = (upload.session_id, number)
                acknowledged[at] = acknowledged.get(at, 0) + 1
        ask("POST", f"{where}/complete", b"")
    finally:
        connection.close()
