"""The commands that read, asked of a server: they show what they show of this machine, and believe no answer blindly."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.foundation.json_text import parse
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submit.remote.api import RemoteApi

READING = (
    ("list",),
    ("list", "--json"),
    ("list", "--limit", "2"),
    ("list", "--after", "1", "--json"),
    ("list", "--kind", "friction", "--payload", "--json"),
    ("list", "--since", "1h", "--search", "s1"),
    ("show", "1", "3"),
    ("show", "2", "--json"),
    ("stats",),
    ("stats", "--by", "kind,schema_version", "--top", "1", "--bucket", "day"),
    ("stats", "--json"),
    ("processed", "1", "2", "--verdict", "fixed"),
    ("processed", "1", "--undo", "--json"),
    ("redact", "3", "--yes"),
    ("list",),
    ("show", "9"),
    ("show", "x"),
    ("list", "--limit", "0"),
    ("list", "--verdict", ""),
)


@pytest.fixture
def both(machine: Any, server: Any) -> Any:
    """A machine with the same reports here and on the server."""
    for number, kind in enumerate(("friction", "note", "friction", "review")):
        machine.submit(kind, "--summary", f"s{number}", "--stdin", stdin={"payload": {"x": number}})
    export = machine.home / "all.ndjson"
    assert machine.call("export", "--output", str(export)).status == 0
    assert server.service.import_(export.read_bytes()).status == 200
    machine.environ["AGENT_FEEDBACK_API_KEY"] = server.key
    return machine


def without_times(text: str) -> str:
    """A text without the times at which a mark was set."""
    return "\n".join(
        line
        for line in text.splitlines()
        if "processed_at" not in line and "redacted_at" not in line
    )


def test_server_is_read_as_this_machine_is(both: Any, server: Any) -> None:
    """Every command prints the same, exits the same, and refuses the same in either mode."""
    for words in READING:
        here, there = both.call(*words), both.call(*words, "--server", server.url)
        assert (here.status, without_times(here.text)) == (
            there.status,
            without_times(there.text),
        ), words
        assert here.err == there.err, words


def test_export_and_import_carry_everything(both: Any, server: Any, tmp_path: Path) -> None:
    """In one stream, byte for byte as the server writes it; into a server too, all or nothing."""
    records = [json.loads(line) for line in both.call("export").text.splitlines()[1:-1]]
    result = both.call("export", "--server", server.url)
    assert result.status == 0 and len(server.requests) == 1
    assert [json.loads(line) for line in result.text.splitlines()[1:-1]] == records and len(
        records
    ) == 4
    only = both.call(
        "export", "--kind", "friction", "--after", "1", "--since", "1h", "--server", server.url
    )
    assert [json.loads(line)["id"] for line in only.text.splitlines()[1:-1]] == [3]
    assert '"kind":"friction"' in only.text.splitlines()[0]
    path = tmp_path / "more.ndjson"
    path.write_text(result.text)
    assert (
        both.call("import", str(path), "--server", server.url).text
        == "0 imported, 4 here already\n"
    )
    path.write_text(result.text[:-9])
    broken = both.call("import", str(path), "--server", server.url)
    assert broken.status == 1 and server.service.list([]).body["total"] == 4


@pytest.mark.parametrize(
    "answer",
    [
        "no-json",
        "list",
        "accepted",
        "empty",
        "closed",
        "status-401",
        "status-404",
        "status-500",
        "moved-302",
        "echo",
        "odd-page",
    ],
)
def test_answer_that_is_none_of_the_api_is_one_error(
    machine: Any, server: Any, answer: str
) -> None:
    """One line on standard error, exit 1, nothing on standard output; no key, no secret and no escape sequence in it."""
    machine.environ["AGENT_FEEDBACK_API_KEY"] = server.key
    for words in (
        ("list",),
        ("list", "--json"),
        ("show", "1"),
        ("stats", "--by", "kind"),
        ("processed", "1"),
        ("redact", "1", "--yes"),
        ("export",),
    ):
        result = machine.call(*words, "--server", f"{server.url}/{answer}")
        assert (result.status, result.text) == (1, ""), words
        (line,) = result.err.splitlines()
        assert line.startswith(f"agentfeedback {words[0]}: ") and line.endswith(".")
        assert server.key not in line and "IOSFODNN7" not in line and "\x1b" not in line


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("status-401", "@ refuses the key (401); correct api_key or AGENT_FEEDBACK_API_KEY."),
        ("status-403", "@ refuses the key (403); correct api_key or AGENT_FEEDBACK_API_KEY."),
        (
            "status-404",
            "@ is not an agentfeedback server (404); correct url or AGENT_FEEDBACK_URL.",
        ),
        (
            "status-405",
            "@ is not an agentfeedback server (405); correct url or AGENT_FEEDBACK_URL.",
        ),
        ("moved-302", "@ is not an agentfeedback server (302); correct url or AGENT_FEEDBACK_URL."),
        ("status-429", "@ asks to wait; try again later."),
        ("status-503", "@ fails (503); try again later."),
        ("closed", "@ cannot be reached (network); check the network and the url, or use --local."),
        ("status-400", "it is so."),
    ],
)
def test_what_is_said_of_a_server_names_the_remedy(
    machine: Any, server: Any, answer: str, said: str
) -> None:
    """The url, what it answered, and what to do."""
    machine.environ["AGENT_FEEDBACK_API_KEY"] = server.key
    url = f"{server.url}/{answer}"
    for words in (("list",), ("show", "1"), ("stats",), ("export",), ("processed", "1")):
        result = machine.call(*words, "--server", url)
        assert result.status == 1
        assert result.err == f"agentfeedback {words[0]}: {said}\n".replace("@", url)


def test_wait_that_is_asked_for_is_told(machine: Any, server: Any) -> None:
    """With the time after which to try again."""
    machine.environ["AGENT_FEEDBACK_API_KEY"] = server.key
    before = time.strftime("%Y-%m-%dT", time.gmtime(time.time() + 120))
    err = machine.call("list", "--server", f"{server.url}/wait-120").err
    assert f"asks to wait; try again after {before}" in err


def test_report_that_is_not_there_is_told_apart_from_a_wrong_url(both: Any, server: Any) -> None:
    """In either mode the same sentence."""
    for words in (("show", "9"), ("redact", "9", "--yes"), ("processed", "9")):
        here, there = both.call(*words), both.call(*words, "--server", server.url)
        assert here.err == there.err
        assert "there is no report 9; agentfeedback list shows them." in there.err


@pytest.mark.parametrize("damage", ["cut", "changed", "no trailer"])
def test_export_that_is_not_whole_fails(
    both: Any, server: Any, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is missing or changed on the way: exit 1, and no file is left."""
    whole = server.service.export([]).text
    broken = {
        "cut": whole[:-40],
        "changed": whole.replace(b'"s1"', b'"s2"'),
        "no trailer": b"\n".join(whole.split(b"\n")[:-2]) + b"\n",
    }[damage]
    answer = ApiResponse(200, None, text=broken)
    monkeypatch.setattr(server.service, "export", lambda query: answer)
    path = tmp_path / "all.ndjson"
    result = both.call("export", "--output", str(path), "--server", server.url)
    assert result.status == 1 and "is not whole" in result.err
    assert not path.exists()


