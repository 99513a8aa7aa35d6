"""One pass of RE2 says whether any rule can match; only then do the exact rules run.

Most strings of a transcript hold no secret, so that pass is the cost that counts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from agentfeedback.foundation.json_text import Number
from agentfeedback.scrub import unseen
from agentfeedback.scrub.cuts import cut
from agentfeedback.scrub.formats import LEFT, MARKER, Finder, Format, Guard, Span, Table
from agentfeedback.scrub.needle import Found, Search, later, re2_search

_Tree = TypeVar("_Tree")

MAX_DEPTH = 200
"""Levels of containers that are walked; what is deeper is replaced whole."""

_ROUNDS = 8
_OPEN = b"[REDACTED:"
# Stands where something unseen was: no rule's names and values hold it, and no text keeps it.
_BREAK = b"\x01"
# The rest of a token that was whole before the break already.
_TAIL = re.compile(rb"(\[REDACTED:[a-z_]+\])(?:\x01++[A-Za-z0-9_+/=.~-]++)+")
# No kind is as long: how far before a position the marker around it can begin.
_LONGEST_MARKER = 80


class _Rule(NamedTuple):
    marker: bytes
    hint: Search
    find: Finder
    guard: Guard


class _Compiled(NamedTuple):
    any: Search
    known: Search
    unseen: Search
    rules: tuple[_Rule, ...]
    names: tuple[_Rule, ...]


def _hint(rule: Format) -> str:
    if rule.hint:
        return rule.hint
    return "(?i:" + "|".join(map(re.escape, rule.needles)) + ")" if rule.needles else ""


def _union(hints: list[str]) -> str:
    """Join hints; those of tokens share what stands before them, or the search has many states."""
    tokens = [hint.removeprefix(LEFT) for hint in hints if hint.startswith(LEFT)]
    joined = [hint for hint in hints if not hint.startswith(LEFT)]
    if tokens:
        joined.append(LEFT + "(?:" + "|".join(f"(?:{token})" for token in tokens) + ")")
    return "|".join(f"(?:{hint})" for hint in joined)


def _search(rule: Format) -> Search:
    """Return the search of a rule's hint; a literal is looked for first, which costs far less."""
    search = later(_hint(rule))
    if not rule.literals:
        return search
    literals = rule.literals

    def find(buf: bytes, pos: int = 0) -> Found | None:
        return search(buf, pos) if any(literal in buf for literal in literals) else None

    return find


def _finder(rule: Format) -> Finder:
    if rule.find:
        return rule.find
    pattern = rule.pattern.encode()
    groups = rule.value

    def find(buf: bytes) -> Iterator[Span]:
        for match in re.compile(pattern).finditer(buf):
            for group in groups:
                start, end = match.span(group)
                if start >= 0:
                    yield start, end, b""
                    break

    return find


@lru_cache(maxsize=16)
def _compile(table: Table, extra: tuple[Format, ...]) -> _Compiled:
    formats = table.formats + extra
    for rule in extra:  # one that is not a pattern fails here, where its plugin is named
        re.compile(rule.pattern.encode())
    rules = tuple(
        _Rule(f"[REDACTED:{rule.kind}]".encode(), _search(rule), _finder(rule), rule.guard)
        for rule in formats
    )
    hints = [_hint(rule) for rule in formats]
    # Only this one is needed for a text without a secret.
    union = re2_search(_union([*hints, unseen.HINT]))
    names = tuple(
        compiled
        for compiled, rule in zip(rules, formats, strict=True)
        if rule.kind in table.names or rule in extra
    )
    return _Compiled(union, later(_union(hints)), later(unseen.HINT), rules, names)


