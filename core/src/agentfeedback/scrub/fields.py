"""Fields and assignments with secret names, rules 17 and 18 of table B, and what they leave alone.

Both look for the end of a secret name first and then at what is around it: few texts have one.
"""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import MARKER, WS, Span
from agentfeedback.scrub.names import LONGEST_END, NAME_END, NAME_END_HINT, is_part, name_start
from agentfeedback.scrub.needle import next_start, pattern
from agentfeedback.scrub.quoted import (
    ESCAPED,
    OPENING,
    bracket_end,
    closing,
    quoted_value,
    rest_end,
    slashes,
)

_LEFT_ALONE = pattern(
    rb"(?i:true|false|null|none)|\$[A-Z_][A-Z0-9_]*|\$\{[A-Z_][A-Z0-9_]*\}|%[A-Z_][A-Z0-9_]*%"
    rb"|<[^<>\n]*>|\*{3,}|[\[{(]+"
)


def left_alone(buf: bytes, start: int, end: int) -> bool:
    """Whether a value of table B stays: empty, a literal, a marker, a variable, a placeholder."""
    return (
        start >= end
        or MARKER.match(buf, start) is not None
        or _LEFT_ALONE.fullmatch(buf, start, end) is not None
    )


# --- 17 field ---------------------------------------------------------------------------------

_FIELD = pattern(rf"(?i:{NAME_END})[-_. ]*+(?P<slashes>\\{{0,7}}+)\"{WS}*+:{WS}*+".encode())
FIELD_HINT = rf"(?i:{NAME_END_HINT})[-_. ]*\\*\"{WS}*:{WS}*[^ \t\n\r\f\vtfn]"
_next_field = next_start(FIELD_HINT)
_NUMBER = pattern(rb"-?[0-9][0-9.eE+-]*")
_EMPTY = pattern(rb"\[[ \t\r\n]*+\]|\{[ \t\r\n]*+\}")


def fields(buf: bytes) -> Iterator[Span]:
    """Values of JSON fields in a text: strings inside their quotes, numbers, whole subtrees."""
    pos = 0
    while (at := _next_field(buf, pos)) >= 0:
        pos = at + 1
        match = _FIELD.match(buf, at)
        if match is None:
            continue
        pos = match.end()
        if match["part"] and not is_part(buf, match.start("part")):
            continue
        depth = len(match["slashes"])
        opening = OPENING.match(buf, pos)
        if opening and opening.group(2) == b'"' and len(opening.group(1)) == depth:
            begin = opening.end()
            end = closing(buf, begin, depth)
            yield begin, end, b""
            # The closing quote stays: a search from inside it could not tell what it closes.
            pos = min(len(buf), end + depth + 1)
            continue
        if number := _NUMBER.match(buf, pos):
            end = number.end()
        elif buf[pos : pos + 1] in (b"{", b"["):
            end = bracket_end(buf, pos, depth)
            if _EMPTY.fullmatch(buf, pos, end):
                continue
        else:
            continue
        yield pos, end, match["slashes"] + b'"'
        pos = end


# --- 18 assignment ----------------------------------------------------------------------------

# `::` is a path of a language and no assignment; `==` compares with what may be the secret.
_ASSIGNED = pattern(
    rf"(?i:{NAME_END})[-_.]*+(?:\\{{0,7}}+[\"'])?{WS}*+"
    rf"(?P<sep>=>|={{1,3}}|:=?(?!:)){WS}*+".encode()
)
ASSIGNMENT_HINT = rf"(?i:{NAME_END_HINT})[-_.]*(?:\\*[\"'])?{WS}*(?:=|:){WS}*[^ \t\n\r\f\v,;&)\]}}]"
_next_assignment = next_start(ASSIGNMENT_HINT)
# A marker or `${NAME}` in a value counts as one character: its bracket does not end the value.
_UNQUOTED = pattern(
    rb"<[^<>\n]*>|(?:[^ \t\n\r\f\v\"',;&)\]}\\\[$]|\[REDACTED:[a-z_]+\]|\$\{[A-Z_][A-Z0-9_]*\}|[\[$]"
    rb"|\\++(?![\"'\\]))++"
)
# `Basic abc`, `Digest abc`: the scheme goes with its value.
_SCHEME = pattern(rb"[A-Za-z][A-Za-z0-9-]*[ \t]++(?=[^ \t\n\r\f\v])")


def _value(buf: bytes, match: re.Match[bytes]) -> tuple[int, int, int] | None:
    """Return start and end of the value of an assignment, and where it has been looked at to."""
    pos = match.end()
    name = buf[match.start() : match.start("sep")].lower()
    if name.startswith(b"cookie") and match["sep"] == b":":
        return _cookies(buf, match.start(), pos)
    if quoted := quoted_value(buf, pos):
        return quoted
    begin = pos
    if name.startswith(b"authorization") and (scheme := _SCHEME.match(buf, pos)):
        begin = scheme.end()
        if MARKER.match(buf, begin):
            return pos, pos, begin
    value = _UNQUOTED.match(buf, begin)
    if value is None:
        return None
    return pos, value.end(), value.end()


def _cookies(buf: bytes, name: int, pos: int) -> tuple[int, int, int] | None:
    """The rest of the line; where the whole header is quoted, to the quote that closes it."""
    if quoted := quoted_value(buf, pos):
        return quoted
    begin = name_start(buf, name)
    quote = buf[begin - 1 : begin]
    if quote in (b'"', b"'"):
        depth = slashes(buf, max(0, begin - 8), begin - 1)
        end = closing(buf, pos, depth, quote, ESCAPED)
    else:
        end = rest_end(buf, pos)
    return pos, end, end


def assignments(buf: bytes) -> Iterator[Span]:
    """Values of `NAME=value`, `NAME: value`, `NAME => value` and the like.

    The search goes on a little before the end of a value, because that end can be the name of the
    next one (`auth:` and `password: x` on two lines) whose value would be passed over.
    """
    pos = last = 0
    while (at := _next_assignment(buf, pos)) >= 0:
        pos = at + 1
        match = _ASSIGNED.match(buf, at)
        if match is None:
            continue
        if match["part"] and not is_part(buf, match.start("part")):
            continue
        if match.end() < last:
            continue
        found = _value(buf, match)
        if found is None:
            continue
        start, end, seen = found
        yield start, end, b""
        last = max(last, seen)
        pos = max(pos, last - LONGEST_END)
