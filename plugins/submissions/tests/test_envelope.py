"""Any object becomes a record; what was mended is reported by code and pointer, and only four bodies are refused."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentfeedback.foundation.canonical import canonical, compact
from agentfeedback.foundation.json_text import Number, parse
from agentfeedback_submissions.envelope import (
    BODY_LIMIT,
    LIMITS,
    MEMBERS,
    EnvelopeRefused,
    Normalised,
    content_hash,
    normalise,
)
from agentfeedback_submissions.texts import token, trimmed
from tests.support import json_trees

#: What makes a friction without any warning.
WHOLE = {
    "kind": "friction",
    "schema_version": 1,
    "summary": "s",
    "machine": "m",
    "model": "o",
    "payload": {"category": "docs", "details": "d"},
}


def made(body: bytes | dict[str, Any]) -> Normalised:
    return normalise(body if isinstance(body, bytes) else json.dumps(body).encode())


def codes(found: Normalised) -> list[tuple[str, str]]:
    return [(item.code, item.pointer) for item in found.warnings]


def test_a_whole_friction_has_no_warning() -> None:
    """A body that follows the guide is stored as it is."""
    found = made(WHOLE)
    assert codes(found) == []
    assert found.members == WHOLE


def test_an_empty_object_is_a_record() -> None:
    """Nothing given is inferred and told."""
    found = made({})
    assert found.members == {"kind": "unknown", "schema_version": 1, "payload": {}}
    assert codes(found) == [
        ("payload_inferred", "/payload"),
        ("missing_kind", "/kind"),
        ("missing_recommended", "/summary"),
        ("missing_recommended", "/machine"),
        ("missing_recommended", "/model"),
    ]


@pytest.mark.parametrize(
    ("change", "warnings", "members"),
    [
        ({"kind": " Friction "}, [], {"kind": "friction"}),
        ({"harness": "Claude \t Code"}, [], {"harness": "claude-code"}),
        (
            {"machine": None},
            ["coerced /machine", "missing_recommended /machine"],
            {"machine": None},
        ),
        ({"machine": "  "}, ["missing_recommended /machine"], {"machine": None}),
        ({"machine": {"b": 1, "a": 2}}, ["coerced /machine"], {"machine": '{"a":2,"b":1}'}),
        ({"summary": " a\r\nb\rc\n\nd "}, [], {"summary": "a b c  d"}),
        ({"summary": "é" * 1500}, ["truncated /summary"], {"summary": "é" * 1000}),
        ({"model": "x" * 199 + "é"}, ["truncated /model"], {"model": "x" * 199}),
        ({"key": "k" * 9000}, [], {"key": "k" * 9000}),
        ({"key": " "}, [], {"key": None}),
        (
            {"schema_version": "1"},
            ["schema_version_defaulted /schema_version"],
            {"schema_version": 1},
        ),
        ({"schema_version": 2}, ["unknown_schema_version /schema_version"], {"schema_version": 2}),
        (
            {"schema_version": 2**53},
            ["schema_version_defaulted /schema_version"],
            {"schema_version": 1},
        ),
        (
            {"occurred_at": "2026-01-02T03:04:05+01:00"},
            [],
            {"occurred_at": "2026-01-02T02:04:05.000000Z"},
        ),
        (
            {"occurred_at": "2016-12-31T23:59:60Z"},
            ["invalid_format /context/occurred_at_raw"],
            {"occurred_at": None, "context": {"occurred_at_raw": "2016-12-31T23:59:60Z"}},
        ),
        (
            {"occurred_at": 5},
            ["coerced /context/occurred_at_raw", "invalid_format /context/occurred_at_raw"],
            {"context": {"occurred_at_raw": "5"}},
        ),
        ({"schema_version": None}, ["coerced /schema_version"], {"schema_version": 1}),
        ({"kind": None}, ["missing_kind /kind"], {"kind": "unknown"}),
        ({"kind": 5}, ["missing_kind /kind"], {"kind": "unknown"}),
        ({"kind": [{"a": "\ud800"}]}, ["missing_kind /kind"], {"kind": "unknown"}),
        ({"kind": " \t"}, ["missing_kind /kind"], {"kind": "unknown"}),
        ({"kind": "x"}, ["no_schema /kind"], {"kind": "x"}),
        (
            {"model": ["\ud800", "\udc00"]},
            ["invalid_utf8 /model", "invalid_utf8 /model", "coerced /model"],
            {"model": '["\ufffd","\ufffd"]'},
        ),
        (
            {"context": {"a": 1, "b": None, "c": "", "": "x", "d": {"e": "\ud800"}}},
            [
                "invalid_utf8 /context/d",
                "coerced /context/a",
                "coerced /context/b",
                "coerced /context/d",
            ],
            {"context": {"": "x", "a": "1", "b": "null", "c": "", "d": '{"e":"\ufffd"}'}},
        ),
        (
            {"occurred_at": " 2026-01-02t03:04:05.1234567z "},
            [],
            {"occurred_at": "2026-01-02T03:04:05.123456Z"},
        ),
        (
            {"occurred_at": "2026-01-02T03:04:05-00:00"},
            [],
            {"occurred_at": "2026-01-02T03:04:05.000000Z"},
        ),
        (
            {"occurred_at": "2026-01-02T03:04:05,5Z", "context": {"occurred_at_raw": "\ud800"}},
            [
                "duplicate_key /context/occurred_at_raw",
                "invalid_format /context/occurred_at_raw",
            ],
            {"occurred_at": None, "context": {"occurred_at_raw": "2026-01-02T03:04:05,5Z"}},
        ),
        (
            {"occurred_at": "0001-01-01T00:00:00+01:00"},
            ["invalid_format /context/occurred_at_raw"],
            {"occurred_at": None},
        ),
        ({"context": {"a": "x" * 2001}}, ["truncated /context/a"], {"context": {"a": "x" * 2000}}),
        ({"context": [1]}, ["moved_to_payload /payload/context_raw"], {"context": None}),
        ({"payload": "p"}, ["payload_wrapped /payload"], {}),
        ({"payload": None}, ["coerced /payload", "payload_inferred /payload"], {}),
        ({"x/y": 1}, ["moved_to_payload /payload/x~1y"], {}),
        ({"x": None}, ["moved_to_payload /payload/x"], {}),
        ({"details": 1}, ["moved_to_payload /payload/moved/details"], {}),
        (
            {"payload": {"context_raw": 1}, "context": "c"},
            ["moved_to_payload /payload/moved/context_raw", "unknown_field /payload/context_raw"],
            {"context": None},
        ),
    ],
)
def test_each_rule(change: dict[str, Any], warnings: list[str], members: dict[str, Any]) -> None:
    """One change to a whole body gives its warnings and its members; None stands for an absent one."""
    found = made({**WHOLE, **change})
    shown = [f"{code} {pointer}" for code, pointer in codes(found)]
    assert [each for each in shown if "recommended /payload" not in each] == warnings
    assert {name: found.members.get(name) for name in members} == members


@pytest.mark.parametrize(
    ("payload", "warnings"),
    [
        ({"category": " "}, ["too_short /payload/category"]),
        ({"category": "x" * 201}, ["too_long /payload/category"]),
        ({"category": 1}, ["type_mismatch /payload/category"]),
        ({"severity": "huge"}, ["out_of_range /payload/severity"]),
        ({"fix_ref": "é" * 101}, ["too_long /payload/fix_ref"]),
        ({"other": 1}, ["unknown_field /payload/other"]),
        ({"evidence": {}}, ["type_mismatch /payload/evidence"]),
        (
            {"evidence": [1, {"tool": 1, "x": 1}]},
            [
                "type_mismatch /payload/evidence/0",
                "type_mismatch /payload/evidence/1/tool",
                "unknown_field /payload/evidence/1/x",
            ],
        ),
    ],
)
def test_the_guide_of_a_friction_warns_and_changes_nothing(
    payload: dict[str, Any], warnings: list[str]
) -> None:
    """A payload that differs from the guide is stored as given."""
    found = made({**WHOLE, "payload": {**WHOLE["payload"], **payload}})
    assert [f"{code} {pointer}" for code, pointer in codes(found)] == warnings
    wanted = {**WHOLE["payload"], **payload}
    if isinstance(wanted["category"], str):
        wanted["category"] = wanted["category"].strip()
    assert json.loads(compact(found.members["payload"])) == wanted


def test_a_category_is_a_token_before_it_is_content() -> None:
    """However it is written, it is stored in one form, silently, and the report is the same."""
    found = made({**WHOLE, "payload": {"category": " Docs  Bug", "details": "d"}})
    plain = made({**WHOLE, "payload": {"category": "docs-bug", "details": "d"}})
    assert codes(found) == []
    assert (found.members, found.content_hash) == (plain.members, plain.content_hash)


REVIEWER = {"slot": "a", "model": "m", "status": "ok"}


@pytest.mark.parametrize(
    ("payload", "warnings"),
    [
        ({}, []),
        (
            {"target": {"ref": "r", "pr": 5, "x": 1}},
            ["type_mismatch /payload/target/pr", "unknown_field /payload/target/x"],
        ),
        ({"grader": []}, ["type_mismatch /payload/grader"]),
        ({"more": 1}, ["unknown_field /payload/more"]),
        ({"skill": None}, ["type_mismatch /payload/skill"]),
        ({"reviewers": []}, ["out_of_range /payload/reviewers"]),
        ({"reviewers": {}}, ["type_mismatch /payload/reviewers"]),
        (
            {"reviewers": [{**REVIEWER, "slot": str(n)} for n in range(101)]},
            ["out_of_range /payload/reviewers"],
        ),
        (
            {"reviewers": [REVIEWER, {**REVIEWER, "slot": "b"}, REVIEWER]},
            ["duplicate_slot /payload/reviewers/2"],
        ),
        (
            {"reviewers": [{"slot": 1, "model": "m"}, {"slot": 1, "model": "m"}]},
            [
                "type_mismatch /payload/reviewers/0/slot",
                "missing_recommended /payload/reviewers/0/status",
                "type_mismatch /payload/reviewers/1/slot",
                "missing_recommended /payload/reviewers/1/status",
            ],
        ),
    ],
)
def test_the_guide_of_a_review(payload: dict[str, Any], warnings: list[str]) -> None:
    """Skill and reviewers are recommended; reviewers have slots of their own."""
    whole = {"skill": "s", "reviewers": [REVIEWER]}
    found = made({**WHOLE, "kind": "review", "payload": {**whole, **payload}})
    assert [f"{code} {pointer}" for code, pointer in codes(found)] == warnings


@pytest.mark.parametrize(
    ("name", "good", "wrong", "outside"),
    [
        ("duration_s", ["0", "1.5", "1e999"], ['"1"', "true"], ["-0.1", "-1e999"]),
        ("bytes", ["0", "2.0", "1e3", "1e999"], ["1.5", '"1"'], ["-1"]),
        ("score", ["1", "4.5", "5"], ["null", "[]"], ["0.9", "5.1", "1e999"]),
    ],
)
def test_numbers_of_a_reviewer(
    name: str, good: list[str], wrong: list[str], outside: list[str]
) -> None:
    """A whole number may be spelled with a fraction of zeros; a bound is part of the range."""
    for text, code in [
        *((each, None) for each in good),
        *((each, "type_mismatch") for each in wrong),
        *((each, "out_of_range") for each in outside),
    ]:
        reviewer = {**REVIEWER, name: parse(text.encode()).value}
        payload = {"skill": "s", "reviewers": [reviewer]}
        body = {**WHOLE, "kind": "review", "payload": payload}
        wanted = [] if code is None else [(code, f"/payload/reviewers/0/{name}")]
        assert codes(made(compact(body))) == wanted, text


def test_what_is_mended_is_told_where_it_is_stored() -> None:
    """Pointers follow members that are moved or wrapped."""
    body = (
        b'{"kind":"x","kind":"y","more":{"a":1,"a":2},"payload":["\xff"],"context":{"c":"\\ud800"}}'
    )
    found = codes(made(body))
    assert [item for item in found if item[0] in ("invalid_utf8", "duplicate_key")] == [
        ("invalid_utf8", "/payload/value/0"),
        ("invalid_utf8", "/context/c"),
        ("duplicate_key", "/kind"),
        ("duplicate_key", "/payload/more/a"),
    ]


def test_more_context_than_fits_moves_to_the_payload() -> None:
    """The first 32 names by code point stay, the others are kept in `context_overflow`."""
    context = {f"k{number:02d}": number for number in range(40)}
    found = made(
        {**WHOLE, "context": context, "payload": {**WHOLE["payload"], "context_overflow": 1}}
    )
    assert list(found.members["context"]) == [f"k{number:02d}" for number in range(32)]
    overflow = {f"k{number:02d}": Number(str(number)) for number in range(32, 40)}
    assert found.members["payload"]["context_overflow"] == Number("1")
    assert found.members["payload"]["moved"] == {"context_overflow": overflow}
    told = [item for item in codes(found) if item[0] != "coerced"]
    assert told == [
        ("truncated", "/payload/moved/context_overflow"),
        ("unknown_field", "/payload/context_overflow"),
    ]
    names = "".join(f'"k{number:02d}":"\\ud800",' for number in range(34))
    plain = made(b'{"kind":"x","context":{%s},"payload":{}}' % names[:-1].encode())
    assert set(plain.members["payload"]) == {"context_overflow"}
    assert codes(plain)[32:35] == [
        ("invalid_utf8", "/payload/context_overflow/k32"),
        ("invalid_utf8", "/payload/context_overflow/k33"),
        ("truncated", "/payload/context_overflow"),
    ]


def test_what_is_moved_over_another_value_says_so() -> None:
    """Below `moved` the later value stays, and what was said of the earlier one goes with it."""
    found = made(b'{"payload":{"a":1,"moved":{"a":"\\ud800","b":2}},"a":3}')
    assert json.loads(compact(found.members["payload"])) == {"a": 1, "moved": {"a": 3, "b": 2}}
    assert codes(found)[:2] == [
        ("duplicate_key", "/payload/moved/a"),
        ("moved_to_payload", "/payload/moved/a"),
    ]
    found = made(b'{"payload":{"a":1,"moved":["\\ud800"]},"a":3}')
    payload = json.loads(compact(found.members["payload"]))
    assert payload == {"a": 1, "moved": {"value": ["\ufffd"], "a": 3}}
    assert codes(found)[:3] == [
        ("invalid_utf8", "/payload/moved/value/0"),
        ("payload_wrapped", "/payload/moved"),
        ("moved_to_payload", "/payload/moved/a"),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"a\xff\xfe", "a\ufffd\ufffd"),
        (b"\xe2\x82(", "\ufffd("),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\\udce2\\udc82\\udcac", "\ufffd\ufffd\ufffd"),
        (b"\\ud83d\\ude00", "\U0001f600"),
    ],
)
def test_each_part_that_is_not_text_is_one_sign(text: bytes, shown: str) -> None:
    """As Python's decoder divides them; escapes never make text of each other; one warning a string."""
    found = made(
        b'{"kind":"x","summary":"s","machine":"m","model":"o","payload":{"t":"%s"}}' % text
    )
    assert found.members["payload"] == {"t": shown}
    told = [item for item in codes(found) if item[0] != "no_schema"]
    assert told == ([("invalid_utf8", "/payload/t")] if "\ufffd" in shown else [])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b" " * (BODY_LIMIT + 1), 413, "request_too_large"),
        (b"nope", 400, "bad_request"),
        (b"[]", 400, "bad_request"),
        (b'{"a":' + b"[" * 512 + b"]" * 512 + b"}", 400, "bad_request"),
    ],
)
def test_only_four_bodies_are_refused(body: bytes, status: int, code: str) -> None:
    """Too large, no JSON, no object, too deep."""
    with pytest.raises(EnvelopeRefused) as refused:
        normalise(body)
    assert (refused.value.status, refused.value.code) == (status, code)


