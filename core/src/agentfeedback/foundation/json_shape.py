"""What JSON objects must look like, as tables of member and check; the standard library alone, for hooks. Pure.

A check takes a decoded value and where it is, and returns None when the value fits or else one
sentence that names the place: `bindings[0].root is not a string`. It never quotes the value, which
may be a secret.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Check = Callable[[Any, str], str | None]

_LARGEST = 2**63 - 1


def members(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Return the check of an object with exactly these members; those of `optional` may be absent."""
    known = {**required, **(optional or {})}

    def check(value: Any, where: str) -> str | None:
        if not isinstance(value, dict):
            return f"{where or 'it'} is not an object"
        for name in required:
            if name not in value:
                return f"{_inside(where, name)} is missing"
        for name, item in value.items():
            if name not in known:
                return f"{where or 'it'} has an unknown member"
            if (wrong := known[name](item, _inside(where, name))) is not None:
                return wrong
        return None

    return check


def array(item: Check, most: int | None = None) -> Check:
    """Return the check of an array whose items all fit, at most `most` of them."""

    def check(value: Any, where: str) -> str | None:
        if not isinstance(value, list):
            return f"{where or 'it'} is not an array"
        if most is not None and len(value) > most:
            return f"{where or 'it'} has more than {most} items"
        for at, each in enumerate(value):
            if (wrong := item(each, f"{where}[{at}]")) is not None:
                return wrong
        return None

    return check


def mapping(item: Check, name: Check | None = None) -> Check:
    """Return the check of an object of any members whose values, and names, all fit."""

    def check(value: Any, where: str) -> str | None:
        if not isinstance(value, dict):
            return f"{where or 'it'} is not an object"
        for key, each in value.items():
            if name is not None and name(key, "") is not None:
                return f"{where or 'it'} has a malformed member name"
            if (wrong := item(each, _inside(where, key if name else "*"))) is not None:
                return wrong
        return None

    return check


def text(pattern: str = "", longest: int | None = None) -> Check:
    """Return the check of a string: all of it matches `pattern` (ASCII classes), and it has at most `longest` characters."""
    matches = re.compile(pattern, re.ASCII | re.DOTALL).fullmatch if pattern else None

    def check(value: Any, where: str) -> str | None:
        if not isinstance(value, str):
            return f"{where or 'it'} is not a string"
        if longest is not None and len(value) > longest:
            return f"{where or 'it'} is longer than {longest} characters"
        if matches is not None and matches(value) is None:
            return f"{where or 'it'} is malformed"
        return None

    return check


def integer(least: int = 0, most: int = _LARGEST) -> Check:
    """Return the check of a whole number between two bounds; true and false are not numbers."""

    def check(value: Any, where: str) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return f"{where or 'it'} is not a whole number"
        return None if least <= value <= most else f"{where or 'it'} is out of range"

    return check


def boolean(value: Any, where: str) -> str | None:
    """Check that a value is true or false."""
    return None if isinstance(value, bool) else f"{where or 'it'} is neither true nor false"


def one_of(*words: str) -> Check:
    """Return the check of a string that is one of these words."""

    def check(value: Any, where: str) -> str | None:
        if isinstance(value, str) and value in words:
            return None
        return f"{where or 'it'} is not one of {', '.join(words)}"

    return check


def exactly(wanted: str | int) -> Check:
    """Return the check of one value and no other."""

    def check(value: Any, where: str) -> str | None:
        same = type(value) is type(wanted) and value == wanted
        return None if same else f"{where or 'it'} is not {wanted}"

    return check


def nullable(item: Check) -> Check:
    """Return the check of a value that fits or is null."""

    def check(value: Any, where: str) -> str | None:
        return None if value is None else item(value, where)

    return check


def either(*checks: Check) -> Check:
    """Return the check of a value that fits one of these; the last one says what is wrong."""

    def check(value: Any, where: str) -> str | None:
        wrong: str | None = None
        for each in checks:
            if (wrong := each(value, where)) is None:
                return None
        return wrong

    return check


def anything(value: Any, where: str) -> str | None:
    """Check nothing: any JSON value fits."""
    return None


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
