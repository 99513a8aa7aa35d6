"""Secrets whose names stand beside them without a separator: elements, attributes, arguments, pairs.

Where only the place says that a text is a secret (`f("token", "…")`), it has to look like one; an
element or a pair of `name` and `value` says it for sure.
"""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import Finder, Format, Span
from agentfeedback.scrub.lines import MARGIN
from agentfeedback.scrub.literals import left_alone, strong
from agentfeedback.scrub.names import NAME_END, NAME_END_HINT, NEEDLES, is_part, name_start
from agentfeedback.scrub.needle import next_start, pattern
from agentfeedback.scrub.quoted import LINE, OPENING, closing, word_end

_NAME = "(?i:" + NAME_END + ")"
_NAME_HINT = f"(?i:{NAME_END_HINT})"
_QUOTE = r"\\{0,7}[\"']"
_SPACE = rf"(?:[ \t]|(?:[\r\n]|\\{{1,7}}[nr]){MARGIN}|\\{{1,7}}t)"
_SPACE_HINT = r"(?:[ \t\r\n0-9:|+>\xe2\x86\x92-]|\\+[nrt])"

# `"token", "…"`, `password "…"`, `password <- "…"`, `setPassword("…")`: the quote that opens the value.
_ARGUMENT = pattern(
    rf"{_NAME}[-_.]*+(?:{_QUOTE}[ \t]*+,{_SPACE}{{0,20}}|(?:{_QUOTE})?[ \t]++(?:<-[ \t]*+)?|\([ \t]*+)"
    r"[bfruL$@]?(?=\\{0,7}[\"'])".encode()
)
_ARGUMENT_HINT = (
    rf"{_NAME_HINT}[-_.]*(?:\\*[\"'][ \t]*,{_SPACE_HINT}*|(?:\\*[\"'])?[ \t]+(?:<-[ \t]*)?|\([ \t]*)"
    r"[bfruL$@]?\\*[\"']"
)
_SQL = pattern(
    rb"(?i:identified(?: with [a-z0-9_]{1,40})? (?:by|as)|\bwith (?:encrypted )?password)[ \t]++(?=\\{0,7}['\"])"
)
_SQL_HINT = r"(?i:identified(?: with [a-z0-9_]{1,40})? (?:by|as)|with (?:encrypted )?password)[ \t]+\\*['\"]"

# `<password>…</`, `<a name="password">…</`, `<key>password</key> <string>…</`
_ELEMENT = pattern(
    rf"{_NAME}[-_.]*+(?P<quote>{_QUOTE})?(?:</[A-Za-z:]{{1,40}}>{_SPACE}{{0,40}}<[A-Za-z:]{{1,40}}|(?:(?<=[\"' \t])|(?=[ \t>]))[^<>\r\n]{{0,200}})>"
    rf"{_SPACE}{{0,40}}(?:<!\[CDATA\[)?([^<\]]{{1,4096}})(?:\]\]>)?{_SPACE}{{0,40}}<\\?/".encode()
)
_ELEMENT_HINT = (
    rf"{_NAME_HINT}[-_.]*(?:{_QUOTE})?(?:</[A-Za-z:]+>{_SPACE_HINT}*<[A-Za-z:]+|[^<>\r\n]*)>[^<]*<"
)
_IN_A_TAG = pattern(rb"<[A-Za-z0-9:]{0,40}\Z|=[ \t]*\\{0,7}[\"'][^\"'<>]{0,120}\Z|>[ \t]*\Z")

