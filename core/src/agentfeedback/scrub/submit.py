"""Table A: the 14 classes of `submit --scrub`, digests and lists.

The order is the specification's: the first class that takes a text names it.
"""

import re
from collections.abc import Iterator

from agentfeedback.scrub.formats import (
    ANTHROPIC,
    AWS,
    BEARER,
    ESCAPES,
    GITHUB,
    GITHUB_PAT,
    GITLAB,
    GOOGLE,
    JWT,
    OPENAI,
    PRIVATE_KEY,
    STRIPE,
    WS,
    Format,
    Span,
    Table,
    edge,
)
from agentfeedback.scrub.needle import next_start
from agentfeedback.scrub.quoted import closing
from agentfeedback.scrub.urls import url_values

_WORD = "[A-Za-z0-9_]"
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
# A word boundary, or the end of an escape: its letter is not part of the text.
_EDGE = rf"(?:\b|{'|'.join(ESCAPES)})"
_MEMBER = rf"[A-Za-z0-9_.-]*(?i:{_NAME})"

# A cheap question first: every member of every event is asked.
_ENDINGS = ("password", "passwd", "secret", "token", "key")

# Longer than any secret word with the separators after it.
_TAIL = 24


def left_alone(buf: bytes, start: int, end: int) -> bool:
    """Empty, exactly one marker, or exactly an upper-case variable reference."""
    return start == end or _MARKER_OR_VARIABLE.fullmatch(buf, start, end) is not None


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

    The specification's rule stops at the backslash; a log that holds a log would show the value.
    """
    pos = 0
    while match := _ESCAPED.search(buf, pos):
        pos = closing(buf, match.end(), len(match[1]))
        yield match.end(), pos, b""


def _shape(kind: str, needle: str, body: str) -> Format:
    return Format(
        kind,
        needle + edge(needle, _WORD, ESCAPES) + body,
        needles=(needle,),
        hint=rf"{_EDGE}{needle}{body}",
    )


_ENV_WORD = "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH|PRIVATE)"
# The look-ahead finds the `=` once; without it every segment would look for it again.
_ENV_LINE = (
    r"(?m:^)(?:export )?(?=[A-Z][A-Z0-9_]*+=)"
    rf"(?:[A-Z0-9]*+_)*?[A-Z0-9]*{_ENV_WORD}(?:_[A-Z0-9_]*+)?="
    r"(?:\"([^\"\r\n]*)\"|'([^'\r\n]*)'|([^\r\n]+))"
)

# One attempt for each run of scheme characters: the first letter at a word boundary, or none.
_URL = (
    r"(?<![A-Za-z0-9+.-])(?>(?<!_)(?=[A-Za-z])|[A-Za-z0-9+.-]*?[+.-](?=[A-Za-z]))"
    r"[A-Za-z0-9+.-]*+://([^ \t\n\r\f\v/@:]+:[^ \t\n\r\f\v/]+)@"
)
_URL_HINT = r"://[^ \t\n\r\f\v/@:]+:[^ \t\n\r\f\v/]+@"

SUBMIT = Table(
    formats=(
        PRIVATE_KEY,
        _shape("jwt", "eyJ", JWT),
        Format(
            "aws_access_key",
            rf"{AWS}{edge('.{4}', _WORD, ESCAPES)}[A-Z0-9]{{16}}(?!{_WORD})",
            needles=("akia", "asia", "abia", "acca"),
            hint=rf"{_EDGE}{AWS}[A-Z0-9]{{16}}\b",
        ),
        _shape("gcp_api_key", "AIza", GOOGLE),
        Format(
            "github_token",
            rf"gh{edge('gh', _WORD, ESCAPES)}{GITHUB}"
            rf"|github_pat_{edge('github_pat_', _WORD, ESCAPES)}{GITHUB_PAT}",
            needles=("gh",),
            hint=rf"{_EDGE}gh{GITHUB}|{_EDGE}github_pat_{GITHUB_PAT}",
        ),
        _shape("gitlab_token", "glpat", GITLAB),
        _shape("slack_token", "xox", "[abposr]-[A-Za-z0-9-]{10,}"),
        Format(
            "stripe_key",
            rf"[sr]{edge('.', _WORD, ESCAPES)}{STRIPE}",
            needles=("k_live_", "k_test_"),
            hint=rf"{_EDGE}[sr]{STRIPE}",
        ),
        _shape("anthropic_key", "sk-ant-", ANTHROPIC),
        _shape("openai_key", "sk-", f"(?:proj-)?{OPENAI}"),
        Format(
            "bearer_token",
            rf"(?i:bearer){edge('[bB][eE][aA][rR][eE][rR]', _WORD, ESCAPES)}{WS}++({BEARER})",
            needles=("bearer",),
            value=(1,),
            guard=left_alone,
            hint=rf"{_EDGE}(?i:bearer){WS}+{BEARER}",
        ),
        Format(
            "url_credentials",
            needles=("://",),
            find=url_values(_URL, _URL_HINT),
            guard=left_alone,
            hint=_URL_HINT,
        ),
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
