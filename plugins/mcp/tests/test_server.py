"""The server as a process: its streams, its end, and what a client may do to it."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from agentfeedback_mcp.local.backing import LocalBacking
from agentfeedback_mcp.tools.call import Tool, answer

PRINTS = """
import os
from agentfeedback.plugins.hookspecs import hookimpl
print("loud")
os.write(1, b"louder")
@hookimpl
def session_marked(ref, outcome, uids):
    print("marked", input() if False else "")
    os.system("echo loudest; cat")
"""
HANDSHAKE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def call(id: int, tool: str, arguments: bytes) -> bytes:
    params = b'{"name":"%s","arguments":%s}' % (tool.encode(), arguments)
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}' % (id, params)


def test_what_is_printed_besides_is_not_on_standard_output(machine: Any, tmp_path: Path) -> None:
    """Plugins may print, and run programs that do and that read: the protocol's streams stay the protocol's."""
    machine.friction()
    folder = tmp_path / "site"
    info = folder / "loud-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[agentfeedback.plugins]\nloud = loud\n")
    (folder / "loud.py").write_text(PRINTS)
    machine.environ["PYTHONPATH"] = str(folder)
    answers, err = machine.spoken(
        call(1, "sessions_digest", b'{"refs":["claude-code:s1"]}'),
    )
    assert [each["id"] for each in answers] == [1]
    answers, err = machine.spoken(
        call(1, "sessions_mark", b'{"refs":["claude-code:s1"],"outcome":"nothing"}'),
        call(2, "stats", b"{}"),
    )
    assert {each["id"]: each["result"]["isError"] for each in answers} == {1: False, 2: False}
    assert "loud\n" in err and "louder" in err and "loudest" in err


def test_arguments_the_sdk_would_change_are_seen_as_written(machine: Any) -> None:
    """Repeated names are refused where names are checked; what is not an object is a bad request; no name is one of an argument's."""
    answers, _ = machine.spoken(
        call(1, "sessions_list", b'{"since":"7d","since":"7d"}'),
        call(2, "sessions_list", b"[1]"),
        call(3, "sessions_list", b"null"),
        call(4, "sessions_list", b'{"verbatim":"{}"}'),
        call(5, "submit_feedback", b'{"kind":"note","kind":"note"}'),
        call(6, "submit_feedback", b'{"kind":"note","key":"k","summary":"a","summary":"b"}'),
        call(7, "submit_feedback", b'{"kind":"note","summary":"\\ud800 \xff","key":"l"}'),
        call(8, "submit_feedback", b'{"kind":"note","a":' + b"[" * 600 + b"]" * 600 + b"}"),
        call(
            9, "submit_feedback", b'{"kind":"note","key":"m","a":' + b"[" * 200 + b"]" * 200 + b"}"
        ),
        b'{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"nope"}}',
        b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"stats"}}',
        call(12, "submit_feedback", b"[" * 5000 + b"]" * 5000),
        b"no JSON",
        b"",
    )
    found = {each["id"]: each for each in answers}
    content = {id: each.get("result", {}).get("structuredContent") for id, each in found.items()}
    assert content[1]["details"][0]["code"] == content[5]["details"][0]["code"] == "duplicate_key"
    assert (content[2]["error"], content[8]["error"]) == ("bad_request", "bad_request")
    assert content[3]["sessions"] == []
    assert content[4]["details"][0]["pointer"] == "?verbatim"
    assert content[6]["submission"]["summary"] == "b"
    assert content[6]["warnings"][0]["code"] == "duplicate_key"
    assert content[7]["submission"]["summary"] == "\ufffd \ufffd"
    # Nested as deeply it can be stored, and told as text alone.
    assert content[9] is None and '"key":"m"' in found[9]["result"]["content"][0]["text"]
    assert found[10]["error"]["message"] == "there is no tool nope"
    assert "total" in content[11]
    # What has no id that can be read is for the log.
    assert None not in found


def test_a_second_client_at_once_is_fine(machine: Any) -> None:
    """Two servers on one machine see one database, and calls of one client may run side by side."""
    machine.friction()

    async def file(client: Client, key: str) -> None:
        result = await client.call_tool(
            "submit_feedback", {"kind": "note", "summary": key, "key": key}
        )
        assert not result.is_error

    async def story() -> None:
        async with (
            Client(stdio_client(machine.parameters)) as one,
            Client(stdio_client(machine.parameters)) as two,
        ):
            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(file, (one, two)[number % 2], f"k{number}")
                    group.start_soon(one.call_tool, "sessions_digest", {"unprocessed": True})
                    group.start_soon(two.call_tool, "sessions_list", {})
            for client in (one, two):
                found = await client.call_tool("stats", {})
                assert found.structured_content["total"] == 8

    anyio.run(story)


