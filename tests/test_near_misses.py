"""A configuration or a repository's file that only looks like a rule refuses: shown from outside, for each command."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.machine import Machine, meta, prompt, typed
from tests.support.tracing import Trace, by_audit, by_strace, has_strace

#: What was written, and what the error names.
NEAR_MISSES = {
    "key": ("[collect]\ndisable = true\n", "collect.disable is not a key of [collect]"),
    "table": ("[colect]\ndisabled = true\n", "[colect] is not [collect]"),
    "outside": ("disabled = true\n", "disabled is outside of [collect]"),
    "elsewhere": ("[sessions]\ndeny_paths = ['/srv']\n", "sessions.deny_paths is outside of"),
    "relative": ("[collect]\ndeny_paths = ['srv']\n", "collect.deny_paths entry 'srv' is a rel"),
    "other": ("[collect]\ndeny_paths = ['~other']\n", "entry '~other' is not a home"),
    "variable": ("[collect]\ndeny_paths = ['$HOME']\n", "entry '$HOME' begins with $"),
    "empty": ("[collect]\ndeny_paths = ['']\n", "entry '' is empty"),
    "pattern": ("[collect]\ndeny_paths = ['/srv/*']\n", "entry '/srv/*' holds a *"),
    "opt-in": ("[collect]\nopt_in_paths = ['/srv']\n", "opt_in_paths is set without"),
    "opt-in entry": (
        "[collect]\nopt_in_only = true\nopt_in_paths = ['x']\n",
        "collect.opt_in_paths entry 'x' is a relative path",
    ),
}
SPAN = "claude-code:s1#u1"
READING = [
    ("sessions", "list", "--json"),
    ("sessions", "digest", "--unprocessed", "--json"),
    ("sessions", "digest", "claude-code:s1"),
    ("sessions", "status"),
    ("sessions", "status", "--set-selection", "--limit", "3"),
    ("submit", "friction", "--context-from", SPAN, "--summary", "x"),
]


def kinds() -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("text", "named"), list(NEAR_MISSES.values()), ids=list(NEAR_MISSES)
    )


class Stores:
    """A session of each of three harnesses: two logs and a database that another program is writing."""

    def __init__(self, machine: Machine) -> None:
        self.logs = [
            machine.claude("s1", [prompt("u1")]),
            machine.codex("s2", [meta(), typed()]),
        ]
        self.database = machine.home / ".local/share/opencode/opencode.db"
        self.database.parent.mkdir(parents=True)
        self.connection = sqlite3.connect(self.database, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        sql = Path(__file__).parents[1] / "readers/opencode/tests/v1.sql"
        self.connection.executescript(sql.read_text())
        columns = {"id": "ses_1", "slug": "s", "directory": "/srv/app", "version": "1"}
        columns |= {"project_id": "p", "title": "t", "time_created": "1", "time_updated": "1"}
        self.connection.execute(
            f"INSERT INTO session ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
            tuple(columns.values()),
        )
        said = {"role": "user", "time": {"created": 1_772_359_200_000}}
        self.connection.execute(
            "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)",
            ("msg_1", "ses_1", 1_772_359_200_000, 1_772_359_200_000, json.dumps(said)),
        )
        said = {"type": "text", "text": "fix it"}
        self.connection.execute(
            "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            ("prt_1", "msg_1", "ses_1", 1_772_359_200_000, 1_772_359_200_000, json.dumps(said)),
        )

    def opens(self, trace: Trace) -> list[str]:
        """What was opened of a store, copies of its database included."""
        logs = {str(path) for path in self.logs}
        return [
            path for path in trace.opened if path in logs or self.database.name in Path(path).name
        ]


@pytest.fixture
def stores(machine: Machine) -> Stores:
    return Stores(machine)


@pytest.fixture(params=["strace", "audit"])
def traced(request: pytest.FixtureRequest, machine: Machine) -> Callable[..., Trace]:
    """Runs the program and tells what it opened."""
    if request.param == "strace" and not has_strace():
        pytest.skip("strace is not here or may not trace")
    trace = by_audit if request.param == "audit" else by_strace
    return lambda *words: trace(machine, *words)


@kinds()
@pytest.mark.parametrize("words", READING, ids=lambda words: " ".join(words[:3]))
def test_a_near_miss_refuses_every_command_that_reads_sessions(
    machine: Machine, words: tuple[str, ...], text: str, named: str
) -> None:
    """Exit status 1, one line with the file and the fault, nothing on standard output, and nothing is kept."""
    machine.claude("s1", [prompt("u1")])
    machine.config(text)
    result = machine.call(*words)
    assert (result.status, result.out) == (1, b"")
    config = machine.home / ".config/agentfeedback/config.toml"
    (line,) = result.err.splitlines()
    assert f"config file {config} is not valid: " in line and named in line
    assert "(write " in line or "(its keys are " in line
    assert "correct the file; no session is read until then" in line
    assert not (machine.home / ".local/share/agentfeedback").exists()


def test_a_near_miss_opens_nothing(
    machine: Machine, stores: Stores, traced: Callable[..., Trace]
) -> None:
    """No log and no database is opened or copied by a command that refuses, nor by `doctor`."""
    assert stores.opens(traced("sessions", "list")), "the trace sees what is opened"
    machine.config(NEAR_MISSES["relative"][0])
    for words in (*READING, ("doctor",), ("doctor", "--formats", "--json")):
        trace = traced(*words)
        assert trace.result.status == 1
        assert stores.opens(trace) == []


@pytest.mark.parametrize(
    ("config", "refusal"),
    [
        ("[collect]\ndisabled = true\n", ("disabled", "disabled")),
        ("[collect]\ndeny_paths = ['/']\n", ("denied", "deny_paths")),
        ("[collect]\nopt_in_only = true\n", ("denied", "opt_in_only")),
        ("[collect\n", None),
    ],
    ids=["disabled", "deny of the root", "nothing opted in", "not TOML"],
)
def test_a_policy_that_refuses_everything_opens_no_database(
    machine: Machine,
    stores: Stores,
    traced: Callable[..., Trace],
    config: str,
    refusal: tuple[str, str] | None,
) -> None:
    """The database of OpenCode, which holds sessions of every folder, is neither opened nor copied."""
    machine.config(config)
    assert [path for path in stores.opens(traced("doctor", "--json")) if "opencode" in path] == []
    if refusal is None:
        return
    for words in (("list",), ("status",), ("digest", "--unprocessed"), ("digest", "codex:s2")):
        trace = traced("sessions", *words, "--json")
        assert [path for path in stores.opens(trace) if "opencode" in path] == []
    listing = machine.sessions("list")
    (store,) = (each for each in listing["stores"] if each["harness"] == "opencode-v1")
    assert store["state"] == "present"
    assert store["problems"] == [f"{stores.database}: not opened: the policy refuses every session"]
    # A session that may be in it is refused by the same rule.
    digest = machine.call("sessions", "digest", "opencode-v1:ses_1", "--json")
    (error,) = digest.json["errors"]
    assert (error["state"], digest.status) == (refusal[0], 1)
    assert error["message"] == f"opencode-v1:ses_1: session is {refusal[0]} ({refusal[1]})"


def test_a_session_that_was_listed_is_refused_with_its_database(
    machine: Machine, stores: Stores
) -> None:
    """What is remembered of a session in a database that stays closed has the policy's state, and is not gone."""
    assert machine.call("sessions", "digest", "opencode-v1:ses_1").status == 0
    machine.config("[collect]\ndisabled = true\n")
    assert machine.state("opencode-v1:ses_1") == ("disabled", "disabled")
    machine.config("")
    assert machine.state("opencode-v1:ses_1")[0] == "new"