MEMBER_NAMES = (
    st.sampled_from([*MEMBERS, "moved", "context_overflow", "details"]) | json_trees.TEXTS
)
BODIES = st.dictionaries(MEMBER_NAMES, json_trees.TREES | json_trees.OBJECTS, max_size=8)


@given(BODIES)
def test_every_object_becomes_a_record(body: dict[str, Any]) -> None:
    """No object is refused, and each record has the three members that are never absent."""
    found = normalise(compact(body))
    assert {"kind", "schema_version", "payload"} <= set(found.members) <= set(MEMBERS)
    assert isinstance(found.members["payload"], dict)
    assert all(isinstance(value, str) for value in found.members.get("context", {}).values())


@settings(max_examples=60)
@given(BODIES)
def test_a_record_filed_again_is_the_same_content(body: dict[str, Any]) -> None:
    """Normalising what was normalised keeps the identity and moves nothing more."""
    once = normalise(compact(body))
    # What is cut at its limit may end in white space, which is trimmed when it is filed again.
    assume(
        all(once.members.get(name, "") == trimmed(once.members.get(name, "")) for name in LIMITS)
    )
    again = normalise(compact(once.members))
    assert again.members == once.members and again.content_hash == once.content_hash
    assert not {"moved_to_payload", "coerced", "truncated"} & {item.code for item in again.warnings}


