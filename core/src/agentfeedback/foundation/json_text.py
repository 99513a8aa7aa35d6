"""JSON read without losing how it was written: the spelling of numbers, and names given twice. Pure.

A tree is made of `None`, `bool`, `str`, `int`, `Number`, `list` and `dict`. The text is RFC 8259 and
nothing else.
"""

from __future__ import annotations

import codecs
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

#: Containers inside containers that are read; a body nested deeper is refused.
MAX_DEPTH = 512
#: What a record may hold: a body's member may be moved a few levels down.
RECORD_DEPTH = MAX_DEPTH + 8
Path = tuple[str, ...]


class NotJson(ValueError):
    """The text is not one RFC 8259 value, or it is nested deeper than `MAX_DEPTH`; the text says which."""


class TooDeep(NotJson):
    """It is nested deeper than `MAX_DEPTH`."""


class Number:
    """A number as it is spelled."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Number) else NotImplemented

    def __hash__(self) -> int:
        return hash((Number, self.text))

    def __repr__(self) -> str:
        return f"Number(text={self.text!r})"


class Document:
    """A value, and where it had to be mended: members given twice, strings that were not Unicode."""

    __slots__ = ("duplicates", "mended", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.duplicates: list[Path] = []
        self.mended: list[Path] = []


def parse(data: bytes, *, depth: int = MAX_DEPTH) -> Document:
    """Read one JSON value, nested at most `depth` levels.

    Of members with one name the last counts. Inside strings each maximal ill-formed part of UTF-8
    and each unpaired surrogate escape becomes one U+FFFD. Raises `NotJson`.
    """
    text = _decoded(data, depth, _MEND)
    if _clean(text):
        try:
            return Document(_decode(_PLAIN, text))
        except _Twice:
            pass
    document = Document(None)
    document.value = _mend(_decode(_PAIRS, text), (), document)
    return document


def bounded(data: bytes, values: int, depth: int) -> bool:
    """Whether a JSON text holds at most so many values and levels, found without building any of them.

    Of what is not JSON the answer means nothing. Stops at the first excess.
    """
    count, level = 1, 0
    for match in _TOKENS.finditer(data):
        token = match[0][:1]
        if token == b",":
            count += 1
        elif token in (b"{", b"["):
            level += 1
            if level > depth:
                return False
            if match[1] is None:
                count += 1
            else:
                level -= 1
        elif token in (b"}", b"]"):
            level -= 1
        if count > values:
            break
    return count <= values


def members(data: bytes, *, depth: int = MAX_DEPTH) -> list[tuple[str, str]] | None:
    """The members of an object as written, `(name, text of the value)` in order; None for no object.

    Bytes that are not UTF-8 stay in the texts as surrogate escapes: `text_bytes` gives them back.
    Raises `NotJson`.
    """
    text = _decoded(data, depth)
    if not isinstance(_decode(_PAIRS, text), _Pairs):
        return None
    found = []
    at = _space(text, 0) + 1
    while text[(at := _space(text, at))] != "}":
        if text[at] == ",":
            at = _space(text, at + 1)
        name, at = _PAIRS.raw_decode(text, at)
        start = _space(text, _space(text, at) + 1)
        _, at = _PAIRS.raw_decode(text, start)
        found.append((_mended(name), text[start:at]))
    return found


def text_bytes(text: str) -> bytes:
    """The bytes that a text of `members` was made from."""
    return text.encode("utf-8", "surrogateescape")


def pointer(path: Path) -> str:
    """The RFC 6901 pointer of a path."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)


def _decoded(data: bytes, most: int, errors: str = "surrogateescape") -> str:
    text = data.decode("utf-8", errors)
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in ("{", "["):
            depth += 1
            if depth > most:
                raise TooDeep(f"the JSON is nested deeper than {most} levels")
        elif bracket in ("}", "]"):
            depth -= 1
    return text


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        problem = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise NotJson(f"not JSON: {problem} at character {error.pos}") from None
    except RecursionError:
        raise TooDeep("the JSON is nested too deeply to be read here") from None


class _Twice(Exception):
    """A name was given twice: the quick way does not tell where."""


class _Pairs(list["tuple[str, Any]"]):
    """The members of one object, in order, all of them."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _refuse(word: str) -> NoReturn:
    raise NotJson(f"not JSON: {word} is not a JSON value")


def _clean(text: str) -> bool:
    return _SURROGATE.search(text) is None and _SURROGATE_ESCAPE.search(text) is None


def _mended(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _mend(value: Any, path: Path, document: Document) -> Any:
    # One call a level, no comprehension: the deepest value that is read must not exhaust the stack.
    if isinstance(value, str):
        mended = _mended(value)
        if mended != value:
            document.mended.append(path)
        return mended
    if isinstance(value, _Pairs):
        found = _last_members(value, path, document)
        for name in found:
            found[name] = _mend(found[name], (*path, name), document)
        return found
    if isinstance(value, list):
        for index, item in enumerate(value):
            value[index] = _mend(item, (*path, str(index)), document)
    return value


def _last_members(pairs: _Pairs, path: Path, document: Document) -> dict[str, Any]:
    last: dict[str, Any] = {}
    mended: set[str] = set()
    twice: set[str] = set()
    for raw, value in pairs:
        name = _mended(raw)
        if name != raw and name not in mended:
            mended.add(name)
            document.mended.append((*path, name))
        if name in last:
            del last[name]
            if name not in twice:
                twice.add(name)
                document.duplicates.append((*path, name))
        last[name] = value
    return last


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # it also matches nothing
    return match.end()


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Stand an unpaired surrogate in for what is not UTF-8: no text that is has one."""
    assert isinstance(error, UnicodeDecodeError)
    return "\udfff", error.end


_MEND = "agentfeedback-mend"
codecs.register_error(_MEND, _mark)
_SPACE = re.compile(r"[ \t\n\r]*")
# The closing quote is optional, so that a text without one is still scanned once only.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{][ \t\n\r]*+([\]}])?|[\]},]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=Number, parse_float=Number, parse_constant=_refuse
)
_PAIRS = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=Number, parse_float=Number, parse_constant=_refuse
)
