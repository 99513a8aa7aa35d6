"""`sessions show`: a session, or one entry of it in full, scrubbed, under the policy, and nothing remembered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.machine import Machine, call, failed, line, meta, prompt, typed

ID = "5f0c2d7e-1b34-4c57-9a86-2f1de0a7c301"
KEY = "ghp_" + "a1B2c3D4e5" * 4


def said(span: str, text: str, second: int = 0) -> bytes:
    """What the assistant says."""
    return line(
        type="assistant",
        uuid=span,
        timestamp=f"2026-11-03T09:00:{second:02d}.000Z",
        cwd="/srv/app/shop",
        message={"role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]},
    )


@pytest.fixture
def shop(machine: Machine) -> Machine:
    """A session in which a call failed twice at great length."""
    long = "\n".join(f"line {number} of the output" for number in range(1000))
    machine.claude(
        ID,
        [
            prompt("u1", f"please fix it, it is still failing, my key is {KEY}"),
            said("m1", "I will run the tests.", 1),
            call("a1", "t1", "make   test", 2),
            failed("r1", "t1", f"Exit code 2\n{long}\nValueError: {KEY}", 3),
            call("a2", "t2", "make   test", 4),
            failed("r2", "t2", "Exit code 2\nno", 5),
            said("m2", "The test moved.", 6),
            said("m3", "More.", 7),
        ],
    )
    return machine


def show(machine: Machine, ref: str, *words: str) -> Any:
    result = machine.call("sessions", "show", ref, "--json", *words)
    assert result.status == 0, result.err
    return result.json


def test_one_entry_in_full(shop: Machine) -> None:
    """What was run, head and tail of what came of it, and what was typed and said around it."""
    found = show(shop, f"claude-code:{ID}#a1")
    assert list(found) == ["notice", "ref", "state", "session", "entries", "around"]
    assert found["ref"] == f"claude-code:{ID}#a1" and found["state"] == "new"
    assert found["session"]["counts"]["tool_errors"] == 2 and "events" not in found["session"]
    (entry,) = found["entries"]
    assert entry["command"] == {"head": "make   test", "bytes": 11}
    assert (entry["status"], entry["exit_code"], entry["error_class"]) == ("error", 2, "exit")
    result = entry["result"]
    assert result["head"].startswith("Exit code 2\nline 0 of") and len(result["head"]) == 4096
    assert result["tail"].startswith("line ")
    assert result["tail"].endswith("\nValueError: [REDACTED:github_token]")
    shown = len(result["head"].encode()) + len(result["tail"].encode())
    assert shown + result["left_out"] == result["bytes"]
    around = found["around"]
    assert (
        around["prompt"]["span"] == "u1" and "[REDACTED:github_token]" in around["prompt"]["text"]
    )
    assert (around["said_before"]["text"], around["said_after"]["text"]) == (
        "I will run the tests.",
        "The test moved.",
    )
    (again,) = show(shop, f"claude-code:{ID}#a2")["entries"]
    assert again["repeats"] == "a1"
    assert KEY not in str(found)


def test_what_is_said_while_a_call_runs_is_not_said_after_it(machine: Machine) -> None:
    """The first text behind the entry's last result, not the first behind the entry."""
    machine.claude(
        "s1",
        [
            prompt("u1"),
            call("a1", "t1"),
            said("m1", "It is running."),
            failed("r1", "t1"),
            said("m2", "It failed."),
        ],
    )
    assert show(machine, "claude-code:s1#a1")["around"]["said_after"]["text"] == "It failed."


def test_a_prompt_in_full(shop: Machine) -> None:
    """Its whole text and what of it complains; nothing was typed before."""
    found = show(shop, f"claude-code:{ID}#u1")
    (entry,) = found["entries"]
    assert entry["type"] == "prompt" and entry["phrases"] == ["still failing"]
    assert entry["text"]["head"].startswith("please fix it") and "left_out" not in entry["text"]
    assert "prompt" not in found["around"]
    assert found["around"]["said_after"]["text"] == "I will run the tests."


def test_a_session_is_its_digest_with_detail(shop: Machine) -> None:
    """From the beginning, marked or not; what is marked stays."""
    found = show(shop, f"claude-code:{ID}")
    calls = [each for each in found["session"]["events"] if each["type"] == "tool_call"]
    assert [each["command"] for each in calls] == ["make test"] * 2
    assert calls[0]["tail"].endswith("ValueError: [REDACTED:github_token]")
    shop.sessions("digest", f"claude-code:{ID}")
    shop.sessions("mark", f"claude-code:{ID}", "--outcome", "nothing")
    again = show(shop, f"claude-code:{ID}")
    assert again["state"] == "processed" and again["session"] == found["session"]
    assert shop.state(f"claude-code:{ID}") == ("processed", "")


def test_nothing_is_remembered(shop: Machine) -> None:
    """No database is made, and a mark afterwards has nothing to mark."""
    show(shop, f"claude-code:{ID}#a1")
    assert not shop.database.exists()
    assert shop.call("sessions", "mark", f"claude-code:{ID}", "--outcome", "nothing").status == 1


def test_beginnings_of_ids_name_sessions(shop: Machine) -> None:
    """From eight characters on, with and without a span."""
    assert show(shop, "claude-code:5f0c2d7e#a1")["ref"] == f"claude-code:{ID}#a1"
    assert show(shop, "claude-code:5f0c2d7e")["ref"] == f"claude-code:{ID}"


@pytest.mark.parametrize(
    ("ref", "status", "said"),
    [
        ("claude-code:s9", 1, "absent"),
        (f"claude-code:{ID}#a9", 1, "span not found"),
        ("codex:x1", 1, "unknown-project"),
        ("codex:x1#L0", 1, "unknown-project"),
        ("claude-code:denied", 1, "denied"),
        ("claude-code:denied#u1", 1, "denied"),
        ("cursor:c1", 1, "cursor sessions are storage only"),
    ],
)
def test_what_cannot_be_shown_is_one_line(shop: Machine, ref: str, status: int, said: str) -> None:
    """Its state and nothing on standard output, in either form."""
    shop.codex("x1", [meta(None), typed()])
    shop.claude("denied", [prompt("u1", cwd="/srv/secret")])
    shop.config('[collect]\ndeny_paths = ["/srv/secret"]\n')
    for words in ((), ("--json",)):
        result = shop.call("sessions", "show", ref, *words)
        assert (result.status, result.out) == (status, b"")
        (line,) = result.err.splitlines()
        assert said in line


def test_a_session_without_a_directory_is_shown_where_that_is_allowed(shop: Machine) -> None:
    """It says so with its state."""
    shop.codex("x1", [meta(None), typed("again")])
    assert show(shop, "codex:x1", "--allow-unknown-project")["state"] == "unknown-project"


def test_the_text_keeps_lines_and_hides_control(shop: Machine) -> None:
    """Lines of a result are lines; what could move the cursor is spelt out; the notice comes first in a pipe."""
    shop.claude(
        "s2",
        [
            prompt("u1"),
            call("a1", "t1", "ls\x1b[2J"),
            failed("r1", "t1", "one\n\ttwo\x1b[31m\n\x07"),
        ],
    )
    text = shop.call("sessions", "show", "claude-code:s2#a1").text
    assert text.startswith("This digest is shown") and "\x1b" not in text and "\x07" not in text
    assert "$ ls\\x1b[2J\n" in text and "  one\n  \ttwo\\x1b[31m" in text
    long = shop.call("sessions", "show", f"claude-code:{ID}#a1").text
    assert "bytes left out …\n" in long
