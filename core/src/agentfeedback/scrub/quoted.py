"""Quoted texts and brackets inside a text that may be escaped JSON, at any depth.

JSON in a string has its quotes behind one backslash, JSON in that three, then seven: a quote with
`depth` backslashes belongs to the same level as another one with as many. Every function looks at
each byte a bounded number of times.
"""

import re

from agentfeedback.scrub.needle import pattern

_BACKSLASH = 0x5C

OPENING = pattern(rb"(\\{0,7})([\"'])")


def slashes(buf: bytes, start: int, quote: int) -> int:
    """Count the backslashes before the quote, back to `start` at most."""
    pos = quote
    while pos > start and buf[pos - 1] == _BACKSLASH:
        pos -= 1
    return quote - pos


# What can end a text: its quote alone, or the line too, or the line also where it is escaped.
ANY, LINE, ESCAPED = 0, 1, 2
_STOPS = {
    (quote, line): pattern(quote + stop)
    for quote in (b'"', b"'")
    for line, stop in ((ANY, b""), (LINE, b"|[\r\n]"), (ESCAPED, b"|[\r\n]|\\\\[nr]"))
}


def closing(buf: bytes, start: int, depth: int, quote: bytes = b'"', line: int = ANY) -> int:
    """Return where the text that begins at `start` ends, before the backslashes of its quote.

    `depth` is the number of backslashes of the opening quote. A quote with fewer closes a text
    around this one, so it ends both. `line` says which ends of a line end it too. The end of `buf`
    if nothing ends it.
    """
    pos = start
    search = _STOPS[quote, line].search
    while match := search(buf, pos):
        at = match.start()
        before = slashes(buf, pos, at)
        if match.group() != quote or before < depth:
            return at - before
        # Each level doubles the backslashes: those of the value itself come in such groups.
        if before % (2 * (depth + 1)) == depth:
            return at - depth
        pos = at + 1
    return len(buf)


_BRACKETS = pattern(rb"[\"\[{\]}]")


def bracket_end(buf: bytes, start: int, depth: int) -> int:
    """Return the end of the object or list that opens at `start`; brackets in strings are text.

    The end of `buf`, or of the string around it, if it is cut short.
    """
    level, pos = 0, start
    while match := _BRACKETS.search(buf, pos):
        found = match.group()
        if found == b'"':
            before = slashes(buf, pos, match.start())
            if before < depth:
                return match.start() - before
            pos = match.end()
            if before == depth:
                pos = min(len(buf), closing(buf, pos, depth) + depth + 1)
            continue
        pos = match.end()
        level += 1 if found in b"[{" else -1
        if level == 0:
            return pos
    return len(buf)


# A quote that looks like the end of a text and not like one inside of it.
_WORD_END = pattern(rb"[ \t\n\r\f\v]|(?<!\\)\\*+[\"'](?=[ \t\n\r\f\v,;:)\]}\\]|\Z)")
_LINE_END = rb"[\r\n]|(?<!\\)\\++[nr]"
_REST_END = pattern(_LINE_END + rb"|(?<!\\)\\*+[\"'](?=[ \t\r\n]*+(?:[,)\]}\\]|\Z))")


def _end(pattern: re.Pattern[bytes], buf: bytes, start: int) -> int:
    match = pattern.search(buf, start)
    return match.start() if match else len(buf)


def word_end(buf: bytes, start: int) -> int:
    """Return the end of a run of non-blanks, or of the quoted text around it if that is sooner."""
    return _end(_WORD_END, buf, start)


def rest_end(buf: bytes, start: int) -> int:
    """Return the end of the line, real or escaped, or of the quoted text around it."""
    return _end(_REST_END, buf, start)


BEHIND = pattern(rb"[ \t\r\n]*+(?:,[ \t\r\n]*+\\*+[\"'{\[]|[)\]}][ \t\r\n,;)\]}\"'\\]|[)\]}]?\Z)")
"""What stands behind a text in JSON or in code: the quote before it does not open one."""


def quoted_value(buf: bytes, start: int) -> tuple[int, int, int] | None:
    """Return start, end and end with the quote of the quoted text that opens at `start`, or None.

    It ends on its line, cut short or not; it is empty if the quote closes a text before it.
    """
    opening = OPENING.match(buf, start)
    if opening is None:
        return None
    begin = opening.end()
    if BEHIND.match(buf, begin):
        return begin, begin, begin
    depth = opening.end(1) - opening.start(1)
    end = closing(buf, begin, depth, opening.group(2), LINE)
    return begin, end, min(len(buf), end + depth + 1)
