"""`agentfeedback submit` from the command line to the stored row."""

from __future__ import annotations

import json
from typing import Any

import pytest

SPAN = "claude-code:s1#u-3"
KEY = "session-scan-ff74ddf523b40d75643c52ac590cd4e5dba3e3affd88624a9955f9e20551a56c"
KEY_2 = "session-scan-85ba3871c21724080ed175df8156a7bcb6cb0fae02b217fe506d79e85cec58d6"
TOKEN = "gh" + "p_" + "a1B2" * 9
REPORT = {"summary": "the flag is gone", "payload": {"category": "docs", "details": "d"}}
#: What could be known of the process that files, and must not be.
STRANGE = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_SESSION_ID": "strange-session",
    "AGENT_FEEDBACK_SESSION_ID": "strange-session",
    "AGENT_FEEDBACK_MODEL": "strange-model",
    "AGENT_FEEDBACK_HARNESS": "strange-harness",
    "AI_AGENT": "strange-agent",
    "PI_MODEL": "strange-model",
    "USER": "strange-user",
    "PATH": "/strange",
}


def with_session(machine: Any, *more: bytes) -> None:
    machine.claude("s1", [machine.said("u-2"), machine.said("u-3", model=None), *more])


def test_a_friction_is_stored_and_told(machine: Any) -> None:
    """The last line is the outcome, the row what it says, the directory its project."""
    result = machine.submit(
        "friction", "--summary", "s", "--category", "docs", "--details", "d", "--model", "m"
    )
    assert result.status == 0, result.err
    outcome = result.outcome
    (record,) = machine.records()
    assert (outcome["outcome"], outcome["kind"]) == ("submitted", "friction")
    assert (outcome["id"], outcome["uid"], outcome["key"]) == (
        record["id"],
        record["uid"],
        record["key"],
    )
    assert record["project"] == record["context"]["folder"] == "shop"
    assert record["payload"] == {"category": "docs", "details": "d"}
    assert "warnings" not in outcome and result.err == ""


def test_settings_fill_what_is_not_given(machine: Any) -> None:
    """Flag over stdin over environment over configuration over what is collected."""
    machine.config(
        'machine = "c"\nmodel = "c"\nharness = "c"\n[context]\napp = "a"\ndrop = ["os"]\n'
    )
    words = ("note", "--stdin", "--summary", "flag")
    machine.submit(*words, stdin={"harness": "stdin"}, AGENT_FEEDBACK_MODEL="env", CLAUDECODE="1")
    (record,) = machine.records()
    assert [record[name] for name in ("summary", "harness", "model", "machine")] == [
        "flag",
        "stdin",
        "env",
        "c",
    ]
    assert record["context"]["app"] == "a" and "os" not in record["context"]


def test_a_span_gives_its_facts_and_its_key(machine: Any) -> None:
    """Key, time, harness, model, project and context come from the session, over what stdin gives."""
    with_session(machine)
    given = {
        **REPORT,
        "key": "x",
        "harness": "x",
        "model": "x",
        "project": "x",
        "occurred_at": "2000-01-01T00:00:00Z",
    }
    result = machine.submit(
        "friction",
        "--stdin",
        "--context-from",
        SPAN,
        stdin={**given, "context": {"origin": "x", "a": "b"}},
    )
    assert result.status == 0, result.err
    (record,) = machine.records()
    assert record["key"] == result.outcome["key"] == KEY
    assert record["occurred_at"] == "2026-10-08T07:00:09.250000Z"
    assert (record["harness"], record["model"], record["project"]) == (
        "claude-code",
        "claude-opus-5-5",
        "shop",
    )
    expected = {
        "origin": "session-scan",
        "detector": "claude-code-jsonl/1",
        "session_id": "s1",
        "session_harness": "claude-code",
    }
    assert {name: record["context"][name] for name in expected} == expected
    assert (record["context"]["a"], record["context"]["folder"]) == ("b", "shop")


