"""The hook's run: what it keeps of each event, when it keeps nothing, and what it says."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agentfeedback_change_capture.adapter import bodies, hook
from agentfeedback_change_capture.identities import native_ref, occurrence_id
from agentfeedback_change_capture.setup import clients
from tests.support import scrub_parts as parts

BASH: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_use_id": "toolu_1",
    "tool_input": {"command": "make"},
}
NOTHING: tuple[str, list[str]] = ("", [])
LOCAL, SHARED = "local-conversation", "shared-conversation"


def test_a_session_from_its_start_to_its_end(checkout: Any) -> None:
    checkout.configure()
    said = [
        checkout.send("SessionStart", source="startup"),
        checkout.send("UserPromptSubmit", prompt="build it"),
        checkout.send("PreToolUse", **BASH),
        checkout.send("PostToolUse", **BASH, tool_response={"stdout": "done"}),
        checkout.send("Stop"),
        checkout.send("SessionEnd", reason="other"),
    ]
    assert said == [NOTHING] * 6
    kinds = [event["kind"] for event in checkout.events()]
    assert kinds == [
        *("session_start", "gap", "prompt", "gap", "tool_start", "tool_finish"),
        *("turn_end", "session_end", "gap"),
    ]
    [start] = checkout.actions("start")
    [finish] = checkout.actions("finish")
    assert start["tool"] == "Bash"
    assert start["source"] == {"cause": "source_unavailable", "type": "unavailable"}
    assert (finish["execution"], finish["verification"]) == ("unknown", "unknown")
    assert b"build it" not in checkout.bytes()
    [session] = checkout.records("sessions")
    assert session["next_sequence"] == len(kinds) + 1


# --- when nothing is kept ---------------------------------------------------------------------


def test_events_that_are_ignored_leave_no_trace(checkout: Any) -> None:
    checkout.configure()
    before = checkout.bytes()
    for event in (
        *("PostToolBatch", "PermissionRequest", "PermissionDenied", "Notification", "PostCompact"),
        *("CwdChanged", "InstructionsLoaded", "UserPromptExpansion", "StopFailure", "TaskCreated"),
        *("TaskCompleted", "An event of the future", "", "sessionstart"),
    ):
        assert checkout.send(event) == NOTHING
    assert checkout.send("SubagentStart") == NOTHING
    assert checkout.send("SubagentStop", agent_id="a/b") == NOTHING
    assert checkout.send(b"") == NOTHING
    assert checkout.send(b"[1]") == NOTHING
    assert checkout.bytes() == before
    assert checkout.hub.asked == []


def test_without_a_connection_or_a_binding_nothing_happens(checkout: Any) -> None:
    assert checkout.send("SessionStart") == NOTHING
    checkout.configure()
    before = checkout.bytes()
    clients.remove(str(checkout.root), checkout.environ)
    assert checkout.send("SessionStart") == NOTHING
    assert checkout.bytes() == before
    assert checkout.hub.asked == []


def test_a_checkout_that_is_connected_elsewhere_keeps_nothing(checkout: Any) -> None:
    checkout.configure()
    before = checkout.bytes()
    clients.record(str(checkout.root), "https://b.example", "demo/app", "t", "", checkout.environ)
    answer, [warning] = checkout.send("SessionStart")
    assert "connected to another repository or Hub" in warning
    assert (answer, checkout.bytes(), checkout.hub.asked) == ("", before, [])


def test_a_session_of_another_checkout_is_not_ours(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one whose root is inside ours; a session that is known moves where it likes."""
    checkout.configure()
    inner = checkout.make(checkout.root / ".claude/worktrees/demo")
    before = checkout.bytes()
    for cwd in (inner, checkout.home, "relative", "/nonexistent", "a\0b", 5):
        shown = str(cwd) if isinstance(cwd, Path) else cwd
        assert checkout.send("SessionStart", source="startup", cwd=shown) == NOTHING
    assert checkout.bytes() == before
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(inner))
    assert checkout.send("SessionStart", source="startup") == NOTHING
    assert checkout.bytes() == before
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(checkout.root))
    checkout.send("SessionStart", source="startup", cwd=str(inner))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR")
    checkout.send("Stop", cwd=str(inner))
    assert [event["kind"] for event in checkout.events()] == ["session_start", "gap", "turn_end"]


def test_a_folder_of_the_checkout_and_a_link_to_it_are_ours(checkout: Any) -> None:
    checkout.configure()
    (checkout.root / "src").mkdir()
    link = checkout.home / "link"
    link.symlink_to(checkout.root)
    checkout.send("SessionStart", source="startup", cwd=str(link / "src"))
    assert checkout.events() != []


