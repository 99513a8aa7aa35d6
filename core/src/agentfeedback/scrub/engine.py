"""One pass of RE2 says whether any rule can match; only then do the exact rules run.

Most strings of a transcript hold no secret, so that pass is the cost that counts.
"""

import re
from typing import Any, TypeVar, cast

from agentfeedback.foundation.json_text import Number
from agentfeedback.scrub import unseen
from agentfeedback.scrub.compiled import Compiled, Rule, compile_table
from agentfeedback.scrub.cuts import cut
from agentfeedback.scrub.formats import MARKER, Format, Table

_Tree = TypeVar("_Tree")

MAX_DEPTH = 200
"""Levels of containers that are walked; what is deeper is replaced whole."""

_ROUNDS = 8
# In a long text each rule is asked at the places where any may match, if there are few: looking for
# the needles of each would go through the text a hundred times.
_LONG = 16 << 10
_FEW = 12
_OPEN = b"[REDACTED:"
# Stands where something unseen was: no rule's names and values hold it, and no text keeps it.
_BREAK = b"\x01"
# The rest of a token that was whole before the break already.
_TAIL = re.compile(
    rb"(\[REDACTED:[a-z_]+\])(?:[A-Za-z0-9_+/=.~-]{0,64}\x01++[A-Za-z0-9_+/=.~-]++)+"
)
# No kind is as long: how far before a position the marker around it can begin.
_LONGEST_MARKER = 80


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


def _decode(buf: bytes) -> str:
    return buf.decode("utf-8", "surrogatepass")


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
        self._compiled: Compiled | None = None

    def _ready(self) -> Compiled:
        self._compiled = compile_table(self._table, self._extra)
        return self._compiled

    def text(self, text: str) -> str:
        """Return `text` without secrets; the same object when nothing matched. Idempotent."""
        compiled = self._compiled or self._ready()
        buf = _encode(text)
        if compiled.any(buf) is None:
            return text
        count = self.count
        scrubbed = self._settle(buf, compiled.rules, text) if compiled.known(buf) else text
        if compiled.unseen(buf) is None:
            return scrubbed
        found, self.count = self.count, count
        seen = self._seen(buf, compiled, text)
        # What hides the same keeps the text as it is.
        if seen is text or (
            scrubbed is not text and unseen.without(_encode(scrubbed)) == _encode(seen)
        ):
            self.count = found
            return scrubbed
        return seen

    def _seen(self, buf: bytes, compiled: Compiled, text: str) -> str:
        """Scrub a text as it is seen; only where that finds a secret what is not seen is left out.

        Tokens are looked for with a break in its place first, since a terminal escape ends in a letter
        that would make a token part of a longer word, then everything with nothing in its place.
        """
        count = self.count
        plain, broken = unseen.without(buf), unseen.without(buf, _BREAK)
        if plain is not None and broken is not None:
            if not (_OPEN in buf or compiled.known(plain) or compiled.known(broken)):
                return text
            seen = self._settle(broken, compiled.tokens, "") or _decode(broken)
            buf, tails = _TAIL.subn(rb"\1", _encode(seen))
            self.count += tails
            buf = buf.replace(_BREAK, b"")
            scrubbed = self._settle(buf, compiled.rules, "") or _decode(buf)
            if self.count == count:
                return text
            if unseen.without(_encode(scrubbed)) == _encode(scrubbed):
                return scrubbed
        # Made to be taken apart again and again: there is nothing in it that could be shown.
        return self._marker()

    def _settle(self, buf: bytes, rules: tuple[Rule, ...], text: str) -> str:
        """Apply the rules until nothing changes, which makes idempotence a property of the engine.

        A second round finds something only where a replaced secret stood glued to another one.
        """
        first = buf
        for _ in range(_ROUNDS):
            before = buf
            small, starts = buf.lower(), self._starts(buf)
            for rule in rules:
                if starts is not None:
                    if not any(rule.at(buf, start) for start in starts):
                        continue
                elif rule.needles and not any(needle in small for needle in rule.needles):
                    continue
                if rule.hint(buf) is not None:
                    changed = self._apply(rule, buf)
                    if changed is not buf:
                        buf, small = changed, changed.lower()
                        starts = self._starts(buf) if starts is not None else None
            if buf is before:
                break
        else:
            buf = f"[REDACTED:{self._table.fallback}]".encode()
        return text if buf is first else _decode(buf)

    def _starts(self, buf: bytes) -> list[int] | None:
        """Where a rule may match in a long text, if at few places; else None."""
        known = (self._compiled or self._ready()).known
        starts: list[int] = []
        found = known(buf) if len(buf) >= _LONG else None
        while found is not None and len(starts) < _FEW:
            starts.append(found.start())
            found = known(buf, starts[-1] + 1)
        return starts if len(buf) >= _LONG and found is None else None

    def _apply(self, rule: Rule, buf: bytes) -> bytes:
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
            left = table.guard(buf, 0, len(buf)) or (table.keeps and table.keeps(name, buf))
            return self._walk(value, depth, dirty) if left else self._marker()
        number = isinstance(value, int | float | Number) and not isinstance(value, bool)
        if table.whole and (number or (isinstance(value, dict | list | tuple) and value)):
            return self._marker()
        if table.inside and depth < MAX_DEPTH:
            if isinstance(value, dict):
                return {
                    key: self._member(name, item, depth + 1, dirty) for key, item in value.items()
                }
            if isinstance(value, list | tuple):
                items = [self._member(name, item, depth + 1, dirty) for item in value]
                return items if isinstance(value, list) else tuple(items)
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
