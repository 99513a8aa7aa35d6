"""MCP over HTTP: the tools over submissions, and no others; what the protocol asks of requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import Running

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}


def post(running: Running, content: Any, path: str = "/mcp", **headers: str) -> Any:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return running.client.post(path, content=body, headers={**HEADERS, **headers})


def call(running: Running, name: str, arguments: str = "{}", path: str = "/mcp") -> Any:
    """The answer of a tool; structured content and text say the same."""
    params = f'{{"name":"{name}","arguments":{arguments}}}'
    text = f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}'
    reply = post(running, text.encode(), path)
    assert reply.status_code == 200, reply.text
    shown = reply.json()
    assert shown["id"] == 7
    found = shown["result"]
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
    return found["isError"], found["structuredContent"], reply.text


def test_it_says_what_it_is_and_lists_its_tools(small: Running) -> None:
    """Nothing that reads sessions is among them."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    shown = post(small, hello)
    assert "mcp-session-id" not in shown.headers
    found = shown.json()["result"]
    assert found["serverInfo"]["name"] == "agentfeedback" and "session" not in found[
        "instructions"
    ].replace("next session", "")
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert post(small, ready).status_code == 202
    tools = post(small, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).json()["result"]
    assert [tool["name"] for tool in tools["tools"]] == [
        "submit_feedback",
        "list_submissions",
        "get_submission",
        "stats",
        "mark_processed",
        "get_schema",
    ]
    filing = tools["tools"][0]["inputSchema"]
    assert "context_from" not in filing["properties"] and filing["additionalProperties"] is True


def test_a_report_filed_here_is_the_one_filed_by_the_api(running: Running) -> None:
    """Numbers as they are spelled: the same row both ways; a failure is a result with the API's body."""
    body = '{"kind":"note","key":"k","payload":{"n":1.50,"big":1e400}}'
    failed, filed, text = call(running, "submit_feedback", body)
    assert not failed and '"n":1.50' in text and '"big":1e400' in text
    again = running.client.post("/api/v1/submissions", content=body)
    assert again.status_code == 200
    assert again.json()["submission"]["uid"] == filed["submission"]["uid"]
    failed, refused, _ = call(running, "submit_feedback", body.replace("1.50", "2"))
    assert failed and refused["error"] == "replay_mismatch"
    assert {"message", "request_id", "details"} <= refused.keys()
    assert call(running, "list_submissions")[1]["total"] == 1
    id = filed["submission"]["id"]
    assert call(running, "mark_processed", f'{{"ids":[{id}],"verdict":"fixed"}}')[1]["updated"] == [
        id
    ]
    assert call(running, "get_submission", f'{{"id":{id}}}')[1]["verdict"] == "fixed"
    assert call(running, "stats")[1]["processed"] == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "pointer"),
    [
        ("submit_feedback", '{"context_from":"codex:a#b"}', "unknown_field", "?context_from"),
        ("submit_feedback", '{"ordinal":1}', "unknown_field", "?ordinal"),
        ("list_submissions", '{"limit":1,"limit":2}', "duplicate_key", "?limit"),
        ("list_submissions", '{"nope":1}', "unknown_field", "?nope"),
        ("get_submission", "{}", "required", "?id"),
        ("get_submission", '{"id":1.0}', "type_mismatch", "?id"),
    ],
)
def test_arguments_are_read_strictly(
    small: Running, tool: str, arguments: str, code: str, pointer: str
) -> None:
    """One detail, about the argument."""
    failed, refused, _ = call(small, tool, arguments)
    assert failed and refused["error"] == "validation_error"
    (detail,) = refused["details"]
    assert (detail["code"], detail["pointer"]) == (code, pointer)


def test_a_project_in_the_address_is_the_project_of_every_report(small: Running) -> None:
    """One that is given as well is refused."""
    _, filed, _ = call(small, "submit_feedback", '{"kind":"note"}', "/mcp/my%20shop")
    assert filed["submission"]["project"] == "my shop"
    failed, refused, _ = call(small, "submit_feedback", '{"project":"x"}', "/mcp/shop")
    assert failed and refused["details"][0]["pointer"] == "?project"


def test_what_the_transport_refuses(small: Running) -> None:
    """No key, another method, media types, a body that is too large or not JSON-RPC."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    bare = small.with_key("")
    assert bare.post("/mcp", json=ping).status_code == 401
    for method in ("GET", "DELETE"):
        reply = small.client.request(method, "/mcp", headers=HEADERS)
        assert reply.status_code == 405 and reply.headers["Allow"] == "POST"
    assert post(small, ping).json()["result"] == {}
    assert post(small, ping, Accept="application/json").status_code == 406
    assert post(small, ping, **{"Content-Type": "text/plain"}).status_code == 415
    assert post(small, b" " * (10_551_296 + 1)).status_code == 413
    assert post(small, b"[" * 2000).status_code == 400
    refused = post(small, b"{nope")
    assert refused.status_code == 400 and refused.json()["error"]["code"] == -32700
    unknown = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "sessions_list"},
    }
    assert "error" in post(small, unknown).json()


def test_organisations_do_not_meet(small: Running) -> None:
    """Each key has the reports of its own."""
    call(small, "submit_feedback", '{"kind":"note"}')
    small.server.access.add_organisation("other")
    _, key = small.server.access.add("other", "n")
    text = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_submissions"}}'
    reply = post(small, text, "/mcp", **{"X-Api-Key": key})
    assert reply.json()["result"]["structuredContent"]["total"] == 0
