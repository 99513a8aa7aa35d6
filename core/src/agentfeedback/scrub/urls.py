"""Credentials in URLs: found by `://` and what follows, then read from where the scheme begins."""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import Finder, Span
from agentfeedback.scrub.needle import next_start

_SCHEME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-")


def url_values(pattern: str, hint: str) -> Finder:
    """Return a finder of the one group that takes part in `pattern`, which begins at the scheme.

    `hint` begins at `://`.
    """
    next_url = next_start(hint)

    def find(buf: bytes) -> Iterator[Span]:
        match_at = re.compile(pattern.encode()).match
        pos = 0
        while (at := next_url(buf, pos)) >= 0:
            pos = at + 1
            start = at
            # Each run of scheme characters ends at another `:`, so together they are one pass.
            while start > 0 and buf[start - 1] in _SCHEME_BYTES:
                start -= 1
            if match := match_at(buf, start):
                yield *match.span(match.lastindex or 0), b""
                pos = match.end()

    return find