def test_a_replay_is_a_duplicate_and_other_content_a_mismatch(machine: Any) -> None:
    """The same finding filed again is the same row; another at the span needs another number."""
    with_session(machine)
    words = ("friction", "--stdin", "--context-from", SPAN)
    first = machine.submit(*words, stdin=REPORT).outcome
    again = machine.submit(*words, stdin=REPORT, CLAUDECODE="1")
    assert (again.status, again.outcome["outcome"], again.outcome["uid"]) == (
        0,
        "duplicate",
        first["uid"],
    )
    other = machine.submit(*words, stdin={**REPORT, "summary": "another"})
    assert (other.status, other.outcome["outcome"], other.outcome["id"]) == (
        1,
        "mismatch",
        first["id"],
    )
    assert "--ordinal" in other.err
    second = machine.submit(*words, "--ordinal", "2", stdin={**REPORT, "summary": "another"})
    assert (second.status, second.outcome["outcome"], second.outcome["key"]) == (
        0,
        "submitted",
        KEY_2,
    )
    assert len(machine.records()) == 2


def test_nothing_of_the_filing_process_is_told_but_its_machine(machine: Any) -> None:
    """With a span, environment, configured model and directory of the process stay out of the row."""
    where = machine.home / "elsewhere"
    where.mkdir()
    machine.config('model = "strange-model"\nharness = "strange-harness"\nmachine = "box"\n')
    machine.claude("s1", [machine.said("u-3", model=None, cwd=str(where))])
    result = machine.submit("friction", "--stdin", "--context-from", SPAN, stdin=REPORT, **STRANGE)
    assert result.status == 0, result.err
    (record,) = machine.records()
    assert "strange" not in json.dumps(record) and "shop" not in json.dumps(record)
    assert "model" not in record
    assert (record["machine"], record["project"]) == ("box", "elsewhere")


def test_the_body_of_a_span_is_the_same_wherever_it_is_filed(machine: Any) -> None:
    """Two processes in other directories, with other environments, send the same bytes."""
    with_session(machine)
    machine.config('machine = "box"\n')
    words = ("friction", "--stdin", "--dry-run", "--context-from", SPAN)
    here = machine.submit(*words, stdin=REPORT)
    machine.directory = machine.home / "strange"
    (machine.directory / ".git").mkdir(parents=True)
    (machine.directory / ".git/HEAD").write_text("ref: refs/heads/strange\n")
    (machine.directory / ".agentfeedback.toml").write_text("[collect]\ndisabled = true\n")
    there = machine.submit(*words, stdin=REPORT, **STRANGE)
    assert here.status == there.status == 0, there.err
    assert here.text == there.text


def test_a_directory_that_is_gone_is_a_name(machine: Any) -> None:
    """Its base name is the project, and only what is configured is added."""
    machine.config('[context]\nworkspace = "w"\n')
    machine.claude("s1", [machine.said("u-3", cwd="/srv/gone/store")])
    machine.submit("friction", "--stdin", "--context-from", SPAN, stdin=REPORT)
    (record,) = machine.records()
    assert record["project"] == "store"
    assert set(record["context"]) == {
        "origin",
        "detector",
        "session_id",
        "session_harness",
        "workspace",
    }


def test_an_unknown_project_needs_a_word_and_leaves_the_project(machine: Any) -> None:
    """Only a person may admit a session whose policy cannot be checked."""
    machine.claude("s1", [machine.said("u-3", cwd=None)])
    words = ("friction", "--stdin", "--context-from", SPAN)
    refused = machine.submit(*words, stdin=REPORT)
    assert (refused.status, refused.text) == (1, "") and "--allow-unknown-project" in refused.err
    assert not machine.database.exists()
    machine.submit(*words, "--allow-unknown-project", stdin={**REPORT, "project": "mine"})
    (record,) = machine.records()
    assert record["project"] == "mine"


