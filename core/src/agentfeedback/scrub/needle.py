"""Searches in RE2: one pass whatever the pattern and the text are, and many times as fast as `re`.

RE2 has no look-around and no possessive repeats, so it finds where a rule may match; `re` decides.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, cast


class Found(Protocol):
    """What is used of a match."""

    def start(self) -> int:
        """Return where the match begins, in bytes."""


Search = Callable[..., Found | None]


def re2_search(pattern: str) -> Search:
    """Return the compiled pattern's search in bytes, `search(buf)` or `search(buf, pos)`."""
    search: Search = _re2(pattern).search
    return search


def matches_at(pattern: str) -> Callable[[bytes, int], bool]:
    """Return a function that says whether the pattern matches from a position on; compiled when it is called."""

    def at(buf: bytes, pos: int) -> bool:
        return _re2(pattern).match(buf, pos) is not None

    return at


@lru_cache(maxsize=512)
def _re2(pattern: str) -> Any:
    import re2  # at the first use: commands that scrub nothing do not load it

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    # A full state cache makes RE2 forget and start again, which hostile texts could use.
    options.max_mem = 64 << 20
    return re2.compile(pattern.encode(), options)


def later(pattern: str) -> Search:
    """Return the pattern's search, compiled when it is first called: most runs need few of all patterns."""

    def search(buf: bytes, pos: int = 0) -> Found | None:
        return re2_search(pattern)(buf, pos)

    return search


def next_start(pattern: str) -> Callable[[bytes, int], int]:
    """Return a function that finds where the pattern next matches from a position on, or -1."""

    def find(buf: bytes, pos: int) -> int:
        found = re2_search(pattern)(buf, pos)
        return found.start() if found else -1

    return find


class _Later:
    """A pattern that is compiled when it is first used; from then on its methods are the compiled one's."""

    def __init__(self, source: bytes, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        self.match, self.search = compiled.match, compiled.search
        self.fullmatch, self.finditer = compiled.fullmatch, compiled.finditer
        return getattr(compiled, name)


def pattern(source: bytes | str, flags: int = 0) -> re.Pattern[bytes]:
    """Return a pattern of `re` that is compiled when a text first needs it."""
    source = source.encode() if isinstance(source, str) else source
    return cast("re.Pattern[bytes]", _Later(source, flags))