@kinds()
def test_filing_goes_on_with_a_warning(machine: Machine, text: str, named: str) -> None:
    """`submit` without a session, `flush` and `ingest` read none: one warning line, and they do what they do."""
    machine.config(text)
    for words in (("submit", "note", "--summary", "x"), ("flush",), ("ingest",)):
        result = machine.call(*words)
        line, *more = result.err.splitlines()
        assert result.status == 0, result.err
        if "opt_in_only" in text:  # it allows no directory, and says so
            assert '"outcome":"disabled"' in result.text
            if words[0] == "submit":
                assert "collection is off there (opt_in_only)" in more.pop()
        assert more == []
        assert line.startswith(f"agentfeedback {words[0]}: warning: ") and named in line
    assert machine.call("flush", "--hook").err == ""


@kinds()
def test_doctor_names_a_near_miss(machine: Machine, text: str, named: str) -> None:
    """It is a problem with its remedy, and the sessions that were found are refused."""
    machine.claude("s1", [prompt("u1")])
    machine.config(text)
    result = machine.call("doctor", "--formats", "--json")
    assert result.status == 1
    (problem,) = result.json["problems"]
    assert named in problem and "correct the file" in problem
    skipped = {each["harness"]: each["skipped"] for each in result.json["formats"]}
    assert skipped["claude-code"] == {"disabled": 1}