def test_a_malformed_session_is_a_warning(checkout: Any) -> None:
    checkout.configure()
    before = checkout.bytes()
    for id in ("", "../x", "a/b", "a" * 129, 5, None):
        _, [warning] = checkout.send("SessionStart", session_id=id)
        assert "session id" in warning
    assert checkout.bytes() == before


# --- identity and gaps ------------------------------------------------------------------------


def test_only_the_start_of_a_session_is_its_original_start(checkout: Any) -> None:
    checkout.configure()
    checkout.send("SessionStart", source="startup")
    checkout.send("SessionStart", source="compact")
    checkout.send("SessionStart", source="resume")
    checkout.send("SessionStart", session_id="s-2", source="resume")
    checkout.send("SessionStart", session_id="s-3", source="compact")
    checkout.send("UserPromptSubmit", session_id="s-4", prompt="x")
    checkout.send("UserPromptSubmit", session_id="s-4", prompt="x")
    late: dict[str, int] = {}
    for envelope in checkout.records("outbox"):
        gaps = [event["gap"]["kind"] for event in envelope["events"] if event["kind"] == "gap"]
        session = envelope["session_id"]
        late[session] = late.get(session, 0) + gaps.count("adapter_started_late")
    assert late == {"s-1": 0, "s-2": 1, "s-3": 1, "s-4": 1}


def test_a_host_s_timestamp_makes_a_session_complete(checkout: Any) -> None:
    checkout.configure()
    for _ in range(2):  # a hook that runs again is the same event
        checkout.send("SessionStart", source="startup", timestamp="2026-12-01T00:00:00Z")
        checkout.send("UserPromptSubmit", prompt="x", timestamp=1_796_083_201)
        checkout.send("SessionEnd", reason="other", timestamp="2026-12-01T00:00:02Z")
    events = checkout.events()
    assert [event["kind"] for event in events] == ["session_start", "prompt", "session_end"]
    assert [event["observed_at"] for event in events] == [
        1_796_083_200,
        1_796_083_201,
        1_796_083_202,
    ]
    assert {event["time_source"] for event in events} == {"host"}


def test_equal_prompts_are_two_prompts_and_an_equal_call_is_one(checkout: Any) -> None:
    checkout.configure()
    for _ in range(2):
        checkout.send("UserPromptSubmit", prompt="again")
        checkout.send("PreToolUse", **BASH)
        checkout.send("PostToolUse", **BASH, tool_response="x")
        checkout.send("MessageDisplay", message_id="m", index=0, final=True, delta="hi")
    kinds = [event["kind"] for event in checkout.events() if event["kind"] != "gap"]
    assert sorted(kinds) == sorted(
        ["prompt", "prompt", "tool_start", "tool_finish", "assistant_message"]
    )


def test_a_changed_call_is_a_conflict_and_a_changed_ending_too(checkout: Any) -> None:
    checkout.configure()
    checkout.send("PreToolUse", **BASH)
    for _ in range(2):
        _, [warning] = checkout.send("PreToolUse", **BASH | {"tool_input": {"command": "other"}})
        assert "other facts" in warning
    checkout.send("PostToolUse", **BASH, tool_response="x")
    _, [warning] = checkout.send("PostToolUseFailure", **BASH, error="x")
    assert "other facts" in warning
    assert [each["cause"] for each in checkout.records("deferred")] == ["conflict", "conflict"]
    kinds = [event["kind"] for event in checkout.events() if event["kind"] != "gap"]
    assert kinds == ["tool_start", "tool_finish"]
    assert len(checkout.actions("finish")) == 1


def test_an_input_that_a_dialog_completed_is_no_conflict(checkout: Any) -> None:
    checkout.configure(action_rules=["AskUserQuestion=execution:unknown:unverified"])
    call = {"tool_name": "AskUserQuestion", "tool_use_id": "t", "tool_input": {"q": 1}}
    checkout.send("PreToolUse", **call)
    checkout.send("PostToolUse", **call | {"tool_input": {"q": 1, "answers": 2}}, tool_response="x")
    [start], [finish] = checkout.actions("start"), checkout.actions("finish")
    assert finish["input_changed"] is True
    assert finish["start_sha256"] is not None
    assert start["recipe_digest"] != ""


