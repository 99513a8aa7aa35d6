"""Texts of an envelope brought into their one form: trimmed, lower case, one line, at most so many bytes. Pure.

White space is Unicode's White_Space property, which `str.strip` exceeds.
"""

from __future__ import annotations

import re

from agentfeedback.foundation import times

WHITE_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_RUN = re.compile(f"[{WHITE_SPACE}]+")
_NEWLINE = re.compile("\r\n|\r|\n")


def trimmed(text: str) -> str:
    """Without white space at both ends."""
    return text.strip(WHITE_SPACE)


def token(text: str) -> str:
    """Trimmed, in simple lower case, each run of white space one `-`."""
    return _RUN.sub("-", lowered(trimmed(text)))


def lowered(text: str) -> str:
    """Simple lower case: one character for one, whatever stands beside it (`str.lower` differs)."""
    if text.isascii():
        return text.lower()
    return "".join(char.lower()[0] for char in text)


def one_line(text: str) -> str:
    """Each line end (CRLF, CR or LF) as one space."""
    return _NEWLINE.sub(" ", text)


def microseconds(text: str) -> int | None:
    """Microseconds since the epoch of an RFC 3339 time, `T` and `Z` in either case; a leap second is refused."""
    text = text[:10] + text[10:].replace("t", "T").replace("z", "Z")
    at = None if "," in text else times.parse(text)
    return None if at is None or text[17:19] == "60" else at // 1000


def time_form(at: int) -> str:
    """Microseconds since the epoch as UTC with six digits."""
    return times.filing_form(at * 1000)
