"""Values of authorization and cookie headers, as a header, a field, an assignment or an argument."""

import re
from collections.abc import Iterator

from agentfeedback.scrub.flags import curl_commands
from agentfeedback.scrub.formats import LEFT, MARKER, Span
from agentfeedback.scrub.needle import next_start, pattern
from agentfeedback.scrub.quoted import ESCAPED, LINE, OPENING, closing, rest_end, slashes, word_end

_BEHIND = r"\\{0,7}[\"']?[ \t]*"
AUTHORIZATION_HINT = rf"(?i:authorization){_BEHIND}(?:=>|[:=])"
COOKIE_HINT = rf"(?i:cookie2?){_BEHIND}:|[ \t\n\"'](?:-b|--cookie)[^\r\n]*="
_next_authorization = next_start(AUTHORIZATION_HINT)
_next_cookie = next_start(rf"(?i:cookie2?){_BEHIND}:")
_SEPARATOR = r"(?P<quote>\\{0,7}[\"'])?[ \t]*+(?:=>|%s)[ \t]*+"
_AUTHORIZATION = pattern(b"(?i:authorization)" + (_SEPARATOR % "[:=]").encode())
_COOKIE = pattern(b"(?i:cookie2?)" + (_SEPARATOR % ":").replace("=>|", "").encode())
_PROXY = pattern(rb"(?i)(?:proxy-|x-)\Z")
_SET = pattern(rb"(?i)set-\Z")
_LEFT = pattern(f"{LEFT}\\Z".encode())
_BEFORE = 16

_SCHEME = (  # compiled when it is first needed, since it is long
    rb"(?i:Basic|Bearer|Digest|Token|Negotiate|NTLM|AWS4-HMAC-SHA256|ApiKey|Api-Key|Key|Hawk|OAuth"
    rb"|DPoP|HOBA|Mutual|SCRAM-SHA-1|SCRAM-SHA-256|SharedKey|SharedAccessSignature|GoogleLogin"
    rb"|Snowflake|Private-Token|JWT|Bot|Discogs|Signature|vapid|SSWS)[ \t]++"
)
_WORD = pattern(rb"[^ \t]++")
_TWO_WORDS = pattern(rb"[^ \t]++(?:[ \t]++[^ \t]++)?")
_LAST_WORD = pattern(rb"[^ \t]++[ \t]++([^ \t]++)")
_STRONG = pattern(rb"(?=.*?(?:[0-9+/=]|[a-z].*[A-Z]|[A-Z].*[a-z])).{8,}", re.DOTALL)
_CALL = pattern(rb"[A-Za-z_][A-Za-z0-9_.]*\(")
_PAIR = pattern(rb"[^ \t=;,\"']=")
_PREFIX = pattern(rb"[bfruBFRU]{1,2}(?=\\{0,7}[\"'])")
_COOKIES = pattern(rb"[ \t\n\"'](?:-b[ \t]*+|--cookie(?:=|[ \t]++))")
# A word longer than this is strong or is not by its beginning.
_LOOKED_AT = 512


def _strong(buf: bytes, start: int, end: int) -> bool:
    """Whether a word can be a credential: a digit, a sign of base64 or both cases, and not a call."""
    word = buf[start : min(end, start + _LOOKED_AT)]
    return (
        MARKER.match(word) is None
        and _CALL.match(word) is None
        and _STRONG.fullmatch(word) is not None
    )


def _name(buf: bytes, at: int, before: re.Pattern[bytes]) -> int:
    """Return where the header's name begins, or -1 if it is the end of a longer word."""
    start = max(0, at - _BEFORE)
    head = buf[start:at]
    if longer := before.search(head):
        head = head[: longer.start()]
    return start + len(head) if (start + len(head) == 0 or _LEFT.search(head)) else -1


def _text(buf: bytes, name: int, match: re.Match[bytes]) -> tuple[int, int]:
    """Return the text of a header: quoted, or to the end of its line or of the text around it."""
    pos = match.end()
    if prefix := _PREFIX.match(buf, pos):
        pos = prefix.end()
    around = buf[name - 1 : name] if name and not match["quote"] else b""
    depth = slashes(buf, max(0, name - 8), name - 1) if around in (b'"', b"'") else -1
    if opening := OPENING.match(buf, pos):
        inside = len(opening.group(1))
        if depth == inside and around == opening.group(2):
            return pos, pos
        begin = opening.end()
        return begin, closing(buf, begin, inside, opening.group(2), LINE)
    if depth >= 0:
        return pos, closing(buf, pos, depth, around, ESCAPED)
    return pos, rest_end(buf, pos)


def _stripped(buf: bytes, start: int, end: int) -> tuple[int, int]:
    while end > start and buf[end - 1] in b" \t":
        end -= 1
    return start, end


def authorizations(buf: bytes) -> Iterator[Span]:
    """Credentials of `Authorization` headers: behind a scheme all, else a word that can be one."""
    pos = 0
    while (at := _next_authorization(buf, pos)) >= 0:
        pos = at + 1
        match = _AUTHORIZATION.match(buf, at)
        name = _name(buf, at, _PROXY)
        if match is None or name < 0:
            continue
        start, end = _stripped(buf, *_text(buf, name, match))
        pos = max(pos, end)
        if scheme := re.compile(_SCHEME).match(buf, start, end):
            yield scheme.end(), end, b""
            continue
        word = _WORD.match(buf, start, end)
        if word and _strong(buf, *word.span()):
            two = _TWO_WORDS.match(buf, start, end)
            yield start, two.end() if two else word.end(), b""
        elif (last := _LAST_WORD.fullmatch(buf, start, end)) and _strong(buf, *last.span(1)):
            yield *last.span(1), b""


def cookies(buf: bytes) -> Iterator[Span]:
    """Values of cookie headers, attributes included, and of the cookies that `curl` is given."""
    found = sorted((*_headers(buf), *_arguments(buf)))
    yield from ((start, end, b"") for start, end in found)


def _headers(buf: bytes) -> Iterator[tuple[int, int]]:
    pos = 0
    while (at := _next_cookie(buf, pos)) >= 0:
        pos = at + 1
        match = _COOKIE.match(buf, at)
        name = _name(buf, at, _SET)
        if match is None or name < 0:
            continue
        start, end = _stripped(buf, *_text(buf, name, match))
        pos = max(pos, end)
        word = _WORD.match(buf, start, end)
        if word and (_PAIR.search(buf, start, end) or _strong(buf, *word.span())):
            yield start, end


def _arguments(buf: bytes) -> Iterator[tuple[int, int]]:
    for start, stop in curl_commands(buf):
        for match in _COOKIES.finditer(buf, start, stop):
            pos = match.end()
            if opening := OPENING.match(buf, pos):
                pos = opening.end()
                end = closing(buf, pos, len(opening.group(1)), opening.group(2), LINE)
            else:
                end = word_end(buf, pos)
            if b"=" in buf[pos:end]:
                yield pos, end
