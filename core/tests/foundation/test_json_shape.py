"""Shapes of JSON objects: what fits, and what is said of what does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation import json_shape as shape

SPOOL = shape.members(
    {
        "root": shape.text("/.*", 8),
        "limits": shape.members({"records": shape.integer(48, 65_536)}),
        "enabled": shape.boolean,
        "mode": shape.one_of("local", "shared"),
        "rules": shape.array(shape.text(), 2),
        "target": shape.nullable(shape.members({"work": shape.text()})),
        "next": shape.mapping(shape.integer(1), shape.text("[A-Za-z]+")),
        "version": shape.exactly(4),
        "effort": shape.either(shape.text(), shape.integer()),
    },
    {"history": shape.anything},
)
GOOD: dict[str, Any] = {
    "root": "/a",
    "limits": {"records": 48},
    "enabled": True,
    "mode": "local",
    "rules": ["x"],
    "target": None,
    "next": {"Stop": 2},
    "version": 4,
    "effort": 3,
}


def test_what_fits() -> None:
    assert SPOOL(GOOD, "") is None
    assert SPOOL(GOOD | {"history": [1], "target": {"work": "w"}, "effort": "x"}, "") is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"root": 5}, "root is not a string"),
        ({"root": "relative"}, "root is malformed"),
        ({"root": "/a\n"}, None),
        ({"root": "/" + "a" * 8}, "root is longer than 8 characters"),
        ({"limits": []}, "limits is not an object"),
        ({"limits": {}}, "limits.records is missing"),
        ({"limits": {"records": 47}}, "limits.records is out of range"),
        ({"limits": {"records": True}}, "limits.records is not a whole number"),
        ({"limits": {"records": 48.0}}, "limits.records is not a whole number"),
        ({"enabled": 1}, "enabled is neither true nor false"),
        ({"mode": "public"}, "mode is not one of local, shared"),
        ({"mode": []}, "mode is not one of local, shared"),
        ({"rules": {}}, "rules is not an array"),
        ({"rules": ["a", "b", "c"]}, "rules has more than 2 items"),
        ({"rules": ["a", None]}, "rules[1] is not a string"),
        ({"target": 1}, "target is not an object"),
        ({"next": {"a b": 1}}, "next has a malformed member name"),
        ({"next": {"Stop": 0}}, "next.Stop is out of range"),
        ({"next": []}, "next is not an object"),
        ({"version": "4"}, "version is not 4"),
        ({"version": True}, "version is not 4"),
        ({"effort": []}, "effort is not a whole number"),
        ({"other": 1}, "it has an unknown member"),
    ],
)
def test_what_is_said(change: dict[str, Any], said: str | None) -> None:
    assert SPOOL(GOOD | change, "") == said


@pytest.mark.parametrize("name", sorted(GOOD))
def test_every_member_is_required(name: str) -> None:
    rest = {key: value for key, value in GOOD.items() if key != name}
    assert SPOOL(rest, "bindings[0]") == f"bindings[0].{name} is missing"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(name=st.sampled_from(sorted(GOOD)), value=VALUES)
def test_no_value_is_quoted_and_none_raises(name: str, value: Any) -> None:
    said = SPOOL(GOOD | {name: {"secret-name": value, "s": "Tr0ub4dor"}}, "")
    assert said is not None
    assert "secret-name" not in said
    assert "Tr0ub4dor" not in said
    SPOOL(GOOD | {name: value}, "")
    SPOOL(value, "")
