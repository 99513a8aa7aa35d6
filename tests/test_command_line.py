"""The command line as a whole: exit codes, the order of checks, what is printed where, and what is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import Machine, call, failed, meta, prompt, typed

UID = "01234567-89ab-7def-8123-456789abcdef"

#: Words after `sessions`, and a part of the one line that says what is wrong.
WRONG: tuple[tuple[str, str], ...] = (
    ("nope", 'there is no command "sessions nope"'),
    ("digset", "did you mean agentfeedback sessions digest?"),
    ("list -x", "unknown flag -x"),
    ("list --harnes codex", "unknown flag --harnes; did you mean --harness?"),
    ("list -harnes codex", "unknown flag -harnes; did you mean --harness?"),
    ("list --harness", "--harness needs a value"),
    ("list --json=maybe", '--json takes true or false, not "maybe"'),
    ("list ---x", '"---x" is not a flag'),
    ("list s1", 'sessions list takes no names, but "s1" is one'),
    (
        "list --harness amp",
        'there is no session reader for the harness "amp"; the installed ones are ',
    ),
    ("list --harness codx", "did you mean codex?"),
    ("list --since soon", '--since does not understand "soon"'),
    ("list --since 2026-02-30", "--since does not understand"),
    ("list --since 99999999999w", "--since"),
    ("list --since 7D", "--since"),
    ("digest", "name the sessions to digest, or use --unprocessed or --since"),
    ("digest codex:s1 --unprocessed", "--unprocessed cannot be combined with named sessions"),
    ("digest codex:s1 --since 7d", "--since cannot be combined with named sessions"),
    ("digest codex:s1 --limit 1", "--limit needs --unprocessed or --since"),
    ("digest codex:s1 --harness codex", "--harness needs --unprocessed or --since"),
    ("digest codex:s1 --newest", "--newest needs --unprocessed or --since"),
    ("digest codex:s1 --problems", "--problems needs --unprocessed or --since"),
    ("digest --unprocessed --limit -1", "--limit takes a number from 0 on, not -1"),
    ("digest --unprocessed --limit x", '--limit takes a whole number, not "x"'),
    ("digest x", '"x" is not a session; write <harness>:<session id>'),
    ("digest codex:", '"codex:" is not a session'),
    ("digest amp:s1", 'there is no session reader for the harness "amp"; the installed ones are '),
    ("digest claude-code:../x", '"claude-code:../x" is not a session'),
    ("digest codex:a#b", '"codex:a#b" names an entry; leave out "#b", or use sessions show'),
    ("mark", "name the sessions to mark, or use --digested"),
    ("mark codex:s1", "--outcome is missing; it is filed, nothing or skipped"),
    ("mark --outcome nothing", "name the sessions to mark"),
    ("mark codex:s1 --outcome maybe", '"maybe" is not an outcome; it is filed, nothing or skipped'),
    ("mark codex:s1 --outcome filed --ref uid-1", '"uid-1" is not the uid of a report'),
    ("mark codex:s1 --digested --outcome nothing", "--digested cannot be combined with named"),
    (f"mark --digested --ref {UID} --outcome filed", "--digested cannot be combined with --ref"),
    ("mark --digested", "--outcome is missing"),
    ("show", "name one session, or one entry of it, to show"),
    ("show codex:s1 codex:s2", "name one session"),
    ("show x", '"x" is not a session'),
    ("show x#y", '"x" is not a session'),
    ("show codex:s1#", "names no span"),
    ("show amp:s1", 'there is no session reader for the harness "amp"'),
    ("status s1", 'sessions status takes no names, but "s1" is one'),
    ("status --limit 3", "--limit needs --set-selection"),
    ("status --set-selection --limit -2", "--limit takes a number from 0 on, not -2"),
    ("status --set-selection --harness amp", "there is no session reader"),
    ("status --set-selection --since x", "--since"),
    ("report s1", 'sessions report takes no names, but "s1" is one'),
    ("forget", "name the sessions to forget"),
    ("list --home /nowhere/at/all", "--home /nowhere/at/all is not a directory"),
    ("list --home=", "--home is empty"),
    # Of two faults the one checked first is reported.
    ("list s1 --harness amp", "takes no names"),
    ("list --harness amp --since x", "there is no session reader"),
    ("digest codex:s1 --unprocessed --limit -1", "cannot be combined"),
    ("digest --unprocessed --limit -1 --harness amp", "--limit takes"),
    ("digest --unprocessed --since x --harness amp", "there is no session reader"),
    ("mark amp:s1 --outcome maybe", "outcome"),
    ("mark amp:s1 --outcome filed --ref uid-1", "harness"),
    ("status s1 --limit 3", "takes no names"),
    ("status --set-selection --harness amp --since x", "there is no session reader"),
)


@pytest.mark.parametrize(
    ("words", "problem"), WRONG, ids=[words or "nothing" for words, _ in WRONG]
)
def test_wrong_command_line_is_one_line_and_exit_2(
    machine: Machine, words: str, problem: str
) -> None:
    """A wrong command line exits 2 with one line of problem and next step, and empty standard output."""
    machine.config(
        "not TOML at all"
    )  # what is wrong with the line is found before anything is opened
    result = machine.call(
        "sessions",
        *words.split(),
        *(["--json"] if words and words != "list --harness" and " " in words else []),
    )
    assert (result.status, result.out) == (2, b"")
    (line,) = result.err.splitlines()
    assert line.startswith("agentfeedback sessions: ") and problem in line
    assert "; " in line and line.endswith(".")
    assert not machine.database.exists()


def test_a_group_without_a_command_is_its_help(machine: Machine) -> None:
    """On standard error, since nobody asked for it; asked for, it is a result."""
    bare = machine.call("sessions")
    assert (bare.status, bare.out) == (2, b"") and bare.err.startswith("usage: agentfeedback sess")
    for words in (("sessions", "--help"), ("help", "sessions"), ("sessions", "help")):
        asked = machine.call(*words)
        assert (asked.status, asked.text, asked.err) == (0, bare.err, "")


@pytest.mark.parametrize(
    "words", ["--help", "-h", "help", "sessions list -h", "help sessions digest", "doctor --help"]
)
def test_help_that_was_asked_for_is_a_result(machine: Machine, words: str) -> None:
    """On standard output, so that it can be paged; status 0, and nothing on standard error."""
    result = machine.call(*words.split())
    assert result.status == 0 and result.text.startswith("usage: ") and result.err == ""


def test_flags_mix_in_any_order_and_spelling(machine: Machine) -> None:
    """One dash or two, `=` or a space, before or after positionals, the last of a single value wins."""
    machine.claude("s1", [prompt("u1")])
    machine.codex("-s2", [meta(), typed()])
    expected = machine.sessions("digest", "claude-code:s1")["sessions"]
    for words in (
        "digest --json claude-code:s1",
        "digest -json=true claude-code:s1",
        "digest --json -- claude-code:s1",
        "digest claude-code:s1 --json --json=T",
        "digest --unprocessed --harness codex -harness=claude-code --limit 5 --limit=1 --json",
    ):
        result = machine.call("sessions", *words.split())
        assert (result.status, result.json["sessions"]) == (0, expected)
    assert machine.call("sessions", "digest", "claude-code:s1", "--json=false").out[:1] != b"{"
    assert (
        machine.call("sessions", "digest", "--json", "codex:-s2").json["sessions"][0]["session_id"]
        == "-s2"
    )


def test_version(machine: Machine) -> None:
    """The version is one line on standard output."""
    result = machine.run("--version")
    assert (result.status, result.err) == (0, "")
    assert result.text.startswith("agentfeedback ") and result.text.count("\n") == 1


def test_other_failures_exit_1(machine: Machine) -> None:
    """A mark before a digest, a broken configuration and a missing home are failures, not usage errors."""
    machine.claude("s1", [prompt("u1")])
    result = machine.call("sessions", "mark", "claude-code:s1", "--outcome", "nothing")
    assert (result.status, result.out) == (1, b"") and "sessions digest" in result.err
    machine.config("[collect]\ndeny_paths = 5\n")
    result = machine.call("sessions", "list")
    assert (result.status, result.out) == (
        1,
        b"",
    ) and "is not valid: collect.deny_paths" in result.err
    machine.environ.pop("HOME")
    result = machine.call("sessions", "list")
    assert (result.status, result.out) == (1, b"") and "$HOME" in result.err


def test_mark_is_for_all_refs_or_none(machine: Machine) -> None:
    """One ref without a digest refuses them all; what is answered keeps order, doubles and spelling."""
    for id in ("s1", "s2"):
        machine.claude(id, [prompt("u1")])
    machine.sessions("digest", "claude-code:s1")
    result = machine.call(
        "sessions", "mark", "claude-code:s1", "claude-code:s2", "--outcome", "filed"
    )
    assert result.status == 1 and machine.state("claude-code:s1") == ("new", "")
    machine.sessions("digest", "claude-code:s2")
    refs = ["claude-code:s2", "claude-code:s1", "claude-code:s2"]
    answer = machine.sessions(
        "mark", *refs, "--outcome", "filed", "--ref", UID, "--ref", UID.upper()
    )
    assert answer == {"marked": refs, "outcome": "filed", "uids": [UID, UID.upper()]}
    assert (
        machine.call("sessions", "mark", *refs, "--outcome", "nothing").out
        == b"marked 3 session(s) nothing\n"
    )


def test_digest_exit_tells_whether_anything_was_digested(machine: Machine) -> None:
    """Exit 1 when refs were asked for and none could be digested; nothing to do is not a failure."""
    machine.claude("s1", [prompt("u1")])
    assert machine.call("sessions", "digest", "claude-code:s1", "codex:no", "--json").status == 0
    result = machine.call("sessions", "digest", "codex:no", "--json")
    assert (result.status, result.err) == (1, "")
    assert result.json["errors"][0]["state"] == "absent" and list(result.json) == [
        "notice", "detector_version", "sessions", "errors", "deferred"
    ]  # fmt: skip
    assert (
        "agentfeedback sessions digest: codex:no: absent: "
        in machine.call("sessions", "digest", "codex:no").err
    )
    machine.sessions("mark", "claude-code:s1", "--outcome", "nothing")
    assert machine.sessions("digest", "--unprocessed")["sessions"] == []


def test_list_table_and_notes(machine: Machine) -> None:
    """The table has its columns padded by two, `-` for what is missing; notes on stores go to standard error."""
    machine.claude("s1", [prompt("u1", second=1), call("a1", "t1"), failed("u2", "t1")])
    machine.claude("empty", [])
    machine.claude("bad#name", [prompt("u1")])
    result = machine.call("sessions", "list")
    header, *rows = result.text.splitlines()
    assert header.split("  ")[0] == "REF" and header.endswith("  TOOL ERRORS")
    names = ("REF", "STATE", "PROJECT", "START", "END", "PROMPTS", "TOOL CALLS", "TOOL ERRORS")
    starts = [header.index(name) for name in names]
    cells = {
        row[: starts[1]].strip(): [
            row[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)
        ]
        for row in rows
    }
    assert cells["claude-code:s1"][1:] == [
        "new",
        "/srv/app/shop",
        "2026-11-03T09:00:00Z",
        "2026-11-03T09:00:01Z",
        "1",
        "1",
        "1",
    ]
    assert cells["claude-code:empty"][1:] == ["unsupported-format", "-", "-", "-", "-", "-", "-"]
    (note,) = result.err.splitlines()
    assert note.startswith("agentfeedback sessions: warning: claude-code: not listed: ")
    absent = machine.call("sessions", "list", "--harness", "codex", "--json")
    assert (
        f"agentfeedback sessions: codex session store {machine.home}/.codex/sessions is absent"
        in absent.err
    )
    assert absent.json["sessions"] == [] and len(absent.json["stores"]) == 1


def test_selection_is_saved_whole_and_printed(machine: Machine) -> None:
    """A selection is kept as written, replaced as a whole, and printed by every status."""
    assert "selection: none saved" in machine.call("sessions", "status").text
    saved = machine.sessions(
        "status",
        "--set-selection",
        "--harness",
        "codex",
        "--harness",
        "claude-code",
        "--since",
        "7d",
        "--limit",
        "5",
    )
    assert saved["selection"] == {"harnesses": ["codex", "claude-code"], "since": "7d", "limit": 5}
    assert machine.sessions("status")["selection"] == saved["selection"]
    assert (
        "selection: harnesses codex,claude-code, since 7d, limit 5"
        in machine.call("sessions", "status").text
    )
    assert machine.sessions("status", "--set-selection")["selection"] == {
        "harnesses": [],
        "since": "",
        "limit": 0,
    }


def test_reading_creates_nothing(machine: Machine) -> None:
    """`list`, `status`, help, `plugins` and a digest of nothing leave a home as they found it."""
    machine.claude("s1", [prompt("u1")])
    before = sorted(machine.home.rglob("*"))
    for words in (
        "sessions list",
        "sessions status --json",
        "sessions list -h",
        "plugins",
        "sessions digest codex:no",
        "sessions forget codex:no",
    ):
        machine.call(*words.split())
        assert sorted(machine.home.rglob("*")) == before
    machine.call("sessions", "digest", "claude-code:s1")
    assert machine.database.stat().st_mode & 0o777 == 0o600
    assert machine.database.parent.stat().st_mode & 0o777 == 0o700


def test_another_home_has_stores_and_state_apart(machine: Machine, tmp_path: Path) -> None:
    """With `--home DIR` stores are below DIR, variables are ignored, the policy is the caller's, the state its own."""
    machine.claude("mine", [prompt("u1")])
    other = Machine(tmp_path / "other")
    other.home.mkdir()
    other.claude("theirs", [prompt("u1", cwd=f"{other.home}/secret/x")])
    other.codex("theirs", [meta(), typed()])
    other.config("[collect]\ndisabled = true\n")  # nothing of DIR's own configuration is read
    home = ("--home", str(other.home))
    machine.environ["CODEX_HOME"] = str(machine.home / "elsewhere")
    listed = {item["ref"]: item["state"] for item in machine.sessions("list", *home)["sessions"]}
    assert listed == {"claude-code:theirs": "new", "codex:theirs": "new"}
    before = sorted(other.home.rglob("*"))
    machine.sessions("digest", "--unprocessed", *home)
    machine.sessions("mark", "codex:theirs", "--outcome", "nothing", *home)
    assert sorted(other.home.rglob("*")) == before
    assert not machine.database.exists()
    assert {item["ref"]: item["state"] for item in machine.sessions("list", *home)["sessions"]}[
        "codex:theirs"
    ] == "processed"
    assert machine.call("sessions", "mark", "codex:theirs", "--outcome", "nothing").status == 1
    machine.config('[collect]\ndeny_paths = ["~/secret"]\n')
    states = {item["ref"]: item["state"] for item in machine.sessions("list", *home)["sessions"]}
    assert states["claude-code:theirs"] == "denied"


