"""The tools, called by the SDK's own client over a real process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.machine import meta, typed

EVENT = "claude-code:s1#u-2"
UID = "01a22c67-3499-7dba-a585-e5b41f2f9e22"
READ_ONLY = {
    "sessions_list",
    "sessions_report",
    "session_show",
    "list_submissions",
    "get_submission",
    "stats",
    "get_schema",
}
CHANGING = {"sessions_digest", "sessions_mark", "submit_feedback", "mark_processed"}


async def asked(client: Any, tool: str, *, wrong: bool = False, **arguments: Any) -> Any:
    """The structured content of a call, which is also its one text block."""
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    assert json.loads(block.text) == result.structured_content
    assert result.is_error is wrong, block.text
    return result.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_is_listed(machine: Any, mode: str) -> None:
    """Each with a closed schema, a description and hints, in the protocol of today and of before."""

    async def story(client: Any) -> None:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == READ_ONLY | CHANGING
        for tool in listed:
            Draft202012Validator.check_schema(tool.input_schema)
            open = tool.name == "submit_feedback"
            assert tool.input_schema["additionalProperties"] is open
            assert all(each["description"] for each in tool.input_schema["properties"].values())
            hints = tool.annotations
            assert hints.read_only_hint is (tool.name in READ_ONLY)
            assert not hints.destructive_hint and not hints.open_world_hint
            provider = "reaches the provider" in tool.description
            assert provider is tool.name.startswith("session")
        assert client.server_info.name == "agentfeedback"
        assert client.instructions.startswith("agentfeedback keeps reports")

    machine.talk(story, mode)


def test_a_triage_by_tools_alone(machine: Any) -> None:
    """Listed, digested, filed, marked: every tool does its part, and each answer is the command's JSON."""
    machine.friction()

    async def story(client: Any) -> None:
        listed = await asked(
            client, "sessions_list", unprocessed=True, since="2026-01-01T00:00:00Z"
        )
        assert listed == machine.json("sessions", "list", "--unprocessed", "--json")
        digest = await asked(client, "sessions_digest", unprocessed=True, limit=1)
        assert digest == machine.json("sessions", "digest", "claude-code:s1", "--json")
        (event,) = (each for each in digest["sessions"][0]["events"] if "tool" in each)
        assert event["ref"] == EVENT
        filed = await asked(
            client,
            "submit_feedback",
            kind="friction",
            summary="make has no such rule",
            payload={"category": "docs", "details": "the document names it"},
            context_from=EVENT,
        )
        submission = filed["submission"]
        assert (submission["harness"], submission["project"]) == ("claude-code", "shop")
        assert filed["warnings"] == []
        ref = ["claude-code:s1"]
        marked = await asked(
            client, "sessions_mark", refs=ref, outcome="filed", uids=[submission["uid"]]
        )
        assert marked == {"marked": ref, "outcome": "filed", "uids": [submission["uid"]]}
        assert (await asked(client, "sessions_list", unprocessed=True))["sessions"] == []
        assert await asked(client, "get_submission", id=submission["id"]) == submission
        found = await asked(
            client, "list_submissions", processed=False, exclude_kind=["review"], include="payload"
        )
        assert found["submissions"] == [submission]
        counted = await asked(client, "stats", by="kind,category", top=3)
        assert counted["groups"] == [
            {
                "keys": {"kind": "friction", "category": "docs"},
                "total": 1,
                "open": 1,
                "processed": 0,
            }
        ]
        done = await asked(client, "mark_processed", ids=[submission["id"]], verdict="fixed")
        assert (done["updated"], done["not_found"]) == ([1], [])
        assert (await asked(client, "stats", processed=True))["total"] == 1
        schema = await asked(client, "get_schema", kind="friction")
        assert "suggested_fix" in schema["properties"]

    machine.talk(story)


REPORT = b'{"summary":"s","model":"m","payload":{"category":"docs","n":1.50,"e":1E+2,"long":%s}}'
LONG = b"12345678901234567890123456789"


