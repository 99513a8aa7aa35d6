"""Format drift is reported by names and counts; nothing else of a log gets into the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.drift import DISTINCT, Fields, Known, Survey
from agentfeedback.scrub import SUBMIT, Scrubber
from agentfeedback.wire.encode import plain

BLOCK = Fields("id", by="type", kinds={"text": Fields("text"), "call": Fields("input")})
KNOWN = Known(
    verified=("1.9.0", "1.10.0"),
    version="meta.version",
    records=Fields(
        "at meta",
        by="type",
        kinds={
            "said": Fields("blocks who", inside={"blocks": BLOCK}),
            "system": Fields(by="subtype", kinds={"start": Fields("pid")}),
            "ended": Fields(
                "how",
                inside={"reply": Fields(open=True)},
                words={"how": "ok failed"},
            ),
            "": Fields("title"),
        },
    ),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


def line(**members: Any) -> bytes:
    return json.dumps(members).encode()


def surveyed(*sessions: list[bytes]) -> dict[str, Any]:
    whole = Survey(KNOWN)
    for lines in sessions:
        survey = Survey(KNOWN)
        survey.see(lines)
        whole.add(survey)
    report: dict[str, Any] = plain(whole.report("tiny", Scrubber(SUBMIT).text, {}))
    return report


def unknown(*lines: bytes) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    report = surveyed(list(lines))
    return (
        {item["type"]: item["count"] for item in report["unknown_types"]},
        {(item["type"], item["field"]): item["count"] for item in report["unknown_fields"]},
    )


def test_known_lines_hold_nothing_unknown() -> None:
    """Records of known types with known members, nested, typed twice or not at all, are not reported."""
    assert unknown(
        line(
            type="said", at=1, blocks=[{"type": "text", "text": "x"}, "no object"], who={"any": 1}
        ),
        line(type="system", subtype="start", pid=1),
        line(title="no type"),
    ) == ({}, {})


def test_unknown_types_are_counted_and_not_looked_into() -> None:
    """A type nobody knows is counted by its path of types, its members are not."""
    types, fields = unknown(
        line(type="new", secret=1),
        line(type="new"),
        line(type="system", subtype="stop", secret=1),
        line(type="system"),
        line(type="said", blocks=[{"type": "image", "secret": 1}]),
    )
    assert types == {"new": 2, "said/image": 1, "system/<none>": 1, "system/stop": 1}
    assert fields == {}


def test_unknown_members_are_counted_with_their_path() -> None:
    """A member nobody knows is counted by its path in a record of its type, in nested objects too."""
    types, fields = unknown(
        line(type="said", extra=1, blocks=[{"type": "call", "input": {"a": 1}, "cost": 1}] * 2),
        line(type="said", extra=None, meta={"version": "1.9.0", "unseen": 1}),
        line(other=1),
    )
    assert types == {}
    assert fields == {
        ("said", "extra"): 2,
        ("said/call", "blocks.cost"): 2,
        ("<none>", "other"): 1,
    }


def test_unknown_words_are_counted() -> None:
    """A word is shown where it looks like a name of a format; in an open object no other member is counted."""
    _, fields = unknown(
        line(type="ended", how="ok"),
        line(type="ended", how=7, reply={"text": 7, "secret": 1}),
        line(type="ended", how="refused", reply=[{"secret": 1}]),
        line(type="ended", how=""),
        line(type="ended", how="by /home/jane"),
    )
    assert fields == {
        ("ended", "how=refused"): 1,
        ("ended", "how=<none>"): 1,
        ("ended", "how=<other>"): 1,
    }


@pytest.mark.parametrize(
    "name",
    [
        "/home/jane/plan.txt",
        "src/app.py",
        "fix the login",
        "0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d",
        "call_1234567",
        "x" * 49,
        "naïve",
        "a\nb",
        "[31m",
        "AKIA" + "ABCDEFGHIJKLMNOP",
    ],
)
def test_name_that_could_be_content_is_not_shown(name: str) -> None:
    """What does not look like a name of a format is counted as `<other>`, as member and as type."""
    types, fields = unknown(line(**{"type": "said", name: 1}), line(type=name), line(type=[name]))
    assert fields == {("said", "<other>"): 1}
    assert types == {"<other>": 2}


def test_number_of_different_names_is_bounded() -> None:
    """Names beyond the bound are counted together, and no count is lost."""
    names = [
        "".join(chr(97 + int(digit)) for digit in f"{number:04}") for number in range(DISTINCT + 50)
    ]
    types, fields = unknown(*(line(**{"type": "said", name: 1}) for name in names))
    assert (len(fields), fields["<other>", "<other>"]) == (DISTINCT + 1, 50)
    types, fields = unknown(*(line(type=name) for name in names))
    assert (len(types), types["<other>"]) == (DISTINCT + 1, 50)


def test_versions_are_counted_by_session_in_their_order() -> None:
    """Each session counts once for each version in it; verified ones are marked; an odd text is none."""
    report = surveyed(
        [line(title=1, meta={"version": "1.10.0"})] * 3,
        [line(title=1, meta={"version": "1.10.0"}), line(title=1, meta={"version": "2.0.0-beta"})],
        [line(title=1, meta={"version": "1.9.0"}), line(title=1, meta={"version": "/home/jane"})],
        [line(title=1, meta={"version": 3}), line(title=1, meta=[])],
    )
    assert report["versions"] == [
        {"version": "<other>", "sessions": 1, "verified": False},
        {"version": "1.9.0", "sessions": 1, "verified": True},
        {"version": "1.10.0", "sessions": 2, "verified": True},
        {"version": "2.0.0-beta", "sessions": 1, "verified": False},
    ]
    assert (report["sessions"], report["records"], report["unparsed"]) == (4, 9, 0)


def test_lines_that_are_no_record_are_counted() -> None:
    """A line that is not a JSON object counts as unparsed, whatever it is."""
    report = surveyed([b"", b"[1]", b"{", b"\xff", b'"type"', b'{"title":"\xff \\ud800"}'])
    assert (report["records"], report["unparsed"], report["unknown_types"]) == (1, 5, [])


@given(st.lists(st.dictionaries(st.sampled_from(["type", "subtype", "blocks", "meta", "x"]), JSON)))
def test_any_record_is_counted_once(records: list[dict[str, Any]]) -> None:
    """No record raises or is lost, and every name that is shown is known or looks like one of a format."""
    report = surveyed([json.dumps(record).encode() for record in records])
    assert report["records"] == len(records)
    shown = [item["type"] for item in report["unknown_types"]]
    shown += [item["field"] for item in report["unknown_fields"]]
    assert all(set(name) <= set("<>/.$-_") or name.isascii() for name in shown)
    assert sum(item["count"] for item in report["unknown_types"]) <= sum(map(_objects, records))


def _objects(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_objects, value.values()))
    return sum(map(_objects, value)) if isinstance(value, list) else 0


def test_texts_that_no_rule_knows_are_counted_by_session() -> None:
    """A reader's judge of texts sees the records of one session, and what it names is counted among the types."""

    def judge() -> Callable[[bytes], str]:
        seen: list[bytes] = []

        def name(line: bytes) -> str:
            seen.append(line)
            return "said/second" if len(seen) == 2 else ""

        return name

    known = Known(KNOWN.verified, KNOWN.records, texts=judge)
    whole = Survey(known)
    for _ in range(2):
        survey = Survey(known)
        survey.see([line(title=1), b"no record", line(title=2), line(title=3)])
        whole.add(survey)
    assert dict(whole.types) == {"said/second": 2}


@given(st.binary(max_size=60))
def test_any_bytes_are_a_line(data: bytes) -> None:
    """Any bytes at all are counted as a record or as none."""
    report = surveyed([data])
    assert report["records"] + report["unparsed"] == 1