HOSTILE = "\x1b]0;own\x07\x1b[2J\r\x9b31m\u202egnp.exe\u2066\u200b\x7f\u2028"
HIDDEN = {char for char in HOSTILE if not char.isprintable()}


def test_text_shows_hostile_characters_and_json_keeps_them(machine: Machine) -> None:
    """Control, C1 and direction characters of a log are spelt out in text on both streams and are data in JSON."""
    machine.claude(
        "s1",
        [
            prompt("u1", f"hi {HOSTILE}", cwd=f"/srv/{HOSTILE}"),
            call("a1", "t1"),
            failed("r1", "t1", f"no {HOSTILE}"),
        ],
    )
    machine.claude(f"#{HOSTILE}", [prompt("u1")])
    machine.claude(f"id{HOSTILE}", [prompt("u1")])
    ref = f"claude-code:id{HOSTILE}"
    for words in (
        ("list",),
        ("digest", "claude-code:s1", ref, f"codex:{HOSTILE}"),
        ("status",),
        ("mark", ref, "--outcome", "nothing"),
        ("mark", f"codex:{HOSTILE}", "--outcome", "nothing"),
        ("forget", ref, f"codex:{HOSTILE}"),
        ("list", "--harness", HOSTILE),
    ):
        result = machine.call("sessions", *words)
        for text in (result.text, result.err):
            assert not HIDDEN & set(text), words
    summary = machine.sessions("digest", "claude-code:s1")["sessions"][0]["events"][0]["summary"]
    assert summary == f"hi {HOSTILE}".strip()
    result = machine.call("sessions", "digest", "claude-code:s1", "--json")
    assert result.out.count(b"\n") == 1 and "\u202e".encode() in result.out