def test_a_report_filed_both_ways_is_one_row(machine: Any) -> None:
    """By command and by tool the body is the same to the byte: numbers keep their spelling, the second is a duplicate."""
    machine.friction()
    body = REPORT % LONG
    from_entry = machine.json("submit", "friction", "--stdin", "--context-from", EVENT, stdin=body)
    keyed = body.replace(b"{", b'{"key":"k",', 1)
    plain = machine.json("submit", "friction", "--stdin", stdin=keyed)
    own = body.replace(b"{", b'{"kind":"friction","context_from":"%s",' % EVENT.encode(), 1)
    answers, _ = machine.spoken(
        call(1, own),
        call(2, keyed.replace(b"{", b'{"kind":"friction",', 1)),
        call(3, own.replace(b"{", b'{"ordinal":2,', 1)),
        call(4, own.replace(b"1.50", b"1.5")),
    )
    found = {each["id"]: each["result"] for each in answers}
    ids = {
        id: each["structuredContent"].get("submission", {}).get("id") for id, each in found.items()
    }
    assert (ids[1], ids[2]) == (from_entry["id"], plain["id"])
    assert ids[3] not in (ids[1], ids[2], None)
    other = found[4]["structuredContent"]
    assert (other["error"], other["details"][0]["existing_id"]) == ("replay_mismatch", ids[1])
    exported = machine.done("export").out
    assert b'"n":1.50' in exported and LONG in exported
    assert '"n":1.50' in found[1]["content"][0]["text"]
    assert len(machine.records()) == 3


def call(id: int, arguments: bytes) -> bytes:
    params = b'{"name":"submit_feedback","arguments":%s}' % arguments
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}' % (id, params)


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("sessions_list", {"nope": 1}, "?nope", "unknown_field"),
    ("sessions_list", {"unprocessed": "true"}, "?unprocessed", "type_mismatch"),
    ("sessions_list", {"harness": ""}, "?harness", "empty"),
    ("sessions_list", {"harness": "amp"}, "?harness", "out_of_range"),
    ("sessions_list", {"since": "soon"}, "?since", "invalid_format"),
    ("sessions_list", {"since": None}, "?since", "type_mismatch"),
    ("sessions_list", {"allow_unknown_project": True}, "?allow_unknown_project", "unknown_field"),
    ("sessions_digest", {}, "?refs", "required"),
    ("sessions_digest", {"unprocessed": False}, "?refs", "required"),
    ("sessions_digest", {"refs": ["codex:a"], "unprocessed": True}, "?refs", "out_of_range"),
    ("sessions_digest", {"refs": ["codex:a"], "harness": "codex"}, "?refs", "out_of_range"),
    ("sessions_digest", {"refs": ["codex:a"], "limit": 1}, "?refs", "out_of_range"),
    ("sessions_digest", {"refs": []}, "?refs", "empty"),
    ("sessions_digest", {"refs": "codex:a"}, "?refs", "type_mismatch"),
    ("sessions_digest", {"refs": [1]}, "?refs", "type_mismatch"),
    ("sessions_digest", {"refs": ["codex"]}, "?refs", "invalid_format"),
    ("sessions_digest", {"refs": ["amp:a"]}, "?refs", "invalid_format"),
    ("sessions_digest", {"unprocessed": True, "limit": -1}, "?limit", "out_of_range"),
    ("sessions_digest", {"unprocessed": True, "limit": 1.0}, "?limit", "type_mismatch"),
    ("sessions_mark", {}, "?outcome", "required"),
    ("sessions_mark", {"outcome": "filed"}, "?refs", "required"),
    ("sessions_mark", {"outcome": "maybe", "refs": ["codex:a"]}, "?outcome", "out_of_range"),
    ("sessions_mark", {"outcome": "nothing", "refs": ["codex:a"]}, "?refs", "out_of_range"),
    (
        "sessions_mark",
        {"outcome": "filed", "refs": ["codex:a"], "uids": ["uid-1"]},
        "?uids",
        "invalid_format",
    ),
    ("submit_feedback", {"kind": 1}, "?kind", "type_mismatch"),
    ("submit_feedback", {"kind": " "}, "?kind", "empty"),
    ("submit_feedback", {"kind": "friction"}, "?summary", "required"),
    ("submit_feedback", {"kind": "note", "context": "no"}, "?context", "type_mismatch"),
    ("submit_feedback", {"kind": "note", "key": 5}, "?key", "type_mismatch"),
    ("submit_feedback", {"kind": "note", "ordinal": 2}, "?ordinal", "out_of_range"),
    ("submit_feedback", {"context_from": EVENT}, "?kind", "required"),
    ("submit_feedback", {"kind": "note", "context_from": 1}, "?context_from", "type_mismatch"),
    (
        "submit_feedback",
        {"kind": "note", "context_from": "codex:a"},
        "?context_from",
        "invalid_format",
    ),
    (
        "submit_feedback",
        {"kind": "note", "context_from": EVENT, "ordinal": 0},
        "?ordinal",
        "out_of_range",
    ),
    ("list_submissions", {"nope": 1}, "?nope", "unknown_field"),
    ("list_submissions", {"limit": 501}, "?limit", "out_of_range"),
    ("list_submissions", {"limit": "5"}, "?limit", "type_mismatch"),
    ("list_submissions", {"before_id": 2, "after_id": 1}, "?before_id", "out_of_range"),
    ("list_submissions", {"since": "7d"}, "?since", "invalid_format"),
    ("list_submissions", {"kind": ""}, "?kind", "empty"),
    ("get_submission", {}, "?id", "required"),
    ("get_submission", {"id": True}, "?id", "type_mismatch"),
    ("stats", {"by": "summary"}, "?by", "out_of_range"),
    ("stats", {"limit": 1}, "?limit", "unknown_field"),
    ("mark_processed", {"ids": []}, "?ids", "empty"),
    ("mark_processed", {"ids": [0]}, "?ids", "type_mismatch"),
    ("mark_processed", {"ids": [1], "verdict": "Not One"}, "?verdict", "invalid_format"),
    ("mark_processed", {"ids": [1], "verdict": 1}, "?verdict", "type_mismatch"),
    ("get_schema", {"kind": "friction", "version": 0}, "?version", "out_of_range"),
]


