"""One body out of flags, JSON and facts: who wins, what keeps its bytes, what is scrubbed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.canonical import compact
from agentfeedback.foundation.errors import UsageError
from agentfeedback.scrub import SUBMIT, Scrubber
from agentfeedback_submissions.envelope import normalise
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.filing.build import FilingFacts, Unsendable, build
from agentfeedback_submit.filing.request import Request
from tests.support import json_trees

NOW, KEY = "2026-11-03T10:00:00.000000Z", "00000000-0000-4000-8000-000000000000"
TOKEN = "gh" + "p_" + "a1B2" * 9


def built(
    kind: str = "note", json: bytes | None = None, facts: dict[str, Any] | None = None, **more: Any
) -> Body:
    request = Request(kind, json=json, **more)
    return build(request, FilingFacts(NOW, KEY, **(facts or {})), lambda: Scrubber(SUBMIT))


def tree(body: Body) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body.data)
    return found


def test_a_report_of_nothing_has_an_empty_payload() -> None:
    """Kind, key and time are always there, and a payload."""
    assert tree(built()) == {"kind": "note", "key": KEY, "occurred_at": NOW, "payload": {}}


def test_flag_goes_over_json_goes_over_facts() -> None:
    """Each member comes from the first place that has it; the kind always from the command line."""
    facts = {"defaults": {"machine": "f", "model": "f", "project": "f", "harness": ""}}
    given = b'{"kind":"other","machine":"j","model":"j","project":null,"harness":" "}'
    found = tree(built("note", given, facts, members={"machine": "flag"}))
    assert [found[name] for name in ("kind", "machine", "model", "project")] == [
        "note",
        "flag",
        "j",
        "f",
    ]


def test_context_from_goes_over_json() -> None:
    """What the session settles replaces what was read; a model it does not know is taken out."""
    facts = {
        "over": {"key": "k", "occurred_at": "t"},
        "without": ("model",),
        "defaults": {"model": "f"},
    }
    found = tree(built("note", b'{"key":"j","occurred_at":"j","model":"j"}', facts))
    assert (found["key"], found["occurred_at"], "model" in found) == ("k", "t", False)


def test_context_is_merged_in_its_order() -> None:
    """Collected, read, from the session, by flag: each goes over the one before; flags may send what is dropped."""
    facts = {
        "context": {"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"},
        "over_context": {"c": "3", "d": "3"},
        "drop": ("e", "f", "g"),
    }
    given = b'{"context":{"b":2,"c":"2","d":"2","f":"2"}}'
    found = tree(built("note", given, facts, context=[("d", "4"), ("g", "4")]))
    assert found["context"] == {"a": "1", "b": 2, "c": "3", "d": "4", "g": "4"}


@given(json_trees.OBJECTS)
def test_members_that_nobody_overrides_keep_their_bytes(more: dict[str, Any]) -> None:
    """Numbers, escapes and white space inside a member leave as they came."""
    odd = json.dumps({"x" + name: 1 for name in more}, indent=3).encode()
    raw = compact(more)
    body = built("note", b'{ "payload" :%s, "extra": %s, "n":1.50e+0 }' % (raw, odd))
    assert b'"payload":' + raw in body.data and b'"extra":' + odd in body.data
    assert b'"n":1.50e+0' in body.data


def test_bytes_that_are_no_unicode_leave_as_they_came() -> None:
    """The receiver, not the sender, mends them and warns."""
    body = built("note", b'{"summary":"a\xff","payload":{"x":"\\ud800"}}')
    assert b'"a\xff"' in body.data and b'"\\ud800"' in body.data
    assert {"/summary", "/payload/x"} <= {
        item.pointer for item in normalise(body.data).warnings if item.code == "invalid_utf8"
    }


def test_flags_of_a_friction_fill_its_payload() -> None:
    """They go over the payload that was read, and take the place of the flat member of their name."""
    given = b'{"summary":"s","payload":{"category":"a","n":1.0,"details":"d"},"category":"flat","severity":"low"}'
    body = built("friction", given, payload={"category": "docs"})
    assert b'"n":1.0' in body.data
    found = tree(body)
    assert found["payload"] == {"category": "docs", "n": 1.0, "details": "d"}
    assert "category" not in found and found["severity"] == "low"


def test_flat_members_are_the_payload_of_what_has_none() -> None:
    """Members that the receiver will move are payload enough."""
    assert "payload" not in tree(built("note", b'{"details":"d"}'))
    assert tree(built("note", b'{"details":"d","payload":{"a":1}}'))["payload"] == {"a": 1}


def test_the_version_of_a_shipped_kind_is_sent() -> None:
    """What was written for the guide says so; other kinds and given versions are left alone."""
    assert tree(built("friction", members={"summary": "s"}))["schema_version"] == 1
    assert (
        tree(built("friction", members={"summary": "s"}, schema_version=3))["schema_version"] == 3
    )
    assert tree(built("friction", b'{"summary":"s","schema_version":2}'))["schema_version"] == 2


def test_names_given_twice_are_told() -> None:
    """The last one is sent, and who was not sent is reported."""
    body = built("note", b'{"summary":"a","summary":"b","x":1,"x":2}', {"context": {"c": "1"}})
    assert tree(body)["summary"] == "b"
    assert [(item.code, item.pointer) for item in body.warnings] == [
        ("duplicate_key", "/summary"),
        ("duplicate_key", "/payload/x"),
    ]


@pytest.mark.parametrize(
    ("kind", "given", "more"),
    [
        ("note", b"", {}),
        ("note", b"[]", {}),
        ("note", b"{}{}", {}),
        ("friction", b"{}", {}),
        ("friction", b'{"summary":" "}', {}),
        ("friction", b'{"summary":null}', {}),
        ("friction", b'{"summary":"s","payload":[1]}', {"payload": {"category": "c"}}),
        ("note", b'{"context":[1]}', {"context": [("a", "b")]}),
    ],
)
def test_what_cannot_be_merged_is_a_usage_error(
    kind: str, given: bytes, more: dict[str, Any]
) -> None:
    """Nothing is sent for JSON that is not one object, or has no room for what is added."""
    with pytest.raises(UsageError):
        built(kind, given, **more)


def test_a_context_that_is_no_object_may_stay_when_nothing_is_added() -> None:
    """Only adding to it needs an object."""
    assert tree(built("note", b'{"context":[1]}'))["context"] == [1]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b'{"key":5}', "invalid_body"),
        (b'{"a":"' + b"x" * 10_485_760 + b'"}', "body_too_large"),
        (b'{"a":"' + b"x" * (10_485_760 - 20) + b'"}', "body_too_large"),
        (b'{"a":' + b"[" * 512 + b"]" * 512 + b"}", "rejected"),
    ],
)
def test_what_would_be_refused_is_not_sent(given: bytes, reason: str) -> None:
    """The reason is a word of the outcome line."""
    with pytest.raises(Unsendable) as refused:
        built("note", given)
    assert refused.value.reason == reason


def test_a_key_is_put_in_without_touching_the_rest() -> None:
    """A missing, null or blank key is a new one."""
    for blank in (b"{}", b'{"key":null}', b'{"key":" "}'):
        assert built("note", blank).key == KEY
    assert built("note", b'{"key":" k "}').key == "k"


def test_secrets_are_replaced_where_it_is_asked_for() -> None:
    """One warning for each top-level member that changed; the others keep their bytes."""
    given = (
        b'{"summary":"'
        + TOKEN.encode()
        + b'","payload":{"api_key":"x","n":1.50},"other":{"n": 2.50}}'
    )
    assert TOKEN.encode() in built("note", given).data
    for more in ({"scrub": True}, {"context": [("origin", " Session-Scan ")]}):
        body = built("note", given, **more)
        assert TOKEN.encode() not in body.data and b'"n": 2.50' in body.data
        assert tree(body)["payload"] == {"api_key": "[REDACTED:assignment]", "n": 1.5}
        assert b"1.50" in body.data
        assert [item.pointer for item in body.warnings] == ["/summary", "/payload"]


PIECES = (
    st.sampled_from([TOKEN, "password=hunter", "token: ", "[REDACTED:jwt]", "$TOKEN", "x"])
    | json_trees.TEXTS
)
SECRETS = st.recursive(
    PIECES | st.lists(PIECES, max_size=3).map("".join),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["password", "api_key", "a", "my.token"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["summary", "payload", "secret", "x", "context"]), SECRETS, max_size=4
    )
)
def test_scrubbing_what_was_scrubbed_changes_nothing(given: dict[str, Any]) -> None:
    """A scrubbed body filed again with scrubbing is the same body, byte for byte."""
    once = built("note", compact(given), scrub=True)
    again = built("note", once.data, scrub=True)
    assert again.data == once.data
    assert [item for item in again.warnings if item.code == "scrubbed"] == []
