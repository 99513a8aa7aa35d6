"""How Claude Code writes a working directory as the name of a project directory. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from agentfeedback.reading import Encoding

#: The harness cuts longer names and adds a hash of the path.
LONGEST = 200

_OUTSIDE = re.compile(r"[^A-Za-z0-9]")
_OUTSIDE_BYTES = re.compile(rb"[^A-Za-z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def encodings(path: str) -> Iterator[Encoding]:
    """The names a project directory of `path` may have, one dash per UTF-16 unit or per byte.

    A name over 200 characters is also given as the harness cuts it, with the hash of the path. The
    directories below it have names that begin with the same 200 characters and end in hashes of
    their own, so those characters alone are an inexact encoding. The uncut name stays one of the
    encodings: which versions cut is not known.
    """
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:  # no path of this system
        raw = path.encode("utf-8", "replace")
    text = raw.decode("utf-8", "replace")
    for name in dict.fromkeys((_by_unit(text), _OUTSIDE_BYTES.sub(b"-", raw).decode("ascii"))):
        yield Encoding(name)
        if len(name) > LONGEST:
            yield Encoding(f"{name[:LONGEST]}-{_hash(text)}")
            yield Encoding(name[:LONGEST], exact=False)


def _by_unit(text: str) -> str:
    return _OUTSIDE.sub(lambda found: "--" if found[0] > "\uffff" else "-", text)


def _hash(text: str) -> str:
    """Base 36 of the absolute 32-bit value of `h * 31 + unit` over the UTF-16 units of a path."""
    value = 0
    units = text.encode("utf-16-le")
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (value * 31 + (high << 8 | low)) & 0xFFFF_FFFF
    rest = value if value < 0x8000_0000 else 0x1_0000_0000 - value
    digits = ""
    while rest or not digits:
        rest, digit = divmod(rest, 36)
        digits = _DIGITS[digit] + digits
    return digits
