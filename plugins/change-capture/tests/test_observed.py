"""What is read of a payload: every event that is wired, every odd value, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback_change_capture.adapter import bodies, observed
from agentfeedback_change_capture.adapter import payload as read
from agentfeedback_change_capture.facts import LOCAL, METADATA_ONLY, SHARED, Fact
from tests.support import real_hooks
from tests.support import scrub_parts as parts

NOW = 1_796_031_238
SESSION = "00000000-0000-4000-8000-000000000002"


def fact_of(event: str, **members: Any) -> Fact:
    data = json.dumps({"hook_event_name": event, "session_id": SESSION, **members}).encode()
    return observed.fact(event, read.decode(data), NOW)


def tree(text: str) -> dict[str, Any]:
    return read.decode(text.encode())


# --- the payload ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-12-01T00:00:00Z", 1_796_083_200),
        ("2026-12-01T01:30:00.250+01:30", 1_796_083_200),
        (1_796_083_200, 1_796_083_200),
        (1_796_083_200.75, 1_796_083_200),
    ],
)
def test_a_host_s_time_is_kept_as_spelled(value: Any, seconds: int) -> None:
    found = fact_of("Stop", timestamp=value)
    assert found.observed_at == seconds
    assert (found.time_source, found.timestamp) == ("host", str(value))


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, "", "2026-12-01", "2026-12-01T00:00:00", "yesterday", [], {}),
        *(-1, 0, 946_684_799, 4_102_444_800, 10**30, "1999-12-31T23:59:59Z"),
        *("2100-01-01T00:00:00Z", "9" * 5000, 1_796_083_200_000),
    ],
)
def test_no_other_value_is_a_host_s_time(value: Any) -> None:
    found = fact_of("SessionEnd", timestamp=value)
    assert found.observed_at == NOW
    assert (found.time_source, found.timestamp, found.uncertain) == ("receipt", None, True)


@pytest.mark.parametrize(
    ("id", "valid"),
    [
        (SESSION, True),
        ("a" * 128, True),
        ("a" * 129, False),
        ("", False),
        (".a", False),
        ("a..b", False),
        ("../a", False),
        ("a/b", False),
        ("a\n", False),
        ("é", False),
    ],
)
def test_ids_of_native_sessions(id: str, valid: bool) -> None:
    assert read.is_session(id) is valid


@pytest.mark.parametrize(
    "data",
    [
        b'{"session_id":"s-1","hook_event_name":"PreToolUse","tool_input":{"a":',
        b'{"hook_event_name" : "PreToolUse",\n"session_id":\t"s-1","x":'
        + b"[" * 600
        + b"]" * 600
        + b"}",
        b'{"session_id":"s-1","hook_event_name":"PreToolUse","a":"' + b"x" * read.LARGEST + b'"}',
        b'{"session_id":"s-1","hook_event_name":"PreToolUse",}',
    ],
    ids=["cut", "deep", "large", "loose"],
)
def test_an_unreadable_payload_still_names_event_and_session(data: bytes) -> None:
    with pytest.raises(read.Unreadable) as caught:
        read.decode(data)
    assert (caught.value.event, caught.value.session) == ("PreToolUse", "s-1")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff", b'"SessionStart"', b"{" * 100_000])
def test_what_names_nothing_is_unreadable_too(data: bytes) -> None:
    with pytest.raises(read.Unreadable) as caught:
        read.decode(data)
    assert caught.value.event == ""


def test_equal_names_surrogates_and_numbers() -> None:
    found = tree('{"a":1,"a":1.0e3,"b":"\\ud800","c":{"\\udfff":2}}')
    assert (found["a"].text, found["b"], list(found["c"])) == ("1.0e3", "�", ["�"])


# --- the events -------------------------------------------------------------------------------

GROUPS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("SessionStart", {"source": "startup"}, {"boundary": "startup"}),
    ("SessionStart", {"source": "compact"}, {"boundary": "compact"}),
    ("SessionStart", {"source": "fork"}, {}),
    ("SessionStart", {}, {}),
    ("UserPromptSubmit", {"prompt": "hi", "prompt_id": "p"}, {"correlation": {"prompt_id": "p"}}),
    ("UserPromptSubmit", {"prompt": "<task-notification>x"}, {"origin": "harness"}),
    ("UserPromptSubmit", {"prompt": " <task-notification>x"}, {}),
    ("UserPromptSubmit", {"prompt": "/demo-skill now"}, {}),
    (
        "PreToolUse",
        {"tool_name": "mcp__inventory__count"},
        {"tool": {"name": "mcp__inventory__count"}},
    ),
    ("PreToolUse", {"tool_name": "x" * 257}, {}),
    ("PreToolUse", {"tool_name": "é" * 129}, {}),
    ("PostToolUse", {"tool_name": "Bash"}, {"tool": {"name": "Bash", "outcome": "returned"}}),
    (
        "PostToolUse",
        {"tool_name": "Bash", "tool_response": {"interrupted": True}},
        {"tool": {"name": "Bash", "outcome": "returned", "interrupted": True}},
    ),
    (
        "PostToolUse",
        {"tool_name": "Bash", "tool_response": {"interrupted": "true"}},
        {"tool": {"name": "Bash", "outcome": "returned"}},
    ),
    (
        "PostToolUseFailure",
        {"tool_name": "Bash", "is_interrupt": True, "agent_id": "a1", "agent_type": ""},
        {
            "tool": {"name": "Bash", "outcome": "failed", "interrupted": True},
            "subagent": {"agent_id": "a1"},
        },
    ),
    (
        "MessageDisplay",
        {"message_id": "m", "index": 0, "final": True, "turn_id": "t", "delta": "text"},
        {"correlation": {"index": 0, "final": True, "turn_id": "t", "message_id": "m"}},
    ),
    ("MessageDisplay", {"message_id": 5, "index": "0", "final": 1}, {}),
    ("Stop", {"last_assistant_message": "done"}, {}),
    ("PreCompact", {"trigger": "manual", "custom_instructions": "keep it"}, {"boundary": "manual"}),
    ("PreCompact", {"trigger": "other"}, {}),
    (
        "SubagentStart",
        {"agent_id": "a1", "agent_type": "Plan"},
        {"subagent": {"agent_id": "a1", "agent_type": "Plan"}},
    ),
    ("SessionEnd", {"reason": "logout"}, {"boundary": "logout"}),
    ("SessionEnd", {"reason": "a reason of the future"}, {"boundary": "other"}),
    ("SessionEnd", {}, {"boundary": "other"}),
]


@pytest.mark.parametrize(("event", "given", "members"), GROUPS, ids=range(len(GROUPS)))
def test_the_members_of_each_event(
    event: str, given: dict[str, Any], members: dict[str, Any]
) -> None:
    assert fact_of(event, **given).members == members


def test_kinds_and_starts() -> None:
    assert tuple(observed.KINDS) == real_hooks.EVENTS
    starts = {
        source: fact_of("SessionStart", source=source).start
        for source in ("startup", "compact", "resume", "clear", "fork", 7)
    }
    assert starts == {
        "startup": "original",
        "compact": "continued",
        **dict.fromkeys(("resume", "clear", "fork", 7), "other"),
    }
    assert fact_of("Stop").start is None
    assert fact_of("SessionEnd").ends


def test_identities_and_their_absence() -> None:
    assert fact_of("PreToolUse", tool_use_id="t").identity == ("t", "start")
    assert fact_of("PostToolUse", tool_use_id="t").identity == ("t", "finish")
    assert fact_of("PostToolUseFailure", tool_use_id="t").identity == ("t", "finish")
    assert fact_of("MessageDisplay", message_id="m", index=3).identity == ("m", 3)
    without = [
        fact_of("PreToolUse"),
        fact_of("PreToolUse", tool_use_id="t" * 300),
        fact_of("MessageDisplay", message_id="m", index=True),
        fact_of("MessageDisplay", message_id="m", index=-1),
        fact_of("SessionStart"),
        fact_of("UserPromptSubmit", prompt_id="p"),
        fact_of("SessionEnd"),
    ]
    assert all(each.identity is None and each.uncertain for each in without)
    markers = [fact_of(event, agent_id="a") for event in ("Stop", "PreCompact", "SubagentStop")]
    assert not any(each.uncertain for each in markers)


@pytest.mark.parametrize("id", [None, "", 5, "a b", "a" * 129, "ä"])
def test_a_subagent_s_marker_without_its_id_is_ignored(id: Any) -> None:
    given = {"hook_event_name": "SubagentStart", "agent_id": id}
    assert observed.event_of(given) is None
    assert observed.event_of(given | {"agent_id": "a1"}) == "SubagentStart"


def test_what_a_payload_exposes_of_the_setup() -> None:
    given = {"model": "m-1", "permission_mode": "plan", "effort": {"level": "high"}}
    assert fact_of("SessionStart", **given).setup == {
        "model": "m-1",
        "permission_mode": "plan",
        "effort": "high",
    }
    assert fact_of("PreToolUse", **given).setup == {"permission_mode": "plan", "effort": "high"}
    assert fact_of("Stop", effort="low").setup == {"effort": "low"}
    assert fact_of("SubagentStop", agent_id="a", **given).setup == {}
    assert fact_of("Stop", effort=[1], permission_mode={"a": 1}).setup == {}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(data=st.data())
def test_a_real_payload_with_any_value_anywhere(data: st.DataObject) -> None:
    """Every member of every event with every JSON type, and unknown members beside it."""
    event, sample = data.draw(st.sampled_from(SAMPLES))
    changed = sample | {data.draw(st.sampled_from(sorted(sample))): data.draw(JSON)}
    changed |= {"hook_event_name": event, "a member of the future": data.draw(JSON)}
    value = read.decode(json.dumps(changed).encode())
    if observed.event_of(value) is None:
        return
    found = observed.fact(event, value, NOW)
    json.dumps(found.members)
    for mode in (LOCAL, SHARED):
        for body in bodies.select(event, value, mode):
            assert body.data is not None
    assert bodies.select(event, value, METADATA_ONLY) == []


SAMPLES: list[tuple[str, dict[str, Any]]] = [
    (event, {"session_id": SESSION, "cwd": "/srv/app", "agent_id": "a1", **given})
    for event, given, _ in GROUPS
] + [
    ("PreToolUse", {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_use_id": "t", "tool_response": {"stdout": "x"}}),
]


def test_no_text_of_a_real_payload_is_in_its_fact(real: Path) -> None:
    """A canary for every string, of members known and unknown: only the named facts come through."""
    allowed = {"tool_name", "agent_id", "agent_type", "prompt_id", "turn_id", "message_id"}
    allowed |= {"permission_mode", "model"}
    for event, sent in real_hooks.payloads(real):
        if event not in observed.KINDS:
            continue
        canaries: dict[str, str] = {}
        planted = _planted(sent, canaries, allowed) | {"hook_event_name": event}
        value = read.decode(json.dumps(planted).encode())
        if observed.event_of(value) is None:
            continue
        found = observed.fact(event, value, NOW)
        shown = json.dumps([found.members, found.setup, found.identity])
        leaked = [name for text, name in canaries.items() if text in shown]
        assert set(leaked) <= {"effort.level", "tool_use_id"}


def _planted(given: dict[str, Any], canaries: dict[str, str], allowed: set[str]) -> dict[str, Any]:
    def walk(value: Any, where: str) -> Any:
        if isinstance(value, dict):
            return {name: walk(item, f"{where}.{name}".lstrip(".")) for name, item in value.items()}
        if isinstance(value, list):
            return [walk(item, f"{where}[]") for item in value]
        if isinstance(value, str) and where not in allowed:
            text = f"canary{len(canaries):04d}xyz"
            canaries[text] = where
            return text
        return value

    changed: dict[str, Any] = walk(given, "")
    return changed


# --- the bodies -------------------------------------------------------------------------------


def body_of(event: str, mode: Any, **members: Any) -> list[tuple[str, bytes | None, str, int]]:
    found = bodies.select(event, tree(json.dumps({"hook_event_name": event, **members})), mode)
    return [(each.role, each.data, each.media_type, each.redactions) for each in found]


def test_each_event_s_body() -> None:
    assert body_of("UserPromptSubmit", LOCAL, prompt="héy") == [
        ("prompt", "héy".encode(), "text/plain", 0)
    ]
    assert body_of("PreToolUse", LOCAL, tool_input={"b": 1.50, "a": "x"}) == [
        ("tool_input", b'{"a":"x","b":1.5}', "application/json", 0)
    ]
    assert body_of("PreToolUse", LOCAL, tool_input="x") == [
        ("tool_input", b'"x"', "application/json", 0)
    ]
    assert body_of("PostToolUse", LOCAL, tool_response="x") == [
        ("tool_result", b"x", "text/plain", 0)
    ]
    assert body_of("PostToolUse", LOCAL, tool_response=[1]) == [
        ("tool_result", b"[1]", "application/json", 0)
    ]
    assert body_of("PostToolUseFailure", LOCAL, error="x") == [
        ("tool_error", b"x", "text/plain", 0)
    ]
    assert body_of("MessageDisplay", LOCAL, delta="x") == [("assistant", b"x", "text/plain", 0)]


@pytest.mark.parametrize(
    ("event", "members"),
    [
        ("UserPromptSubmit", {"prompt": "<task-notification>done"}),
        ("UserPromptSubmit", {"prompt": ["x"]}),
        ("Stop", {"last_assistant_message": "x"}),
        ("PreCompact", {"custom_instructions": "x"}),
        ("PostToolUse", {"tool_input": {"a": 1}}),
        ("PreToolUse", {"tool_input": {"type": "thinking", "thinking": "x"}}),
        ("SessionEnd", {"reason": "x"}),
    ],
)
def test_what_is_never_a_body(event: str, members: dict[str, Any]) -> None:
    assert body_of(event, LOCAL, **members) == []


def test_thinking_is_left_out_at_any_depth() -> None:
    block = {"type": "thinking", "thinking": "t0", "signature": "s0"}
    given = {
        "content": [
            block,
            {"type": "text", "text": "x"},
            {"type": "redacted_thinking", "data": "d0"},
        ],
        "signature": "s1",
        "last": {"inner": block, "signature": "s2", "kept": 1},
        "other": {"signature": "stays", "type": "text"},
    }
    [(_, data, _, _)] = body_of("PostToolUse", LOCAL, tool_response=given)
    assert json.loads(data or b"") == {
        "content": [{"type": "text", "text": "x"}],
        "last": {"kept": 1},
        "other": {"signature": "stays", "type": "text"},
    }
    deep: Any = block
    for _ in range(250):
        deep = {"a": [deep]}
    [(_, data, _, _)] = body_of("PostToolUse", LOCAL, tool_response=deep)
    assert b"thinking" not in (data or b"")


def test_shared_bodies_are_redacted_and_local_ones_are_not() -> None:
    token = parts.PARTS["gh"] + parts.PARTS["an36"]
    given = {"command": f"curl -H 'x: {token}'", "password": 12, "max_tokens": 5}
    [(_, local, _, none)] = body_of("PreToolUse", LOCAL, tool_input=given)
    [(_, shared, _, count)] = body_of("PreToolUse", SHARED, tool_input=given)
    assert token.encode() in (local or b"")
    assert none == 0
    assert json.loads(shared or b"") == {
        "command": "curl -H 'x: [REDACTED:github_token]'",
        "password": "[REDACTED:field]",
        "max_tokens": 5,
    }
    assert count == 2


def test_a_body_that_takes_too_long_is_not_retained(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(value: Any) -> Any:
        while True:
            pass

    monkeypatch.setattr(bodies, "SECONDS", 0.01)
    monkeypatch.setattr(bodies, "redact", slow)
    [body] = bodies.select("UserPromptSubmit", {"prompt": "abc"}, SHARED)
    assert (body.data, body.size) == (None, 3)


def test_a_body_whose_redaction_fails_is_not_retained(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(value: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr(bodies, "redact", failing)
    assert body_of("UserPromptSubmit", SHARED, prompt="abc") == [("prompt", None, "text/plain", 0)]
