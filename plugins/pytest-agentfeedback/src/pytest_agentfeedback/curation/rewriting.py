"""Rewrites the strings of a line of JSON and leaves every other byte of it as it is. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from attrs import frozen

#: `change(name, text)` gives the new text of a string; `name` is that of the member it is the value of.
Change = Callable[[str | None, str], str]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_SURROGATE = re.compile("[\ud800-\udfff]")


@frozen
class Rewriting:
    """What becomes of the strings and values of a line.

    `strings` is asked for each string, names of members included; the values of members of which
    `empties(name)` is true and that are not strings are emptied.
    """

    strings: Change
    empties: Callable[[str], bool]

    def line(self, line: bytes) -> bytes:
        """The line rewritten; what is not JSON is rewritten as one text."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            return self.plain(line)
        return self.json(text).encode() if is_json(text) else self.plain(line)

    def plain(self, content: bytes) -> bytes:
        """A text that is not JSON, rewritten."""
        text = content.decode("utf-8", "surrogateescape")
        return self.strings(None, text).encode("utf-8", "surrogateescape")

    def json(self, text: str) -> str:
        """A JSON text, known to be one, rewritten."""
        return "".join(self._pieces(text))

    def _pieces(self, text: str) -> Iterator[str]:
        tokens = list(_TOKEN.finditer(text))
        pos = index = 0
        name: str | None = None
        while index < len(tokens):
            token = tokens[index]
            word, start = token[0], token.start()
            index += 1
            is_name = word[0] == '"' and index < len(tokens) and tokens[index][0] == ":"
            if is_name:
                name = json.loads(word)
                yield text[pos:start] + self._string(None, word)
                pos = token.end()
                index += 1  # the colon
                continue
            if word[0] == '"':
                yield text[pos:start] + self._string(name, word)
                pos = token.end()
            elif name is not None and _holds(word, tokens, index) and self.empties(name):
                index = _after(tokens, index - 1)
                end = tokens[index - 1].end()
                yield text[pos:start] + '""'.ljust(end - start)
                pos = end
            name = None
        yield text[pos:]

    def _string(self, name: str | None, token: str) -> str:
        value = json.loads(token)
        if is_json(value) and not (name is not None and self.empties(name)):
            # String by string: rules about lines and quotes must see them as they are, not escaped.
            changed = self.json(value)
        else:
            changed = self.strings(name, value)
        if changed == value:
            return token
        written = json.dumps(changed, ensure_ascii=token.isascii())
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def is_json(text: str) -> bool:
    """Whether a text is a JSON object or list."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def padded(line: bytes, length: int) -> bytes:
    """A line of JSON with blanks at its end, to have at least a length."""
    return line.ljust(length)


def _holds(word: str, tokens: list[re.Match[str]], index: int) -> bool:
    """Whether a token begins a number, or an object or list with something in it."""
    if word in ("{", "["):
        return tokens[index][0] not in ("}", "]")
    return word not in ("true", "false", "null", "}", "]", ",")


def _after(tokens: list[re.Match[str]], index: int) -> int:
    """The index behind the value that begins at `index`."""
    depth = 0
    while True:
        word = tokens[index][0]
        depth += (word in ("{", "[")) - (word in ("}", "]"))
        index += 1
        if depth == 0:
            return index
