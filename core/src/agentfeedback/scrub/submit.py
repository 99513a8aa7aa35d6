"""The exit table: everything that is printed, filed or sent passes it.

The first rule that takes a text names it, so a rule of a vendor stands before one of a name.
"""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import BEARER, ESCAPES, LEFT, WS, Format, Span, Table, edge
from agentfeedback.scrub.headers import (
    AUTHORIZATION_HINT,
    COOKIE_HINT,
    authorizations,
    cookies,
)
from agentfeedback.scrub.keys import PRIVATE_KEY
from agentfeedback.scrub.needle import next_start
from agentfeedback.scrub.quoted import closing
from agentfeedback.scrub.shapes import FIRST, MORE
from agentfeedback.scrub.urls import url_values

_MARKER_OR_VARIABLE = re.compile(rb"\[REDACTED:[a-z_]+\]|\$\{?[A-Z_][A-Z0-9_]*\}?")

# Only what the value follows matters: a name may have anything before its secret word.
_NAME = "(?:password|passwd|(?:client_)?secret|(?:auth_)?token|api[_-]?key|access_key|private_key)"
_ASSIGNED = rf"(?i:{_NAME})[\"']?{WS}*+[:=]{WS}*+"
_ASSIGNMENT = rf"{_ASSIGNED}(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^ \t\n\r\f\v\"'&,;]+))"
_ASSIGNMENT_HINT = rf"(?i:{_NAME})[\"']?{WS}*[:=]{WS}*[^ \t\n\r\f\v&,;]"
_next_assignment = next_start(_ASSIGNMENT_HINT)
_ESCAPED_HINT = rf"(?i:{_NAME})\\{{1,7}}\"{WS}*[:=]{WS}*\\{{1,7}}\""
_ESCAPED = re.compile(
    rf"(?i:{_NAME})\\{{1,7}}\"{WS}*+[:=]{WS}*+(\\{{1,7}})\"".encode(),
)
_MEMBER = rf"[A-Za-z0-9_.-]*(?i:{_NAME})"

# A cheap question first: every member of every event is asked.
_ENDINGS = ("password", "passwd", "secret", "token", "key")

# Longer than any secret word with the separators after it.
_TAIL = 24


def left_alone(buf: bytes, start: int, end: int) -> bool:
    """Empty, exactly one marker, or exactly an upper-case variable reference."""
    return start == end or _MARKER_OR_VARIABLE.fullmatch(buf, start, end) is not None


_PLACEHOLDER = re.compile(
    rb"<[A-Za-z _.-]++>|\$?\{{1,2}[A-Za-z_][A-Za-z0-9_.]*\}{1,2}|\*{3,}|\.{3}|\xe2\x80\xa6"
)


def placeholder(buf: bytes, start: int, end: int) -> bool:
    """Left alone, or what stands for a value in documentation and templates."""
    return left_alone(buf, start, end) or _PLACEHOLDER.fullmatch(buf, start, end) is not None


def _assignments(buf: bytes) -> Iterator[Span]:
    """Values of rule 14.

    The search goes on a little before the end of a value, because that end can be the name of the
    next one (`secret:` and `password: x` on two lines) whose value would be passed over.
    """
    match_at = re.compile(_ASSIGNMENT.encode()).match
    pos = last = 0
    while (at := _next_assignment(buf, pos)) >= 0:
        pos = at + 1
        match = match_at(buf, at)
        if match is None:
            continue
        start, end = match.span(match.lastindex or 0)
        if start >= last:
            yield start, end, b""
            last = match.end()
        pos = max(pos, last - _TAIL)


def _is_member(name: str) -> bool:
    return name.lower().endswith(_ENDINGS) and bool(re.fullmatch(_MEMBER, name, re.ASCII))


def _escaped_assignments(buf: bytes) -> Iterator[Span]:
    """Values of rule 14 where name and value are quoted inside a text that is escaped JSON itself.

    A rule for plain text stops at the backslash; a log that holds a log would show the value.
    """
    pos = 0
    while match := _ESCAPED.search(buf, pos):
        pos = closing(buf, match.end(), len(match[1]))
        yield match.end(), pos, b""


_ENV_WORD = "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH|PRIVATE)"
# The look-ahead finds the `=` once; without it every segment would look for it again.
_ENV_LINE = (
    r"(?m:^)(?:export )?(?=[A-Z][A-Z0-9_]*+=)"
    rf"(?:[A-Z0-9]*+_)*?[A-Z0-9]*{_ENV_WORD}(?:_[A-Z0-9_]*+)?="
    r"(?:\"([^\"\r\n]*)\"|'([^'\r\n]*)'|([^\r\n]+))"
)