@pytest.mark.parametrize(
    ("config", "span", "word"),
    [
        ("[collect]\ndisabled = true\n", SPAN, "disabled"),
        ('[collect]\ndeny_paths = ["~/work"]\n', SPAN, "denied"),
        ('[collect]\ndeny_paths = ["/"]\n', SPAN, "denied"),
        ("", "claude-code:nope#u-3", "session not found"),
        ("", "claude-code:s1#nope", "span not found"),
        ("", "claude-code:s1#timeless", "records no time"),
        ("", "claude-code:broken#u-3", "unsupported-format"),
    ],
)
def test_a_refused_entry_files_nothing(machine: Any, config: str, span: str, word: str) -> None:
    """Refused, missing or timeless: exit 1, a sentence, nothing on standard output and nothing stored."""
    machine.config(config)
    with_session(machine, machine.said("timeless", timestamp=None))
    machine.claude("broken", [b"no json"])
    result = machine.submit("friction", "--stdin", "--context-from", span, stdin=REPORT)
    assert (result.status, result.text) == (1, "")
    assert word in result.err and result.err.startswith("agentfeedback submit: ")
    assert not machine.database.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "submit takes one kind"),
        (("friction", "note"), "submit takes one kind"),
        ((" ",), "submit takes one kind"),
        (("friction",), "summary"),
        (("friction", "--nope"), "--nope|-nope"),
        (("note", "--category", "c"), "--category"),
        (("note", "--context", "=v"), "key=value"),
        (("note", "--context", "k"), "key=value"),
        (("note", "--schema-version", "0"), "--schema-version"),
        (("note", "--local", "--server", "https://x"), "--local"),
        (("note", "--ordinal", "2"), "--context-from"),
        (("note", "--allow-unknown-project"), "--context-from"),
        (("note", "--context-from", SPAN, "--ordinal", "0"), "--ordinal"),
        (("note", "--context-from", "claude-code:s1"), "names no span"),
        (("note", "--context-from", "claude-code:s1#"), "names no span"),
        (("note", "--context-from", "amp:s1#u"), "there is no session reader"),
        (("note", "--context-from", "claude-code:../x#u"), "is not a session"),
        *(
            (("note", "--context-from", SPAN, f"--{name}", "x"), f"--{name}")
            for name in ("key", "project", "harness", "model")
        ),
    ],
)
def test_a_wrong_command_line_is_told(machine: Any, words: tuple[str, ...], said: str) -> None:
    """Exit 2, one sentence, nothing on standard output, nothing read or stored."""
    machine.config("not toml")  # the command line is checked before the configuration is read
    if words == ("friction",):
        machine.config("")
    result = machine.submit(*words, stdin=b"")
    assert (result.status, result.text) == (2, "")
    assert any(word in result.err for word in said.split("|")), result.err
    assert not machine.database.exists()


@pytest.mark.parametrize("given", [b"", b"[]", b"{} {}", b"nope"])
def test_stdin_must_be_one_object(machine: Any, given: bytes) -> None:
    """Anything else is a wrong command line."""
    result = machine.submit("note", "--stdin", stdin=given)
    assert (result.status, result.text) == (2, "") and "stdin" in result.err


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("[collect]\ndisabled = true\n", "disabled"),
        ('[collect]\ndeny_paths = ["~/work"]\n', "deny_paths"),
        ("[collect]\nopt_in_only = true\n", "opt_in_only"),
    ],
)
def test_a_directory_that_is_switched_off_files_nothing(
    machine: Any, config: str, reason: str
) -> None:
    """That is an outcome and no failure; standard input is not even read."""
    machine.config(config)
    result = machine.submit("friction", "--stdin", stdin=b"never read")
    assert (result.status, result.outcome) == (
        0,
        {"outcome": "disabled", "kind": "friction", "reason": reason},
    )
    assert not machine.database.exists()