def many(machine: Machine) -> None:
    for number in range(300):
        machine.claude(f"s{number}", [prompt("u1", "x" * 150)])


def test_closed_pipe_ends_quietly(machine: Machine) -> None:
    """`… | head` ends the run with 141 and says nothing."""
    many(machine)
    for words in (("list",), ("list", "--json")):
        read, write = os.pipe()
        process = subprocess.Popen(
            machine.argv("sessions", *words), env=machine.environ, stdout=write, stderr=-1
        )
        os.close(write)
        os.close(read)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (141, b"")


def test_interrupt_ends_quietly(machine: Machine) -> None:
    """Ctrl-C ends the run with 130 and without a traceback, and nothing is marked as digested."""
    os.mkfifo(machine.home / "stop")
    machine.plugin(
        "slow",
        "import os, time\nfrom agentfeedback.plugins.hookspecs import hookimpl\n"
        "@hookimpl\ndef session_before_open():\n    open(os.environ['HOME'] + '/stop', 'w').close()\n    time.sleep(60)\n",
    )
    machine.claude("s1", [prompt("u1")])
    process = subprocess.Popen(
        machine.argv("sessions", "digest", "--unprocessed"),
        env=machine.environ,
        stdout=-1,
        stderr=-1,
    )
    with (machine.home / "stop").open() as waited:
        waited.read()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not machine.database.exists()


