"""Complaints: whether a prompt finds fault with what the agent did. Pure, and linear in the text.

A rule is a phrase of one language. It counts only in the person's own words (not in code, quotes
or pasted output), and only where its clause is neither a condition nor a question about a state:
"when the checksum is wrong" and "what is wrong with this test" blame nobody.
"""

from __future__ import annotations

import re
from functools import cache

from attrs import frozen

from agentfeedback.digest.complaint_tables import CLAUSE, TABLES

# The phrases the digest prints as they are wherever they stand in a complaint.
PHRASES = (
    "doesn't work",
    "does not work",
    "still failing",
    "still broken",
    "wrong",
    "why did you",
    "that's not",
    "not what i",
    "broken",
    "again",
)
_PHRASES = tuple((phrase, re.compile(rf"\b{re.escape(phrase)}\b")) for phrase in PHRASES)

# Every opening mark is left out of what stands between the marks, so that no text is scanned twice.
_CODE = re.compile(
    r"```.*?(?:```|\Z)|^~~~.*?(?:^~~~|\Z)"  # a fence that is never closed runs to the end
    r"|`[^`\n]*`"
    r"|^(?: {4}|\t|>|\$ )[^\n]*$",  # an indented block, a quotation, a shell's line
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(
    r'\\?"[^"\n]*"'
    r"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|「[^「」\n]*」|『[^『』\n]*』"
    r"|(?<!\w)'[^'\n]{1,200}'(?!\w)"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ′＇`´", "'"))
_SPACE = re.compile(r"\s+")
_LOOK_BACK = 80
"""Characters before a phrase that are searched for what makes its clause blameless."""

_END = 8000
"""Characters looked at from each end: what is longer was pasted, and what is said about it is around it."""


@frozen(eq=False)
class _Rule:
    phrase: str
    pattern: re.Pattern[str]
    blameless: re.Pattern[str]


@cache
def _gate(language: str) -> re.Pattern[str]:
    return re.compile(TABLES[language].gate)


@cache
def _rules(language: str) -> tuple[_Rule, ...]:
    table = TABLES[language]
    veto = re.compile(table.blameless)
    return tuple(_Rule(name, re.compile(source), veto) for name, source in table.rules.items())


def complaints(text: str) -> tuple[str, ...]:
    """Name what a prompt complains about in the words of `PHRASES`, or in short phrases of its language.

    Args:
        text: the full prompt.

    Returns:
        Each phrase once, those of `PHRASES` first; empty when the prompt is not a complaint.
    """
    words = own_words(text)
    found: dict[str, None] = {}
    for language in TABLES:
        if _gate(language).search(words) is None:
            continue
        for rule in _rules(language):
            if (said := _said(rule, words)) is None:
                continue
            known = [phrase for phrase, pattern in _PHRASES if pattern.search(said)]
            found.update(dict.fromkeys(known or [rule.phrase]))
    if found and _PHRASES[-1][1].search(words):
        found["again"] = None  # no complaint by itself, and part of one
    order = {phrase: place for place, phrase in enumerate(PHRASES)}
    return tuple(sorted(found, key=lambda phrase: order.get(phrase, len(order))))


def own_words(text: str) -> str:
    """What the person says: lower case, single spaces, without code, quotes and what is between the ends."""
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] == '"':
        inner = stripped[1:-1]  # OpenCode's `run` stores the whole prompt as a shell word
        if inner.count('"') == inner.count('\\"'):
            text = inner
    text = _QUOTED.sub(" ", _CODE.sub(" ", text))
    words = _SPACE.sub(" ", text.translate(_APOSTROPHES)).strip().lower()
    return words if len(words) <= 2 * _END else f"{words[:_END]}. {words[-_END:]}"


def _said(rule: _Rule, words: str) -> str | None:
    """The first words a rule finds in a clause that blames."""
    for match in rule.pattern.finditer(words):
        start = max(0, match.start() - _LOOK_BACK)
        before = words[start : match.start()]
        clause = max(map(before.rfind, CLAUSE)) + 1
        if rule.blameless.search(words, start + clause, match.end()) is None:
            return match[0]
    return None