@pytest.mark.parametrize("tool", ["sessions_list", "sessions_digest"])
@pytest.mark.parametrize("kind", ["key", "table", "relative"])
def test_mcp_answers_that_sessions_are_unavailable(machine: Machine, tool: str, kind: str) -> None:
    """The tools that read sessions answer `unavailable` with the fault; the others go on."""
    text, named = NEAR_MISSES[kind]
    machine.claude("s1", [prompt("u1")])
    machine.config(text)
    from agentfeedback_mcp.local.backing import LocalBacking
    from agentfeedback_mcp.local.sessions import TOOLS
    from agentfeedback_mcp.tools.call import answer

    (found,) = (each for each in TOOLS if each.name == tool)
    arguments = b'{"unprocessed": true}'
    reply = answer(found, arguments, machine.environ, LocalBacking)
    assert reply.body["error"] == "unavailable"
    assert named in json.dumps(reply.body, ensure_ascii=False)


# A repository's own file.


def repository(root: Path) -> Path:
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return root / ".agentfeedback.toml"


def _text(text: str | bytes) -> Callable[[Path], object]:
    data = text.encode() if isinstance(text, str) else text
    return lambda file: file.write_bytes(data)


def _link(file: Path) -> None:
    other = file.with_name("other.toml")
    other.write_text("")
    file.symlink_to(other)


def _pipe(file: Path) -> None:
    import os

    os.mkfifo(file)


BROKEN: dict[str, Callable[[Path], object]] = {
    "not TOML": _text("[collect"),
    "not UTF-8": _text(b"a = '\xff'"),
    "wrong type": _text("[collect]\ndisabled = 1\n"),
    "wrong type of another key": _text("[sessions]\npush = 'no'\n"),
    "invalid entry": _text("[collect]\ndeny_paths = ['~/x']\n"),
    "misspelt key": _text("[collect]\ndisable = true\n"),
    "misspelt table": _text("[colect]\ndisabled = true\n"),
    "over 1 MiB": _text("#" * ((1 << 20) + 1)),
    "a folder": Path.mkdir,
    "a pipe": _pipe,
    "a link": _link,
    "a link to nothing": lambda file: file.symlink_to("gone"),
}


@pytest.mark.parametrize("broken", list(BROKEN.values()), ids=list(BROKEN))
def test_a_repository_file_that_cannot_be_followed_refuses(
    machine: Machine, tmp_path: Path, broken: Callable[[Path], object]
) -> None:
    """Its sessions are `denied` with `repo_invalid` before the open, the others are read; the file gone, so are these."""
    file = repository(tmp_path / "repository")
    machine.codex("in", [meta(str(file.parent)), typed()])
    machine.codex("out", [meta(), typed()])
    broken(file)
    assert machine.state("codex:in") == ("denied", "repo_invalid")
    assert machine.state("codex:out") == ("new", "")
    digest = machine.call("sessions", "digest", "codex:in", "--json")
    assert digest.json["errors"][0]["message"] == "codex:in: session is denied (repo_invalid)"
    file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
    assert machine.state("codex:in") == ("new", "")


def test_what_is_filed_in_a_repository_with_a_broken_file_is_switched_off(
    machine: Machine, tmp_path: Path
) -> None:
    """`submit` there files nothing, says which file cannot be followed and why; unknown keys are warnings."""
    machine = Machine(machine.home, tmp_path / "work")
    file = repository(tmp_path / "work")
    file.write_text("[collect]\ndisabled = 1\n")
    result = machine.call("submit", "note", "--summary", "x")
    assert result.outcome == {"outcome": "disabled", "kind": "note", "reason": "repo_invalid"}
    line, unkept = result.err.splitlines()
    assert line.startswith(f"agentfeedback submit: warning: {file} cannot be followed: collect.dis")
    assert unkept.endswith("collection is off there (repo_invalid); the report was not kept.")
    file.write_text("later = 1\n")
    result = machine.call("submit", "note", "--summary", "x")
    assert result.outcome["outcome"] == "submitted"
    assert result.err.startswith(f"agentfeedback submit: warning: {file}: later is ignored; ")


def test_what_a_repository_says_in_vain_is_said_by_what_reads_its_sessions(
    machine: Machine,
) -> None:
    """Keys that nobody knows in the file of a repository whose sessions were judged; they are listed all the same."""
    root = machine.home / "work/repo"
    repository(root).write_text("[collect]\nowner = 'x'\n")
    machine.claude("w1", [prompt("u1", cwd=str(root))])
    for words in (("list", "--json"), ("digest", "--unprocessed", "--json"), ("status", "--json")):
        result = machine.call("sessions", *words)
        assert result.status == 0
        (line,) = [each for each in result.err.splitlines() if "owner" in each]
        assert line.startswith("agentfeedback sessions") and "warning:" in line
        assert f"{root}/.agentfeedback.toml: collect.owner is ignored" in line
