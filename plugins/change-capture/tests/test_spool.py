"""A spool from the outside: what is retained, what is a retry, what a later hook finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentfeedback_change_capture.facts import LOCAL, METADATA_ONLY, SHARED, Body, Fact, Target
from agentfeedback_change_capture.spool.spool import look_up
from tests.support import capture
from tests.support.capture import (
    OBSERVED,
    call,
    contents,
    envelopes,
    events,
    made_spool,
    opened,
    session_start,
    stream,
    tool_finish,
    tool_start,
)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return made_spool(tmp_path / "private" / "spool")


def shapes(found: list[dict[str, Any]]) -> list[str]:
    """What events are, gaps by kind and cause."""
    gaps = [each.get("gap", {}) for each in found]
    words = [f"{gap.get('kind', '')} {gap.get('cause', '')}".strip() for gap in gaps]
    return [word or each["kind"] for word, each in zip(words, found, strict=True)]


def test_a_session_from_its_start_to_its_end(spool: Path) -> None:
    """Every fact and gap has the next number, each envelope its place, and the action its receipts."""
    with opened(spool) as held:
        assert held.append(stream(), session_start()).kind == "new"
        assert held.start(stream(), tool_start(), call(), capture.action()).kind == "new"
        assert held.finish(stream(), tool_finish(), call(), capture.ending).kind == "new"
        assert held.append(stream(), capture.session_end()).kind == "new"
        assert held.usage.open_actions == 0
    found = events(spool)
    assert [each["sequence"] for each in found] == list(range(1, len(found) + 1))
    assert shapes(found) == [
        *("session_start", "identity_uncertain"),
        *("tool_start", "capture_interrupted source_unavailable"),
        "tool_finish",
        *("session_end", "identity_uncertain"),
    ]
    kinds = [each["schema"].split(".")[2] for each in envelopes(spool)]
    assert kinds == [
        *("events/1", "events/1", "action_start/1"),
        *("events/1", "action_finish/1", "events/1"),
    ]
    start, finish = envelopes(spool)[2]["action"], envelopes(spool)[4]["action"]
    assert start["source"] == {"cause": "source_unavailable", "type": "unavailable"}
    assert (finish["execution"], finish["exit_code"]) == ("succeeded", 0)
    assert (finish["freshness"], finish["drift"]) == ("unknown", "unknown")


def test_a_hook_that_runs_again_writes_nothing(spool: Path) -> None:
    """Exact retries of identified facts are duplicates, whatever target is current by then."""
    other = stream(target=Target("wrk_other", 3, "ses_other"))
    with opened(spool) as held:
        held.append(stream(), session_start())
        held.start(stream(), tool_start(), call(), capture.action())
        held.finish(stream(), tool_finish(), call(), capture.ending)
        held.append(stream(), capture.message())
    before = contents(spool)
    with opened(spool) as held:
        assert held.start(other, tool_start(), call(), None).kind == "duplicate"
        assert held.finish(other, tool_finish(), call(), None).kind == "duplicate"
        assert held.append(stream(), capture.message()).kind == "duplicate"
    assert contents(spool) == before


def test_other_facts_under_one_identity_are_a_local_diagnostic_once(spool: Path) -> None:
    """A conflict changes no stream and takes no number; it is kept once for each phase."""
    with opened(spool) as held:
        held.start(stream(), tool_start(), call(), capture.action())
        held.finish(stream(), tool_finish(), call(), capture.ending)
        before = contents(spool)
        for _ in range(2):
            again = held.start(stream(), tool_start(), call(fingerprint="b"), capture.action())
            assert again.kind == "conflict"
            failed = held.finish(stream(), tool_finish(), call(fingerprint="b"), None)
            assert failed.kind == "conflict"
    after = contents(spool)
    assert {name for name in after if name not in before} == {
        name for name in after if name.startswith("deferred/")
    }
    assert len(after) == len(before) + 2 and before.items() <= after.items()


def test_bodies_by_mode(spool: Path) -> None:
    """Metadata-only keeps none; a session that began without sharing keeps its bodies local for ever."""
    with opened(spool) as held:
        held.append(stream(mode=METADATA_ONLY), capture.prompt("secret one"))
        held.append(stream(mode=SHARED), capture.prompt("secret two"))
        held.append(stream("native-2", mode=SHARED), capture.prompt("secret three"))
        held.append(stream("native-2", mode=SHARED), capture.prompt("x" * 1_048_577))
        held.append(stream("native-2", mode=LOCAL), capture.prompt("secret four"))
        assert (held.sharing(OBSERVED), held.sharing("native-2")) == (False, True)
        assert held.sharing("never seen") is None
    prompts = [each for each in events(spool) if each["kind"] == "prompt"]
    assert [each["bodies"][0]["retention"] if "bodies" in each else None for each in prompts] == [
        *(None, "work-local"),
        *("shared-approved", "work-local", "work-local"),
    ]
    kept = b"".join(contents(spool).values())
    assert b"secret one" not in kept and b"secret two" in kept and b"secret three" in kept
    outside = b"".join(data for name, data in contents(spool).items() if "artifacts" not in name)
    assert b"secret" not in outside


def test_a_body_that_cannot_be_kept_leaves_its_event(tmp_path: Path) -> None:
    """Above the bound of an artifact, or unreadable: the event says that it is missing."""
    from agentfeedback_change_capture.spool.limits import SpoolLimits

    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(artifact_bytes=100))
    lost = Fact(
        "UserPromptSubmit",
        "prompt",
        capture.NOW,
        bodies=[Body("prompt", None, "text/plain", size=9, redactions=2)],
    )
    with opened(spool) as held:
        held.append(stream(mode=LOCAL), session_start())
        held.append(stream(mode=LOCAL), capture.prompt("x" * 101))
        held.append(stream(mode=LOCAL), lost)
    found = events(spool)
    assert shapes(found)[2:] == [
        *("prompt", "identity_uncertain", "capture_interrupted body_not_retained"),
        *("prompt", "capture_interrupted body_not_retained", "redacted"),
    ]
    missing = {"availability": "missing", "media_type": "text/plain", "retention": "work-local"}
    assert found[2]["bodies"] == [{**missing, "bytes": 101, "role": "prompt"}]
    assert found[5]["bodies"] == [{**missing, "bytes": 9, "redactions": 2, "role": "prompt"}]
    assert found[7]["gap"] == {"count": 2, "kind": "redacted"}


def test_a_session_that_was_not_seen_from_its_start_is_late_once(spool: Path) -> None:
    """The first fact that is not an original start says so; a later start does not take it back."""
    resumed = Fact("SessionStart", "session_start", capture.NOW, start="other")
    with opened(spool) as held:
        held.append(stream(), resumed)
        held.append(stream(), capture.turn_end())
        held.append(stream("native-2"), session_start())
        held.append(stream("native-2"), resumed)
    assert shapes(events(spool)) == [
        *("session_start", "adapter_started_late", "turn_end"),
        *("session_start", "identity_uncertain", "session_start"),
    ]


def test_setup_is_kept_when_it_changes(spool: Path) -> None:
    """What a payload exposes is an artifact and a member; the same again is neither."""
    with opened(spool) as held:
        held.append(stream(), session_start(setup=True))
        held.append(stream(), session_start(setup=True))
    first, second = (each for each in events(spool) if each["kind"] == "session_start")
    assert first["setup"]["model"] == "m1" and "effort" in first["setup"]["unobserved"]
    assert "setup" not in second
    assert contents(spool)[f"artifacts/{first['setup']['artifact']['sha256']}"] == b'{"model":"m1"}'


def test_events_of_an_alias_are_in_the_canonical_stream(spool: Path) -> None:
    """Two observed sessions behind one canonical id share its numbers, and never name themselves."""
    with opened(spool) as held:
        held.append(stream("native-a"), capture.turn_end())
        held.append(stream("native-b"), capture.turn_end())
    assert [each["sequence"] for each in events(spool)] == [1, 2, 3, 4]
    refs = {each["native_ref"] for each in envelopes(spool)}
    assert len(refs) == 2 and all(each["session_id"] == "ses_demo" for each in envelopes(spool))
    assert b"native-" not in b"".join(
        data for name, data in contents(spool).items() if name.startswith("outbox/")
    )


def test_starts_that_a_turn_ended_without_are_closed(spool: Path) -> None:
    """Those of the turn, or of the subagent, are finished as incomplete; a late end keeps that finish."""
    with opened(spool) as held:
        held.start(stream(), tool_start("t-1"), call("t-1"), capture.action())
        held.start(stream(), tool_start("t-2", agent="ag-1"), call("t-2"), capture.action())
        held.start(stream(), tool_start("t-3"), call("t-3"), None)
        held.start(stream("native-2"), tool_start("t-4"), call("t-4"), capture.action())
        assert held.close_starts(OBSERVED, capture.NOW, agent_id=None) == 2
        assert held.close_starts(OBSERVED, capture.NOW, agent_id=None) == 0
        assert held.close_starts(OBSERVED, capture.NOW, agent_id="ag-1") == 1
        assert held.usage.open_actions == 1
        late = held.finish(stream(), tool_finish("t-1"), call("t-1"), capture.ending)
        assert late.kind == "new"
        again = held.finish(stream(), tool_finish("t-1"), call("t-1"), capture.ending)
        assert again.kind == "duplicate"
        assert held.close_starts(OBSERVED, capture.NOW) == 0
    finishes = [each["action"] for each in envelopes(spool) if "action_finish" in each["schema"]]
    assert {each["cause"] for each in finishes} == {"completion_not_observed"}
    assert len(finishes) == 2 and {each["execution"] for each in finishes} == {"incomplete"}


def test_an_end_without_a_claim_is_an_event_and_nothing_more(spool: Path) -> None:
    """A start that comes after it starts no action: what ran is over."""
    with opened(spool) as held:
        assert held.finish(stream(), tool_finish(), call(), None).kind == "new"
        assert held.start(stream(), tool_start(), call(), capture.action()).kind == "new"
    assert [each["schema"] for each in envelopes(spool)] == ["agentscm.capture.events/1"] * 2


def test_a_managed_call_that_started_nothing_has_one_receipt(spool: Path) -> None:
    """Its hook claims it without an action; its end, by then, says that nothing was started."""
    recipe = {"digest": "8" * 64, "id": "unit-test"}
    with opened(spool) as held:
        held.start(stream(), tool_start(), call(), None, recipe=recipe)
        assert held.close_starts(OBSERVED, capture.NOW) == 0
        held.finish(stream(), tool_finish(), call(), capture.ending)
    (finish,) = (each["action"] for each in envelopes(spool) if "action" in each)
    assert (finish["start_sha256"], finish["cause"]) == (None, "managed_not_started")


def test_a_call_is_looked_up_without_the_lock(spool: Path) -> None:
    """A hook learns the target and rule of a claim while another holds the spool; a missing spool knows nothing."""
    with opened(spool) as held:
        held.start(stream(), tool_start(), call(), capture.action())
        known = look_up(str(spool), OBSERVED, "t-1")
        other = look_up(str(spool), OBSERVED, "t-2")
    assert known is not None and (known.pre, known.post) == ("a" * 64, None)
    assert (known.rule, known.target) == (capture.RULE, capture.TARGET) and not known.closed
    assert other is None and look_up(str(spool.parent), OBSERVED, "t-1") is None