_SECRET_KEY = r"secret[ _-]?(?:access[ _-]?)?key(?: \[[^\]\r\n]{0,32}\])?"
_BETWEEN = r"(?:[\\\"' \t]*+(?:=>|[:=>])[\\\"' \t]*+|[ \t]++[\"']?)"
_MAY_BE_BETWEEN = r"[\\\"' \t:=>]+"


def _named(kind: str, name: str, value: str, *needles: str, start: str, end: str = "") -> Format:
    """Return the rule of a value behind its name; `start` is how the value begins, in RE2 syntax."""
    return Format(
        kind,
        f"(?i:{name})({value}){end}",
        needles=needles,
        value=(1,),
        guard=left_alone,
        hint=f"(?i:{name.replace(_BETWEEN, _MAY_BE_BETWEEN)}){start}",
    )


NAMED_KEYS = (
    _named(
        "aws_secret_key",
        _SECRET_KEY + _BETWEEN,
        "[A-Za-z0-9/+]{40}",
        "secret",
        start="[A-Za-z0-9/+]{40}",
        end="(?![A-Za-z0-9/+=])",
    ),
    _named(
        "aws_secret_key",
        "session[_-]?token" + _BETWEEN,
        "[A-Za-z0-9/+]{100,}+={0,2}",
        "session",
        start="[A-Za-z0-9/+]{100}",
    ),
    _named(
        "azure_key",
        "(?:account|sharedaccess|primary|secondary)key=",
        "[A-Za-z0-9+/]{40,}+={0,2}",
        "key=",
        start="[A-Za-z0-9+/]{40}",
    ),
    _named(
        "url_signature",
        "[?&;](?:sig|signature|x-amz-signature|x-goog-signature)=",
        "[A-Za-z0-9%+/=_-]{32,}",
        "sig",
        start="[A-Za-z0-9%+/=_-]{32}",
    ),
    _named(
        "webhook_url",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/",
        "[A-Za-z0-9+/_-]{20,}",
        "hooks.slack.com/",
        start="[A-Za-z0-9+/_-]{20}",
    ),
    _named(
        "webhook_url",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/",
        "[0-9]{17,20}/[A-Za-z0-9_-]{60,}",
        "/webhooks/",
        start="[0-9]{17,20}/[A-Za-z0-9_-]{60}",
    ),
)
"""Keys without a form of their own, known by the name before them."""

# One attempt for each run of scheme characters: the first letter at a word boundary, or none.
_URL = (
    r"(?<![A-Za-z0-9+.-])(?>(?<!_)(?=[A-Za-z])|[A-Za-z0-9+.-]*?[+.-](?=[A-Za-z]))"
    r"[A-Za-z0-9+.-]*+://([^ \t\n\r\f\v/@:]+:[^ \t\n\r\f\v/]+)@"
)
_URL_HINT = r"://[^ \t\n\r\f\v/@:]+:[^ \t\n\r\f\v/]+@"

SUBMIT = Table(
    formats=(
        PRIVATE_KEY,
        *FIRST,
        Format(
            "bearer_token",
            rf"(?i:bearer){edge('.{6}', '[A-Za-z0-9]', ESCAPES)}{WS}++({BEARER})",
            needles=("bearer",),
            value=(1,),
            guard=left_alone,
            hint=rf"{LEFT}(?:(?i:bearer){WS}+{BEARER})",
        ),
        Format(
            "url_credentials",
            needles=("://",),
            find=url_values(_URL, _URL_HINT),
            guard=left_alone,
            hint=_URL_HINT,
        ),
        *MORE,
        *NAMED_KEYS,
        Format(
            "authorization",
            find=authorizations,
            guard=placeholder,
            hint=AUTHORIZATION_HINT,
        ),
        Format("cookie", find=cookies, guard=placeholder, hint=COOKIE_HINT),
        Format(
            "env_line",
            _ENV_LINE,
            needles=("=",),
            value=(1, 2, 3),
            guard=left_alone,
            hint=rf"(?m:^)(?:export )?[A-Z0-9_]*{_ENV_WORD}(?:_[A-Z0-9_]*)?=[^\r\n]",
        ),
        Format(
            "assignment",
            needles=("passw", "secret", "token", "key"),
            find=_assignments,
            guard=left_alone,
            hint=_ASSIGNMENT_HINT,
        ),
        Format(
            "assignment",
            needles=("passw", "secret", "token", "key"),
            find=_escaped_assignments,
            guard=left_alone,
            hint=_ESCAPED_HINT,
        ),
    ),
    member=_is_member,
    guard=left_alone,
    fallback="assignment",
)
