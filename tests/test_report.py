"""`sessions report`: what went wrong over all agents, grouped, counted by agent, project and day."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.sessions.engine import Engine
from agentfeedback.wire.encode import plain
from tests.support.machine import (
    Machine,
    call,
    codex_line,
    failed,
    later,
    line,
    meta,
    prompt,
    typed,
)

LONG_AGO = 0


def engine(machine: Machine, **more: Any) -> Engine:
    return Engine(machine.environ, host=Host(machine.environ), now=later, **more)


def report(machine: Machine, since: int = LONG_AGO, **more: Any) -> Any:
    return plain(engine(machine).report(since, **more))


def shell(span: int, command: str, output: str, code: int = 1) -> list[bytes]:
    """A Codex call that failed."""
    name = f"call_{span}"
    return [
        codex_line(
            "response_item",
            span,
            type="function_call",
            name="exec_command",
            call_id=name,
            arguments=json.dumps({"cmd": command}),
        ),
        codex_line(
            "response_item",
            span + 1,
            type="function_call_output",
            call_id=name,
            output=f"Process exited with code {code}\nOutput:\n{output}",
        ),
    ]


@pytest.fixture
def two(machine: Machine) -> Machine:
    """One cause in three sessions of two agents, another cause in one, a denial, an interrupt and a complaint."""
    for number in (1, 2):
        machine.claude(
            f"s{number}",
            [
                prompt("u1", "it is still failing", second=1),
                call("a1", "t1", f"cd /srv/app && pytest -x tests/test_{number}.py", second=2),
                failed(
                    "r1", "t1", f"Exit code 1\nE  ValueError: bad id 0x{number}f\nbye", second=3
                ),
                call("a2", "t2", "make", second=4),
                failed("r2", "t2", "Exit code 2\nmake: *** No rule", second=5),
                call("a3", "t3", "make", second=6),
                failed("r3", "t3", "The user doesn't want to proceed with this tool use", second=7),
            ],
        )
    machine.codex("x1", [meta("/srv/app/api"), typed(second=1), *shell(2, "make", "no rule", 2)])
    return machine


def test_failures_of_one_cause_are_one_group(two: Machine) -> None:
    """The same tool, command and error line, but for numbers and paths: one group, of the newest texts."""
    found = report(two)
    (pytest_group,) = (each for each in found["failures"] if "pytest" in each["command"])
    assert pytest_group["count"] == pytest_group["sessions"] == 2
    assert pytest_group["command"] == "cd /srv/app && pytest -x tests/test_2.py"
    assert pytest_group["error"] == "E  ValueError: bad id 0x2f"
    assert pytest_group["refs"] == ["claude-code:s2#a1", "claude-code:s1#a1"]
    assert pytest_group["exit_code"] == 1 and pytest_group["harnesses"] == ["claude-code"]
    assert [(each["tool"], each["count"]) for each in found["failures"]] == [
        ("Bash", 2),
        ("Bash", 2),
        ("exec_command", 1),
    ]


def test_numbers_agree_with_what_happened(two: Machine) -> None:
    """Over all, per agent and project; a session with several problems is one session with problems."""
    found = report(two)
    wanted = {
        "sessions": 3,
        "with_problems": 3,
        "prompts": 3,
        "tool_calls": 7,
        "tool_errors": 5,
        "denials": 2,
        "interrupts": 0,
        "complaints": 2,
        "retries": 2,
    }
    assert found["totals"] == wanted
    assert [each["harness"] for each in found["harnesses"]] == ["claude-code", "codex"]
    for name in ("harnesses", "projects"):
        for member, value in wanted.items():
            assert sum(each[member] for each in found[name]) == value
    assert [each["project"] for each in found["projects"]] == ["/srv/app/shop", "/srv/app/api"]
    assert [each["ref"] for each in found["denials"]] == ["claude-code:s2#a3", "claude-code:s1#a3"]
    assert found["retries"][0]["command"] == "make" and found["retries"][0]["count"] == 2
    assert found["complaints"][0]["phrases"] == ["still failing"]
    assert found["skipped"] == {}


def test_failures_of_our_own_command_are_counted_and_not_listed(machine: Machine) -> None:
    """They say little about the project, so they are not a group, and make no session one with problems."""
    machine.claude("s1", [prompt("u1"), call("a1", "t1", "agentfeedback list"), failed("r1", "t1")])
    found = report(machine)
    assert found["failures"] == [] and found["totals"]["tool_errors"] == 1
    assert found["totals"]["with_problems"] == 0


def test_members_come_in_their_order(two: Machine) -> None:
    """The JSON never changes shape by accident."""
    found = report(two)
    assert list(found) == [
        *("notice", "since", "until", "time_zone", "totals", "harnesses", "projects", "days"),
        *("failures", "denials", "interrupts", "complaints", "retries", "skipped"),
    ]
    assert list(found["harnesses"][0])[:2] == ["harness", "sessions"]
    assert list(found["days"][0])[:2] == ["day", "sessions"]


def test_what_happened_before_the_period_does_not_count(two: Machine) -> None:
    """A session that goes on in the period gives it what happened there, and no more."""
    from agentfeedback.foundation import times

    found = report(two, times.parse("2026-11-03T09:00:04Z") or 0)
    assert found["totals"]["tool_errors"] == 3 and found["totals"]["prompts"] == 1
    assert found["totals"]["complaints"] == 0
    assert found["since"] == "2026-11-03T09:00:04Z"
    assert not [each for each in found["failures"] if "pytest" in each.get("command", "")]


def test_days_are_those_of_the_machine(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call at half past eleven in UTC is on the next day an hour east of it."""
    from agentfeedback.foundation import times

    lines = [prompt("u1"), call("a1", "t1"), failed("r1", "t1")]
    machine.claude("s1", [each.replace(b"T09:00:", b"T23:30:") for each in lines])
    since = times.parse("2026-11-01T12:00:00Z") or 0
    for zone, day, offset in (("UTC", "2026-11-03", "+00:00"), ("XXX-1", "2026-11-04", "+01:00")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        monkeypatch.setattr(time, "time_ns", lambda: times.parse("2026-11-06T12:00:00Z"))
        found = plain(
            Engine(
                machine.environ,
                host=Host(machine.environ),
                now=lambda: times.parse("2026-11-06T12:00:00Z") or 0,
            ).report(since)
        )
        assert found["time_zone"] == offset
        assert [each["day"] for each in found["days"]][0::5] == ["2026-11-06", "2026-11-01"]
        assert [each["day"] for each in found["days"] if each["tool_errors"]] == [day]
        assert [each["day"] for each in found["days"] if each["sessions"]] == [day]
    monkeypatch.undo()
    time.tzset()


def test_a_directory_keeps_the_sessions_that_ran_there(two: Machine) -> None:
    """At or below it, by whole names."""
    assert report(two, cwd="/srv/app")["totals"]["sessions"] == 3
    assert report(two, cwd="/srv/app/api")["totals"]["sessions"] == 1
    assert report(two, cwd="/srv/app/ap")["totals"]["sessions"] == 0
    assert report(two, harness="codex")["totals"]["sessions"] == 1


def test_lists_are_bounded(machine: Machine) -> None:
    """`limit` bounds each list; the numbers count everything."""
    many = [prompt("u1")]
    for number in range(30):
        word = chr(97 + number % 26) * (2 + number // 26)
        many += [call(f"a{number}", f"t{number}", f"{word} x"), failed(f"r{number}", f"t{number}")]
    machine.claude("s1", many)
    found = report(machine, limit=4)
    assert len(found["failures"]) == 4 and found["totals"]["tool_errors"] == 30


def test_what_is_refused_is_counted_and_not_shown(two: Machine) -> None:
    """By its state; nothing of it is in the report."""
    two.codex("x2", [meta(None), typed()])
    two.config('[collect]\ndeny_paths = ["/srv/app/shop"]\n')
    found = report(two)
    assert found["skipped"] == {"denied": 2, "unknown-project": 1}
    assert found["totals"]["sessions"] == 1 and "shop" not in json.dumps(found)
    assert report(two, allow_unknown=True)["totals"]["sessions"] == 2


# -- the cache -------------------------------------------------------------------------------------


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that are opened, by ref."""
    from agentfeedback.sessions import examiner

    found: list[str] = []
    load = examiner.load

    def spied(reader: Any, session: Any, *more: Any) -> Any:
        found.append(session.ref)
        return load(reader, session, *more)

    monkeypatch.setattr(examiner, "load", spied)
    return found


def test_unchanged_sessions_are_opened_for_what_is_shown_alone(
    machine: Machine, opened: list[str]
) -> None:
    """Of many sessions with one cause the newest is opened again, and the report is the same."""
    for number in range(10, 30):
        machine.claude(
            f"s{number}",
            [prompt("u1", second=number), call("a1", "t1", second=number), failed("r1", "t1")],
        )
    cold = report(machine)
    assert len(opened) == 21
    opened.clear()
    warm = report(machine)
    assert opened == ["claude-code:s29"]
    assert {**warm, "until": ""} == {**cold, "until": ""}
    machine.claude("s12", [prompt("u1"), call("a1", "t1"), failed("r1", "t1", "other")])
    opened.clear()
    changed = report(machine)
    assert sorted(opened) == ["claude-code:s12", "claude-code:s12", "claude-code:s29"]
    assert [each["count"] for each in changed["failures"]] == [19, 1]


def test_the_cache_holds_no_text(two: Machine) -> None:
    """Spans, times and names of tools are in it; nothing of a command, a result or a prompt, in any form."""
    report(two)
    folder = two.home / ".cache/agentfeedback/report"
    data = b"".join(path.read_bytes() for path in folder.iterdir() if path.name != "key")
    assert b"Bash" in data and b"a1" in data
    for text in (b"-x tests", b"make", b"ValueError", b"rule", b"failing", b"bad id"):
        assert text not in data
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_the_policy_is_asked_over_what_is_kept(two: Machine, opened: list[str]) -> None:
    """A rule written after the cache was filled refuses what is in it."""
    report(two)
    two.config('[collect]\ndeny_paths = ["/srv/app/shop"]\n')
    opened.clear()
    found = report(two)
    assert found["totals"]["sessions"] == 1 and found["skipped"] == {"denied": 2}
    assert opened == ["codex:x1"]


def test_what_a_log_recorded_is_asked_about_again(machine: Machine, opened: list[str]) -> None:
    """A directory that only the log names refuses what was kept of it, and one without any stays unknown."""
    machine.codex(
        "x1", [meta(), typed("again"), codex_line("turn_context", cwd="/srv/secret"), typed()]
    )
    machine.codex("x2", [meta(None), typed()])
    for _ in range(2):
        found = report(machine)
        assert found["totals"]["sessions"] == 1 and found["skipped"] == {"unknown-project": 1}
    machine.config('[collect]\ndeny_paths = ["/srv/secret"]\n')
    opened.clear()
    found = report(machine)
    assert found["totals"]["sessions"] == 0
    assert found["skipped"] == {"denied": 1, "unknown-project": 1} and opened == []


@pytest.mark.parametrize("damage", [b"", b"junk", b"\x00" * 50, None])
def test_a_damaged_cache_costs_time_alone(two: Machine, damage: bytes | None) -> None:
    """What is kept is never trusted: a file that cannot be used, and a key that is gone, are written again."""
    cold = report(two)
    folder = two.home / ".cache/agentfeedback/report"
    for path in folder.iterdir():
        if damage is None and path.name == "key":
            path.unlink()
        elif damage is not None:
            path.write_bytes(damage)
    assert {**report(two), "until": ""} == {**cold, "until": ""}


def test_without_a_cache_nothing_is_kept(two: Machine) -> None:
    """`--no-cache` reads everything, and leaves no folder."""
    result = two.call("sessions", "report", "--since", "2020-01-01", "--no-cache", "--json")
    assert result.json["totals"]["sessions"] == 3
    assert not (two.home / ".cache/agentfeedback/report").exists()


# -- the command -----------------------------------------------------------------------------------


def test_nothing_moves_and_nothing_is_made(two: Machine) -> None:
    """A report makes no database, so no watermark can have moved."""
    assert two.call("sessions", "report", "--since", "2020-01-01").status == 0
    assert not two.database.exists()


def test_secrets_do_not_come_out(machine: Machine) -> None:
    """Of a command, an error line, a span and a path."""
    key = "ghp_" + "a1B2c3D4e5" * 4
    machine.claude(
        "s1",
        [
            prompt(f"u-{key}", f"still failing {key}", cwd=f"/srv/{key}"),
            call(f"a-{key}", "t1", f"login {key}"),
            failed("r1", "t1", f"error: {key} is wrong"),
        ],
    )
    for words in ((), ("--json",)):
        result = machine.call("sessions", "report", "--since", "2020-01-01", *words)
        assert result.status == 0 and key not in result.text + result.err
        assert "[REDACTED:github_token]" in result.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("x",), "sessions report"),
        (("--limit", "0"), "--limit takes a number from 1 to 100, not 0"),
        (("--limit", "101"), "--limit takes a number from 1 to 100, not 101"),
        (("--since", "soon"), '--since does not understand "soon"'),
        (("--cwd", ""), "--cwd is empty"),
    ],
)
def test_a_wrong_line_is_said_plainly(machine: Machine, words: tuple[str, ...], said: str) -> None:
    """Status 2, and nothing on standard output."""
    result = machine.call("sessions", "report", *words)
    assert (result.status, result.out) == (2, b"") and said in result.err


def test_an_empty_machine_has_an_empty_report(machine: Machine) -> None:
    """Status 0, with every member."""
    result = machine.call("sessions", "report", "--json")
    assert result.status == 0 and result.json["totals"]["sessions"] == 0
    assert len(result.json["days"]) == 8 and result.json["failures"] == []
    assert "no session in this time" in machine.call("sessions", "report").text


def test_a_log_that_cannot_be_read_does_not_stop_the_rest(two: Machine) -> None:
    """Its state is counted."""
    two.claude("s9", [line(no="entry")])
    folder = Path(two.home / ".claude/projects/-srv-app-shop/s8.jsonl")
    folder.symlink_to("/nowhere")
    found = report(two)
    assert found["totals"]["sessions"] == 3 and sum(found["skipped"].values()) >= 1