def test_closed_standard_streams_end_in_order(machine: Machine) -> None:
    """Without a standard output there is one error; a full one is a failure and no success."""
    machine.claude("s1", [prompt("u1")])
    shell = "exec " + " ".join(machine.argv("sessions", "list"))
    closed = subprocess.run(
        ["sh", "-c", f"{shell} >&-"], env=machine.environ, stderr=-1, check=False
    )
    assert closed.returncode == 1 and b"Traceback" not in closed.stderr
    if Path("/dev/full").exists():
        full = subprocess.run(
            ["sh", "-c", f"{shell} >/dev/full"], env=machine.environ, stderr=-1, check=False
        )
        assert full.returncode == 1 and full.stderr.count(b"\n") == 1 and b"space" in full.stderr


def test_json_is_one_compact_line_of_raw_utf8(machine: Machine) -> None:
    """JSON is one line without white space or escapes that UTF-8 needs not, members in the published order."""
    machine.claude("s1", [prompt("u1", "für <b> & 日本 \U0001f600", cwd="/srv/ü")])
    out = machine.call("sessions", "list", "--json").out
    assert out.endswith(b"}\n") and out.count(b"\n") == 1 and "/srv/ü".encode() in out
    item: dict[str, Any] = json.loads(out)["sessions"][0]
    assert list(item) == [
        "ref",
        "harness",
        "session_id",
        "path",
        "project",
        "cwds",
        "start",
        "end",
        "counts",
        "state",
    ]
    assert (
        "für <b> & 日本 \U0001f600".encode()
        in machine.call("sessions", "digest", "claude-code:s1", "--json").out
    )


