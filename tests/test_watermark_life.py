"""A session's life: new, digested, marked, appended, truncated, rotated, gone, forgotten."""

from __future__ import annotations

import json
import os

from tests.support.machine import Machine, call, codex_line, failed, meta, prompt, typed

REF = "claude-code:s1"


def digest_and_mark(machine: Machine) -> list[dict]:
    """Digest what is unprocessed and mark it, until nothing is left; the digests in order."""
    found = []
    for _ in range(50):
        run = machine.sessions("digest", "--unprocessed")
        if not run["sessions"]:
            return found
        found += run["sessions"]
        machine.sessions("mark", *[item["ref"] for item in run["sessions"]], "--outcome", "nothing")
    raise AssertionError("there is always something left to digest")


def spans(digest: dict) -> list[str]:
    return [event["span"] for event in digest["events"]]


def test_new_stays_new_until_it_is_marked(machine: Machine) -> None:
    """A digest alone changes no state; the mark does."""
    machine.claude("s1", [prompt("u1")])
    assert machine.state(REF) == ("new", "")
    machine.sessions("digest", REF)
    assert machine.state(REF) == ("new", "")
    machine.sessions("mark", REF, "--outcome", "nothing")
    assert machine.state(REF) == ("processed", "")


def test_appended_session_is_digested_from_the_mark(machine: Machine) -> None:
    """What was marked is not reported again; a failure whose call was marked is, once its result comes."""
    path = machine.claude("s1", [prompt("u1"), call("a1", "t1")])
    size = path.stat().st_size
    digest_and_mark(machine)
    with path.open("ab") as file:
        file.write(failed("u2", "t1") + b"\n" + prompt("u3") + b"\n")
    assert machine.state(REF) == ("changed", "appended")
    (digest,) = digest_and_mark(machine)
    assert digest["from_offset"] == size
    assert spans(digest) == ["a1", "u3"]
    assert digest["counts"]["tool_calls"] == 0  # the call was counted where it was reported
    assert machine.state(REF) == ("processed", "")


def test_unfinished_line_waits_for_its_newline(machine: Machine) -> None:
    """The last line counts when its newline comes, and then exactly once."""
    path = machine.claude("s1", [prompt("u1"), prompt("u2")], end=b"")
    (digest,) = digest_and_mark(machine)
    assert spans(digest) == ["u1"]
    assert machine.state(REF) == ("processed", "")
    with path.open("ab") as file:
        file.write(b"\n")
    (digest,) = digest_and_mark(machine)
    assert spans(digest) == ["u2"]


def test_truncated_and_rotated_start_over(machine: Machine) -> None:
    """A smaller log and one with another first line are digested from the start."""
    path = machine.claude("s1", [prompt("u1"), prompt("u2")])
    digest_and_mark(machine)
    path.write_bytes(prompt("u1") + b"\n")
    assert machine.state(REF) == ("changed", "truncated")
    (digest,) = digest_and_mark(machine)
    assert (digest["from_offset"], spans(digest)) == (0, ["u1"])
    path.write_bytes(prompt("u9") + b"\n" + prompt("u8") + b"\n")
    assert machine.state(REF) == ("changed", "rotated")
    (digest,) = digest_and_mark(machine)
    assert (digest["from_offset"], spans(digest)) == (0, ["u9", "u8"])


def test_gone_session_is_absent_and_can_be_forgotten(machine: Machine) -> None:
    """A row without a file stays listed first as absent until it is forgotten."""
    path = machine.claude("s1", [prompt("u1")])
    machine.claude("s2", [prompt("u1")])
    digest_and_mark(machine)
    path.unlink()
    listed = machine.sessions("list")["sessions"]
    assert [(item["ref"], item["state"]) for item in listed] == [
        (REF, "absent"),
        ("claude-code:s2", "processed"),
    ]
    assert set(listed[0]) == {"ref", "harness", "session_id", "path", "state"}
    result = machine.run("sessions", "forget", REF, "--json")
    assert (result.status, result.json) == (0, {"forgotten": [REF]})
    assert [item["ref"] for item in machine.sessions("list")["sessions"]] == ["claude-code:s2"]
    assert machine.run("sessions", "forget", REF).status == 1


