"""The client against this server over HTTP: submit, flush, ingest, what reads, export and import, doctor, MCP's tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agentfeedback_mcp.local import filing
from agentfeedback_mcp.local.backing import LocalBacking
from agentfeedback_mcp.tools import submissions
from agentfeedback_mcp.tools.call import answer
from tests.support.machine import Machine

from .conftest import Running, listening

READING = (
    ("list",),
    ("list", "--json"),
    ("list", "--limit", "2", "--json"),
    ("list", "--after", "1", "--json"),
    ("list", "--kind", "friction", "--payload", "--json"),
    ("list", "--since", "1h", "--search", "S1"),
    ("list", "--exclude-kind", "note", "--exclude-kind", "review"),
    ("show", "1", "3"),
    ("show", "2", "--json"),
    ("stats",),
    ("stats", "--by", "kind,schema_version", "--top", "1", "--bucket", "day", "--json"),
    ("processed", "1", "2", "--verdict", "fixed"),
    ("processed", "1", "--undo", "--json"),
    ("processed", "1", "77"),
    ("redact", "3", "--yes"),
    ("list",),
    ("show", "9"),
    ("show", "x"),
    ("list", "--limit", "0"),
    ("list", "--verdict", ""),
)


@pytest.fixture
def url(small: Running) -> Iterator[str]:
    with listening(small) as found:
        yield found


@pytest.fixture
def remote(machine: Machine, small: Running, url: str) -> Machine:
    """A machine whose reports go to the server."""
    machine.environ |= {"AGENT_FEEDBACK_URL": url, "AGENT_FEEDBACK_API_KEY": small.key}
    return machine


def outcome(result: Any) -> tuple[int, str, str]:
    found = json.loads(result.text.splitlines()[-1])
    return result.status, found["outcome"], found.get("reason", "")


def submit(machine: Machine, *words: str, **environ: str) -> tuple[int, str, str]:
    return outcome(machine.call("submit", "friction", "--category", "c", *words, **environ))


def test_a_report_is_filed_once(remote: Machine, small: Running) -> None:
    """Filed, filed again, other content under its key; a key that is wrong keeps it here until it is right."""
    one = ("--key", "k", "--summary")
    assert submit(remote, *one, "s") == (0, "submitted", "")
    assert submit(remote, *one, "s") == (0, "duplicate", "")
    assert submit(remote, *one, "t")[:2] == (1, "mismatch")
    wrong = {"AGENT_FEEDBACK_API_KEY": "afk_" + "0" * 12 + "_" + "A" * 43}
    assert submit(remote, "--summary", "later", **wrong) == (0, "spooled", "unauthorized")
    assert small.client.get("/api/v1/submissions").json()["total"] == 1
    flushed = remote.call("flush")
    assert flushed.status == 0 and flushed.json["flushed"] == 1
    assert small.client.get("/api/v1/submissions").json()["total"] == 2
    assert small.key not in small.log.getvalue()


def test_what_waited_in_the_inbox_arrives(remote: Machine, small: Running) -> None:
    """Each file is one report, also when it is put there twice."""
    inbox = remote.home / ".local/share/agentfeedback/inbox"
    for name in ("a.json", "b.json"):
        inbox.mkdir(parents=True, exist_ok=True)
        (inbox / name).write_text(json.dumps({"kind": "note", "summary": name, "key": "k" + name}))
    assert remote.call("ingest").status == 0
    assert remote.call("flush").status == 0
    assert small.client.get("/api/v1/submissions").json()["total"] == 2
    assert small.file(summary="a.json", key="ka.json")["id"] in (1, 2)


def test_the_server_is_read_as_this_machine_is(machine: Machine, small: Running, url: str) -> None:
    """Every command prints the same, exits the same, and refuses the same in either mode."""
    for number, kind in enumerate(("friction", "note", "friction", "review")):
        stdin = {"payload": {"x": number}}
        machine.call("submit", kind, "--summary", f"s{number}", "--stdin", stdin=stdin)
    exported = machine.home / "all.ndjson"
    assert machine.call("export", "--output", str(exported)).status == 0
    machine.environ["AGENT_FEEDBACK_API_KEY"] = small.key
    done = machine.call("import", str(exported), "--server", url)
    assert done.status == 0, done.err
    for words in READING:
        here, there = machine.call(*words), machine.call(*words, "--server", url)
        assert (here.status, _same(here.text)) == (there.status, _same(there.text)), words
        assert here.err == there.err, words
    here, there = machine.call("export"), machine.call("export", "--server", url)
    assert [_same(each) for each in here.text.splitlines()[1:-1]] == [
        _same(each) for each in there.text.splitlines()[1:-1]
    ]


def _same(text: str) -> str:
    """A text without the times at which a mark was set here and there."""
    lines = []
    for line in text.splitlines():
        if line.startswith("{"):
            tree = json.loads(line)
            for record in (tree, *tree.get("submissions", ())):
                record.pop("processed_at", None)
                record.pop("redacted_at", None)
            line = json.dumps(tree)
        if "processed_at" not in line and "redacted_at" not in line:
            lines.append(line)
    return "\n".join(lines)


def test_doctor_finds_the_server(remote: Machine) -> None:
    """It answers, is new enough, and says what it can do."""
    meta = remote.call("doctor", "--json").json["meta"]
    assert meta["answered"] is True and "sessions.push" in meta["features"]
    assert meta.get("compare", "ok") == "ok"


def test_the_tools_of_mcp_work_on_the_server(remote: Machine, small: Running) -> None:
    """Those over submissions, and the one that files."""

    def call(name: str, **given: Any) -> Any:
        tools = {tool.name: tool for tool in (filing.TOOL, *submissions.TOOLS)}
        text = json.dumps(given).encode()
        reply = answer(tools[name], text, remote.environ, LocalBacking)
        return reply.status, json.loads(reply.encoded())

    status, filed = call("submit_feedback", kind="friction", summary="s", payload={"n": 1})
    assert status == 201 and filed["submission"]["summary"] == "s"
    id = filed["submission"]["id"]
    assert call("list_submissions")[1]["total"] == 1
    assert call("get_submission", id=id)[1]["uid"] == filed["submission"]["uid"]
    assert call("mark_processed", ids=[id], verdict="fixed")[0] == 200
    assert call("stats")[1]["total"] == 1
    assert call("get_schema", kind="friction")[1]["type"] == "object"
    status, refused = call("get_submission", id=77)
    assert (status, refused["error"]) == (404, "not_found")
