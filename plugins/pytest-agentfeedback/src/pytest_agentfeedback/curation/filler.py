"""Secrets, by both tables of the core, made inert at the same length. Pure.

The filler is an upper-case variable reference, which both tables leave alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentfeedback.scrub import CAPTURE, MAX_DEPTH, SUBMIT, Format, Scrubber, Table
from pytest_agentfeedback.curation.rewriting import is_json

_WORD = b"REDACTED_"
_ROUNDS = 8


class Filler:
    """Makes secrets inert. `extra` are the formats of plugins."""

    def __init__(self, extra: Sequence[Format] = ()) -> None:
        #: Secrets filled so far.
        self.count = 0
        self._extra = tuple(extra)
        self._scrubbers = [Scrubber(table, self._extra) for table in (SUBMIT, CAPTURE)]

    def text(self, text: str) -> str:
        """The text without secrets, of the same length in UTF-8 wherever that can be."""
        if not self.finds(text):
            return text
        buf = text.encode("utf-8", "surrogatepass")
        for _ in range(_ROUNDS):
            before = buf
            for table in (SUBMIT, CAPTURE):
                for format in (*table.formats, *self._extra):
                    buf = self._filled(format, buf)
            if buf == before:
                break
        filled = buf.decode("utf-8", "surrogatepass")
        for scrubber in self._scrubbers:  # what is too short to be filled gets a marker
            filled = scrubber.text(filled)
        return filled

    def member(self, name: str, value: str) -> str:
        """The text under a member name: filled whole where the name says that it is secret."""
        for table in _naming(name):
            buf = value.encode("utf-8", "surrogatepass")
            if not table.guard(buf, 0, len(buf)):
                self.count += 1
                filled = _filler(len(buf)).decode()
                return filled if len(buf) > 1 else f"[REDACTED:{table.fallback}]"
        return self.text(value)

    def empties(self, name: str) -> bool:
        """Whether numbers, objects and lists under this name are secret too; one that is counts as filled."""
        found = any(table.whole for table in _naming(name))
        self.count += found
        return found

    def finds(self, text: str) -> bool:
        """Whether a text holds what looks like a secret."""
        return any(scrubber.text(text) != text for scrubber in self._scrubbers)

    def finds_in(self, tree: Any) -> bool:
        """The same of a decoded JSON value, with its member names and the JSON inside its texts."""
        opened = _opened(tree)
        return any(scrubber.tree(opened) != opened for scrubber in self._scrubbers)

    def _filled(self, format: Format, buf: bytes) -> bytes:
        pieces: list[bytes] = []
        pos = 0
        for start, end, quote in _spans(format, buf):
            if start < pos or start >= end or format.guard(buf, start, end):
                continue
            pieces += (buf[pos:start], _quoted(quote, end - start))
            pos = end
            self.count += 1
        return b"".join((*pieces, buf[pos:])) if pieces else buf


def _opened(tree: Any, depth: int = 0) -> Any:
    """The tree with every text that is JSON decoded; what is too deep stays, for the scrubber to refuse."""
    if depth > MAX_DEPTH:
        return tree
    if isinstance(tree, str) and is_json(tree):
        tree = json.loads(tree)
    if isinstance(tree, dict):
        return {name: _opened(value, depth + 1) for name, value in tree.items()}
    if isinstance(tree, list):
        return [_opened(value, depth + 1) for value in tree]
    return tree


def _spans(format: Format, buf: bytes) -> Iterator[tuple[int, int, bytes]]:
    if format.find is not None:
        yield from format.find(buf)
        return
    for match in re.finditer(format.pattern.encode(), buf):
        for group in format.value:
            if match.start(group) >= 0:
                yield *match.span(group), b""
                break


def _filler(length: int) -> bytes:
    return (b"$" + _WORD * (length // len(_WORD) + 1))[:length]


def _quoted(quote: bytes, length: int) -> bytes:
    room = length - 2 * len(quote)
    if room > 1 or not quote:
        return quote + _filler(room) + quote
    return (quote + quote).ljust(length)


def _naming(name: str) -> list[Table]:
    return [table for table in (SUBMIT, CAPTURE) if table.member(name)]