def test_mtime_never_decides(machine: Machine) -> None:
    """Another mtime changes nothing, an old one hides nothing."""
    path = machine.claude("s1", [prompt("u1")])
    digest_and_mark(machine)
    os.utime(path, (5, 5))
    assert machine.state(REF) == ("processed", "")
    with path.open("ab") as file:
        file.write(prompt("u2") + b"\n")
    os.utime(path, (5, 5))
    assert machine.state(REF) == ("changed", "appended")


def test_truncated_digest_is_continued_exactly(machine: Machine) -> None:
    """Over the cap every event is reported once, in order, by one digest or a later one."""
    lines = [prompt("first")]
    for number in range(400):
        lines += [
            call(f"a{number}", f"t{number}", f"make {number}"),
            failed(f"r{number}", f"t{number}", "x" * 300),
        ]
    machine.claude("s1", lines)
    digests = digest_and_mark(machine)
    assert len(digests) > 2
    assert [digest["truncated"] for digest in digests] == [True] * (len(digests) - 1) + [False]
    reported = [span for digest in digests for span in spans(digest)]
    assert reported == ["first", *(f"a{number}" for number in range(400))]


def test_one_record_may_complete_more_than_a_digest_holds(machine: Machine) -> None:
    """As many of its events as fit are reported, the others are counted as left out for good, and the log goes on."""
    calls = [
        codex_line(
            "response_item",
            type="function_call",
            name="exec_command",
            arguments=json.dumps({"cmd": f"job {number}"}),
            call_id=f"call_{number}",
        )
        for number in range(400)
    ]
    aborted = codex_line("event_msg", type="turn_aborted", reason="interrupted", turn_id="t1")
    path = machine.codex("s1", [meta(), *calls, aborted])
    (digest,) = digest_and_mark(machine)
    assert digest["truncated"] is True
    assert len(digest["events"]) + digest["dropped"] == 400
    assert spans(digest) == [f"call_{number}" for number in range(len(digest["events"]))]
    assert digest["counts"]["interrupts"] == 401
    assert machine.state("codex:s1") == ("processed", "")
    with path.open("ab") as file:
        file.write(typed("go on") + b"\n")
    (digest,) = digest_and_mark(machine)
    assert [event["summary"] for event in digest["events"]] == ["go on"]
    assert "dropped" not in digest


def test_resumed_lines_without_news_end(machine: Machine) -> None:
    """Lines that say nothing make a session changed once, with an empty digest."""
    path = machine.claude("s1", [prompt("u1")])
    digest_and_mark(machine)
    with path.open("ab") as file:
        file.write(b'{"type":"mode","mode":"normal"}\n{"type":"permission-mode"}\n')
    (digest,) = digest_and_mark(machine)
    assert (digest["events"], digest["counts"]["entries"]) == ([], 2)
    assert machine.state(REF) == ("processed", "")


def test_run_cap_defers_and_the_next_run_takes_them(machine: Machine) -> None:
    """Sessions over the run cap keep their watermark and come next run, each once."""
    for number in range(8):
        lines = [prompt(f"p{i}", "y" * 150, second=number) for i in range(200)]
        machine.claude(f"s{number}", lines)
    first = machine.sessions("digest", "--unprocessed")
    assert first["deferred"] and len(first["sessions"]) + len(first["deferred"]) == 8
    assert len(b"".join(str(item).encode() for item in first["sessions"])) < 300_000
    done = [item["ref"] for item in first["sessions"]]
    machine.sessions("mark", *done, "--outcome", "nothing")
    done += [item["ref"] for item in digest_and_mark(machine)]
    assert sorted(done) == [f"claude-code:s{number}" for number in range(8)]