def test_wrong_arguments_are_told(machine: Any) -> None:
    """Each is a validation error with one detail that points at the argument; nothing is filed or marked."""
    machine.friction()

    async def story(client: Any) -> None:
        for tool, arguments, pointer, code in WRONG:
            told = await asked(client, tool, wrong=True, **arguments)
            assert told["error"] == "validation_error", (tool, arguments)
            (detail,) = told["details"]
            assert (detail["pointer"], detail["code"]) == (pointer, code), (tool, arguments)
            assert len(told["request_id"]) == 32 and detail["message"] == told["message"]
            assert " --" not in told["message"]
        for empty in ({}, {"kind": "friction"}, {"project": "shop", "context": {"a": "b"}}):
            told = await asked(client, "submit_feedback", wrong=True, **empty)
            assert told["details"][0]["pointer"] == "?summary", empty
        missing = await asked(client, "get_submission", wrong=True, id=77)
        assert missing["error"] == "not_found"
        assert (await asked(client, "list_submissions"))["total"] == 0

    machine.talk(story)


def test_a_refused_entry_is_told_as_the_command_tells_it(machine: Any) -> None:
    """A session that may not be read, a span that is not there, a project nobody knows: the message is the command's."""
    machine.friction()
    machine.claude("s2", [machine.line("user", "v-1", "build it", cwd=None)])
    machine.claude("s3", [machine.line("user", "w-1", "build it", cwd="/srv/secret")])
    machine.config('[collect]\ndeny_paths = ["/srv/secret"]\n')
    refs = ("claude-code:s9#u-1", "claude-code:s1#u-9", "claude-code:s2#v-1", "claude-code:s3#w-1")
    words = ("session not found", "span not found", "--allow-unknown-project", "denied")

    async def story(client: Any) -> None:
        for ref, word in zip(refs, words, strict=True):
            told = await asked(
                client, "submit_feedback", wrong=True, kind="note", summary="s", context_from=ref
            )
            assert [each["pointer"] for each in told["details"]] == ["?context_from"]
            refused = machine.call("submit", "note", "--summary", "s", "--context-from", ref)
            assert refused.status == 1
            assert word in told["message"]
            assert refused.err == f"agentfeedback submit: {told['message']}.\n"

    machine.talk(story)
    assert machine.records() == []


def test_a_report_is_mended_and_not_refused(machine: Any) -> None:
    """Other members and other types are taken with a warning, as everywhere; without a kind it is unknown."""

    async def story(client: Any) -> None:
        filed = await asked(client, "submit_feedback", summary=5, mood="bad")
        assert filed["submission"]["kind"] == "unknown"
        assert filed["submission"]["payload"] == {"mood": "bad"}
        codes = {(each["code"], each["pointer"]) for each in filed["warnings"]}
        assert {("missing_kind", "/kind"), ("coerced", "/summary")} <= codes
        assert ("moved_to_payload", "/payload/mood") in codes
        secret = await asked(
            client,
            "submit_feedback",
            kind="note",
            key="k",
            context={"origin": "session-scan"},
            summary="gh" + "p_" + "a1B2" * 9,
        )
        assert secret["submission"]["summary"] == "[REDACTED:github_token]"
        assert ("scrubbed", "/summary") in {
            (each["code"], each["pointer"]) for each in secret["warnings"]
        }

    machine.talk(story)