def test_a_repository_switches_off_and_drops(machine: Any) -> None:
    """The repository's own file narrows what its directory may tell."""
    (machine.directory / ".git").mkdir()
    (machine.directory / ".git/HEAD").write_text("ref: refs/heads/main\n")
    rules = machine.directory / ".agentfeedback.toml"
    rules.write_text('[context]\ndrop = ["git_branch", "given"]\n')
    machine.submit("note", "--stdin", stdin={"context": {"given": "x"}})
    (record,) = machine.records()
    assert "repo_root" in record["context"] and not {"git_branch", "given"} & set(record["context"])
    rules.write_text("[collect]\ndisabled = true\n")
    assert machine.submit("note").outcome == {
        "outcome": "disabled",
        "kind": "note",
        "reason": "repo_disabled",
    }


def test_what_comes_from_a_session_is_scrubbed_whatever_its_origin(machine: Any) -> None:
    """A body filed from a span never holds a secret, also when the origin is replaced; it is reported once a member."""
    with_session(machine)
    given = {"summary": f"key {TOKEN}", "payload": {"details": TOKEN, "n": 1}}
    result = machine.submit(
        "friction", "--stdin", "--context-from", SPAN, "--context", "origin=me", stdin=given
    )
    (record,) = machine.records()
    assert TOKEN not in json.dumps(record) and record["context"]["origin"] == "me"
    scrubbed = [
        item["pointer"] for item in result.outcome["warnings"] if item["code"] == "scrubbed"
    ]
    assert scrubbed == ["/summary", "/payload"]
    assert result.err.count("/summary") == 1 and TOKEN not in result.err + result.text


def test_a_dry_run_prints_the_body_and_stores_nothing(machine: Any) -> None:
    """The body is the one that would be sent; its oddities are reported."""
    result = machine.submit(
        "note", "--stdin", "--dry-run", stdin=b'{"payload":{"n":1.50},"machine":5}'
    )
    body, line = result.text.splitlines()
    assert '"payload":{"n":1.50}' in body and json.loads(body)["kind"] == "note"
    outcome = json.loads(line)
    assert (result.status, outcome["outcome"]) == (0, "valid")
    assert "coerced" in [item["code"] for item in outcome["warnings"]]
    assert not machine.database.exists()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b'{"key":7}', "invalid_body"),
        (b'{"a":"' + b"x" * 10_485_760 + b'"}', "body_too_large"),
        (b'{"a":' + b"[" * 600 + b"]" * 600 + b"}", "rejected"),
    ],
)
def test_a_body_that_would_be_refused_is_rejected(machine: Any, given: bytes, reason: str) -> None:
    """The outcome says why, the exit is 1, nothing is stored."""
    result = machine.submit("note", "--stdin", stdin=given)
    assert (result.status, result.outcome["outcome"], result.outcome["reason"]) == (
        1,
        "rejected",
        reason,
    )
    assert not machine.database.exists()


def test_a_report_that_is_kept_nowhere_is_given_back(machine: Any) -> None:
    """Where neither the database nor the spool can be used, the body is printed on standard error."""
    machine.database.parent.mkdir(parents=True)
    machine.database.write_text("something else entirely, of somebody else")
    (machine.database.parent / "spool").write_text("in the way")
    result = machine.submit("note", "--summary", "precious")
    assert (result.status, result.outcome["outcome"]) == (1, "error")
    assert '"summary":"precious"' in result.err


def test_a_server_is_never_silently_ignored(machine: Any) -> None:
    """With one configured nothing is stored here, unless that is asked for."""
    for words, environ in (
        (("--server", "https://x.example"), {}),
        ((), {"AGENT_FEEDBACK_URL": "https://x.example"}),
    ):
        result = machine.submit("note", *words, **environ)
        assert (result.status, result.outcome["reason"]) == (1, "client_setup")
    assert machine.submit("note", "--local", AGENT_FEEDBACK_URL="https://x.example").status == 0
    assert len(machine.records()) == 1


def test_an_invalid_configuration_stops_everything(machine: Any) -> None:
    """What a policy says must be known before anything is filed."""
    machine.config("machine = 5")
    result = machine.submit("note")
    assert (result.status, result.text) == (1, "") and "machine is not a string" in result.err