@settings(max_examples=40)
@given(BODIES, st.sampled_from(["key", "occurred_at"]), json_trees.TEXTS)
def test_key_and_time_are_no_content(body: dict[str, Any], name: str, value: str) -> None:
    """A replay may differ in key and time."""
    body = {**body, "context": {}}
    assert (
        normalise(compact({**body, name: value})).content_hash
        == normalise(compact({**body, name: ""})).content_hash
    )


def many(*forms: str) -> str:
    return ",".join(form.replace("?", str(number)) for number in range(15_000) for form in forms)


@pytest.mark.parametrize(
    "members",
    [
        many('"n?":1'),
        '"context":{' + many('"n?":"\\ud800"') + "}",
        '"payload":{' + many('"n?":1', '"n?":2') + "}",
        '"payload":{' + many('"n?\\ud800":1') + "}",
        '"payload":[' + many('"\\ud800"') + "]",
        many('"n?":1') + ',"payload":{' + many('"n?":1') + "}",
    ],
    ids=["moved", "context", "twice", "names", "texts", "taken"],
)
def test_any_number_of_oddities_is_told_in_time(members: str) -> None:
    """Each further member that is moved, mended or given twice costs no more than the one before: one may send millions."""
    started = time.process_time()
    assert len(normalise(f'{{"summary":"s",{members}}}'.encode()).warnings) > 14_000
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("\u0130STANBUL", "istanbul"),
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c3"),
        ("a\u3000\u2028 b", "a-b"),
        ("\x1ca\x1f", "\x1ca\x1f"),
        ("\ufeffa", "\ufeffa"),
        ("\x85a\xa0", "a"),
    ],
)
def test_tokens_use_simple_case_and_unicode_white_space(text: str, form: str) -> None:
    """Where Python's own lower case and strip differ, simple case and Unicode's white space hold."""
    assert token(text) == form


#: The members whose content tells reports apart.
CONTENT = ("kind", "schema_version", "machine", "model", "harness", "project", "summary", "payload")


@given(
    st.dictionaries(st.sampled_from([*CONTENT, "key", "occurred_at", "context"]), json_trees.TREES)
)
def test_identity_is_made_of_its_members_alone(record: dict[str, Any]) -> None:
    """Key, time and context do not enter the hash; absent members do not either."""
    own = {name: value for name, value in record.items() if name in CONTENT}
    assert content_hash(record) == hashlib.sha256(canonical(own)).hexdigest()


def test_the_spelling_of_a_number_is_content() -> None:
    """1 and 1.0 are different content."""
    assert content_hash({"payload": [Number("1")]}) != content_hash({"payload": [Number("1.0")]})
