"""JSON of others fits a shape, or the member that does not is named; nothing is coerced."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from attrs import asdict, field, frozen
from hypothesis import given

from agentfeedback.foundation.json_text import parse
from agentfeedback_submissions.shape import MisfitError, fitted
from tests.support.json_trees import TREES


@frozen
class Item:
    id: int
    name: str = ""
    more: dict = field(factory=dict)  # type: ignore[type-arg]


@frozen
class Page:
    total: int
    done: bool
    items: list[Item]


WHOLE = b'{"total":2,"done":false,"items":[{"id":1,"more":{"n":1.50}},{"id":999999999999999999,"name":"x"}]}'


def test_what_fits_becomes_an_object() -> None:
    """Whole numbers are integers; inside an object of any shape they stay as they are spelled."""
    page = fitted(parse(WHOLE).value, Page)
    assert (page.total, page.done, [item.id for item in page.items]) == (2, False, [1, 10**18 - 1])
    assert page.items[0].more["n"].text == "1.50"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"total":2,', b"", "total is missing"),
        (b'"total":2', b'"total":2.0', "total is not a whole number"),
        (b'"total":2', b'"total":-2', "total is not a whole number"),
        (b'"total":2', b'"total":true', "total is not a whole number"),
        (b'"total":2', b'"total":"2"', "total is not a whole number"),
        (b'"total":2', b'"total":' + b"9" * 5000, "total is not a whole number"),
        (b'"done":false', b'"done":0', "done is not true or false"),
        (b'"done":false', b'"done":null', "done is not true or false"),
        (b'"name":"x"', b'"name":null', "items[1].name is not a string"),
        (b'"name":"x"', b'"name":7', "items[1].name is not a string"),
        (b'"id":1,', b"", "items[0].id is missing"),
        (b'{"n":1.50}', b"[]", "items[0].more is not an object"),
        (b'[{"id":1', b'[null,{"id":1', "items[0] is not an object"),
        (b'"items":[', b'"items":{"a":[', "items is not an array"),
    ],
)
def test_the_member_that_does_not_fit_is_named(old: bytes, new: bytes, problem: str) -> None:
    """By its path and what it should be, never by its value."""
    assert old in WHOLE
    data = WHOLE.replace(old, new, 1)
    if b'{"a":[' in data:
        data = data[:-1] + b"}}"
    with pytest.raises(MisfitError) as raised:
        fitted(parse(data).value, Page)
    assert str(raised.value) == problem


def test_other_members_are_refused_where_the_shape_is_strict() -> None:
    """A later version may add members to an answer, but none to an export of this format."""
    value = parse(WHOLE.replace(b'"id":1', b'"id":1,"later":1')).value
    assert fitted(value, Page).total == 2
    with pytest.raises(MisfitError, match=r"^items\[0\] has members it should not have: later$"):
        fitted(value, Page, strict=True)


@given(TREES)
def test_any_value_fits_or_is_a_misfit(value: Any) -> None:
    """There is no third way, at the top or in a member."""
    for tree in (value, {"total": value}, {"items": [value]}, {"id": value, "more": value}):
        for shape in (Page, Item):
            try:
                found: Any = fitted(tree, shape)
            except MisfitError:
                continue
            assert asdict(found, recurse=False)


def test_cattrs_is_imported_with_the_first_value() -> None:
    """Whoever imports the module does not pay for what it may never need."""
    code = "import agentfeedback_submissions.shape, sys; sys.exit('cattrs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
