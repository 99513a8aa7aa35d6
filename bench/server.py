"""Load on the server: many clients file reports and upload sessions at a time; nothing may be lost or doubled.

    python bench/server.py --clients 50 --reports 10000 --uploads 500
    python bench/server.py --database postgresql://postgres@127.0.0.1/bench --processes 2

Prints one JSON object: per kind how many, how fast, the middle and the 99th percentile of the time of an answer in
milliseconds (an upload is all its requests), and the largest memory of a server process in MiB.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import urllib3

PART = 4 << 20


class Servers:
    """Server processes on one database and one place of objects."""

    def __init__(self, folder: str, arguments: argparse.Namespace) -> None:
        self.key = secrets.token_hex(24)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "API_KEY": self.key,
            "LOG_LEVEL": "warning",
            "AGENTFEEDBACK_SERVER_DATABASE": arguments.database or f"sqlite:///{folder}/server.db",
            "AGENTFEEDBACK_SERVER_OBJECTS": arguments.objects or f"{folder}/objects",
            "SESSIONS_ENVELOPE_BYTES": str(2 << 30),
        }
        self.processes = []
        self.urls = []
        self.peaks: dict[int, int] = {}
        for _ in range(arguments.processes):
            self._start()
        subprocess.run(
            [sys.executable, "-m", "agentfeedback", "server", "policy", "enable"],
            env=self.environ, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        self.ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _start(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "agentfeedback", "server", "serve", "--listen", "127.0.0.1:0"],
            env=self.environ, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("listening on "):
                self.urls.append(line.split()[-1])
                break
        self.processes.append(process)

    def _watch(self) -> None:
        """The resident memory of each process, four times a second."""
        while not self.ended.wait(0.25):
            for process in self.processes:
                try:
                    with open(f"/proc/{process.pid}/status") as file:
                        kib = next(
                            int(line.split()[1]) for line in file if line.startswith("VmRSS")
                        )
                except (OSError, StopIteration):
                    continue
                self.peaks[process.pid] = max(self.peaks.get(process.pid, 0), kib)

    def end(self) -> None:
        self.ended.set()
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
            process.wait()


class Client:
    """One of many: its own connections, every request repeated until it is answered."""

    def __init__(self, servers: Servers, number: int) -> None:
        self.pool = urllib3.PoolManager(maxsize=1, headers={"X-Api-Key": servers.key})
        self.url = servers.urls[number % len(servers.urls)]
        self.retries = 0

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Any:
        while True:
            reply = self.pool.request(
                method, self.url + path, body=body or None, headers={**self.pool.headers, **headers},
                retries=False, timeout=60,
            )  # fmt: skip
            if reply.status != 503:
                return reply
            self.retries += 1
            time.sleep(0.2)


def file(client: Client, number: int) -> float:
    """File one report, twice, as a client does that lost the answer."""
    body = json.dumps(
        {
            "kind": "note",
            "key": f"k{number}",
            "summary": f"report {number}",
            "payload": {"n": "x" * 800},
        }
    )
    began = time.perf_counter()
    first = client.ask("POST", "/api/v1/submissions", body.encode())
    took = time.perf_counter() - began
    assert first.status in (200, 201), first.data
    if number % 10 == 0:
        assert client.ask("POST", "/api/v1/submissions", body.encode()).status == 200
    return took


def upload(client: Client, number: int, size: int, consent: str) -> float:
    """Upload one session of so many bytes."""
    line = json.dumps({"type": "user", "n": number, "text": "x" * 200}).encode() + b"\n"
    count = size // len(line) + 1
    parts = []
    per_part = PART // len(line)
    while count > 0:
        parts.append(line * min(count, per_part))
        count -= per_part
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    total = sum(len(part) for part in parts)
    named = f"claude-code\0s{number}\0{total}"
    manifest = {
        "kind": "session",
        "harness": "claude-code",
        "key": f"session-{hashlib.sha256(named.encode()).hexdigest()}",
        "payload": {
            "format": "claude-code-jsonl",
            "session_id": f"s{number}",
            "revision": str(total),
        },
    }
    digests = [hashlib.sha256(part).hexdigest() for part in parts]
    body = {
        "consent_id": consent,
        "manifest": manifest,
        "parts": [
            {"bytes": len(part), "sha256": digest}
            for part, digest in zip(parts, digests, strict=True)
        ],
        "transcript_bytes": total,
        "transcript_sha256": whole.hexdigest(),
        "envelope_bytes": total,
    }
    began = time.perf_counter()
    begun = client.ask("POST", "/api/v1/sessions/uploads", json.dumps(body).encode())
    assert begun.status == 201, begun.data
    id = begun.json()["upload"]["id"]
    for at, part in enumerate(parts):
        path = f"/api/v1/sessions/uploads/{id}/parts/{at + 1}"
        reply = client.ask("PUT", path, part, **{"X-Content-Sha256": digests[at]})
        assert reply.status == 200, reply.data
    done = client.ask("POST", f"/api/v1/sessions/uploads/{id}/complete")
    assert done.status == 201, done.data
    return time.perf_counter() - began


def measured(clients: list[Client], count: int, work: Any) -> dict[str, float]:
    """Have the clients do something so many times; how long each took, and how many a second."""
    numbers = iter(range(count))
    lock = threading.Lock()
    times: list[float] = []

    def run(client: Client) -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            took = work(client, number)
            with lock:
                times.append(took)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(clients)) as pool:
        for done in [pool.submit(run, client) for client in clients]:
            done.result()
    seconds = time.perf_counter() - began
    times.sort()
    return {
        "count": count,
        "per_second": round(count / seconds, 1),
        "p50_ms": round(times[len(times) // 2] * 1000, 1),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1000, 1),
    }


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--uploads", type=int, default=500)
    parser.add_argument("--smallest", type=int, default=1_000_000)
    parser.add_argument("--largest", type=int, default=20_000_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--database", default="")
    parser.add_argument("--objects", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(folder, arguments)
        try:
            clients = [Client(servers, number) for number in range(arguments.clients)]
            before = dict(servers.peaks)
            reports = measured(clients, arguments.reports, file)
            after_reports = dict(servers.peaks)
            policy = clients[0].ask("GET", "/api/v1/sessions/policy").json()
            chance = random.Random(1)
            sizes = [
                chance.randint(arguments.smallest, arguments.largest)
                for _ in range(arguments.uploads)
            ]
            uploads = {"count": 0}
            if sizes:
                uploads = measured(
                    clients,
                    len(sizes),
                    lambda client, number: upload(
                        client, number, sizes[number], policy["consent_id"]
                    ),
                )
            stats = clients[0].ask("GET", "/api/v1/stats?by=kind").json()
            found = {group["keys"]["kind"]: group["total"] for group in stats["groups"]}
            expected = {"note": arguments.reports, "session": len(sizes)}
            lost = {kind: count - found.get(kind, 0) for kind, count in expected.items()}
            print(
                json.dumps(
                    {
                        "reports": reports,
                        "uploads": uploads,
                        "megabytes": round(sum(sizes) / 1e6),
                        "lost": {kind: n for kind, n in lost.items() if n > 0},
                        "doubled": {kind: -n for kind, n in lost.items() if n < 0},
                        "repeated_after_503": sum(client.retries for client in clients),
                        "mib": {
                            "idle": round(max(before.values(), default=0) / 1024),
                            "reports": round(max(after_reports.values(), default=0) / 1024),
                            "all": round(max(servers.peaks.values(), default=0) / 1024),
                        },
                    }
                )
            )
            assert not any(lost.values())
        finally:
            servers.end()


if __name__ == "__main__":
    main()
