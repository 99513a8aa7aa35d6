"""Positions in JSON text, and edits that leave every other byte alone. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

_SPACE = re.compile(r"[ \t\n\r]*")


_INDENT = "  "


class NotEditable(ValueError):
    """The text is no hook file that can be edited; says why."""


@frozen
class _Part:
    """A member of an object or an item of an array: where it begins, where its value does, where that ends."""

    start: int
    value: int
    end: int
    key: str = ""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotEditable("it names a member twice")
    return members


def _no_constant(name: str) -> None:
    raise NotEditable(f"{name} is no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_constant=_no_constant,
    parse_int=str,  # a number of any length is a number
    parse_float=str,
)


def _check(text: str) -> None:
    try:
        root = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotEditable(
            f"it is not strict JSON (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise NotEditable("it is nested too deeply") from None
    if not isinstance(root, dict):
        raise NotEditable("it is no JSON object")
    hooks = root.get("hooks", {})
    if not isinstance(hooks, dict):
        raise NotEditable("its hooks are no object")
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            raise NotEditable(f"its hooks of {event} are no array")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it also matches nothing
    return found.end()


def _parts(text: str, opening: int) -> list[_Part]:
    """The parts of the object or array whose bracket stands at `opening`."""
    is_object = text[opening] == "{"
    closing = "}" if is_object else "]"
    found: list[_Part] = []
    at = _skip(text, opening + 1)
    while text[at] != closing:
        start, key = at, ""
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found.append(_Part(start, at, end, key))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _member(text: str, opening: int, key: str) -> _Part | None:
    if text[opening] != "{":
        return None
    return next((part for part in _parts(text, opening) if part.key == key), None)


def _root(text: str) -> int:
    return _skip(text, 0)


def _inserted(text: str, opening: int, depth: int, key: str, value: Any) -> str:
    """The text with a new last part in an object or array; it is laid out as its neighbours are."""
    name = f"{_scalar(key)}: " if key else ""
    parts = _parts(text, opening)
    if not parts:
        at = opening + 1
        return text[:at] + name + _rendered(value, "", "") + text[at:]
    last = parts[-1]
    begin = last.start
    while text[begin - 1] in " \t\n\r":
        begin -= 1
    space = text[begin : last.start]
    before, newline, indent = space.rpartition("\n")
    if newline:
        space = ("\r\n" if before.endswith("\r") else "\n") + indent
        rendered = _rendered(value, space, indent[: len(indent) // depth] or _INDENT)
    else:
        rendered = _rendered(value, "", "")
    return f"{text[: last.end]},{space}{name}{rendered}{text[last.end :]}"


def _cut(text: str, opening: int, part: _Part) -> str:
    parts = _parts(text, opening)
    index = parts.index(part)
    if index:
        return text[: parts[index - 1].end] + text[part.end :]
    if len(parts) > 1:
        return text[: part.start] + text[parts[1].start :]
    return text[: opening + 1] + text[part.end :]


def _rendered(value: Any, newline: str, unit: str) -> str:
    """JSON text; `newline` begins a line with the indentation around the value, empty for one line."""
    if not isinstance(value, (Mapping, list)):
        return _scalar(value)
    inner = newline + unit if newline else " "
    outer = newline or " "
    if isinstance(value, Mapping):
        items = [
            f"{_scalar(key)}: {_rendered(item, inner if newline else '', unit)}"
            for key, item in value.items()
        ]
        opening, closing = "{", "}"
    else:
        items = [_rendered(item, inner if newline else "", unit) for item in value]
        opening, closing = "[", "]"
    between = "," + inner
    return f"{opening}{inner}{between.join(items)}{outer}{closing}"


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
