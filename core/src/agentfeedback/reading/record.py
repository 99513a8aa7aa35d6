"""Decoding one line: a typed decode that skips what nobody reads, and a lenient one for the rare line it refuses.

A reader declares what it knows of its format as `Record` classes. The fast decoder checks the
syntax of the whole line and builds only the declared members. A line it refuses is tried again:
unpaired surrogates and invalid UTF-8 become U+FFFD, a known member of the wrong JSON type
counts as absent, numbers of any size pass. Only a line that is not a JSON object after
all that is not a record.
"""

from __future__ import annotations

import json
import re
import types
import typing
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
import orjson

R = TypeVar("R", bound="Record")

#: An undecoded member: any JSON, kept as it is written. Empty when the member is absent.
Raw = msgspec.Raw

#: The longest line that is repaired, in bytes: as text it may take five times as much, beside what it was made from.
LONGEST_REPAIRED = 64 << 20
#: How much of a text `lines_above` and `last_line` look at, in bytes.
_LOOKED_AT = 4096


class Record(msgspec.Struct, gc=False, kw_only=True):
    """A JSON object of a log: declare the members the reader knows, each optional with a default.

    Types: `str | None`, `int | None`, `bool | None`, another `Record | None`, `list[...] | None`,
    a union of those, or `Raw` for a member that is passed on undecoded. Other members are skipped.
    """


class Decoder(typing.Generic[R]):
    """Decodes lines into records of one class; `decode` never raises."""

    def __init__(self, record: type[R]) -> None:
        self.record = record
        self._fast = msgspec.json.Decoder(record).decode

    def __call__(self, line: bytes) -> R | None:
        """The record of a line, or None when the line is not a JSON object."""
        try:
            return self._fast(line)
        except (msgspec.DecodeError, RecursionError):
            return self.lenient(line)

    def lenient(self, line: bytes | memoryview) -> R | None:
        """The record of a line that the fast decoder refused, unless it is too long to be repaired."""
        if len(line) > LONGEST_REPAIRED:
            return None
        line = bytes(line)
        if b"{" not in line:  # a log may hold millions of blank lines
            return None
        fixed = _repaired(line).encode()
        try:
            return self._fast(fixed)
        except (msgspec.DecodeError, RecursionError):
            pass
        value = loads(fixed)
        return conform(value, self.record) if isinstance(value, dict) else None


@lru_cache(maxsize=64)
def decoder(record: type[R]) -> Decoder[R]:
    """The decoder of a record class, made once."""
    return Decoder(record)


def value(raw: Raw, kind: Any) -> Any:
    """A member kept undecoded, as a value of type `kind`; None when it is absent or has another type."""
    text = bytes(raw)
    if not text:
        return None
    try:
        return _value_decoder(kind)(text)
    except (msgspec.DecodeError, RecursionError):
        fitted = _fit(loads(text), kind)
        return None if fitted is INVALID else fitted


def lines_above(raw: Raw, line: str) -> str | None:
    """What stands above the first line that is exactly `line`, in a member that is a text.

    The text is decoded no further, so that a large one costs as much as a small one. None where that
    does not tell: the member is not a text, or no such line is within its first kilobytes.
    """
    start = bytes(memoryview(raw)[:_LOOKED_AT])
    at = start.find(_written(line))
    if at < 0 or not start.startswith(b'"'):
        return None
    before = start[:at]
    if (at - len(before.rstrip(b"\\"))) % 2:  # a backslash, and no line end behind it
        return None
    try:
        text = orjson.loads(before + b'"')
    except orjson.JSONDecodeError:
        return None
    # Every character can also be written by its number, and the first line has none before it.
    return None if f"\n{line}\n" in f"\n{text}\n" else text