def _whole_characters(buf: bytes, start: int, end: int) -> tuple[int, int]:
    """Widen a span of a plugin's pattern, which may match single bytes, to whole characters."""
    while 0 < start < len(buf) and buf[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(buf) and buf[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def _past_marker(buf: bytes, pos: int) -> int:
    """Return the end of the marker around `pos`, or `pos` where none is."""
    at = buf.rfind(_OPEN, max(0, pos - _LONGEST_MARKER), pos + len(_OPEN) - 1)
    if at < 0 or at >= pos:
        return pos
    marker = MARKER.match(buf, at)
    return max(pos, marker.end()) if marker else pos


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # unpaired surrogates of JSON escapes stay as they are
        return text.encode("utf-8", "surrogatepass")


def _collect(obj: Any, depth: int, strings: list[str], names: bool) -> None:
    """Append every string of the tree that a rule could be applied to."""
    if isinstance(obj, str):
        strings.append(obj)
    elif depth < MAX_DEPTH:
        if isinstance(obj, dict):
            for name, value in obj.items():
                if names and isinstance(name, str):
                    strings.append(name)
                _collect(value, depth + 1, strings, names)
        elif isinstance(obj, list | tuple):
            for item in obj:
                _collect(item, depth + 1, strings, names)


class Scrubber:
    """Replaces secrets of known formats by `[REDACTED:<kind>]`, and counts what it replaced.

    `extra` are the formats of plugins; they are applied after the table's own, so a plugin can add
    to what is hidden and never take away.
    """

    def __init__(self, table: Table, extra: tuple[Format, ...] = ()) -> None:
        self.count = 0
        """Replacements made so far."""
        self._table = table
        self._extra = tuple(extra)
        self._compiled: _Compiled | None = None

    def _ready(self) -> _Compiled:
        self._compiled = _compile(self._table, self._extra)
        return self._compiled

    def text(self, text: str) -> str:
        """Return `text` without secrets; the same object when nothing matched. Idempotent."""
        compiled = self._compiled or self._ready()
        buf = _encode(text)
        if compiled.any(buf) is None:
            return text
        scrubbed = self._settle(buf, compiled.rules, text) if compiled.known(buf) else text
        if compiled.unseen(buf) is None:
            return scrubbed
        return self._seen(_encode(scrubbed), compiled, scrubbed)

    def _seen(self, buf: bytes, compiled: _Compiled, text: str) -> str:
        """Scrub a text as it is seen; only where that finds a secret what is not seen is left out.

        First with a break in its place, since a terminal escape ends in a letter that would make a
        token part of a longer word, then with nothing in its place.
        """
        count, rules = self.count, compiled.rules
        plain = unseen.without(buf)
        marked = _OPEN in buf
        broken = unseen.without(buf, _BREAK)
        if plain is not None and broken is not None:
            if not (marked or compiled.known(plain) or compiled.known(broken)):
                return text
            seen = self._settle(broken, rules, "") or broken.decode("utf-8", "surrogatepass")
            buf, tails = _TAIL.subn(rb"\1", _encode(seen))
            self.count += tails
            buf = buf.replace(_BREAK, b"")
            scrubbed = self._settle(buf, rules, "") or buf.decode("utf-8", "surrogatepass")
            if self.count == count:
                return text
            broken = unseen.without(_encode(scrubbed))
            if broken == _encode(scrubbed):
                return scrubbed
        # Made to be taken apart again and again: there is nothing in it that could be shown.
        return self._marker()

    def _settle(self, buf: bytes, rules: tuple[_Rule, ...], text: str) -> str:
        """Apply the rules until nothing changes, which makes idempotence a property of the engine.

        A second round finds something only where a replaced secret stood glued to another one.
        """
        first = buf
        for _ in range(_ROUNDS):
            before = buf
            for rule in rules:
                if rule.hint(buf) is not None:
                    buf = self._apply(rule, buf)
            if buf is before:
                break
        else:
            buf = f"[REDACTED:{self._table.fallback}]".encode()
        return text if buf is first else buf.decode("utf-8", "surrogatepass")

    def _apply(self, rule: _Rule, buf: bytes) -> bytes:
        pieces: list[bytes] = []
        pos = 0
        for start, end, quote in rule.find(buf):
            start, end = _whole_characters(buf, start, end)
            start, end = _past_marker(buf, start), _past_marker(buf, end)
            if start >= end or rule.guard(buf, start, end):
                continue
            if start < pos:  # it overlaps the value before: one marker hides both
                pos = max(pos, end)
                continue
            pieces += (buf[pos:start], quote, rule.marker, quote)
            pos = end
            self.count += 1
        if not pieces:
            return buf
        pieces.append(buf[pos:])
        return b"".join(pieces)

    def tree(self, obj: _Tree) -> _Tree:
        """Return a copy of a tree of dicts, lists, strings and scalars without secrets.

        The value under a secret member name goes as a whole; containers deeper than `MAX_DEPTH`
        levels become a marker, never a `RecursionError`.
        """
        compiled = self._compiled or self._ready()
        # One pass over all strings: a break is between them, which no rule needs and many allow.
        strings: list[str] = []
        _collect(obj, 0, strings, bool(compiled.names))
        dirty = compiled.any(_encode("\n".join(strings))) is not None
        return cast("_Tree", self._walk(obj, 0, dirty))

    def _walk(self, obj: Any, depth: int, dirty: bool) -> Any:
        if isinstance(obj, str):
            return self.text(obj) if dirty else obj
        if isinstance(obj, dict):
            if depth >= MAX_DEPTH:
                return self._marker()
            scrubbed: dict[Any, Any] = {}
            for name, value in obj.items():
                key = self._name(name, scrubbed) if dirty else name
                scrubbed[key] = self._member(name, value, depth + 1, dirty)
            return scrubbed
        if isinstance(obj, list | tuple):
            if depth >= MAX_DEPTH:
                return self._marker()
            items = [self._walk(item, depth + 1, dirty) for item in obj]
            return items if isinstance(obj, list) else tuple(items)
        return obj

    def _member(self, name: Any, value: Any, depth: int, dirty: bool) -> Any:
        table = self._table
        if not isinstance(name, str) or not table.member(name):
            return self._walk(value, depth, dirty)
        if isinstance(value, str):
            buf = _encode(value)
            return value if table.guard(buf, 0, len(buf)) else self._marker()
        number = isinstance(value, int | float | Number) and not isinstance(value, bool)
        if table.whole and (number or (isinstance(value, dict | list | tuple) and value)):
            return self._marker()
        return self._walk(value, depth, dirty)

    def _name(self, name: Any, taken: dict[Any, Any]) -> Any:
        compiled = self._compiled or self._ready()
        if not isinstance(name, str) or not compiled.names:
            return name
        buf = _encode(name)
        if compiled.any(buf) is None:
            return name
        scrubbed = self._settle(buf, compiled.names, name)
        unique, number = scrubbed, 2
        while unique in taken:  # two secrets as names: neither value may get lost
            unique, number = f"{scrubbed}~{number}", number + 1
        return unique

    def _marker(self) -> str:
        self.count += 1
        return f"[REDACTED:{self._table.fallback}]"

    def clip(self, text: str, limit: int) -> str:
        """Strip white space, scrub, then cut to `limit` bytes of UTF-8, in this order.

        No part of a secret or of a marker is left over: the secret is gone before the cut, and a
        marker that would cross the limit goes as a whole.
        """
        return cut(self.text(text.strip()), limit)
