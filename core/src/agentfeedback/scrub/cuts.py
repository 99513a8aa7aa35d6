"""Cuts of scrubbed texts: to a number of bytes, on a character, and never through a marker."""

import re

_MARKER = re.compile(r"\[REDACTED:[a-z_]+\]")
# No marker is as long: how far before a cut the one that crosses it can begin.
_LONGEST = 80


def cut(text: str, limit: int) -> str:
    """Return the longest prefix of `text` that is at most `limit` bytes of UTF-8, no ellipsis.

    A marker stands whole or not at all: where one would cross the limit, the text ends before it.
    """
    if len(text) <= limit and (text.isascii() or 4 * len(text) <= limit):
        return text
    end = max(0, limit)
    # No character is shorter than a byte, so what comes after `limit` characters goes anyway.
    buf = text[:end].encode("utf-8", "surrogatepass")
    if len(buf) <= end:
        kept = text[:end]
    else:
        while end > 0 and buf[end] & 0xC0 == 0x80:
            end -= 1
        kept = buf[:end].decode("utf-8", "surrogatepass")
    begin = kept.rfind("[", max(0, len(kept) - _LONGEST))
    if begin >= 0 and (marker := _MARKER.match(text, begin)) and marker.end() > len(kept):
        return kept[:begin]
    return kept
