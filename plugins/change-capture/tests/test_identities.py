"""Identities against values computed once from recorded payloads of Claude Code."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.json_text import parse
from agentfeedback_change_capture import identities

SCOPE = "osc_" + "0" * 32
SESSION, USE = "00000000-0000-4000-8000-000000000002", "toolu_mock00010702"
_HEAD = b"""{"session_id":"00000000-0000-4000-8000-000000000002","tool_name":"Bash",
"tool_input":{"command":"echo hello-from-bash","description":"Run a command"},
"tool_use_id":"toolu_mock00010702","""
PRE = parse(_HEAD + b'"hook_event_name":"PreToolUse"}').value
POST = parse(
    _HEAD
    + b""""hook_event_name":"PostToolUse","duration_ms":182,"cwd":"/srv","tool_response":
{"stdout":"hello-from-bash","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}"""
).value


def test_ids_of_a_recorded_call() -> None:
    """Each identity is the one that every other implementation computes from the same payload."""
    occurrence = "b76093c5a6c7fdaee0b4c207a80272eb8f6fc0ed8e10eb1819e89aca5cfc2783"
    action = "act_283f433d650f9093362de56d766d99956dbfff8bc5080590ce2b4816e96b33ad"
    event = "evt_d1d0efed43a4d1523c36d1619fdaddc6ada19945689b3d52e1cb61a2410da480"
    first = "evt_f0bf386c62d304a2636a147dafebaf9873bf7fff3a6dc1d4c95c9e5452b4fb09"
    asked = "e099d37479806cee89702ed7cb4c1b4a1a4a781ada3ef3b3c951a0f6cfe53bb6"
    assert identities.occurrence_id(SESSION, USE) == occurrence
    assert identities.action_id(SESSION, USE) == action
    assert identities.provided_event(SCOPE, SESSION, "PreToolUse", (USE, "start")) == event
    assert identities.numbered_event(SCOPE, SESSION, "SessionStart", 1) == first
    assert identities.native_ref(SCOPE, SESSION) == "nat_ee8b64270ca9b4cc7394f4a3fdc52255"
    assert identities.native_recipe_digest("Bash", PRE["tool_input"]) == asked
    assert canonical(parse(b'{"b":1,"a":"\xc3\xa9\\t\\u0001","n":1.0e3}').value) == (
        '{"a":"é\\t\\u0001","b":1,"n":1.0e3}'.encode()
    )


def test_fingerprints_of_a_recorded_call() -> None:
    """What a phase says is in its fingerprint; how long it took and where it ran is not."""
    pre, post = identities.fingerprint(PRE), identities.fingerprint(POST)
    assert (pre[:8], pre[-6:]) == ("76f6eda8", "5d0aca")
    assert (post[:8], post[-4:]) == ("63d4e859", "882f")
    assert identities.fingerprint({**POST, "duration_ms": 1, "cwd": "/", "prompt_id": "x"}) == post
    assert identities.fingerprint({**POST, "error": "no"}) != post


def test_a_recipe_is_all_of_its_semantics() -> None:
    """Every member of a recipe changes its digest; a member of somebody else's does not."""
    recipe = {
        "argv": ["/usr/bin/python3", "-m", "unittest", "-q"],
        "coverage": "complete",
        "id": "unit-test",
        "max_output_bytes": 1048576,
        "timeout_seconds": 300,
    }
    digest = "9b4f652bd93d04aad92a3d77e90426556ae9bd791728f418a127a50f7ea4d13c"
    assert identities.recipe_digest(recipe) == digest
    assert identities.recipe_digest({**recipe, "comment": "x"}) == digest
    for name in recipe:
        assert identities.recipe_digest({**recipe, name: "other"}) != digest


@settings(max_examples=30)
@given(st.dictionaries(st.text(), st.text() | st.integers(0, 9) | st.none(), max_size=5))
def test_the_order_of_members_does_not_count(members: dict[str, object]) -> None:
    """An envelope's id is that of its content, in whatever order it was put together."""
    members.pop("envelope_id", None)
    backwards = dict(reversed(members.items()))
    assert identities.envelope_id(members) == identities.envelope_id(backwards)
    assert identities.envelope_id({**members, "envelope_id": "x"}) == identities.envelope_id(
        members
    )
