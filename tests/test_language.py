"""Sentences that are read once: none of the phrases that readers stumbled over, and no document that is not here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

_SUFFIXES = {".py", ".md", ".tmpl"}
TEXTS = sorted(
    path
    for folder in ("core", "readers", "plugins", "docs", "bench", "tests")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in _SUFFIXES
    and not {"corpus", "goldens", "__pycache__", "sample"} & set(path.parts)
    and path.name != "test_language.py"
)
#: Stilted forms, with what to write in their place.
_PHRASES = {
    r"(?<!there )\b(?:is|are) no (?!longer|more|one\b|need|room|way)[a-z]": "is not a …",
    r"\banew\b|\bafresh\b": "again",
    r"\b(?:is|are|was|were|be|been) told\b(?! apart)": "is reported, gets, receives",
    r"\blies?\b": "is, are",
    r"too dear for": "costs too much time for",
    r"and so is none\b": "say what a missing one is",
    r"for the taking": "is stale",
    r"slept over": "expired",
    r"those of them that are ones": "the well-formed ones",
    r"as far as they are ones": "malformed ones are dropped",
    r"for what is none\b": "say what it is",
    r"lies in a folder is none": "is ignored",
    r"with none to be had": "without",
    r"what such a one held": "the share of",
    r"anything but a plain": "unless it is a plain",
}
#: References to papers that readers of this repository do not have.
_CITATIONS = [
    r"\b(?:[Pp]latform |sessions-|change-capture-)details \d",
    r"\bdetails \d+\.\d",
    r"\((?:the )?specification\b",
    r"\b[Tt]he specification\b",
    r"`?sessions\.md`?",
    r"\bdetails-\d",
    r"\bsection \d+\b",
    r"\(?\b[DCK]\d{1,2}\b[,;)]",
    r"\bhouse\.md\b",
]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_a_text_is_plain_and_cites_what_is_here(path: Path) -> None:
    """Each line says what a maintainer would say aloud, and its reason is in the repository."""
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        faults += [
            f"{number}: {line.strip()!r}: write {better!r}"
            for pattern, better in _PHRASES.items()
            if re.search(pattern, line, re.IGNORECASE)
        ]
        faults += [
            f"{number}: {line.strip()!r}: say the reason here"
            for pattern in _CITATIONS
            if re.search(pattern, line)
        ]
    assert faults == []