def test_answer_that_does_not_name_each_report_once_is_refused(machine: Any, server: Any) -> None:
    """A mark that is not confirmed for each of its reports is not said to be done."""
    body = b'{"processed":true,"updated":[1],"unchanged":[],"not_found":[]}'
    assert api(body).mark_all(b'{"ids":[1]}').body["updated"] == [1]
    for ids in (b"[1,2]", b"[2]"):
        with pytest.raises(AgentFeedbackError, match="does not name each report"):
            api(body).mark_all(b'{"ids":%s}' % ids)


def test_uid_is_not_asked_of_a_server(machine: Any, server: Any) -> None:
    """It knows reports by id."""
    machine.environ["AGENT_FEEDBACK_API_KEY"] = server.key
    result = machine.call("show", "01a22c67-3499-7dba-a585-e5b41f2f9e22", "--server", server.url)
    assert result.status == 2 and "name its reports by id" in result.err


class Answers:
    """A client whose server answers everything with one body."""

    def __init__(self, body: bytes) -> None:
        self.reply = ApiResponse(200, parse(body).value)

    def ask(self, method: str, path: str, **more: Any) -> ApiResponse:
        return self.reply

    def without_key(self, tree: Any) -> Any:
        return tree


def api(body: bytes) -> RemoteApi:
    client: Any = Answers(body)
    return RemoteApi(client, str)


RECORD = b'{"id":1,"kind":"note","created_at":"2026-01-01T00:00:00.000000Z","payload":{"n":1.50}}'
PAGE = b'{"submissions":[%s],"total":1,"limit":50,"has_more":false,"later":1e3}' % RECORD


def test_cursor_that_does_not_go_on_is_null_or_not_there() -> None:
    """Both say the same and are shown as null; members of a later version and numbers are printed as they came."""
    nulls = PAGE[:-1] + b',"next_before_id":null,"next_after_id":null}'
    assert api(nulls).list([]).encoded() == api(PAGE).list([]).encoded() == nulls
    more = PAGE.replace(b'"has_more":false', b'"has_more":true,"next_before_id":1')
    assert api(more).list([]).body["next_before_id"] == 1
    assert api(more).list([]).body["next_after_id"] is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"id":1,', b"", "submissions[0].id is missing"),
        (b'"kind":"note"', b'"kind":null', "submissions[0].kind is not a string"),
        (b'"total":1', b'"total":1.0', "total is not a whole number"),
        (b'"payload":{"n":1.50}', b'"payload":[]', "submissions[0].payload is not an object"),
        (b'"has_more":false', b'"has_more":true', "has_more is true, and there is no cursor"),
    ],
)
def test_member_that_does_not_fit_is_named(old: bytes, new: bytes, problem: str) -> None:
    """Its path in the answer, never its value."""
    with pytest.raises(AgentFeedbackError) as raised:
        api(PAGE.replace(old, new)).list([])
    assert raised.value.problem == f"the server's answer is not one of this API: {problem}"
