"""Private key blocks: PEM, PGP, SSH2 and PuTTY, whole, in an escaped text, or cut off.

A block is bounded: an opener alone hides the lines of its own key and never the text after them.
"""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import Format, Span
from agentfeedback.scrub.needle import pattern

_OPENERS = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
    r"|PuTTY-User-Key-File-[0-9]:[^\r\n\\]*"
)
_next_opener = re.compile(_OPENERS.encode()).search
_next_closer = re.compile(
    rb"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    rb"|---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
    rb"|Private-(?:MAC|Hash): [0-9A-Fa-f]+"
).search

# How far the end of a block is looked for: a key of 16,384 bits has fewer lines.
_MOST_LINES = 64
_MOST_BYTES = 16_384

_BREAK = rb"(?:\r\n|[\r\n]|\\+r\\+n|\\+[nr])"
_next_break = re.compile(_BREAK).search
_SAME_LINE = pattern(
    rb"(?:[ \t]*+[A-Za-z0-9+/=]{16,}+)*+(?:[ \t]*+[A-Za-z0-9+/=]++(?=[ \t]*+(?:"
    + _BREAK
    + rb"|\Z)))?"
)
_LINE_END = pattern(rb"[ \t]*+(?:" + _BREAK + rb"|\Z)")
# Line numbers, diff marks and quotation marks that tools put before a line.
_PREFIX = rb"[ \t>+|-]*+(?:[0-9]{1,6}(?:\xe2\x86\x92|[\t:|])[ \t>+|-]*+)?"
_HEADER = (
    rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|Encryption"
    rb"|Public-Lines|Private-Lines|Key-Derivation|Argon2-[A-Za-z]+):[^\r\n\\]{0,160}"
)
_KEY_LINE = pattern(
    _PREFIX
    + rb"(?:"
    + _HEADER
    + rb"|([A-Za-z0-9+/=_-]{1,128}+))?[ \t]*+(?:"
    + _BREAK
    + rb"|(?=\Z))"
)
# The last line of a key that a quote or words of the text around it follow.
_RUN = rb"[A-Za-z0-9+/=_-]"
_LAST_LINE = pattern(
    _PREFIX + rb"(?:%(run)s{1,128}+(?=\\*[\"'])|(?=%(run)s{0,127}[0-9])(?=%(run)s{0,127}[A-Z])"
    rb"(?=%(run)s{0,127}[a-z])%(run)s{8,128}+)" % {b"run": _RUN}
)


def _in_window(buf: bytes, start: int, end: int) -> bool:
    """Whether a closer that ends at `end` belongs to the opener that ends at `start`."""
    if end - start > _MOST_BYTES:
        return False
    for _ in range(_MOST_LINES + 1):
        found = _next_break(buf, start, end)
        if found is None:
            return True
        start = found.end()
    return False


def _cut_off(buf: bytes, pos: int) -> int:
    """Return where the key ends whose opener ends at `pos` and that has no closer."""
    same = _SAME_LINE.match(buf, pos)
    pos = same.end() if same else pos
    line = _LINE_END.match(buf, pos)
    if line is None:
        return pos
    end, at = pos, line.end()
    while at < len(buf) and (key := _KEY_LINE.match(buf, at)):
        at = key.end()
        if key.end(1) >= 0:
            end = key.end(1)
        elif b":" in key.group():
            end = len(key.group().rstrip(b"\r\n")) + key.start()
    if last := _LAST_LINE.match(buf, at):
        end = last.end()
    return end


def _private_keys(buf: bytes) -> Iterator[Span]:
    """An opener hides everything up to its closer, and without one the key lines that follow it."""
    pos = 0
    closer = _next_closer(buf)
    while opener := _next_opener(buf, pos):
        start, pos = opener.span()
        while closer and closer.start() < pos:
            closer = _next_closer(buf, pos)
        closed = closer is not None and _in_window(buf, pos, closer.end())
        pos = closer.end() if closer and closed else _cut_off(buf, pos)
        yield start, pos, b""


PRIVATE_KEY = Format(
    "private_key",
    hint="-----BEGIN [A-Z0-9 ]*PRIVATE KEY|---- BEGIN SSH2 |PuTTY-User-Key-File-[0-9]:",
    needles=("-----BEGIN ", "---- BEGIN SSH2", "PuTTY-User-Key-File-"),
    find=_private_keys,
)