@pytest.mark.parametrize(
    "data",
    [
        b'{"session_id":"s-1","hook_event_name":"PostToolUse","tool_response":"cut',
        b'{"session_id":"s-1","cwd":"CWD","hook_event_name":"PreToolUse","x":'
        + b"[" * 600
        + b"]" * 600
        + b"}",
    ],
)
def test_an_unreadable_payload_is_a_gap(checkout: Any, data: bytes) -> None:
    checkout.configure()
    checkout.send("SessionStart", source="startup")
    assert checkout.send(data) == NOTHING
    *_, gap = checkout.events()
    assert gap["gap"] == {"kind": "capture_interrupted", "cause": "payload_unreadable"}


def test_an_unreadable_end_of_a_subagent_closes_nothing(checkout: Any) -> None:
    checkout.configure()
    checkout.send("PreToolUse", **BASH)
    assert checkout.send(b'{"session_id":"s-1","hook_event_name":"SubagentStop",') == NOTHING
    assert checkout.actions("finish") == []


# --- endings ----------------------------------------------------------------------------------


def test_a_turn_s_end_closes_what_has_no_end(checkout: Any) -> None:
    checkout.configure()
    checkout.send("PreToolUse", **BASH)
    checkout.send("PreToolUse", **BASH | {"tool_use_id": "toolu_2"}, agent_id="a1")
    checkout.send("UserPromptSubmit", prompt="queued")
    assert checkout.actions("finish") == []
    checkout.send("Stop")
    [closed] = checkout.actions("finish")
    assert (closed["execution"], closed["cause"]) == ("incomplete", "completion_not_observed")
    assert closed["verification"] == "unknown"
    checkout.send("SubagentStop", agent_id="a1")
    assert len(checkout.actions("finish")) == 2
    # The end comes all the same: its event is kept, the retained finish stays.
    checkout.send("PostToolUse", **BASH, tool_response="x")
    assert len(checkout.actions("finish")) == 2
    assert checkout.events()[-1]["kind"] == "tool_finish"


@pytest.mark.parametrize(
    ("event", "members"),
    [("SessionEnd", {"reason": "other"}), ("SessionStart", {"source": "resume"})],
)
def test_a_session_s_end_and_its_resumption_close_everything(
    checkout: Any, event: str, members: dict[str, Any]
) -> None:
    checkout.configure()
    checkout.send("PreToolUse", **BASH)
    checkout.send("PreToolUse", **BASH | {"tool_use_id": "toolu_2"}, agent_id="a1")
    checkout.send("PreToolUse", **BASH | {"session_id": "s-2"})
    checkout.send(event, **members)
    assert len(checkout.actions("finish")) == 2


def test_rules_decide_what_an_ending_says(checkout: Any) -> None:
    checkout.configure(
        action_rules=[
            "Bash=execution:complete:process_exit_code",
            "Edit=execution:partial:unverified",
        ]
    )
    calls = [
        ("Bash", "PostToolUse", {"tool_response": {"exit_code": 0}}),
        ("Bash", "PostToolUse", {"tool_response": {"exitCode": 2}}),
        ("Bash", "PostToolUse", {"tool_response": {"stdout": "Exit code 1"}}),
        ("Bash", "PostToolUseFailure", {"error": "Exit code 1"}),
        ("Bash", "PostToolUseFailure", {"error": "x", "is_interrupt": True}),
        ("Edit", "PostToolUse", {"tool_response": {"exit_code": 0}}),
        ("Read", "PostToolUse", {"tool_response": "x"}),
    ]
    for at, (tool, event, members) in enumerate(calls):
        call = {"tool_name": tool, "tool_use_id": f"t{at}", "tool_input": {}}
        checkout.send("PreToolUse", **call)
        checkout.send(event, **call, **members)
    finishes = checkout.actions("finish")
    found = [each["execution"] for each in finishes]
    assert found == ["succeeded", "failed", "unknown", "failed", "incomplete", "unknown"]
    assert {each["verification"] for each in finishes} == {"unknown"}
    assert [each.get("exit_code") for each in finishes[:3]] == [0, 2, None]


