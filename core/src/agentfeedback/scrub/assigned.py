"""Assignments at exits: a name that ends in a word for a secret, a separator, a value.

Names that only change capture counts as secret (`auth`, `dsn`, `cookie`) are held to more, because
at exits most of what is read is prose, code and the output of tools.
"""

from collections.abc import Iterator

from agentfeedback.scrub.formats import Span
from agentfeedback.scrub.literals import (
    TYPE_BETWEEN,
    is_code,
    is_type,
    is_word,
    left_alone,
    says_how,
    strong,
)
from agentfeedback.scrub.names import LONGEST_END, NAME_END, NAME_END_HINT, is_part, name_start
from agentfeedback.scrub.needle import next_start, pattern
from agentfeedback.scrub.quoted import bracket_end
from agentfeedback.scrub.values import Assigned, Value, values

_SURE_ENDS = r"(?:pass(?:word|wd)|token|secret|api[-_]?key|access_key|private_key)"
# Names that are secret at exits beside those of change capture: `SSHPASS`, and keys whose value has to
# look like one, since `auth_key` can be a column and `client_key` a path.
_MORE_ENDS = (
    r"(?:ssh|pg|db|my|user|root|admin|ftp|smtp|mail|key|store|svn|pop|imap)pass"
    r"|secret[-_.]?key[-_.]?base"
)
_KEYS = (
    r"(?:account|master|consumer|auth|app|application|shared|storage|deploy|subscription|webhook|hmac"
    r"|license|jwt|session|client|service|server|bot|primary|secondary)[-_. ]?key|key[-_]?data"
)
_ENDS = rf"(?:{NAME_END}|{_MORE_ENDS}|(?P<key>{_KEYS}))"
# What `_ENDS` has and `_SURE_ENDS` has not, as a search that need not be exact.
_OTHER_ENDS = (
    r"(?:pass(?:[-_. ](?:word|wd)|[-_. ]?phrase)?|pwd|auth|dsn|authorization|cookie|credentials?"
    r"|(?:secret|signing|encryption)[-_. ]?key|api[. ]key|(?:access|private)[-. ]?key"
    r"|data[-_. ]?base[-_. ]?url|connection[-_. ]?string"
    rf"|{_MORE_ENDS}|{_KEYS}|{_SURE_ENDS}[-_.])"
)

# Behind the name: its quote, the bracket of an index, a type as in Go, or what C# and TypeScript have.
_BEHIND = (
    rb"(?P<quote>\\{0,7}+[\"'])?(?:[ \t]*+\]|\[[0-9]{0,9}\])?[?!]?"
    rb"(?:[ \t]*+\{[a-z; ]{2,40}\})?"
)
_ASSIGNED = pattern(
    b"(?i:"
    + _ENDS.encode()
    + b")(?P<trail>[-_.]*+)"
    + _BEHIND
    + TYPE_BETWEEN
    + rb"(?:[ \t]|\\{1,7}t)*+(?P<separator>=>|:=|[?+]?={1,3}(?!=)|:(?![:=]))(?:[ \t]|\\{1,7}t)*+"
)
_BEHIND_HINT = (
    r"[-_.]*\\*[\"']?(?:[ \t]*\]|\[[0-9]*\])?[?!]?[ \t]*(?:\{[a-z; ]+\}[ \t]*)?"
    r"(?:[ \t][&*\[\]]*[A-Za-z]+[^ \t=:\r\n]*[ \t]*)?(?:\\+t)?[?+]?(?:=|:)"
)
HINT = rf"(?i:{_SURE_ENDS}){_BEHIND_HINT}"
"""Where a name may end that is secret without further questions."""
OTHER_HINT = rf"(?i:{_OTHER_ENDS}){_BEHIND_HINT}"
"""Where another name may end, that only change capture counts."""
_next_sure, _next_other = next_start(HINT), next_start(OTHER_HINT)

_KNOWN = pattern(rb"(?:password|passwd|secret|token|api[-_]?key|access_key|private_key)\Z")
_BARE = (b"pass", b"pwd", b"auth", b"dsn", b"credential", b"credentials")
_HEADERS = pattern(rb"(?:proxy-|x-)?authorization|(?:set-)?cookie2?")
_AT_START = pattern(
    rb"[\"'][ \t]{0,8}\Z|(?:\A|[\r\n]|\\[nr])[ \t+>*|\[{(\"'0-9:\xe2\x86\x92-]{0,40}\Z"
)
_UNEXPECTED = pattern(rb"(?i:unexpected|expected)[ \t]++\Z")