def test_closing_standard_input_ends_the_server(machine: Any) -> None:
    """At once when nothing is open, else when it is answered; with status 0 and nothing on standard error."""
    with machine.start() as process:
        out, err = process.communicate(b"", timeout=30)
    assert (process.returncode, out, err) == (0, b"", b"")
    answers, err = machine.spoken(*(call(id, "sessions_list", b"{}") for id in range(1, 6)))
    assert sorted(each["id"] for each in answers) == [1, 2, 3, 4, 5]
    assert all(not each["result"]["isError"] for each in answers) and err == ""


def test_requests_the_sdk_drops_hold_up_no_end(machine: Any) -> None:
    """Each is refused by its id, what has none that can be read is passed over, and the others are answered."""
    lines = (
        b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[]}',
        b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % (b"9" * 5000),
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        call(7, "stats", b"{}"),
    )
    with machine.start() as process:
        out, err = process.communicate(b"\n".join((HANDSHAKE, *lines)) + b"\n", timeout=30)
    large = b'"id":' + b"9" * 5000
    (refused,) = [line for line in out.splitlines() if large in line]
    assert b'"code": -32600' in refused
    others = [line for line in out.splitlines() if large not in line]
    answers = {each["id"]: each for each in map(json.loads, others)}
    assert process.returncode == 0
    assert (
        err
        == b"agentfeedback mcp: a line without an id was not served: the line is not a request of JSON-RPC.\n"
    )
    assert answers.keys() == {0, 6, "\ud800", 7}
    assert {id for id in answers if "error" in answers[id]} == {6, "\ud800"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server(machine: Any, number: int) -> None:
    """While it waits for a client that says nothing more."""
    with machine.start() as process:
        process.stdin.write(HANDSHAKE)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 0
        process.send_signal(number)
        began = time.monotonic()
        assert process.wait(30) == 128 + number
        assert time.monotonic() - began < 5
        process.stdin.close()
        assert process.stdout.read() == b""
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_of_a_client_that_reads_nothing(machine: Any, number: int) -> None:
    """Answers that nobody takes hold nothing up."""
    with machine.start() as process:
        process.stdin.write(HANDSHAKE)
        report = b'{"kind":"note","payload":{"a":"%s"}}' % (b"a" * 1_000_000)
        process.stdin.write(call(1, "submit_feedback", report) + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 0
        assert select.select([process.stdout], [], [], 30)[0]
        time.sleep(0.5)
        process.send_signal(number)
        assert process.wait(5) == 128 + number
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


def test_a_client_that_goes_away_ends_the_server(machine: Any) -> None:
    """Nobody reads the answers: no traceback, no process that stays."""
    with machine.start() as process:
        process.stdout.close()
        process.stdin.write(HANDSHAKE + call(1, "stats", b"{}") + b"\n")
        process.stdin.flush()
        assert process.wait(30) == 0
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


def test_a_fault_is_told_without_its_text(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The text of an error may quote a session: neither the client nor the log gets it."""
    said = str(machine.home)

    def broken(call: Any) -> Any:
        raise RuntimeError(said)

    tool = Tool("broken", "Broken", "", (), broken)
    reply = answer(tool, None, machine.environ, LocalBacking)
    assert (reply.status, reply.body["error"]) == (500, "internal_error")
    err = capsys.readouterr().err
    assert said not in err + reply.body["message"] and "in broken" in err


def test_the_command_is_in_the_help_and_loads_no_sdk(machine: Any) -> None:
    """Help and completion of the program wait for no protocol; an argument is refused."""
    code = (
        "import sys; from agentfeedback.cli.main import main; main(['--help']);"
        "print([name for name in ('mcp', 'anyio', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=machine.environ, capture_output=True, check=True
    )
    assert done.stdout.endswith(b"\n[]\n") and b"\n  mcp " in done.stdout
    wrong = machine.call("mcp", "x")
    assert wrong.status == 2 and "mcp takes no names" in wrong.err