def test_the_exact_command_of_a_recipe_is_no_second_action(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentfeedback_change_capture.adapter import managed

    recipe = checkout.home / "recipe.json"
    recipe.write_text(
        json.dumps(
            {
                "id": "unit-test",
                "argv": ["/bin/true"],
                "coverage": "complete",
                "timeout_seconds": 300,
                "max_output_bytes": 1024,
            }
        )
    )
    recipe.chmod(0o600)
    from agentfeedback_change_capture.setup.recipes import read

    checkout.configure(recipes=[read(str(recipe), 1 << 20)])
    assert checkout.send("SessionStart", source="startup") == NOTHING
    monkeypatch.setattr(managed, "RUNNER", True)
    answer, warnings = checkout.send("SessionStart", source="startup")
    said = json.loads(answer)["hookSpecificOutput"]
    command = "/opt/agentscm change-capture run-recipe --id unit-test"
    assert said["hookEventName"] == "SessionStart"
    assert command in said["additionalContext"]
    assert len(said["additionalContext"].encode()) <= 2_048
    assert warnings == []
    for at, text in enumerate((command, command + " ", "cd / && " + command, command + "x")):
        call = {"tool_name": "Bash", "tool_use_id": f"t{at}", "tool_input": {"command": text}}
        assert checkout.send("PreToolUse", **call) == NOTHING
    assert len(checkout.actions("start")) == 3
    routes = {each["tool_use_id"]: each["route"] for each in checkout.records("observations")}
    assert routes == {"t0": "managed", "t1": "native", "t2": "native", "t3": "native"}


# --- modes ------------------------------------------------------------------------------------

TOKEN = parts.PARTS["gh"] + parts.PARTS["an36"]


def session_with_bodies(checkout: Any, session: str = "s-1") -> None:
    checkout.send("SessionStart", session_id=session, source="startup")
    checkout.send("UserPromptSubmit", session_id=session, prompt=f"use {TOKEN} please")
    call = BASH | {
        "tool_use_id": f"t-{session}",
        "tool_input": {"password": TOKEN, "a": "plain words"},
    }
    checkout.send("PreToolUse", session_id=session, **call)
    checkout.send("PostToolUse", session_id=session, **call, tool_response={"stdout": TOKEN})


def bodies_of(checkout: Any) -> list[dict[str, Any]]:
    return [body for event in checkout.events() for body in event.get("bodies", ())]


def test_metadata_only_keeps_no_body(checkout: Any) -> None:
    checkout.configure()
    session_with_bodies(checkout)
    assert bodies_of(checkout) == []
    assert TOKEN.encode() not in checkout.bytes()
    assert b"plain words" not in checkout.bytes()


def test_local_keeps_bodies_as_they_are(checkout: Any) -> None:
    checkout.configure(capture_mode=LOCAL)
    session_with_bodies(checkout)
    found = bodies_of(checkout)
    assert [body["role"] for body in found] == ["prompt", "tool_input", "tool_result"]
    assert {body["retention"] for body in found} == {"work-local"}
    artifact = checkout.spool / "artifacts" / found[0]["sha256"]
    assert artifact.read_text() == f"use {TOKEN} please"
    assert artifact.stat().st_mode & 0o777 == 0o600
    assert "redactions" not in found[0]


def test_shared_redacts_before_anything_is_written(checkout: Any) -> None:
    checkout.configure(capture_mode=SHARED)
    session_with_bodies(checkout)
    found = bodies_of(checkout)
    assert {body["retention"] for body in found} == {"shared-approved"}
    assert [body["redactions"] for body in found] == [1, 1, 1]
    assert TOKEN.encode() not in checkout.bytes()
    assert b"plain words" in checkout.bytes()
    gaps = [event["gap"] for event in checkout.events() if event["kind"] == "gap"]
    assert [gap for gap in gaps if gap["kind"] == "redacted"] == [
        {"count": 1, "kind": "redacted"}
    ] * 3
    assert all(envelope["sharing"] for envelope in checkout.records("outbox"))


def test_a_session_keeps_the_sharing_it_started_under(checkout: Any) -> None:
    checkout.configure(capture_mode=LOCAL)
    checkout.send("SessionStart", source="startup")
    checkout.again(capture_mode=SHARED)
    checkout.send("UserPromptSubmit", prompt=f"use {TOKEN} please")
    [body] = bodies_of(checkout)
    assert (body["retention"], body["redactions"]) == ("work-local", 1)
    assert not any(envelope["sharing"] for envelope in checkout.records("outbox"))
    session_with_bodies(checkout, "s-2")
    assert [body["retention"] for body in bodies_of(checkout)[1:]] == ["shared-approved"] * 3


def test_a_body_over_a_limit_is_missing_and_said_so(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.configure(capture_mode=LOCAL, limits={"artifact_bytes": 100})
    checkout.send("UserPromptSubmit", prompt="x" * 101)
    monkeypatch.setattr(bodies, "redact", lambda value: 1 / 0)
    checkout.again(capture_mode=SHARED)
    checkout.send("UserPromptSubmit", prompt="y" * 50)
    found = bodies_of(checkout)
    assert [(body["availability"], body["bytes"]) for body in found] == [
        ("missing", 101),
        ("missing", 50),
    ]
    gaps = [event["gap"] for event in checkout.events() if event["kind"] == "gap"]
    assert gaps.count({"kind": "capture_interrupted", "cause": "body_not_retained"}) == 2
    assert b"yyyyy" not in checkout.bytes()


def test_a_large_shared_body_stays_local(checkout: Any) -> None:
    checkout.configure(capture_mode=SHARED)
    checkout.send("UserPromptSubmit", prompt="x" * 1_048_577)
    checkout.send("UserPromptSubmit", prompt="x" * 1_048_576)
    assert [body["retention"] for body in bodies_of(checkout)] == ["work-local", "shared-approved"]


def test_the_setup_is_an_artifact_when_it_changes(checkout: Any) -> None:
    checkout.configure()
    checkout.send("SessionStart", source="startup", model="m-1")
    for mode in ("default", "default", "plan"):
        checkout.send("UserPromptSubmit", prompt="x", permission_mode=mode)
    found = [event["setup"] for event in checkout.events() if "setup" in event]
    assert [each.get("permission_mode") for each in found] == [None, "default", "plan"]
    assert "model" not in found[0]["unobserved"]
    assert "permission_mode" in found[0]["unobserved"]


# --- targets ----------------------------------------------------------------------------------


def test_without_a_target_only_a_sanitised_fact_is_kept(checkout: Any) -> None:
    checkout.configure(capture_mode=LOCAL)
    for away in ("unavailable", "no_target"):
        checkout.hub.away = away
        checkout.send("SessionStart", source="startup", session_id=f"s-{away}")
        checkout.send("UserPromptSubmit", prompt="secret words", session_id=f"s-{away}")
        call = BASH | {"tool_use_id": f"t-{away}", "tool_input": {"command": "secret words"}}
        for _ in range(2):
            checkout.send("PreToolUse", **call, session_id=f"s-{away}")
        checkout.send("PostToolUse", **call, tool_response="secret words", session_id=f"s-{away}")
    found = checkout.records("deferred")
    assert [each["cause"] for each in found] == ["unavailable"] * 4 + ["no_target"] * 4
    assert [each["sequence"] for each in found] == [1, 2, 3, 4] * 2
    assert {each["tool"] for each in found} == {None, "Bash"}
    assert {each["target"] for each in found} == {None}
    assert b"secret words" not in checkout.bytes()
    assert str(checkout.root).encode() not in b"".join(
        path.read_bytes() for path in (checkout.spool / "deferred").iterdir()
    )
    assert checkout.records("outbox") == []
    assert checkout.records("observations") == []


def test_a_claimed_end_is_not_deferred(checkout: Any) -> None:
    checkout.configure()
    checkout.send("PreToolUse", **BASH)
    checkout.hub.away = "unavailable"
    checkout.send("PreToolUse", **BASH)
    checkout.send("PostToolUse", **BASH, tool_response="x")
    assert checkout.records("deferred") == []
    assert len(checkout.actions("finish")) == 1
    checkout.hub.away = ""
    checkout.hub.generation = 2
    checkout.send("PostToolUse", **BASH, tool_response="x")
    assert {envelope["generation"] for envelope in checkout.records("outbox")} == {1}


def test_an_outage_under_an_alias_becomes_a_gap_of_the_old_target(checkout: Any) -> None:
    checkout.configure()
    checkout.hub.aliases["s-1"] = "ses_canonical"
    checkout.send("SessionStart", source="startup")
    checkout.hub.away = "unavailable"
    checkout.send("UserPromptSubmit", prompt="x")
    checkout.send("Stop")
    checkout.hub.away, checkout.hub.generation = "", 2
    checkout.send("UserPromptSubmit", prompt="y")
    checkout.send("UserPromptSubmit", prompt="z")
    gaps = [
        (envelope["generation"], event["gap"])
        for envelope in checkout.records("outbox")
        for event in envelope["events"]
        if event.get("gap", {}).get("cause") == "deferred"
    ]
    assert gaps == [(1, {"kind": "capture_interrupted", "cause": "deferred", "count": 2})]
    assert {envelope["session_id"] for envelope in checkout.records("outbox")} == {"ses_canonical"}
    scope = json.loads((checkout.spool / "scope.json").read_bytes())["observation_scope"]
    refs = {envelope["native_ref"] for envelope in checkout.records("outbox")}
    assert refs == {native_ref(scope, "s-1")}
    assert b'"s-1"' not in b"".join(
        path.read_bytes() for path in (checkout.spool / "outbox").iterdir()
    )


def test_an_outage_of_the_same_target_is_a_hole(checkout: Any) -> None:
    checkout.configure()
    checkout.send("Stop")
    checkout.hub.away = "unavailable"
    checkout.send("Stop")
    checkout.hub.away = ""
    checkout.send("Stop")
    sequences = [event["sequence"] for event in checkout.events() if event["kind"] == "turn_end"]
    assert sequences == [1, 4] or sequences == [2, 4], "the late gap has a number of its own"
    assert not any(event.get("gap", {}).get("cause") == "deferred" for event in checkout.events())


def test_closing_needs_no_hub(checkout: Any) -> None:
    checkout.configure()
    checkout.send("PreToolUse", **BASH)
    checkout.hub.away = "unavailable"
    checkout.send("Stop")
    assert len(checkout.actions("finish")) == 1
    assert len(checkout.records("deferred")) == 1


# --- faults -----------------------------------------------------------------------------------


def test_a_lock_that_stays_held_is_a_warning(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    from agentfeedback_change_capture.adapter import event

    checkout.configure()
    monkeypatch.setattr(event, "LOCK_SECONDS", 0.05)
    with (checkout.spool / "spool.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        answer, [warning] = checkout.send("SessionStart", source="startup")
    assert answer == ""
    assert "holds the spool" in warning


def test_an_unsafe_spool_is_a_warning(checkout: Any) -> None:
    checkout.configure()
    before = checkout.bytes()
    checkout.spool.chmod(0o755)
    assert "open to others" in checkout.send("SessionStart", source="startup")[1][0]
    checkout.spool.chmod(0o700)
    os.mkfifo(checkout.spool / "outbox" / f"{1:016d}.{'a' * 32}.json")
    assert "not a regular file" in checkout.send("SessionStart", source="startup")[1][0]
    next((checkout.spool / "outbox").iterdir()).unlink()
    assert checkout.bytes() == before
    shutil.rmtree(checkout.spool)
    assert "there is no spool" in checkout.send("SessionStart", source="startup")[1][0]
    assert not checkout.spool.exists()


@pytest.mark.parametrize("errno", [28, 5, 122])
def test_a_disk_that_fails_is_a_warning(
    checkout: Any, monkeypatch: pytest.MonkeyPatch, errno: int
) -> None:
    checkout.configure()
    write = os.write

    def failing(descriptor: int, data: bytes) -> int:
        if descriptor > 2:
            raise OSError(errno, os.strerror(errno))
        return write(descriptor, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", failing)
        answer, [warning] = checkout.send("SessionStart", source="startup")
    assert (answer, warning) == ("", f"OSError {errno}")
    assert checkout.send("Stop") == NOTHING
    assert checkout.events()[0]["kind"] == "turn_end"


def test_a_full_spool_pauses_and_resumes(checkout: Any) -> None:
    checkout.configure(limits={"records": 48, "bytes": 65_536})
    warnings: list[str] = []
    for _ in range(30):
        warnings += checkout.send("Stop")[1]
    assert "capture pauses" in warnings[0]
    assert "was not kept" in warnings[-1]
    pauses = [event for event in checkout.events() if event.get("gap", {}).get("cause") == "quota"]
    assert len(pauses) == 1
    checkout.again(limits={"records": 200, "bytes": 1 << 20})
    assert checkout.send("Stop") == NOTHING
    assert checkout.events()[-1]["sequence"] > pauses[0]["sequence"]


def test_a_run_past_its_deadline_begins_nothing(checkout: Any) -> None:
    checkout.configure()
    before = checkout.bytes()
    data = json.dumps(
        {"session_id": "s-1", "cwd": str(checkout.root), "hook_event_name": "Stop"}
    ).encode()
    words = ["--root", str(checkout.root)]
    _, [warning] = hook.serve(words, time.monotonic() - hook.SECONDS, data=data, hub=checkout.hub)
    assert "no time left" in warning
    assert checkout.bytes() == before


def test_an_error_shows_nothing_of_a_payload(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.configure()

    def failing(*_: object) -> None:
        raise ValueError(f"bad value {TOKEN}")

    monkeypatch.setattr(checkout.hub, "resolve", failing)
    assert checkout.send("UserPromptSubmit", prompt=TOKEN) == ("", ["ValueError"])


def test_sixty_hooks_at_once(checkout: Any) -> None:
    """Three sessions, twenty events each, all at the same time: as if one after the other."""
    checkout.configure()
    children = []
    for at in range(60):
        child = os.fork()
        if child:
            children.append(child)
            continue
        try:
            call = {"tool_name": "Bash", "tool_use_id": f"t{at // 6}", "tool_input": {}}
            session = f"s-{at % 3}"
            if at % 2:
                said = checkout.send("PreToolUse", session_id=session, **call)
            else:
                said = checkout.send("UserPromptSubmit", session_id=session, prompt="x")
            os._exit(0 if said == NOTHING else 3)
        finally:
            os._exit(1)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sequences = [
        (envelope["session_id"], event["sequence"])
        for envelope in checkout.records("outbox")
        for event in envelope.get("events", ())
    ]
    assert len(set(sequences)) == len(sequences)
    for session in ("s-0", "s-1", "s-2"):
        numbers = sorted(number for name, number in sequences if name == session)
        assert numbers == list(range(1, len(numbers) + 1))
    orders = [int(path.name[:16]) for path in (checkout.spool / "outbox").iterdir()]
    assert len(set(orders)) == len(orders)
    kinds = [event["kind"] for event in checkout.events()]
    waited = statuses.count(3)
    assert statuses.count(0) + waited == 60
    assert kinds.count("prompt") + kinds.count("tool_start") + waited >= 60
    assert occurrence_id("s-1", "t0") != occurrence_id("s-1", "t1")


ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**40, "", "x", "x" * 300, "é\ud800\0\n", "-" * 70_000),
    *([], {}, [[]], [{"type": "thinking", "text": "t"}], {"a": {"b": [1, None]}}),
)


@pytest.mark.parametrize("mode", ["metadata-only", LOCAL, SHARED])
def test_any_value_of_any_member_is_kept_or_left_out_and_never_fails(
    checkout: Any, mode: str
) -> None:
    """The spool opens after each; what is written passes the shapes that it is read with."""
    members = {
        "SessionStart": ("source", "model"),
        "UserPromptSubmit": ("prompt", "prompt_id", "permission_mode"),
        "PreToolUse": (
            "tool_name",
            "tool_input",
            "tool_use_id",
            "agent_id",
            "agent_type",
            "effort",
        ),
        "PostToolUse": ("tool_response", "tool_use_id", "duration_ms"),
        "PostToolUseFailure": ("error", "is_interrupt", "tool_name"),
        "MessageDisplay": ("delta", "message_id", "index", "final", "turn_id"),
        "SubagentStop": ("agent_id", "agent_type"),
        "SessionEnd": ("reason", "timestamp"),
    }
    checkout.configure(capture_mode=mode, limits={"records": 65_536, "bytes": 1 << 30})
    at = 0
    for event, names in members.items():
        for name in names:
            for value in ODD[at % 5 :: 5]:  # each value meets each kind of member over the modes
                at += 1
                given = BASH | {"tool_use_id": f"t{at}", "message_id": f"m{at}", "index": 0}
                given |= {name: value, "a member of the future": value}
                data = {"session_id": f"s-{at % 2}", "cwd": str(checkout.root)}
                said = checkout.send(
                    json.dumps({**data, "hook_event_name": event, **given}).encode()
                )
                assert said == NOTHING, (event, name, value)
    from agentfeedback_change_capture.spool import inspection

    found = inspection.inspect(str(checkout.spool), limit=10)
    assert (found["classification"], found["issues"]) == ("committed_v4", [])
    assert found["quarantine"] == []


def test_a_result_of_three_megabytes(checkout: Any) -> None:
    checkout.configure(capture_mode=LOCAL)
    text = "line of output\n" * 200_000
    assert checkout.send("PreToolUse", **BASH) == NOTHING
    assert checkout.send("PostToolUse", **BASH, tool_response={"stdout": text}) == NOTHING
    [body] = [body for body in bodies_of(checkout) if body["role"] == "tool_result"]
    assert body["bytes"] > 3_000_000
    assert (checkout.spool / "artifacts" / body["sha256"]).stat().st_size == body["bytes"]


# --- the script -------------------------------------------------------------------------------


def script(checkout: Any, data: bytes, *, stdin: Any = None, **more: Any) -> Any:
    """Run the real script on a payload."""
    import sys

    agentscm = Path(sys.executable).with_name("agentscm")
    words = ["change-capture", "hook-claude", "--root", str(checkout.root)]
    given: dict[str, Any] = {"input": data} if stdin is None else {"stdin": stdin}
    return subprocess.run(
        [str(agentscm), *words],
        capture_output=True,
        env=checkout.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        check=False,
        timeout=60,
        **given,
        **more,
    )


def payload(checkout: Any, event: str = "Stop") -> bytes:
    value = {"session_id": "s-1", "cwd": str(checkout.root), "hook_event_name": event}
    return json.dumps(value).encode()


def test_the_real_script_defers_without_a_hub_and_says_nothing(checkout: Any) -> None:
    checkout.configure()
    done = script(checkout, payload(checkout))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [found] = checkout.records("deferred")
    assert (found["event"], found["cause"]) == ("Stop", "unavailable")


def test_the_real_script_never_fails(checkout: Any) -> None:
    checkout.configure()
    checkout.spool.chmod(0o755)
    done = script(checkout, payload(checkout))
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"agentscm: capture warning: ")
    assert done.stderr.count(b"\n") == 1
    (checkout.config / "change-capture.json").write_bytes(b"\xff")
    done = script(checkout, payload(checkout))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, b"", 1)
    done = script(checkout, b"\0" * 100)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_real_script_with_closed_streams_writes_into_no_file(checkout: Any) -> None:
    """A warning with standard error closed must not go into the file that got its number."""
    checkout.configure()
    before = checkout.bytes()
    checkout.spool.chmod(0o755)

    def closed() -> None:
        for descriptor in (0, 1, 2):
            os.close(descriptor)

    done = script(checkout, b"", preexec_fn=closed)
    assert done.returncode == 0
    checkout.spool.chmod(0o700)
    assert checkout.bytes() == before


def test_closed_streams_are_opened_before_a_file_gets_their_number(checkout: Any) -> None:
    import sys

    code = (
        "import os\n"
        "for descriptor in (0, 1, 2):\n"
        "    os.close(descriptor)\n"
        "from agentfeedback_change_capture.adapter import hook\n"
        "hook._standard_streams()\n"
        "null = os.stat(os.devnull)\n"
        "same = [os.path.samestat(os.fstat(each), null) for each in (0, 1, 2)]\n"
        "os._exit(0 if all(same) and os.open(os.devnull, os.O_RDONLY) > 2 else 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=checkout.environ, check=False)
    assert done.returncode == 0


def test_a_warning_shows_no_secret_and_no_control_character(checkout: Any) -> None:
    odd = checkout.home / f"{TOKEN}\x1b[31m\n"
    (odd / "agentscm").mkdir(parents=True, mode=0o700)
    (odd / "agentscm/change-capture.json").write_text("{")
    checkout.environ["XDG_CONFIG_HOME"] = str(odd)
    done = script(checkout, payload(checkout))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, b"", 1)
    assert b"change-capture.json was left as it is" in done.stderr
    assert b"[REDACTED:github_token]" in done.stderr
    assert TOKEN.encode() not in done.stderr
    assert b"\x1b" not in done.stderr


def test_the_real_script_ends_though_standard_input_hangs(checkout: Any) -> None:
    checkout.configure()
    read, write = os.pipe()
    try:
        started = time.monotonic()
        done = script(checkout, b"", stdin=read)
        assert done.returncode == 0
        assert time.monotonic() - started < 17
    finally:
        os.close(read)
        os.close(write)


def test_the_real_script_on_a_full_disk(checkout: Any) -> None:
    import resource

    checkout.configure()
    before = checkout.bytes()

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = script(checkout, payload(checkout), preexec_fn=full)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"agentscm: capture warning: OSError 27\n"
    assert checkout.bytes() == before


def test_the_real_script_with_pipes_where_files_belong(checkout: Any) -> None:
    checkout.configure()
    for path in (checkout.spool / "limits.json", checkout.config / "connections.json"):
        path.unlink()
        os.mkfifo(path)
        done = script(checkout, payload(checkout))
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, b"", 1)
        assert b"not a regular file" in done.stderr


def test_the_real_script_with_a_lock_that_stays_held(checkout: Any) -> None:
    import fcntl

    checkout.configure()
    with (checkout.spool / "spool.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        done = script(checkout, payload(checkout))
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"holds the spool" in done.stderr
    assert time.monotonic() - started < 17


def test_a_hub_that_hangs_for_ever_ends_with_the_hook(checkout: Any) -> None:
    """Whatever is waited for, the process ends before Claude Code's own limit, with status 0."""
    import sys

    assert hook.LAST_SECOND < 17 < 20
    checkout.configure()
    code = (
        "import sys, time\n"
        "from agentfeedback_change_capture.adapter import hook\n"
        "from agentfeedback_change_capture.delivery import hub\n"
        "hub.NoHub.resolve = lambda *_: time.sleep(600)\n"
        "hook.LAST_SECOND = 0.3\n"
        "hook.main(['--root', sys.argv[1]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(checkout.root)],
        input=payload(checkout),
        env=checkout.environ,
        capture_output=True,
        timeout=17,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
