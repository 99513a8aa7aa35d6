"""What is left alone behind a secret name: literals, types, placeholders, punctuation, code.

Everything here is what nobody uses as a secret; whatever is in doubt is hidden.
"""

import re

from agentfeedback.scrub.formats import MARKER
from agentfeedback.scrub.needle import pattern

# What closes a text or a sentence around the value.
_AFTER = rb"[)\]}>:.?!|=]*+"
_MARKER = rb"\[REDACTED:[a-z_]+\]"
_VARIABLE = rb"\$\{?[A-Z_][A-Z0-9_]*+\}?|%[A-Z_][A-Z0-9_]*+%"
_PLACEHOLDER = rb"<[A-Za-z _.-]*+>|\*{3,}+|\.{3,}+|x{3,}+|\xe2\x80\xa6"
_LITERAL = rb"(?i:null|none|nil|undefined|true|false)" + _AFTER
_PUNCTUATION = rb"[!-/:-@\[-`{-~]{1,3}"
_LEFT_ALONE = pattern(
    rb"%s[)\]}>.:]*+|%s|%s|%s|%s" % (_MARKER, _VARIABLE, _PLACEHOLDER, _LITERAL, _PUNCTUATION)
)
_TYPE = (
    rb"(?i:str|string|text|bytes|bytearray|int|integer|float|number|double|bool|boolean|object|any"
    rb"|unknown|never|void|none|null|undefined|dict|map|list|array|tuple|set|option|optional|union|callable"
    rb"|date|datetime|uuid|buffer|char|varchar|secretstr)"
)
_SUBSCRIPT = rb"(?:\[[^\]\n]{0,64}\]?|<[^>\n]{0,64}>?|\([^)\n]{0,64}\)?)?"
_TYPED = rb"(?:[&*]|\[\])*+" + _TYPE + rb"(?![A-Za-z0-9_-])" + _SUBSCRIPT
_IS_TYPE = pattern(_TYPED + rb"(?:\|" + _TYPED + rb")*+" + _AFTER)
_UNION = _TYPED + rb"(?:[ \t]*+\|[ \t]*+" + _TYPED + rb")*+"
DECLARED = pattern(_UNION + rb"[?!]?[ \t]*+={1,3}(?!=)[ \t]*+")
"""A type and the `=` behind it: what follows is the value of a typed declaration."""
TYPE_BETWEEN = rb"(?:[ \t]++" + _TYPED + rb")?"
"""A type between a name and its separator, as Go has it."""

_WORD = pattern(rb"[!-/:-@\[-`{-~]*+(?:[a-z]{1,16}|[A-Z_]{1,16}|[A-Z][a-z]{1,15})[!-/:-@\[-`{-~]*+")
_CALL = pattern(rb"[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+\(.*", re.DOTALL)
_DOTTED = pattern(rb"[a-z_]++(?:\.[a-z_]++)++[)\]}]*+")
_PATH = pattern(rb"(?:[/~]|\.\.?/|[A-Za-z]:[\\/]).*", re.DOTALL)
_SMALL_NUMBER = pattern(rb"[0-9]{1,6}[)\]}.]*+")
_WAY = pattern(
    rb"(?i:basic|bearer|digest|oauth|oauth2|token|required|optional|enabled|disabled|ok|failed"
    rb"|anonymous|apikey|jwt|ldap|saml|sso|mtls|iam|include|omit|same-origin|low|medium|high)"
    + _AFTER
)
_SCHEME_AND_MARKER = pattern(rb"[A-Za-z][A-Za-z0-9-]{0,31}[ \t]++" + _MARKER + rb"[)\]}>.:]*+")


PLACEHOLDER = pattern(rb"<[A-Za-z _.-]{1,80}+>")
"""What stands for a value in documentation, blanks included."""


def left_alone(buf: bytes, start: int, end: int) -> bool:
    """Whether a value is empty, hidden already, a variable, a literal, a placeholder, punctuation."""
    return start >= end or _LEFT_ALONE.fullmatch(buf, start, end) is not None


def is_type(buf: bytes, start: int, end: int) -> bool:
    """Whether a value behind `:` is the name of a type, as in `token: str`."""
    return _IS_TYPE.fullmatch(buf, start, end) is not None


def is_word(buf: bytes, start: int, end: int) -> bool:
    """Whether a value is one word of a parser's complaint, as in `Unexpected token: EOF`."""
    return _WORD.fullmatch(buf, start, end) is not None


def is_code(buf: bytes, start: int, end: int) -> bool:
    """Whether a value is a call or a dotted name, as `login(` and `proxy.credentials`."""
    return (
        _CALL.fullmatch(buf, start, end) is not None
        or _DOTTED.fullmatch(buf, start, end) is not None
    )


def says_how(name: bytes, buf: bytes, start: int, end: int) -> bool:
    """Whether the value of a name of table B tells a way, a number or a path and no secret."""
    if name.endswith(b"pwd"):
        return _PATH.fullmatch(buf, start, end) is not None
    if name.endswith((b"auth", b"authorization", b"credentials")) and (
        _WAY.fullmatch(buf, start, end) or _SCHEME_AND_MARKER.fullmatch(buf, start, end)
    ):
        return True
    return name in (b"pass", b"auth") and _SMALL_NUMBER.fullmatch(buf, start, end) is not None


def strong(buf: bytes, start: int, end: int) -> bool:
    """Whether a text can be a credential where only its place says so: a digit and letters, 8 or more."""
    text = buf[start : min(end, start + 512)]
    return (
        end - start >= 8
        and MARKER.search(text) is None
        and any(48 <= byte <= 57 for byte in text)
        and text.lower() != text.upper()
    )
