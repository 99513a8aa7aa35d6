"""Hook calls are counted: at most five for a session, and none for a line."""

from __future__ import annotations

from collections import Counter

from agentfeedback.plugins.host import Host
from agentfeedback.reading.refs import Ref
from agentfeedback.sessions.engine import Engine
from tests.support.machine import Machine, call, failed, meta, prompt, typed

ONCE_A_RUN = {
    "register_readers",
    "register_scrub_formats",
    "register_detectors",
    "watermark_store",
    "run_finished",
}


def lines(count: int) -> list[bytes]:
    """That many lines: prompts, calls and failures."""
    found = [prompt("u0")]
    while len(found) < count:
        number = len(found)
        found += [
            call(f"a{number}", f"t{number}"),
            failed(f"r{number}", f"t{number}"),
            prompt(f"u{number}", ""),
        ]
    return found[:count]


def counted(machine: Machine, command: str, *refs: Ref) -> Counter[str]:
    """The hook calls of one command, by hook."""
    host = Host(machine.environ)
    engine = Engine(machine.environ, host=host)
    if command == "list":
        assert len(engine.listing(None, None, unprocessed=False).sessions) >= 1
    elif command == "status":
        assert engine.status().harnesses
    elif command == "digest":
        assert engine.digest(refs, allow_unknown=False).sessions
    elif command == "unprocessed":
        assert engine.digest_unprocessed(None, 0, allow_unknown=False).sessions
    else:
        assert engine.mark(refs, "nothing", []).marked
    return host.calls


def a_session(calls: Counter[str]) -> int:
    return sum(number for hook, number in calls.items() if hook not in ONCE_A_RUN)


def test_no_hook_is_called_for_a_line(machine: Machine) -> None:
    """A log of a thousand lines costs exactly the hook calls of one of ten, whatever the command."""
    ref = Ref("claude-code", "s1", "claude-code:s1")
    found = {}
    for count in (10, 1000):
        machine.claude("s1", lines(count))
        found[count] = [
            counted(machine, command, ref)
            for command in ("list", "status", "unprocessed", "digest", "mark")
        ]
    assert found[10] == found[1000]
    assert all(sum(calls.values()) for calls in found[10])


def test_at_most_five_hook_calls_a_session(machine: Machine) -> None:
    """Each further session costs at most five hook calls in any command, and what is asked once stays once."""
    refs = [Ref("codex", f"s{number}", f"codex:s{number}") for number in range(8)]
    for command in ("list", "status", "digest", "mark"):
        calls = {}
        for count in (1, 8):
            for ref in refs[:count]:
                machine.codex(ref.id, [meta(), typed()])
            calls[count] = counted(machine, command, *refs[:count])
        assert 0 < a_session(calls[8]) <= 5 * 8 or command == "mark"
        assert a_session(calls[8]) == 8 * a_session(calls[1]) or command in ("list", "status")
        assert all(calls[8][hook] == calls[1][hook] for hook in ONCE_A_RUN)
    assert a_session(calls[8]) == 8
