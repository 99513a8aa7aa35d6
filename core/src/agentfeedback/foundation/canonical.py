"""JSON written: canonical for identity, compact in the order given for everything else. Pure.

Two parties that write the same value get the same bytes, which is what identities are made of.
"""

from __future__ import annotations

import re

from agentfeedback.foundation.json_text import Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def canonical(value: Any) -> bytes:
    """UTF-8 without white space, members sorted by code point at every level, numbers as spelled."""
    return _written(value, ordered=True).encode()


def compact(value: Any) -> bytes:
    """The same with members in the order of the tree."""
    return _written(value, ordered=False).encode()


def text(value: Any) -> str:
    """`compact` as text, in which bytes that are not Unicode may stand as surrogate escapes."""
    return _written(value, ordered=False)


def quoted(string: str) -> str:
    """A JSON string; an unpaired surrogate cannot be written and raises `UnicodeEncodeError` later."""
    return f'"{_SPECIAL.sub(_escape, string)}"'


def _written(value: Any, *, ordered: bool) -> str:
    pieces: list[str] = []
    _write(value, pieces, ordered)
    return "".join(pieces)


def _write(value: Any, pieces: list[str], ordered: bool) -> None:
    if isinstance(value, str):
        pieces.append(quoted(value))
    elif isinstance(value, Number):
        pieces.append(value.text)
    elif isinstance(value, dict):
        items: Iterable[tuple[str, Any]] = sorted(value.items()) if ordered else value.items()
        before = "{"
        for name, member in items:
            pieces += (before, quoted(name), ":")
            _write(member, pieces, ordered)
            before = ","
        pieces.append("}" if value else "{}")
    elif isinstance(value, list | tuple):
        before = "["
        for item in value:
            pieces.append(before)
            _write(item, pieces, ordered)
            before = ","
        pieces.append("]" if value else "[]")
    elif value is None or isinstance(value, bool):
        pieces.append(_WORDS[value])
    elif isinstance(value, int):
        pieces.append(str(value))
    else:
        raise TypeError(f"no JSON value: {type(value).__name__}")


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _NAMED.get(char) or f"\\u{ord(char):04x}"


_SPECIAL = re.compile(r'[\x00-\x1f"\\]')
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WORDS = {None: "null", True: "true", False: "false"}
