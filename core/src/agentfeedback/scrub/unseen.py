r"""Characters of a text that nobody sees and that would keep a secret from being recognised.

Terminal escapes, also as they are written in JSON and in shells (`\u001b[0m`, `\x1b[0m`), NUL, soft
hyphens, zero-width and bidirectional controls, and the backslash that continues a line.
"""

import re

from agentfeedback.scrub.needle import next_start

_SEQUENCE = r"\[[0-9:;<=>?]{0,32}[ -/]{0,4}[@-~]"
# UTF-8 of U+00AD, U+061C, U+180E, U+200B to U+200F, U+202A to U+202E, U+2060 to U+206F and U+FEFF.
_CHARACTERS = (
    r"\xc2\xad|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)
HINT = rf"\x1b|\x00|{_CHARACTERS}|\\+(?:x1[bB]|033|e|u001[bB]){_SEQUENCE}|\\\r?\n"
"""Where such a character may be, `re` and RE2 alike."""

_TERMINAL = r"\x1b(?:\][^\x07\x1b\r\n]{0,512}(?:\x07|\x1b\\)|" + _SEQUENCE + r"|[@-Z\\^_])?"
_UNSEEN = re.compile(
    rf"{_TERMINAL}|\x00|{_CHARACTERS}"
    rf"|\\{{1,8}}(?:x1[bB]|033|e|u001[bB]){_SEQUENCE}|\\\r?\n".encode("latin-1")
)

_ROUNDS = 8
_next_unseen = next_start(HINT)


def without(buf: bytes, instead: bytes = b"") -> bytes | None:
    """Return the text without what is not seen; None when more comes forth each time it is taken."""
    for _ in range(_ROUNDS):
        before = buf
        buf = _taken(buf, instead)
        if buf is before:
            return buf
    return None


def _taken(buf: bytes, instead: bytes) -> bytes:
    """Take it out once: RE2 finds where it is, since most of a text is none of it."""
    pieces: list[bytes] = []
    pos = 0
    at = _next_unseen(buf, 0)
    while at >= 0:
        found = _UNSEEN.match(buf, at)
        if found is None:
            at = _next_unseen(buf, at + 1)
            continue
        pieces += (buf[pos:at], instead)
        pos = found.end()
        at = _next_unseen(buf, pos)
    return b"".join((*pieces, buf[pos:])) if pieces else buf
