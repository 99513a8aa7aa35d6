"""Which sessions a digest takes by time and trouble, and what is marked without names."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.machine import Machine, call, failed, meta, prompt, typed

#: Those of files; what OpenCode keeps is made of recipes.
CORPORA = [
    each
    for each in sorted((ROOT / "corpus").glob("*/home"))
    if not each.parent.name.startswith("opencode")
]


@pytest.fixture
def three(machine: Machine) -> Machine:
    """Three sessions, one after the other: trouble, none, a complaint."""
    machine.claude("s1", [prompt("u1", second=1), call("a1", "t1"), failed("r1", "t1")])
    machine.claude("s2", [prompt("u1", second=2)])
    machine.claude("s3", [prompt("u1", "still failing", second=3)])
    return machine


def ids(run: Any) -> list[str]:
    return [each["session_id"] for each in run["sessions"]]


def test_the_newest_come_first(three: Machine) -> None:
    """Oldest first without, as ever."""
    assert ids(three.sessions("digest", "--unprocessed")) == ["s1", "s2", "s3"]
    assert ids(three.sessions("digest", "--unprocessed", "--newest")) == ["s3", "s2", "s1"]
    limited = three.sessions("digest", "--unprocessed", "--newest", "--limit", "2")
    assert ids(limited) == ["s3", "s2"]


def test_recent_sessions_are_taken_processed_or_not(three: Machine) -> None:
    """A processed one is digested whole; with --unprocessed both have to take a session."""
    three.sessions("digest", "--unprocessed")
    three.sessions("mark", "claude-code:s3", "--outcome", "nothing")
    since = ("--since", "2026-11-03T09:00:02Z")
    found = three.sessions("digest", *since)
    assert ids(found) == ["s2", "s3"] and found["sessions"][1]["from_offset"] == 0
    both = three.sessions("digest", "--unprocessed", *since)
    assert ids(both) == ["s2"] and both["errors"] == []


def test_sessions_without_problems_are_left_for_later(three: Machine) -> None:
    """They are named, keep their state, and do not use up the limit."""
    found = three.sessions("digest", "--unprocessed", "--problems", "--limit", "2")
    assert ids(found) == ["s1", "s3"] and found["clean"] == ["claude-code:s2"]
    assert "clean" not in three.sessions("digest", "--unprocessed")
    three.sessions("forget", "claude-code:s2")
    three.sessions("digest", "--unprocessed", "--problems")
    result = three.call("sessions", "mark", "claude-code:s2", "--outcome", "nothing")
    assert result.status == 1  # it was not digested


def test_sessions_that_cannot_be_read_do_not_use_up_the_limit(three: Machine) -> None:
    """One that changes its state between selection and reading is an error beside the limit."""
    old = three.claude("s0", [prompt("u1", cwd="/srv/secret")])
    os.utime(old, (1, 1))
    three.config('[collect]\ndeny_paths = ["/srv/secret"]\n')
    assert ids(three.sessions("digest", "--unprocessed", "--limit", "1")) == ["s1"]


def test_detail_is_there_when_asked_for(three: Machine) -> None:
    """Without the flag the output is as before."""
    (plain,) = three.sessions("digest", "claude-code:s1")["sessions"]
    (detail,) = three.sessions("digest", "claude-code:s1", "--detail")["sessions"]
    event, detailed = plain["events"][1], detail["events"][1]
    assert detailed == {**event, "command": "make"} and list(detailed)[6] == "command"
    text = three.call("sessions", "digest", "claude-code:s1", "--detail").text
    assert "      $ make\n" in text


def test_a_digest_that_is_not_remembered(three: Machine) -> None:
    """No database is made, and there is nothing to mark."""
    found = three.sessions("digest", "--unprocessed", "--no-mark")
    assert ids(found) == ["s1", "s2", "s3"] and not three.database.exists()
    assert three.sessions("mark", "--digested", "--outcome", "nothing")["marked"] == []


def test_what_was_refused_is_said_when_nothing_is_left(three: Machine) -> None:
    """Counted by state on standard error; status 0."""
    three.config('[collect]\ndeny_paths = ["/srv/app/shop"]\n')
    three.codex("x1", [meta(None), typed()])
    result = three.call("sessions", "digest", "--unprocessed")
    assert result.status == 0
    assert "nothing to digest (3 denied, 1 unknown-project)" in result.err


# -- mark --digested -------------------------------------------------------------------------------


def test_everything_digested_is_marked(three: Machine) -> None:
    """And nothing again: a second time there is nothing to mark."""
    three.sessions("digest", "claude-code:s1", "claude-code:s3")
    marked = three.sessions("mark", "--digested", "--outcome", "nothing")
    assert marked == {
        "marked": ["claude-code:s1", "claude-code:s3"],
        "outcome": "nothing",
        "uids": [],
        "skipped": [],
    }
    assert three.state("claude-code:s1") == ("processed", "")
    assert three.state("claude-code:s2") == ("new", "")
    again = three.sessions("mark", "--digested", "--outcome", "filed")
    assert (again["marked"], again["skipped"]) == ([], [])


def test_what_changed_since_its_digest_is_left_out(three: Machine) -> None:
    """A log that was written again, and one that is gone."""
    three.sessions("digest", "--unprocessed")
    path = three.claude("s1", [prompt("u1"), prompt("u2")])
    os.utime(path, ns=(1, 1))
    (three.home / ".claude/projects/-srv-app-shop/s2.jsonl").unlink()
    marked = three.sessions("mark", "--digested", "--outcome", "nothing")
    assert marked["marked"] == ["claude-code:s3"]
    assert marked["skipped"] == [
        {"ref": "claude-code:s1", "reason": "changed"},
        {"ref": "claude-code:s2", "reason": "absent"},
    ]
    text = three.call("sessions", "mark", "--digested", "--outcome", "nothing").text
    assert text == "marked 0 session(s) nothing\nleft out 2: changed since the digest\n"


def test_no_log_is_opened_for_marking(three: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and times of files are enough."""
    from agentfeedback.sessions import examiner

    three.sessions("digest", "--unprocessed")
    monkeypatch.setattr(examiner, "load", None)
    assert len(three.sessions("mark", "--digested", "--outcome", "nothing")["marked"]) == 3


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda each: each.parent.name)
def test_detail_adds_and_changes_nothing_else(machine: Machine, corpus: Path) -> None:
    """In every corpus: without what detail adds, a digest with it is the digest."""
    shutil.copytree(corpus, machine.home, dirs_exist_ok=True)
    words = ("digest", "--unprocessed", "--no-mark", "--allow-unknown-project")
    plain = machine.sessions(*words)
    detailed = machine.sessions(*words, "--detail")
    added = 0
    for session in detailed["sessions"]:
        for event in session["events"]:
            added += sum(event.pop(name, None) is not None for name in ("command", "tail"))
    kept = {each["ref"]: each for each in plain["sessions"]}
    same = [each for each in detailed["sessions"] if not each["truncated"]]
    assert same and all(each == kept[each["ref"]] for each in same if each["ref"] in kept)
    assert added


def test_a_first_prompt_is_scrubbed_and_asked_about(machine: Machine) -> None:
    """What a list shows at a terminal passes what a digest passes: the policy, and the scrubber."""
    from agentfeedback.plugins.host import Host
    from agentfeedback.sessions.engine import Engine

    key = "ghp_" + "a1B2c3D4e5" * 4
    machine.claude("s1", [prompt("u1", f"\n use {key} please\nmore"), prompt("u2", "second")])
    machine.claude("s2", [prompt("u1", "hidden", cwd="/srv/secret")])
    machine.claude("s3", [prompt("u1", "x" * (3 << 20))])
    machine.config('[collect]\ndeny_paths = ["/srv/secret"]\n')
    engine = Engine(machine.environ, host=Host(machine.environ))
    refs = [each.ref for each in engine.listing(None, None, unprocessed=False).sessions]
    assert len(refs) == 3
    assert engine.first_prompts(refs) == {"claude-code:s1": "use [REDACTED:github_token] please"}