def test_demo_works_anywhere_and_leaves_nothing(machine: Machine, tmp_path: Path) -> None:
    """The demo shows a list and a digest in any home and writes nothing there."""
    machine.config("[collect]\ndisabled = true\n")
    machine.environ["TMPDIR"] = str(tmp_path / "t")
    (tmp_path / "t").mkdir()
    before = sorted(machine.home.rglob("*"))
    result = machine.run("demo")
    assert result.status == 0 and result.err == ""
    assert "$ agentfeedback sessions list" in result.text and "tool errors" in result.text
    demo = machine.call("demo", "--json").json
    assert demo["digest"]["sessions"] and demo["list"]["sessions"]
    assert sorted(machine.home.rglob("*")) == before and list((tmp_path / "t").iterdir()) == []


def test_digest_error_messages_name_the_case(machine: Machine) -> None:
    """A ref without a session, one whose file is gone, and one of a storage-only harness each say so."""
    path = machine.claude("s1", [prompt("u1")])
    machine.sessions("digest", "claude-code:s1")
    path.unlink()
    refs = ["claude-code:s1", "claude-code:s2", "cursor:c1"]
    result = machine.run("sessions", "digest", *refs, "--json")
    assert result.status == 1
    errors = [(error["ref"], error["state"], error["message"]) for error in result.json["errors"]]
    assert errors[:2] == [
        ("claude-code:s1", "absent", "the session file is gone"),
        ("claude-code:s2", "absent", "no session file carries this session id"),
    ]
    assert errors[2][:2] == ("cursor:c1", "unsupported-format") and "storage only" in errors[2][2]


