"""The refs that a digest prints, and beginnings of ids, name sessions in every command that takes refs."""

from __future__ import annotations

import json
import os

import pytest

from tests.support.machine import Machine, call, failed, meta, prompt, typed

TOKEN = "gh" + "p_" + "0123456789" * 3 + "abcdef"
FIRST, SECOND = "5f0c2d7e-1b34-4c57-9a86-2f1de0a7c301", "5f0c2d7e-ffff-4c57-9a86-2f1de0a7c301"


def test_a_ref_of_a_digest_is_digested_marked_filed_from_and_forgotten(machine: Machine) -> None:
    """Where the id looks like a secret the digest hides it, and the hidden form names the session all the same."""
    machine.claude(f"id-{TOKEN}", [prompt("u1"), call("a1", "t1"), failed("u2", "t1")])
    (digest,) = machine.sessions("digest", "--unprocessed")["sessions"]
    ref = digest["ref"]
    assert ref == "claude-code:id-[REDACTED:github_token]"
    (again,) = machine.sessions("digest", ref)["sessions"]
    assert again["events"] == digest["events"]
    filed = machine.call(
        *("submit", "friction", "--summary", "x", "--category", "docs", "--dry-run"),
        *("--context-from", digest["events"][0]["ref"]),
    )
    assert filed.status == 0, filed.err
    machine.sessions("mark", ref, "--outcome", "nothing")
    assert machine.state(f"claude-code:id-{TOKEN}") == ("processed", "")
    machine.sessions("forget", ref)
    assert machine.state(f"claude-code:id-{TOKEN}") == ("new", "")


def test_a_span_as_a_digest_prints_it_is_filed_from(machine: Machine) -> None:
    """A span that looks like a secret is hidden too, and its finding has the key of the whole span."""
    machine.claude("s1", [prompt("u1"), prompt(f"span-{TOKEN}")])
    (digest,) = machine.sessions("digest", "claude-code:s1")["sessions"]
    ref = digest["events"][1]["ref"]
    assert ref == "claude-code:s1#span-[REDACTED:github_token]"
    keys = []
    for given in (ref, f"claude-code:s1#span-{TOKEN}"):
        words = ("--summary", "x", "--category", "docs", "--dry-run")
        filed = machine.call("submit", "friction", *words, "--context-from", given)
        assert filed.status == 0, filed.err
        keys.append(json.loads(filed.out.splitlines()[0])["key"])
    assert keys[0] == keys[1]
    lost = machine.call("submit", "friction", *words, "--context-from", f"{ref}-2")
    assert (lost.status, "span not found" in lost.err) == (1, True)


def test_the_beginning_of_an_id_names_its_session(machine: Machine) -> None:
    """Eight characters do where one session begins so; answers have the whole id."""
    machine.claude(FIRST, [prompt("u1")])
    (digest,) = machine.sessions("digest", "claude-code:5f0c2d7e")["sessions"]
    assert digest["session_id"] == FIRST
    marked = machine.sessions("mark", "claude-code:5f0c2d7e", "--outcome", "nothing")
    assert marked["marked"] == [f"claude-code:{FIRST}"]


@pytest.mark.parametrize("command", ["digest", "mark", "forget"])
def test_a_beginning_that_fits_several_names_none(machine: Machine, command: str) -> None:
    """Nothing is digested, marked or forgotten, and the error names the sessions."""
    for id in (FIRST, SECOND):
        machine.claude(id, [prompt("u1")])
    machine.sessions("digest", f"claude-code:{FIRST}", f"claude-code:{SECOND}")
    words = ("--outcome", "nothing") if command == "mark" else ()
    result = machine.call("sessions", command, "claude-code:5f0c2d7e", *words)
    assert result.status == 1
    said = result.out.decode() + result.err
    assert '"claude-code:5f0c2d7e" fits 2 sessions' in said
    assert FIRST in said
    assert SECOND in said
    assert machine.state(f"claude-code:{FIRST}") == ("new", "")


def test_an_ambiguous_ref_is_an_error_of_the_digest(machine: Machine) -> None:
    """The others are digested; in JSON it is an error with the state `absent`."""
    for id in (FIRST, SECOND, "other"):
        machine.claude(id, [prompt("u1")])
    run = machine.sessions("digest", "claude-code:5f0c2d7e", "claude-code:other")
    assert [each["session_id"] for each in run["sessions"]] == ["other"]
    (error,) = run["errors"]
    assert (error["ref"], error["state"]) == ("claude-code:5f0c2d7e", "absent")


def test_refs_for_completion_are_short_and_name_one_session(machine: Machine) -> None:
    """Newest first, from names of files alone; each is taken where a ref is wanted."""
    ids = (FIRST, SECOND)
    for number, id in enumerate((*ids, "ab")):
        path = machine.claude(id, [prompt("u1")])
        os.utime(path, (number + 1, number + 1))
    machine.codex("x1", [meta(), typed()])

    def offered(*words: str) -> list[str]:
        result = machine.call("sessions", "refs", *words)
        assert (result.status, result.err) == (0, "")
        return result.text.split()

    shown = offered("--", "claude")
    assert shown == ["claude-code:ab", "claude-code:5f0c2d7e-f", "claude-code:5f0c2d7e-1"]
    for ref in shown:
        assert machine.call("sessions", "show", ref).status == 0
    assert offered("--", f"claude-code:{ids[0][:12]}") == [f"claude-code:{ids[0]}"]
    assert offered("--", "co") == ["codex:x1"] and len(offered()) == 4
    assert offered("--", "nobody:") == [] and not machine.database.exists()
