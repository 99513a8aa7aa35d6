"""Table B: the 18 kinds of change capture.

Shapes come before fields and assignments, so the most specific kind names a secret.
"""

from agentfeedback.scrub.fields import ASSIGNMENT_HINT, FIELD_HINT, assignments, fields, left_alone
from agentfeedback.scrub.flags import HINT as FLAG_HINT
from agentfeedback.scrub.flags import flags
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
    STRIPE,
    WS,
    Format,
    Table,
    edge,
)
from agentfeedback.scrub.keys import PRIVATE_KEY
from agentfeedback.scrub.names import NEEDLES, is_secret
from agentfeedback.scrub.urls import url_values

# After `_` or `-` a token is recognised, after a letter or a digit not.
_LEFT = "[A-Za-z0-9]"
_LB = rf"(?:^|[^A-Za-z0-9]|{'|'.join(ESCAPES)})"


def _edge(needle: str) -> str:
    return edge(needle, _LEFT, ESCAPES)


def _shape(kind: str, needle: str, body: str) -> Format:
    return Format(kind, needle + _edge(needle) + body, needles=(needle,), hint=_LB + needle + body)


_SHAPES = (
    _shape("jwt", "eyJ", JWT),
    _shape("anthropic_key", "sk-ant-", ANTHROPIC),
    _shape("openai_key", "sk-", f"(?:proj-|svcacct-|admin-)?{OPENAI}"),
    Format(
        "stripe_key",
        rf"[sr]{_edge('.')}{STRIPE}|whsec_{_edge('whsec_')}[A-Za-z0-9]{{16,}}",
        needles=("k_live_", "k_test_", "whsec_"),
        hint=rf"{_LB}(?:[sr]{STRIPE}|whsec_[A-Za-z0-9]{{16,}})",
    ),
    Format(
        "github_token",
        rf"gh{_edge('gh')}{GITHUB}|github_pat_{_edge('github_pat_')}{GITHUB_PAT}",
        needles=("gh", "github_pat_"),
        hint=rf"{_LB}(?:gh{GITHUB}|github_pat_{GITHUB_PAT})",
    ),
    _shape("gitlab_token", "gl", f"(?:pat|dt|rt|ptt|cbt|soat){GITLAB}"),
    _shape("slack_token", "x", "(?:ox[abeposr]|app)-[A-Za-z0-9-]{10,}"),
    _shape("google_api_key", "AIza", GOOGLE),
    Format(
        "aws_access_key_id",
        rf"{AWS}{_edge('.{4}')}[A-Z0-9]{{16}}(?!{_LEFT})",
        needles=("akia", "asia", "abia", "acca"),
        hint=rf"{_LB}{AWS}[A-Z0-9]{{16}}(?:$|[^A-Za-z0-9])",
    ),
    _shape("npm_token", "npm_", "[A-Za-z0-9]{36,}"),
    _shape("pypi_token", "pypi-", "[A-Za-z0-9_-]{50,}"),
    _shape("huggingface_token", "hf_", "[A-Za-z0-9]{30,}"),
)

# Any run of scheme characters: a mark of a diff stands before the scheme without a space.
_URL = (
    r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]++://"
    r"[^ \t\n\r\f\v/@:\"']*+:([^ \t\n\r\f\v/\"']+)@"
)
_URL_HINT = r"://[^ \t\n\r\f\v/@:\"']*:[^ \t\n\r\f\v/\"']+@"

CAPTURE = Table(
    formats=(
        PRIVATE_KEY,
        *_SHAPES,
        Format(
            "url_password",
            needles=("://",),
            find=url_values(_URL, _URL_HINT),
            guard=left_alone,
            hint=_URL_HINT,
        ),
        Format(
            "bearer",
            rf"(?i:bearer){_edge('.{6}')}{WS}++({BEARER})",
            needles=("bearer",),
            value=(1,),
            guard=left_alone,
            hint=rf"(?i:{_LB}bearer){WS}+{BEARER}",
        ),
        Format(
            "flag_value",
            needles=("--", "curl", "mysql", "mariadb"),
            find=flags,
            guard=left_alone,
            hint=FLAG_HINT,
        ),
        Format(
            "field",
            needles=NEEDLES,
            find=fields,
            guard=left_alone,
            hint=FIELD_HINT,
        ),
        Format(
            "assignment",
            needles=NEEDLES,
            find=assignments,
            guard=left_alone,
            hint=ASSIGNMENT_HINT,
        ),
    ),
    member=is_secret,
    guard=left_alone,
    fallback="field",
    whole=True,
    names=frozenset(format.kind for format in _SHAPES),
)
