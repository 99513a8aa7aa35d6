"""Secrets on command lines, rule 16 of table B."""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import ESCAPES, Span, edge
from agentfeedback.scrub.names import NAME_END, NAME_END_HINT, is_part, name_start
from agentfeedback.scrub.needle import next_start, pattern
from agentfeedback.scrub.quoted import quoted_value, word_end

_FLAG = pattern(rf"(?i:{NAME_END})[-_.]*+(?:=|[ \t]++)(?![ \t-])".encode())

# A command goes on after `\` and a line break; `&` alone can stand in the URL of a call.
_next_flag = next_start(rf"(?i:{NAME_END_HINT})[-_.]*(?:=|[ \t]+)[^ \t-]")
_WORD = "[A-Za-z0-9_]"
_CURL = pattern(rf"curl{edge('curl', _WORD, ESCAPES)}(?!{_WORD})".encode())
_CURL_END = pattern(rb"(?<!\\)\r?\n|[;|]|&&")
_USER = pattern(
    rb"[ \t\n\"'](?:-[A-Za-z]{0,8}u[ \t]*+|--(?:proxy-)?user(?:=|[ \t]++))"
    rb"(\\{0,7}[\"'])?([^ \t\n\r\f\v:\"'\\]*+):"
)
_MYSQL = pattern(
    rf"m(?:ysql|ariadb)(?:(?<=mysql){edge('mysql', _WORD, ESCAPES)}(?:dump|admin)?"
    rf"|(?<=mariadb){edge('mariadb', _WORD, ESCAPES)})(?!{_WORD})".encode()
)
_MYSQL_END = pattern(rb"(?<!\\)\r?\n|[;|&]")
_PASSWORD = pattern(rb"[ \t\n]-p(?=[^ \t\n\r\f\v])")

HINT = (
    rf"(?i:--[A-Z0-9_.-]*{NAME_END_HINT})[-_.]*(?:=|[ \t]+)[^- \t\n\r\f\v]"
    r"|curl(?s:.*)[ \t\n\"'](?:-[A-Za-z]{0,8}u|--(?:proxy-)?user)"
    r"|(?:mysql|mariadb)(?s:.*)[ \t\n]-p[^ \t\n\r\f\v]"
)


def flags(buf: bytes) -> Iterator[Span]:
    """Values of secret flags, of `curl -u` and of `mysql -p`, in the order of the text."""
    found = sorted((*_long(buf), *_users(buf), *_passwords(buf)))
    yield from ((start, end, b"") for start, end in found)


def _argument(buf: bytes, pos: int) -> tuple[int, int]:
    if quoted := quoted_value(buf, pos):
        return quoted[:2]
    return pos, word_end(buf, pos)


def _long(buf: bytes) -> Iterator[tuple[int, int]]:
    pos = 0
    while (at := _next_flag(buf, pos)) >= 0:
        pos = at + 1
        match = _FLAG.match(buf, at)
        if match is None:
            continue
        pos = match.end()
        if match["part"] and not is_part(buf, match.start("part")):
            continue
        if buf.find(b"--", name_start(buf, match.start()), match.start()) < 0:
            continue
        begin, end = _argument(buf, match.end())
        yield begin, end
        pos = max(pos, end)


def _commands(
    buf: bytes, word: re.Pattern[bytes], stop: re.Pattern[bytes]
) -> Iterator[tuple[int, int]]:
    """The arguments of each call, up to the end of its command: cut once, so it stays linear."""
    pos = 0
    while match := word.search(buf, pos):
        end = stop.search(buf, match.end())
        pos = end.end() if end else len(buf)
        yield match.end(), end.start() if end else len(buf)


def curl_commands(buf: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of the arguments of each call of `curl`."""
    return _commands(buf, _CURL, _CURL_END)


def _users(buf: bytes) -> Iterator[tuple[int, int]]:
    for start, stop in curl_commands(buf):
        for match in _USER.finditer(buf, start, stop):
            if match.start(1) < 0:
                yield match.end(), word_end(buf, match.end())
                continue
            # The quote opens before the user; the password ends where it closes.
            _, end, _ = quoted_value(buf, match.start(1)) or (0, 0, 0)
            yield match.end(), max(match.end(), end)


def _passwords(buf: bytes) -> Iterator[tuple[int, int]]:
    for start, stop in _commands(buf, _MYSQL, _MYSQL_END):
        for match in _PASSWORD.finditer(buf, start, stop):
            yield _argument(buf, match.end())