def last_line(raw: Raw) -> str | None:
    """What stands below the last line end of a member that is a text, decoded alone.

    None where the last kilobytes do not tell it: the member is not a text, or no line end is there.
    """
    end = bytes(memoryview(raw)[-_LOOKED_AT:])
    at = end.rfind(b"\\n")
    if at < 0 or not end.endswith(b'"'):
        return None
    slashes = at - len(end[:at].rstrip(b"\\"))
    if (
        slashes % 2 or slashes == at
    ):  # a backslash, and no line end behind it; or there are more before
        return None
    try:
        line: str = orjson.loads(b'"' + end[at + 2 :])
    except orjson.JSONDecodeError:
        return None
    return None if "\n" in line else line  # every character can also be written by its number


@lru_cache(maxsize=64)
def _written(line: str) -> bytes:
    return dumps(f"\n{line}\n")[1:-1]


@lru_cache(maxsize=64)
def _value_decoder(kind: Any) -> Any:
    return msgspec.json.Decoder(kind).decode


def loads(text: bytes) -> Any:
    """Any JSON value, `INVALID` when `text` is not JSON; numbers too large for the codec become floats."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(_repaired(text), parse_constant=_refuse, parse_int=_integer)
    except (ValueError, RecursionError):
        return INVALID


class _Invalid:
    """No JSON value at all (None is one)."""

    def __repr__(self) -> str:
        return "INVALID"


INVALID = _Invalid()


def dumps(value: Any) -> bytes:
    """Compact JSON of a decoded value, members in source order."""
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer of more than 64 bits, or nesting beyond the codec's bound
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "replace"
            )
        except RecursionError:
            return b"null"


def conform(value: Any, kind: type[R]) -> R:
    """A record of an object in which some member has the wrong type: that member counts as absent."""
    members: dict[str, Any] = {}
    for name, (wire_name, expected) in _members(kind).items():
        if wire_name in value:
            fitted = _fit(value[wire_name], expected)
            if fitted is not INVALID:
                members[name] = fitted
    return kind(**members)


@lru_cache(maxsize=256)
def _members(kind: type[Record]) -> dict[str, tuple[str, Any]]:
    hints = typing.get_type_hints(kind)
    return {
        field.name: (field.encode_name, hints[field.name]) for field in msgspec.structs.fields(kind)
    }


def _fit(value: Any, expected: Any) -> Any:
    """`value` as a member of type `expected`, or INVALID when it has another type."""
    origin = typing.get_origin(expected)
    if origin in (typing.Union, types.UnionType):
        for option in typing.get_args(expected):
            fitted = _fit(value, option)
            if fitted is not INVALID:
                return fitted
        return INVALID
    if value is INVALID:
        return INVALID
    if expected is Raw:
        return Raw(dumps(value))
    if expected is Any:
        return value
    if expected is None or expected is type(None):
        return None if value is None else INVALID
    if origin is list:
        if not isinstance(value, list):
            return INVALID
        (item,) = typing.get_args(expected)
        fitted_items = (_fit(each, item) for each in value)
        return [each for each in fitted_items if each is not INVALID]
    if isinstance(expected, type) and issubclass(expected, Record):
        return conform(value, expected) if isinstance(value, dict) else INVALID
    if expected is bool or expected is str:
        return value if isinstance(value, expected) else INVALID
    if expected is int:
        if isinstance(value, bool):
            return INVALID
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return int(value)
        return value if isinstance(value, int) and abs(value) < 2**63 else INVALID
    if expected is float:
        return (
            float(value)
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else INVALID
        )
    raise TypeError(f"a Record member cannot be of type {expected!r}")


# Every escape of a JSON text in turn, so that the second half of `\\ud800` (an escaped backslash
# and four letters) is never taken for one: a surrogate pair, a lone surrogate, or any other escape.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.ASCII | re.DOTALL,
)


def _repaired(text: bytes) -> str:
    """JSON text in which invalid UTF-8 and unpaired surrogates are U+FFFD."""
    repaired = text.decode("utf-8", "replace")
    return _ESCAPE.sub(_paired, repaired) if "\\u" in repaired else repaired


def _paired(match: re.Match[str]) -> str:
    return "\\ufffd" if match[1] else match[0]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    # Python refuses to convert more than a few thousand digits, by design; such a number is only carried.
    return int(digits) if len(digits) < 400 else float(digits[:400])
