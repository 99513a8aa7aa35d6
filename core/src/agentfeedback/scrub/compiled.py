"""A table made ready: the search of each rule, and one search that says whether any can match."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from agentfeedback.scrub import unseen
from agentfeedback.scrub.formats import LEFT, Finder, Format, Guard, Span, Table
from agentfeedback.scrub.needle import Search, later, matches_at, re2_search

# Kinds whose values can go on behind a break, on a line below.
_OF_LINES = ("env_line", "flag_value", "field", "assignment")


class Rule(NamedTuple):
    """A rule made ready: its marker and needles in bytes, what it hides and leaves alone.

    `hint` finds where it may match, `at` says whether it may do so from a position on.
    """

    marker: bytes
    needles: tuple[bytes, ...]
    hint: Search
    at: Callable[[bytes, int], bool]
    find: Finder
    guard: Guard


class Compiled(NamedTuple):
    """A table made ready.

    `known` says that a rule may match, `unseen` that something is in the text that is not seen, `any`
    that either is so. `tokens` are the rules that do not look at lines, `names` those for member names.
    """

    any: Search
    known: Search
    unseen: Search
    rules: tuple[Rule, ...]
    tokens: tuple[Rule, ...]
    names: tuple[Rule, ...]


def _hint(rule: Format) -> str:
    if rule.hint:
        return rule.hint
    return "(?i:" + "|".join(map(re.escape, rule.needles)) + ")" if rule.needles else ""


def _union(hints: list[str]) -> str:
    """Join hints; those of tokens share what stands before them, or the search has many states."""
    tokens = [hint.removeprefix(LEFT) for hint in hints if hint.startswith(LEFT)]
    joined = [hint for hint in hints if not hint.startswith(LEFT)]
    if tokens:
        joined.append(LEFT + "(?:" + "|".join(f"(?:{token})" for token in tokens) + ")")
    return "|".join(f"(?:{hint})" for hint in joined)


def _needles(rule: Format) -> tuple[bytes, ...]:
    """Return the needles in small letters: one of them is looked for first, which costs far less."""
    return tuple(needle.lower().encode() for needle in rule.needles)


def _finder(rule: Format) -> Finder:
    if rule.find:
        return rule.find
    pattern = rule.pattern.encode()
    groups = rule.value

    def find(buf: bytes) -> Iterator[Span]:
        for match in re.compile(pattern).finditer(buf):
            for group in groups:
                start, end = match.span(group)
                if start >= 0:
                    yield start, end, b""
                    break

    return find


@lru_cache(maxsize=16)
def compile_table(table: Table, extra: tuple[Format, ...]) -> Compiled:
    """Return the table with the formats of plugins, ready; made once for each of them."""
    formats = table.formats + extra
    for rule in extra:  # one that is not a pattern fails here, where its plugin is named
        re.compile(rule.pattern.encode())
    rules = tuple(
        Rule(
            f"[REDACTED:{rule.kind}]".encode(),
            _needles(rule),
            later(_hint(rule)),
            matches_at(_hint(rule)),
            _finder(rule),
            rule.guard,
        )
        for rule in formats
    )
    hints = [_hint(rule) for rule in formats]
    # Only this one is needed for a text without a secret.
    union = re2_search(_union([*hints, unseen.HINT]))
    names = tuple(
        compiled
        for compiled, rule in zip(rules, formats, strict=True)
        if rule.kind in table.names or rule in extra
    )
    tokens = tuple(
        compiled
        for compiled, rule in zip(rules, formats, strict=True)
        if rule.kind not in _OF_LINES
    )
    return Compiled(union, later(_union(hints)), later(unseen.HINT), rules, tokens, names)