UNKNOWN = """
later = "%s"
[collect]
deny_paths = ['/elsewhere']
[sessions]
"lo\\u001bud" = 1
[newer]
x = 1
"""
TYPOS = "[collect]\ndeny_paths = ['%s']\n"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("words", ["list", "list --json", "digest --unprocessed", "status --json"])
def test_a_key_that_nobody_knows_is_warned_about(machine: Machine, words: str) -> None:
    """Whoever reads sessions sees each key that has no effect, on standard error alone."""
    machine.claude("s1", [prompt("u1")])
    machine.config("[collect]\ndeny_paths = ['/elsewhere']\n")
    silent = machine.call("sessions", *words.split())
    assert silent.err == ""
    machine.config(UNKNOWN % TOKEN)
    result = machine.call("sessions", *words.split())
    assert result.status == 0 and result.out == silent.out
    start = "agentfeedback sessions: warning: "
    told = [line.removeprefix(start).partition(";")[0] for line in result.err.splitlines()]
    assert [told[0], told[2]] == ["later is not known", "[newer] is not known"]
    assert told[1].startswith("[sessions] has no key lo") and "\x1b" not in told[1]
    assert len(told) == 3 and TOKEN not in result.err and result.err.count(start) == 3


def test_marking_and_forgetting_are_not_about_the_policy(machine: Machine) -> None:
    """Commands that open no log neither warn of its rules nor refuse for them."""
    machine.claude("s1", [prompt("u1")])
    machine.sessions("digest", "claude-code:s1")
    machine.config(TYPOS % "srv")
    ref = "claude-code:s1"
    assert machine.call("sessions", "mark", ref, "--outcome", "nothing").err == ""
    assert machine.call("sessions", "forget", ref).err == ""


def test_nothing_found_is_said(machine: Machine) -> None:
    """Where there is no session a person learns that and where to ask; a program, or one who filtered, is not."""
    hint = "agentfeedback sessions: no session found; agentfeedback doctor says where it looked\n"
    assert machine.call("sessions", "list").err == hint
    assert machine.call("sessions", "list", "--json").err == ""
    assert machine.call("sessions", "list", "--unprocessed").err == ""
    nothing = machine.call("sessions", "digest", "--unprocessed")
    assert nothing.status == 0 and nothing.err == "agentfeedback sessions: nothing to digest\n"
    assert machine.call("sessions", "digest", "--unprocessed", "--json").err == ""
    formats = machine.call("doctor", "--formats")
    assert formats.err == "agentfeedback doctor: no session found, so no format was checked\n"
    assert machine.call("doctor", "--formats", "--json").err == ""
    machine.claude("s1", [prompt("u1")])
    for words in (("sessions", "list"), ("doctor", "--formats")):
        assert machine.call(*words).err == ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("digest --unprocessed", "agentfeedback sessions digest"),
        ("status", "agentfeedback sessions status"),
        ("mark codex:s1", "agentfeedback sessions mark"),
        ("forgett", "agentfeedback sessions forget"),
        ("doctr", "agentfeedback doctor"),
        ("install claud-code", "claude-code"),
    ],
)
def test_what_was_meant_is_named(machine: Machine, words: str, meant: str) -> None:
    """A command without its group, and a near miss of a command or harness, are answered with what is there."""
    result = machine.call(*words.split())
    assert result.status == 2 and f"did you mean {meant}? " in result.err


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("help sessions", "sessions --help"),
        ("help sessions list", "sessions list -h"),
        ("help doctor", "doctor --help"),
        ("help help", "help"),
        ("-V", "--version"),
    ],
)
def test_help_and_version_are_found_where_people_look(
    machine: Machine, words: str, same: str
) -> None:
    """`help` before a command is `--help` behind it, and `-V` is `--version`."""
    asked, wanted = machine.call(*words.split()), machine.call(*same.split())
    assert (asked.status, asked.text, asked.err) == (0, wanted.text, wanted.err)
    assert asked.text or asked.err
