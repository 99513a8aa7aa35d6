"""The exit table: everything that is printed, filed or sent passes it.

The first rule that takes a text names it, so a rule of a vendor stands before one of a name.
"""

from agentfeedback.scrub import assigned, literals
from agentfeedback.scrub.beside import BESIDE
from agentfeedback.scrub.commands import COMMANDS
from agentfeedback.scrub.flags import HINT as FLAG_HINT
from agentfeedback.scrub.flags import flags
from agentfeedback.scrub.formats import BEARER, ESCAPES, LEFT, WS, Finder, Format, Table, edge
from agentfeedback.scrub.headers import (
    AUTHORIZATION_HINT,
    COOKIE_HINT,
    authorizations,
    cookies,
)
from agentfeedback.scrub.keys import PRIVATE_KEY
from agentfeedback.scrub.names import NEEDLES, is_secret
from agentfeedback.scrub.needle import pattern
from agentfeedback.scrub.prefixes import PREFIXED
from agentfeedback.scrub.shapes import FIRST, MORE
from agentfeedback.scrub.urls import url_values

_MARKER_OR_VARIABLE = pattern(rb"\[REDACTED:[a-z_]+\]|\$\{?[A-Z_][A-Z0-9_]*\}?")


def left_alone(buf: bytes, start: int, end: int) -> bool:
    """Empty, exactly one marker, or exactly an upper-case variable reference."""
    return start == end or _MARKER_OR_VARIABLE.fullmatch(buf, start, end) is not None


_PLACEHOLDER = pattern(
    rb"<[A-Za-z _.-]++>|\$?\{{1,2}[A-Za-z_][A-Za-z0-9_.]*\}{1,2}|\*{3,}|\.{3}|\xe2\x80\xa6"
)


def placeholder(buf: bytes, start: int, end: int) -> bool:
    """Left alone, or what stands for a value in documentation and templates."""
    return left_alone(buf, start, end) or _PLACEHOLDER.fullmatch(buf, start, end) is not None


_ENV_WORD = "(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH|PRIVATE)"
# What shells, diffs and other tools put before a line; a line break may be an escaped one.
_LINE_START = (
    r"(?:(?m:^)|\\n)[ \t>+|-]*(?:[0-9]{1,6}(?:\xe2\x86\x92|[\t:|])[ \t>+|-]*)?"
    r"(?:(?:export|set|setx|ENV|ARG|declare|typeset|readonly|local)(?: -[A-Za-z]+)?[ \t]+|\$(?i:env):)?"
)
# The look-ahead finds the `=` once; without it every segment would look for it again.
_ENV_LINE = (
    _LINE_START + r"(?=[A-Z][A-Z0-9_]*+=)"
    rf"(?:[A-Z0-9]*+_)*?[A-Z0-9]*{_ENV_WORD}(?:_[A-Z0-9_]*+)?={{1,3}}(?!=)"
    r"(?:\"((?:[^\"\\\r\n]|\\[^\r\n])*)\"|'((?:[^'\\\r\n]|\\[^\r\n])*)'|([^\r\n]+))"
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
    _named(
        "webhook_url",
        r"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|hooks\.zapier\.com/hooks/catch)/",
        "[A-Za-z0-9@/-]{12,}",
        "office.com/",
        "office365.com/",
        "hooks.zapier.com/",
        start="[A-Za-z0-9@/-]{12}",
    ),
)
"""Keys without a form of their own, known by the name before them."""

# One attempt for each run of scheme characters: the first letter at a word boundary, or none.
_URL = (
    r"(?<![A-Za-z0-9+.-])(?>(?<!_)(?=[A-Za-z])|[A-Za-z0-9+.-]*?[+.-](?=[A-Za-z]))"
    r"[A-Za-z0-9+.-]*+://"
    r"(?::([^ \t\n\r\f\v/]+)|([^ \t\n\r\f\v/@:]+:[^ \t\n\r\f\v/]+)"
    # A user alone that looks like a token.
    r"|((?=[a-zA-Z_-]*[0-9])(?=[A-Z0-9_-]*[a-z])(?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{12,}"
    r"|(?=[a-z_-]*[0-9])[a-z0-9_-]{20,}))@"
)
_URL_HINT = r"://(?:[^ \t\n\r\f\v/@:]*:[^ \t\n\r\f\v/]+|[A-Za-z0-9_-]{12,})@"


def _named_rule(kind: str, find: Finder, hint: str) -> Format:
    return Format(kind, needles=NEEDLES, find=find, guard=literals.left_alone, hint=hint)


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
        *PREFIXED,
        *NAMED_KEYS,
        Format(
            "authorization",
            needles=("authorization",),
            find=authorizations,
            guard=placeholder,
            hint=AUTHORIZATION_HINT,
        ),
        Format(
            "cookie",
            needles=("cookie", "curl"),
            find=cookies,
            guard=placeholder,
            hint=COOKIE_HINT,
        ),
        Format(
            "env_line",
            _ENV_LINE,
            needles=("=",),
            value=(1, 2, 3),
            guard=literals.left_alone,
            hint=rf"{_LINE_START}[A-Z0-9_]*{_ENV_WORD}(?:_[A-Z0-9_]*)?=[^\r\n]",
        ),
        _named_rule("assignment", assigned.assignments, assigned.HINT),
        Format(
            "flag_value",
            needles=("--", "curl", "mysql", "mariadb"),
            find=flags,
            guard=literals.left_alone,
            hint=FLAG_HINT,
        ),
        *COMMANDS,
        _named_rule("field", assigned.other_fields, assigned.FIELD_HINT),
        _named_rule("assignment", assigned.other_assignments, assigned.OTHER_HINT),
        *BESIDE,
    ),
    member=is_secret,
    guard=literals.left_alone,
    fallback="assignment",
    keeps=assigned.keeps,
    inside=True,
)