# `name: password` and `value: …` beside one another, in either order, in JSON, YAML and attributes.
_LABEL = r"(?i:name|key|id|field|property|param|parameter|variable|type|label)"
_CONTENT = r"(?i:value|val|content|default|text|data)"
_IS = rf"(?:{_QUOTE})?[ \t]*+[=:][ \t]*+"
_LABELLED = pattern(
    rf"(?:^|[^A-Za-z0-9]|\\[nrt]){_LABEL}{_IS}(?:{_QUOTE})?[A-Za-z0-9_.-]{{0,120}}\Z".encode()
)
_THEN_VALUE = pattern(
    rf"{_NAME}[-_.]*+(?:{_QUOTE})?(?:{_SPACE}|,){{1,60}}(?:{_QUOTE})?{_CONTENT}{_IS}".encode()
)
_THEN_VALUE_HINT = rf"{_NAME_HINT}[-_.]*(?:\\*[\"'])?(?:,|{_SPACE_HINT})+(?:\\*[\"'])?{_CONTENT}(?:\\*[\"'])?[ \t]*[=:]"
_VALUE_FIRST = pattern(
    rf"(?:^|[^A-Za-z0-9]){_CONTENT}{_IS}(\\{{0,7}})([\"'])([^\"'\r\n]{{1,200}}?)\1\2(?:{_SPACE}|,){{1,60}}(?:{_QUOTE})?"
    rf"{_LABEL}{_IS}(?:{_QUOTE})?[A-Za-z0-9_.-]{{0,120}}\Z".encode()
)
_VALUE_FIRST_HINT = (
    rf"{_CONTENT}(?:\\*[\"'])?[ \t]*[=:][ \t]*\\*[\"'][^\"'\r\n]*[\"'](?:,|{_SPACE_HINT})+(?:\\*[\"'])?{_LABEL}"
    rf"(?:\\*[\"'])?[ \t]*[=:][ \t]*(?:\\*[\"'])?[A-Za-z0-9_.-]*{_NAME_HINT}"
)
_NETRC = pattern(
    rf"(?i:login|user|account)[ \t]++[^ \t\r\n]{{1,200}}?{_SPACE}{{1,20}}(?i:password)[ \t]++".encode()
)
_NETRC_HINT = rf"(?i:login|user|account)[ \t]+[^ \t\r\n]+{_SPACE_HINT}*(?i:password)[ \t]"
_LOOK_BACK = 420


def _matches(buf: bytes, hint: str, pattern: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
    """Matches of a pattern that begins with a name's end."""
    next_match = next_start(hint)
    pos = 0
    while (at := next_match(buf, pos)) >= 0:
        pos = at + 1
        match = pattern.match(buf, at)
        if match and not (match["part"] and not is_part(buf, match.start("part"))):
            yield match


def _quoted(buf: bytes, pos: int) -> tuple[int, int]:
    opening = OPENING.match(buf, pos)
    if opening is None:
        return pos, pos
    begin = opening.end()
    return begin, closing(buf, begin, len(opening[1]), opening[2], LINE)


def _arguments(buf: bytes) -> Iterator[Span]:
    last = 0
    for match in _matches(buf, _ARGUMENT_HINT, _ARGUMENT):
        if match.start() < last:
            continue
        start, end = _quoted(buf, match.end())
        last = max(last, end)
        if strong(buf, start, end) and b" " not in buf[start:end]:
            yield start, end, b""


def _statements(buf: bytes) -> Iterator[Span]:
    for match in _SQL.finditer(buf):
        start, end = _quoted(buf, match.end())
        yield start, end, b""


def _elements(buf: bytes) -> Iterator[Span]:
    for match in _matches(buf, _ELEMENT_HINT, _ELEMENT):
        name = name_start(buf, match.start())
        if _IN_A_TAG.search(buf, max(0, name - 130), name):
            start, end = match.span(3)
            yield start, start + len(buf[start:end].rstrip()), b""


def _pairs(buf: bytes) -> Iterator[Span]:
    for match in _matches(buf, _THEN_VALUE_HINT, _THEN_VALUE):
        if not _LABELLED.search(buf, max(0, match.start() - _LOOK_BACK), match.start()):
            continue
        if OPENING.match(buf, match.end()):
            start, end = _quoted(buf, match.end())
        else:
            start, end = match.end(), word_end(buf, match.end())
        yield start, end, b""


def _reversed(buf: bytes) -> Iterator[Span]:
    next_match = next_start(_VALUE_FIRST_HINT)
    next_name = next_start(_NAME_HINT)
    pos = 0
    while (at := next_match(buf, pos)) >= 0:
        pos = at + 1
        name = next_name(buf, at)
        found = _VALUE_FIRST.search(buf, max(0, at - 1), name) if name - at < _LOOK_BACK else None
        if found:
            yield *found.span(3), b""
            pos = name


def _machines(buf: bytes) -> Iterator[Span]:
    for match in _NETRC.finditer(buf):
        yield match.end(), word_end(buf, match.end()), b""


def _rule(find: Finder, hint: str, *needles: str) -> Format:
    return Format("assignment", needles=needles or NEEDLES, find=find, guard=left_alone, hint=hint)


BESIDE = (
    _rule(_elements, _ELEMENT_HINT),
    _rule(_pairs, _THEN_VALUE_HINT),
    _rule(_reversed, _VALUE_FIRST_HINT),
    _rule(_machines, _NETRC_HINT, "password"),
    _rule(_statements, _SQL_HINT, "identified", "password"),
    _rule(_arguments, _ARGUMENT_HINT),
)
"""The rules of this module, the surest first."""
