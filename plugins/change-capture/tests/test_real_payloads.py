"""Every payload that Claude Code really sent, through the hook: counts, endings, and no text anywhere."""

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from agentfeedback_change_capture.adapter import observed
from tests.support import real_hooks
from tests.support import scrub_parts as parts


class Kept(NamedTuple):
    """What a spool holds after a replay."""

    events: list[dict[str, Any]]
    starts: list[dict[str, Any]]
    finishes: list[dict[str, Any]]
    envelopes: list[dict[str, Any]]
    deferred: list[dict[str, Any]]
    bytes: bytes


@pytest.fixture
def sessions(real: Path) -> list[list[bytes]]:
    return list(real_hooks.in_order(real).values())


def rules(sessions: list[list[bytes]]) -> list[str]:
    """Return one rule for each tool of the payloads."""
    tools = {json.loads(line).get("tool_name") for lines in sessions for line in lines} - {None}
    return [f"{tool}=execution:unknown:unverified" for tool in sorted(tools)]


def replay(checkout: Any, lines: list[bytes], **given: Any) -> Kept:
    """Send a session into a spool of its own: what a spool holds already makes each hook slower."""
    shutil.rmtree(checkout.spool, ignore_errors=True)
    (checkout.config / "change-capture.json").unlink(missing_ok=True)
    checkout.configure(**given)
    for line in lines:
        assert checkout.send(line) == ("", [])
    return Kept(
        checkout.events(),
        checkout.actions("start"),
        checkout.actions("finish"),
        checkout.records("outbox"),
        checkout.records("deferred"),
        checkout.bytes(),
    )


@pytest.fixture(autouse=True)
def _of_this_checkout(checkout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(checkout.root))


def test_the_order_has_every_payload_once(real: Path, sessions: list[list[bytes]]) -> None:
    sent = Counter(line for lines in sessions for line in lines)
    assert sent == Counter(line for _, line in real_hooks.every(real))


def test_what_is_kept_of_every_real_payload(checkout: Any, sessions: list[list[bytes]]) -> None:
    kinds: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    started = ended = closed = changed = markers = notified = 0
    for session in sessions:
        kept = replay(checkout, session, action_rules=rules(sessions))
        assert kept.deferred == []
        kinds.update(event["kind"] for event in kept.events)
        lines.update(json.loads(line)["hook_event_name"] for line in session)
        started += len(kept.starts)
        unseen = [each for each in kept.finishes if each.get("cause") == "completion_not_observed"]
        ended += len(kept.finishes) - len(unseen)
        closed += len(unseen)
        changed += sum(each.get("input_changed", False) for each in kept.finishes)
        markers += sum(event["kind"].startswith("subagent_") for event in kept.events)
        notified += sum(event.get("origin") == "harness" for event in kept.events)
        assert {each["action_id"] for each in kept.finishes} == {
            each["action_id"] for each in kept.starts
        }
        sequences = [event["sequence"] for event in kept.events]
        assert sequences == list(range(1, len(sequences) + 1))
    del kinds["gap"]
    expected: Counter[str] = Counter()
    for event, kind in observed.KINDS.items():
        expected[kind] += lines[event]
    assert kinds == expected
    assert (started, ended, closed) == (103, 69, 34)
    assert (changed, markers) == (2, 6)
    sent = [line for session in sessions for line in session]
    assert notified == sum(b'"prompt":"<task-notification>' in line for line in sent)
    assert notified > 0


# --- no text where none belongs ---------------------------------------------------------------

#: Members whose value is a fact that may be kept, by their place in a payload.
FACTS = {
    *("hook_event_name", "session_id", "source", "reason", "trigger", "model"),
    *("permission_mode", "effort.level", "effort", "tool_name", "tool_use_id", "agent_id"),
    *("agent_type", "prompt_id", "turn_id", "message_id"),
}
#: Members that are the bodies of the modes that keep them.
BODIES = ("prompt", "tool_input", "tool_response", "error", "delta")


def planted(line: bytes, at: int, secret: str = "") -> tuple[bytes, list[tuple[str, str]]]:
    """Return a payload with a canary in every string but facts, and which member each is in."""
    canaries: list[tuple[str, str]] = []

    def walk(value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return {
                name: walk(item, f"{where}.{name}" if where else name)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [walk(item, where) for item in value]
        if not isinstance(value, str) or where in FACTS:
            return value
        text = f"canary-{at}-{len(canaries)}-planted"
        canaries.append((text, where.partition(".")[0]))
        prefix = "<task-notification>" if value.startswith("<task-notification>") else ""
        return f"{prefix}{text} {secret}" if secret else prefix + text

    value = walk(json.loads(line) | {"a member of the future": "x", "nested": [{"y": "z"}]}, "")
    return json.dumps(value).encode(), canaries


@pytest.mark.parametrize("mode", ["metadata-only", "local-conversation", "shared-conversation"])
def test_no_text_of_a_payload_is_where_it_does_not_belong(
    checkout: Any, sessions: list[list[bytes]], mode: str
) -> None:
    """In an envelope never; in the spool only selected bodies; in shared mode no secret anywhere."""
    secret = parts.PARTS["gh"] + parts.PARTS["an36"]
    # The sessions with every kind of event, result, failure and dialog among them.
    chosen = (
        sorted(sessions, key=len)[-7:]
        if mode == "metadata-only"
        else sorted(sessions, key=len)[-4:]
    )
    for session in chosen:
        changed, canaries = [], []
        for at, line in enumerate(session):
            line, found = planted(line, at, secret if mode == "shared-conversation" else "")
            changed.append(line)
            canaries += found
        kept = replay(checkout, changed, action_rules=rules(sessions), capture_mode=mode)
        shown = json.dumps(kept.envelopes)
        assert "canary-" not in shown
        assert secret.encode() not in kept.bytes
        assert str(checkout.root) not in shown
        assert "a member of the future" not in shown
        in_spool = {member for text, member in canaries if text.encode() in kept.bytes}
        if mode == "metadata-only":
            assert in_spool == set()
        else:
            assert in_spool <= set(BODIES)
            assert {"prompt", "tool_input"} <= in_spool


@pytest.mark.parametrize("seed", range(4))
def test_hooks_that_run_again_in_any_order_change_nothing_more(
    checkout: Any, sessions: list[list[bytes]], seed: int
) -> None:
    """Each identified payload one to three times, interleaved: the same events, claims and actions."""
    random = Random(seed)
    identified = [
        line
        for line in min(sessions, key=lambda lines: abs(len(lines) - 30))
        if json.loads(line)["hook_event_name"] in (*observed.TOOL_EVENTS, "MessageDisplay")
    ]

    def facts(kept: Kept) -> Any:
        return (
            Counter(event["kind"] for event in kept.events if event["kind"] != "gap"),
            Counter(json.dumps(event.get("correlation")) for event in kept.events),
            sorted(each["action_id"] for each in kept.starts),
            sorted(each["action_id"] for each in kept.finishes),
        )

    once = facts(replay(checkout, identified))
    again = [line for line in identified for _ in range(random.randint(1, 3))]
    late = [random.choice(identified) for _ in range(5)]
    kept = replay(checkout, [*again, *late])
    assert kept.deferred == []
    assert facts(kept) == once
