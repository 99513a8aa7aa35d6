"""Positions in JSON text, and edits that leave every other byte alone. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
#: One level of indentation where the text shows none.
INDENT = "  "


class NotEditable(ValueError):
    """The text is not one that can be edited; says why."""


class Part:
    """A member of an object or an item of an array: where it begins, where its value does, where that ends."""

    __slots__ = ("end", "key", "start", "value")

    def __init__(self, start: int, value: int, end: int, key: str = "") -> None:
        self.start = start
        self.value = value
        self.end = end
        self.key = key


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotEditable("it names a member twice")
    return members


def _no_constant(name: str) -> None:
    raise NotEditable(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_constant=_no_constant,
    parse_int=str,  # a number of any length is a number
    parse_float=str,
)


def decoded(text: str) -> dict[str, Any]:
    """Return the object a text is, numbers as they are spelled; raises `NotEditable` for anything but strict JSON."""
    try:
        found = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotEditable(
            f"it is not strict JSON (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise NotEditable("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise NotEditable("it is not a JSON object")
    return found


def value_at(text: str, at: int) -> Any:
    """Return the value that begins at a position, as `decoded` gives it."""
    return _DECODER.raw_decode(text, at)[0]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it also matches nothing
    return found.end()


def parts(text: str, opening: int) -> list[Part]:
    """Return the parts of the object or array whose bracket stands at `opening`."""
    is_object = text[opening] == "{"
    closing = "}" if is_object else "]"
    found: list[Part] = []
    at = _skip(text, opening + 1)
    while text[at] != closing:
        start, key = at, ""
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found.append(Part(start, at, end, key))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def member(text: str, opening: int, key: str) -> Part | None:
    """Return the member of that name of the value whose first character is at `opening`, if it is an object with one."""
    if text[opening] != "{":
        return None
    return next((part for part in parts(text, opening) if part.key == key), None)


def root(text: str) -> int:
    """Return where the value that the text is begins."""
    return _skip(text, 0)


def inserted(text: str, opening: int, depth: int, key: str, value: Any) -> str:
    """Return the text with a new last part in an object or array; it is laid out as its neighbours are."""
    name = f"{scalar(key)}: " if key else ""
    found = parts(text, opening)
    if not found:
        at = opening + 1
        return text[:at] + name + rendered(value, "", "") + text[at:]
    last = found[-1]
    begin = last.start
    while text[begin - 1] in " \t\n\r":
        begin -= 1
    space = text[begin : last.start]
    before, newline, indent = space.rpartition("\n")
    if newline:
        space = ("\r\n" if before.endswith("\r") else "\n") + indent
        shown = rendered(value, space, indent[: len(indent) // depth] or INDENT)
    else:
        shown = rendered(value, "", "")
    return f"{text[: last.end]},{space}{name}{shown}{text[last.end :]}"


def cut(text: str, opening: int, part: Part) -> str:
    """Return the text without one part of an object or array, and without the comma that it no longer needs."""
    found = parts(text, opening)
    index = [each.start for each in found].index(part.start)
    if index:
        return text[: found[index - 1].end] + text[part.end :]
    if len(found) > 1:
        return text[: part.start] + text[found[1].start :]
    return text[: opening + 1] + text[part.end :]


def rendered(value: Any, newline: str, unit: str) -> str:
    """Return JSON text; `newline` begins a line with the indentation around the value, empty for one line."""
    if not isinstance(value, (Mapping, list)):
        return scalar(value)
    inner = newline + unit if newline else " "
    outer = newline or " "
    if isinstance(value, Mapping):
        items = [
            f"{scalar(key)}: {rendered(item, inner if newline else '', unit)}"
            for key, item in value.items()
        ]
        opening, closing = "{", "}"
    else:
        items = [rendered(item, inner if newline else "", unit) for item in value]
        opening, closing = "[", "]"
    between = "," + inner
    return f"{opening}{inner}{between.join(items)}{outer}{closing}"


def scalar(value: Any) -> str:
    """Return a string, number, boolean or null as JSON text."""
    return json.dumps(value, ensure_ascii=False)