def _names(buf: bytes, sure: bool) -> Iterator[Assigned]:
    """Names with their separators: those that are hidden without further questions, or the others."""
    next_name = _next_sure if sure else _next_other
    pos = last = 0
    while (at := next_name(buf, pos)) >= 0:
        pos = at + 1
        match = _ASSIGNED.match(buf, at)
        if match is None or match.end() <= last:
            continue
        if match["part"] and not is_part(buf, match.start("part")):
            continue
        last = match.end()
        start = name_start(buf, at)
        name = buf[start : match.end("trail")].lower()
        if (not match["trail"] and _KNOWN.search(name) is not None) is sure:
            yield Assigned(
                name,
                start,
                match["quote"] or b"",
                match["separator"],
                match.end(),
                match["key"] is not None,
            )


def _found(buf: bytes, sure: bool, field: bool) -> Iterator[Span]:
    """Values of the names of one kind; the search goes on a little before the end of a value.

    That end can be the name of the next one (`auth:` and `password: x` on two lines).
    """
    done = 0
    for name in _names(buf, sure):
        if name.pos < done - LONGEST_END:
            continue
        is_field = name.quote.endswith(b'"') and name.separator == b":"
        if not sure and (field is not is_field or not _counts(buf, name)):
            continue
        for value in values(buf, name):
            if value.start >= done and not _stays(buf, name, value, sure):
                yield value.start, value.end, value.quote
            done = max(done, value.seen)


def assignments(buf: bytes) -> Iterator[Span]:
    """Values of names that end in `password`, `secret`, `token`, `api_key` and the like."""
    return _found(buf, sure=True, field=False)


def other_fields(buf: bytes) -> Iterator[Span]:
    """Values of members in JSON whose names only change capture counts, and subtrees of all secret names."""
    yield from sorted((*_found(buf, sure=False, field=True), *_subtrees(buf)))


def other_assignments(buf: bytes) -> Iterator[Span]:
    """Values of names that only change capture counts: `DB_PASS=`, `dsn:`, `passphrase =>`."""
    return _found(buf, sure=False, field=False)


def _stays(buf: bytes, name: Assigned, value: Value, known: bool) -> bool:
    start, end = value.start, value.end
    if left_alone(buf, start, end):
        return True
    if name.separator == b":" and is_type(buf, start, end):
        return True
    if name.looks:
        return not strong(buf, start, end)
    if known:
        return (
            name.name == b"token"
            and is_word(buf, start, end)
            and _UNEXPECTED.search(buf, max(0, name.start - 24), name.start) is not None
        )
    return is_code(buf, start, end) or says_how(name.name, buf, start, end)


def _counts(buf: bytes, name: Assigned) -> bool:
    """Whether a name of change capture counts where it stands."""
    if name.quote or name.separator != b":":
        return True
    if _HEADERS.fullmatch(name.name):
        return False
    if name.name not in _BARE:
        return True
    if buf[name.start : name.start + 4] == b"PASS":
        return False
    if buf[name.start - 1 : name.start] == b"/":  # an option of Windows
        return True
    return _AT_START.search(buf, max(0, name.start - 48), name.start) is not None


_SUBTREE = pattern(
    b"(?i:" + NAME_END.encode() + rb")[-_. ]*+(?P<slashes>\\{0,7}+)\"[ \t]*+:[ \t\r\n]*+(?=[\[{])"
)
_SUBTREE_HINT = rf"(?i:{NAME_END_HINT})[-_. ]*\\*\"[ \t]*:[ \t\r\n]*[\[{{]"
_next_subtree = next_start(_SUBTREE_HINT)
FIELD_HINT = f"{OTHER_HINT}|{_SUBTREE_HINT}"
"""Where a member in JSON may be."""
_EMPTY = pattern(rb"\[[ \t\r\n]*+\]|\{[ \t\r\n]*+\}")


def _subtrees(buf: bytes) -> Iterator[Span]:
    """Objects and lists under a secret name in JSON, over several lines too, that hold a text."""
    pos = 0
    while (at := _next_subtree(buf, pos)) >= 0:
        pos = at + 1
        match = _SUBTREE.match(buf, at)
        if match is None or (match["part"] and not is_part(buf, match.start("part"))):
            continue
        pos = match.end()
        depth = len(match["slashes"])
        end = bracket_end(buf, pos, depth)
        if _EMPTY.fullmatch(buf, pos, end):
            continue
        yield pos, end, match["slashes"] + b'"'
        pos = end


def keeps(name: str, value: bytes) -> bool:
    """Whether the value under a member of this secret name stays: a type, a way, a call."""
    lower = name.lower().encode("utf-8", "surrogatepass")
    if is_type(value, 0, len(value)):
        return True
    if _KNOWN.search(lower):
        return False
    return is_code(value, 0, len(value)) or says_how(lower, value, 0, len(value))
