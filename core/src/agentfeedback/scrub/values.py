"""The value behind a name and a separator, in all the ways that code and configuration write one.

A value is quoted, a block of indented lines, a list or object on its line, one word on the next
line, or a word. Nothing else crosses a line.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agentfeedback.scrub.formats import MARKER
from agentfeedback.scrub.lines import BREAK, MARGIN, begin_of, block, indent_at
from agentfeedback.scrub.literals import DECLARED, PLACEHOLDER, strong
from agentfeedback.scrub.needle import pattern
from agentfeedback.scrub.quoted import BEHIND, LINE, OPENING, closing, slashes


class Assigned(NamedTuple):
    """A name with its separator: where the name begins, its quote, and where the value begins."""

    name: bytes
    """In small letters."""
    start: int
    quote: bytes
    """The quote behind the name with its backslashes, or nothing."""
    separator: bytes
    pos: int
    looks: bool = False
    """The name alone does not say it: the value has to look like a secret."""


class Value(NamedTuple):
    """What is to be hidden, the quote to put around the marker, and where the search goes on."""

    start: int
    end: int
    quote: bytes = b""
    seen: int = 0


class _Text(NamedTuple):
    """A quoted text: its quote with the backslashes before it, and what is inside."""

    depth: int
    quote: bytes
    begin: int
    end: int

    @property
    def after(self) -> int:
        return self.end + self.depth + 1


# What stands before a value and is none of it: a tag of YAML, parentheses, the prefix of a text.
_TAG = pattern(
    rb"!!?(?:str|binary|vault|secret|env(?:_var)?|ENV|Ref|Sub|GetAtt|ImportValue|Join|Base64"
    rb"|encrypted(?:/[A-Za-z0-9_-]{1,40})?|reference)[ \t]++"
)
# Any other word like one may be a password that begins so: it is hidden with what follows it.
_LIKE_A_TAG = pattern(rb"(![^ \t\r\n\"'\\]{0,40})[ \t]++(?=[^ \t\r\n\\])")
_PREFIX = pattern(rb"(?:[bfruBFRUL]{1,2}|[$@]{1,2})(?=\\{0,7}[\"'])")
_OPENERS = pattern(rb"\(+[ \t]*+(?=[bfruBFRUL]{0,2}\\{0,7}[\"'])")
_BLOCK = pattern(rb"[|>][-+]?[0-9]?[-+]?[ \t]*+(?:#[^\r\n\\]*+)?" + BREAK.encode())
_NOTHING = pattern(rb"(?:#[^\r\n\\]*+)?" + BREAK.encode())


def values(buf: bytes, name: Assigned) -> Iterator[Value]:
    """The values of a name, mostly one; none where nothing stands there."""
    pos = name.pos
    if name.separator.endswith(b":") and (declared := DECLARED.match(buf, pos)):
        pos = declared.end()
    if not name.separator.endswith(b":"):
        pass  # only YAML has tags
    elif tag := _TAG.match(buf, pos):
        pos = tag.end()
    elif like := _LIKE_A_TAG.match(buf, pos):
        yield Value(pos, like.end(1))
        pos = like.end()
    if parenthesis := _OPENERS.match(buf, pos):
        pos = parenthesis.end()
    if prefix := _PREFIX.match(buf, pos):
        pos = prefix.end()
    if text := _text(buf, pos):
        yield from _quoted(buf, name, text)
        if parenthesis:
            yield from _arguments(buf, text.after)
    elif lines := _BLOCK.match(buf, pos):
        start, end, more = block(buf, lines.end(), indent_at(buf, name.start))
        # Where the limit was reached before, the marker of the first lines stays alone.
        if not (more and MARKER.match(buf, start)):
            yield Value(start, end, seen=end)
    elif name.separator.endswith(b":") and (line := _NOTHING.match(buf, pos)):
        yield from _next_line(buf, name, line.end())
    elif buf[pos : pos + 1] in (b"[", b"{", b"("):
        yield from _bracketed(buf, name, pos)
    else:
        yield from _word(buf, name, pos)


# --- quoted -----------------------------------------------------------------------------------

_BEFORE_NAME = pattern(rb"([\"'])[^ \t\r\n\"']{0,256}\Z")
_CLOSES_AROUND = pattern(rb"[ \t\r\n]|[+),;.}\]]|\\|\Z")
_CODE_AROUND = pattern(rb"[ \t]*+(?:[+%.,;)\]}]|[\r\n]|\Z)")
# A word of a shell goes on behind a quote; a text of a language is joined with another one.
_GOES_ON = pattern(
    rb"(?:\\{0,15}[\"'](?=[^ \t\r\n,;:)\]}+.\\]|\\++[\"'])|[A-Za-z0-9_!@#$%^*~/?-])[^ \t\r\n\"'\\,;)]*+"
)
_JOINED = pattern(rb"[ \t]*+[+.]?[ \t]*+(?=\\{0,7}[\"'])")
_LONGEST_TEXT = 4096


def _text(buf: bytes, pos: int) -> _Text | None:
    opening = OPENING.match(buf, pos)
    if opening is None:
        return None
    depth = len(opening[1])
    end = closing(buf, opening.end(), depth, opening[2], LINE)
    return _Text(depth, opening[2], opening.end(), end)


def _quoted(buf: bytes, name: Assigned, text: _Text) -> Iterator[Value]:
    if not name.quote and (
        BEHIND.match(buf, text.begin)
        or (_closes(buf, name, text.depth, text.quote) and _CLOSES_AROUND.match(buf, text.begin))
        or _closes_a_line(buf, name, text)
    ):
        return
    quote = buf[text.begin - text.depth - 1 : text.begin]
    if buf.startswith(quote * 2, text.begin):
        yield _tripled(buf, text.begin + 2 * len(quote), quote)
        return
    yield Value(text.begin, text.end, seen=text.after)
    if name.quote or buf[text.after - 1 : text.after] != text.quote:
        return
    if name.separator.endswith(b"=") and _GOES_ON.match(buf, text.after):
        yield Value(text.after, _shell_word(buf, text.after))
        return
    joined = _JOINED.match(buf, text.after)
    more = _text(buf, joined.end()) if joined else None
    if more and more.depth == text.depth:
        yield Value(more.begin, more.end)


def _closes(buf: bytes, name: Assigned, depth: int, quote: bytes) -> bool:
    """Whether a quote of this kind opens the text that the name begins, as in `"key=" + value`."""
    found = _BEFORE_NAME.search(buf, max(0, name.start - 260), name.start)
    return (
        found is not None
        and found[1] == quote
        and slashes(buf, max(0, found.start() - 8), found.start()) == depth
    )


def _closes_a_line(buf: bytes, name: Assigned, text: _Text) -> bool:
    """Whether the text in which the name stands ends at the quote, as in `"the token=" + token`."""
    if text.depth or buf[name.pos - 1] in b" \t" or not _CODE_AROUND.match(buf, text.begin):
        return False
    start = max(0, buf.rfind(b"\n", max(0, name.start - 512), name.start) + 1, name.start - 512)
    return buf.count(text.quote, start, name.start) % 2 == 1


def _tripled(buf: bytes, begin: int, quote: bytes) -> Value:
    end = buf.find(quote * 3, begin, begin + _LONGEST_TEXT)
    if end < 0:
        end = closing(buf, begin, len(quote) - 1, quote[-1:], LINE)
    return Value(begin, end, seen=end)


def _shell_word(buf: bytes, pos: int) -> int:
    """Return the end of a word of a shell that has quotes in it."""
    while more := _GOES_ON.match(buf, pos):
        pos = more.end()
    return pos


# --- on the next lines, in brackets -----------------------------------------------------------

_ALONE = pattern(
    rb"([^ \t\r\n\f\v\"':=\\]{8,4096}+)[ \t]*+(?=" + BREAK.encode() + rb"|\\*[\"']|\Z)"
)
_LINES = rf"(?:\r?\n|\\{{1,7}}n){MARGIN}"
_ITEM = r"(?=[bfru]?\\{0,7}[\"'])"
_FIRST = pattern(rf"[\[({{][ \t]{{0,200}}(?:{_LINES}){{1,3}}{_ITEM}".encode("latin-1"))
_NEXT = pattern(rf"[ \t,]{{0,200}}(?:{_LINES}){{0,3}}{_ITEM}".encode("latin-1"))
_BRACKET = pattern(rb"[\[{\]}\r\n\"']")
_ALPHANUMERIC = pattern(rb"[^A-Za-z0-9 \t\r\n\f\v\"'&,;]{0,64}[A-Za-z0-9]")
_MOST_LEVELS, _MOST_TOKENS = 16, 64


def _next_line(buf: bytes, name: Assigned, pos: int) -> Iterator[Value]:
    margin, begin = begin_of(buf, pos)
    if name.quote and (text := _text(buf, begin)):
        yield from _quoted(buf, name, text)
    elif begin - margin > indent_at(buf, name.start):
        word = _ALONE.match(buf, begin)
        if word and strong(buf, *word.span(1)):
            yield Value(*word.span(1), seen=word.end(1))


def _bracketed(buf: bytes, name: Assigned, pos: int) -> Iterator[Value]:
    if buf[pos] != ord("(") and (end := _bracket_end(buf, pos)):
        yield Value(pos, end, name.quote, end)
    elif first := _FIRST.match(buf, pos):
        yield from _items(buf, first.end())
    elif _ALPHANUMERIC.match(buf, pos):
        yield from _word(buf, name, pos)


def _items(buf: bytes, pos: int) -> Iterator[Value]:
    """Texts of a list over several lines, as far as they look like a secret."""
    stop = pos + _LONGEST_TEXT
    while pos < stop and (
        text := _text(buf, pos + (buf[pos : pos + 1] in (b"b", b"f", b"r", b"u")))
    ):
        end = text.end if strong(buf, text.begin, text.end) else text.begin
        yield Value(text.begin, end, seen=text.end)
        following = _NEXT.match(buf, text.after)
        if following is None:
            return
        pos = following.end()


def _bracket_end(buf: bytes, start: int) -> int:
    """Return the end of a list or object that has a quoted text in it and ends on its line, or 0."""
    level, pos, texts = 0, start, False
    for _ in range(_MOST_TOKENS):
        found = _BRACKET.search(buf, pos, start + _LONGEST_TEXT)
        if found is None or found[0] in b"\r\n":
            return 0
        pos = found.end()
        if found[0] in b"\"'":
            depth = slashes(buf, start, found.start())
            pos = min(len(buf), closing(buf, pos, depth, found[0], LINE) + depth + 1)
            texts = True
            continue
        level += 1 if found[0] in b"[{" else -1
        if level == 0:
            return pos if texts else 0
        if level > _MOST_LEVELS:
            return 0
    return 0


# --- a word -----------------------------------------------------------------------------------

# Backslashes before a quote belong to the quote.
_UNQUOTED = pattern(rb"(?:[^ \t\r\n\f\v\"'&,;\\]|\\++(?![\"'\\]))++")
# What goes on behind `,`, `;`, `&` or a quote without being a name of something else.
_MORE = pattern(rb"[,;&]++([^ \t\r\n\f\v\"'&,;=:\\()\[\]{}<>]++)(?=[ \t\r\n\f\v\"'&,;]|\\|\Z)")
_INSIDE = pattern(rb"\\{0,7}[\"']([A-Za-z0-9][^ \t\r\n\f\v\"'&,;\\]*+)")
_WEAK = pattern(rb"[a-z]*+|[A-Z_]*+|[A-Z][a-z]*+")
_LOOKED_UP = pattern(rb"(?i:get|env|getenv|environ|read|load|open|path|join|lookup|fetch)\(\Z|\[\Z")
# A declaration with a type that is not known, where the type was taken for the value; a default.
_AND_ITS_VALUE = pattern(rb"[ \t]++(?:=|\|\||\?\?|or\b)[ \t]*+(?=\\{0,7}[\"'])")
_ARGUMENT = pattern(rb"(\\{0,7}[\"'])|[)\r\n]")
_VARIABLE = pattern(rb"[A-Z0-9_]++")
_MOST_ARGUMENTS = 512


def _word(buf: bytes, name: Assigned, pos: int) -> Iterator[Value]:
    word = PLACEHOLDER.match(buf, pos) or _UNQUOTED.match(buf, pos)
    if word is None:
        return
    end = word.end()
    if name.quote:
        while end > pos and buf[end - 1] in b")]}":
            end -= 1
        yield Value(pos, end, name.quote, end)
        return
    while (more := _MORE.match(buf, end) or _inside(buf, name, pos, end)) and not _WEAK.fullmatch(
        more[1]
    ):
        end = more.end()
    yield Value(pos, end, seen=end)
    if buf[end - 1 : end] == b"(":
        yield from _arguments(buf, end)
    if (default := _AND_ITS_VALUE.match(buf, end)) and (text := _text(buf, default.end())):
        yield Value(text.begin, text.end)


def _inside(buf: bytes, name: Assigned, pos: int, end: int) -> re.Match[bytes] | None:
    """Match a quoted part of a word, as in `ab'cd'` and `Field("x")`; not what is looked up by a name."""
    more = _INSIDE.match(buf, end)
    if more is None or _LOOKED_UP.search(buf, max(pos, end - 16), end):
        return None
    quote = more.start(1) - 1
    return None if _closes(buf, name, quote - end, buf[quote : quote + 1]) else more


def _arguments(buf: bytes, pos: int) -> Iterator[Value]:
    """The texts in the arguments of a call that look like a secret, up to its end or its line's."""
    stop = pos + _MOST_ARGUMENTS
    while found := _ARGUMENT.search(buf, pos, stop):
        text = _text(buf, found.start()) if found[1] else None
        if text is None:
            return
        if strong(buf, text.begin, text.end) and not _VARIABLE.fullmatch(buf, text.begin, text.end):
            yield Value(text.begin, text.end, seen=text.end)
        pos = max(found.end(), min(len(buf), text.after))