def test_the_policy_of_now_is_asked(machine: Any) -> None:
    """What is switched off while the server runs is off with the next call."""
    machine.friction()

    async def story(client: Any) -> None:
        await asked(client, "submit_feedback", kind="note", summary="s", key="a")
        machine.config("[collect]\ndisabled = true\n")
        told = await asked(client, "submit_feedback", wrong=True, kind="note", summary="s", key="b")
        assert "nothing was filed" in told["message"]
        (session,) = (await asked(client, "sessions_list"))["sessions"]
        assert session["state"] == "disabled" and "project" not in session
        machine.config("collect = 1\n")
        for tool, given in (("sessions_list", {}), ("submit_feedback", {"kind": "note"})):
            told = await asked(client, tool, wrong=True, **given)
            assert told["error"] == "unavailable" and "config.toml" in told["message"]

    machine.talk(story)
    machine.config("")
    assert [each["key"] for each in machine.records()] == ["a"]


def test_with_a_server_sessions_stay_here(machine: Any, server: Any) -> None:
    """The body that is sent is the command's, byte for byte; the marks of sessions are in the local database."""
    machine.friction()
    machine.environ |= {"AGENT_FEEDBACK_URL": server.url, "AGENT_FEEDBACK_API_KEY": server.key}
    report = {"summary": "s", "payload": {"category": "docs"}}
    words = ("submit", "friction", "--stdin", "--context-from", EVENT)
    first = machine.json(*words, stdin=json.dumps(report, separators=(",", ":")).encode())

    async def story(client: Any) -> None:
        filed = await asked(
            client, "submit_feedback", kind="friction", context_from=EVENT, **report
        )
        assert filed["submission"]["id"] == first["id"]
        digest = await asked(client, "sessions_digest", refs=["claude-code:s1"])
        assert digest["sessions"]
        await asked(client, "sessions_mark", refs=["claude-code:s1"], outcome="nothing")
        assert await asked(client, "get_submission", id=1) == filed["submission"]
        assert (await asked(client, "list_submissions", project="shop"))["total"] == 1
        done = await asked(client, "mark_processed", ids=[1, 2])
        assert (done["updated"], done["not_found"]) == ([1], [2])
        assert (await asked(client, "stats", processed=True))["total"] == 1
        # What a server refuses is shown as it says it, with an id.
        told = await asked(client, "stats", wrong=True, by="nope")
        assert told["details"][0]["pointer"] == "?by" and len(told["request_id"]) == 32
        told = await asked(client, "get_schema", wrong=True, kind="friction")
        assert (told["error"], told["message"]) == ("not_found", "no such route")

    machine.talk(story)
    filed = ("POST", "/api/v1/submissions")
    bodies = [each.body for each in server.requests if (each.method, each.path) == filed]
    assert len(bodies) == 2 and bodies[0] == bodies[1]
    assert machine.json("sessions", "status", "--json")["harnesses"][0]["states"] == {
        "processed": 1
    }


def test_a_report_the_server_does_not_take_is_kept(machine: Any) -> None:
    """The answer says so, and the spool holds it."""
    machine.environ |= {
        "AGENT_FEEDBACK_URL": "http://127.0.0.1:9",
        "AGENT_FEEDBACK_API_KEY": "key-of-" + "nobody",
    }

    async def story(client: Any) -> None:
        told = await asked(client, "submit_feedback", wrong=True, kind="note", summary="s")
        assert told["error"] == "unavailable" and "kept on this machine" in told["message"]
        told = await asked(client, "stats", wrong=True)
        assert told["error"] == "network" and told["request_id"]

    machine.talk(story)
    assert len(list((machine.home / ".local/share/agentfeedback/spool").glob("*.json"))) == 1


def test_a_near_miss_of_the_policy_stops_every_session_tool(machine: Any) -> None:
    """An agent neither reads nor marks a session where a rule of the user's misses its name."""
    machine.codex("s1", [meta(), typed()])
    machine.call("sessions", "digest", "codex:s1")
    machine.config("[colect]\ndisabled = true\n")

    async def story(client: Any) -> None:
        for name, given in (
            ("sessions_list", {}),
            ("sessions_digest", {"refs": ["codex:s1"]}),
            ("sessions_mark", {"refs": ["codex:s1"], "outcome": "nothing"}),
            ("sessions_mark", {"digested": True, "outcome": "nothing"}),
        ):
            told = await asked(client, name, wrong=True, **given)
            assert told["error"] == "unavailable" and "colect" in told["message"]

    machine.talk(story)
    machine.config("")
    assert machine.state("codex:s1") == ("new", "")
