r"""What a rule and a table are, and the vendor shapes that both tables share.

Patterns are `re` syntax and are matched against the UTF-8 *bytes* of a text: there `\b`, `\d`,
`\s` and `\w` are ASCII, whatever the locale, and no offset has to be translated.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Span = tuple[int, int, bytes]
"""Start and end in bytes, and the quote to put on both sides of the marker (often none)."""

Finder = Callable[[bytes], Iterator[Span]]
Guard = Callable[[bytes, int, int], bool]

MARKER = re.compile(rb"\[REDACTED:[a-z_]+\]")
WS = r"[ \t\n\r\f\v]"


def never(buf: bytes, start: int, end: int) -> bool:
    """The guard of a shape that is always replaced."""
    return False


class Format(NamedTuple):
    """One rule: how a secret looks and what of it is replaced by `[REDACTED:<kind>]`.

    `pattern` is `re` syntax, ASCII, matched on UTF-8 bytes; it has to be linear (use possessive
    repeats). `needles` are literal texts, in any case, one of which occurs in every match: without
    one the rule does not run. `value` are the groups of which the one that took part is replaced;
    0 is the whole match. `guard(text, start, end)` says that this value is left alone.

    The core's own rules also have `hint`, a stricter needle in RE2 syntax, and `find`, a function in
    the place of the pattern.
    """

    kind: str
    pattern: str = ""
    needles: tuple[str, ...] = ()
    value: tuple[int, ...] = (0,)
    guard: Guard = never
    hint: str = ""
    find: Finder | None = None


class Table(NamedTuple):
    """The rules in the order of their application, and what object trees need beside them.

    `member(name)` says that the value under this member name is secret, `guard` that such a value
    is left alone, `keeps(name, value)` that it is under this name; `whole` that numbers, objects and
    lists are replaced too, `inside` that every string in such an object or list is. `names` are the
    kinds that are also looked for in member names; a refused value becomes a marker of kind
    `fallback`.
    """

    formats: tuple[Format, ...]
    member: Callable[[str], bool]
    guard: Guard
    fallback: str
    whole: bool = False
    names: frozenset[str] = frozenset()
    keeps: Callable[[str, bytes], bool] | None = None
    inside: bool = False


ESCAPES = (r"\\[bfnrt]", r"\\u[0-9A-Fa-f]{4}")
"""What ends in a letter of an escape and not of the text."""


def edge(needle: str, word: str, escapes: tuple[str, ...] = ()) -> str:
    """Say of a literal just matched that no character of `word` stood before it.

    The look-behind comes after the literal, because `re` searches a pattern quickly only when it
    begins with one. `escapes` are sequences that end in a letter and are not words all the same.
    """
    free = "".join(f"|(?<={escape}{needle})" for escape in escapes)
    return f"(?:(?<!{word}{needle}){free})"


LEFT = rf"(?:^|[^A-Za-z0-9]|{'|'.join(ESCAPES)})"
"""What a token begins behind, `re` and RE2 alike: all but an ASCII letter or digit."""

JWT = r"[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
AWS = "(?:AKIA|ASIA|ABIA|ACCA)"
GOOGLE = "[0-9A-Za-z_-]{35}"
GITHUB = "[pousr]_[A-Za-z0-9]{36,}"
GITHUB_PAT = "[A-Za-z0-9_]{22,}"
GITLAB = "-[A-Za-z0-9_-]{20,}"
STRIPE = "k_(?:live|test)_[A-Za-z0-9]{16,}"
ANTHROPIC = "[A-Za-z0-9_-]{20,}"
OPENAI = "[A-Za-z0-9_-]{20,}"
BEARER = "[A-Za-z0-9._~+/=-]{16,}"
