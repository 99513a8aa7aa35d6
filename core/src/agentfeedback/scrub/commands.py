"""Options of commands that take a password and do not say so: `sshpass -p X`, `docker login -p X`.

Each command has its own letters; an option of another command is not looked at, since `-p` is a
port as often as a password.
"""

from collections.abc import Iterator

from agentfeedback.scrub.formats import Format, Span
from agentfeedback.scrub.literals import left_alone
from agentfeedback.scrub.names import NAME_END, NAME_END_HINT, NEEDLES, is_part, name_start
from agentfeedback.scrub.needle import next_start, pattern
from agentfeedback.scrub.quoted import quoted_value, word_end

_VALUE = r"[ \t]*+=?[ \t]*+(?![ \t-])"
_COMMANDS = (
    (r"sshpass", rf"-p{_VALUE}"),
    (
        r"(?:docker|podman|nerdctl|buildah|skopeo|helm registry|az|oc|argocd|cf|ibmcloud)[^\r\n;|&]{0,80}? login",
        rf"-p{_VALUE}",
    ),
    (r"(?:twine|snowsql|mongo[a-z]{0,8})", rf"-p{_VALUE}"),
    (r"redis-cli", rf"-a{_VALUE}"),
    (r"(?:sqlcmd|bcp|zip|unzip)", rf"-P{_VALUE}"),
    (r"7z[ar]?", r"-p(?=[^ \t])"),
    (r"ldap[a-z]{3,8}", rf"-w{_VALUE}"),
    (r"ssh-keygen", rf"-[NP]{_VALUE}"),
    (
        r"(?:smbclient|rpcclient|smbget|smbmap)",
        r"(?:-U|--user)[ \t=]*+[\"']?[^ \t\r\n%\"']{0,80}+%",
    ),
    (r"(?:https?|xh|xhs)", r"(?:-a|--auth)[ \t=]*+[\"']?[^ \t\r\n:\"']{0,80}+:"),
    (
        r"curl",
        r"(?:-U[ \t]*+[\"']?[^ \t\r\n:\"']{0,80}+:|--oauth2-bearer[ \t=]++|--(?:proxy-)?(?:pass|tlspassword)[ \t=]++)",
    ),
    (r"openssl", r"(?:-passin|-passout|-pass|-password)[ \t]++pass:|-k[ \t]++"),
    (r"nuget", rf"-k{_VALUE}"),
    (r"(?:keytool|jarsigner)", r"-(?:src|dest)?(?:store|key)pass[ \t]++"),
    (r"gh secret set", rf"(?:-b|--body){_VALUE}"),
)
_RULES = tuple(
    (
        # A `-` before it is the mark of a diff at the start of a line only.
        pattern(
            rf"(?:(?<![A-Za-z0-9_.-])|(?<=\n-)|(?<=\A-)|(?<=\\n)|(?<=\\n-)){command}(?![A-Za-z0-9_-])".encode()
        ),
        pattern(rf"[ \t\n\"'](?:{option})".encode()),
    )
    for command, option in _COMMANDS
)
_WORDS = (
    "sshpass|login|twine|snowsql|mongo|redis-cli|sqlcmd|bcp|zip|7z|ldap|ssh-keygen|smb|rpcclient"
    "|https?|xhs?|curl|openssl|nuget|keytool|jarsigner|gh secret set"
)
_OPTIONS = r"-[pPaUuwNkb]|--auth|--body|--user|--oauth2-bearer|--(?:proxy-)?(?:pass|tlspassword)|pass:|-(?:src|dest)?(?:store|key)pass"
HINT = rf"(?:{_WORDS})[^\r\n]*[ \t\n\"'](?:{_OPTIONS})"
_END = pattern(rb"(?<!\\)\r?\n|[;|]|&&")
# A command line is no longer than this; what follows is not looked at.
_LONGEST = 4096


def _options(buf: bytes) -> Iterator[Span]:
    found: list[Span] = []
    for command, option in _RULES:
        pos = 0
        while call := command.search(buf, pos):
            end = _END.search(buf, call.end(), call.end() + _LONGEST)
            pos = end.start() if end else min(len(buf), call.end() + _LONGEST)
            ends = (match.end() for match in option.finditer(buf, call.end(), pos))
            found += [(*_argument(buf, at), b"") for at in ends]
    yield from sorted(found)


def _argument(buf: bytes, pos: int) -> tuple[int, int]:
    if quoted := quoted_value(buf, pos):
        return quoted[:2]
    return pos, word_end(buf, pos)


_NAME = "(?i:" + NAME_END + ")"
# A name and its value as two words, behind a command that sets variables; and a flag with one dash.
_SET = pattern(
    rb"(?:^|[^A-Za-z0-9_-]|(?:^|[\r\n]|\\n)-|\\n)(?:setenv|setx|set[ \t]++-[A-Za-z]{1,4}|ENV|ARG|(?:config|secret|secrets)[ \t]++set"
    rb"(?:[ \t]++--?[A-Za-z-]{1,20})*+)[ \t]++\\{0,7}[\"']?[^ \t\r\n\"'=]{0,120}\Z"
)
_TWO_WORDS = pattern(f"{_NAME}[-_.]*+(?:\\\\{{0,7}}[\"'])?[ \\t]++(?![ \\t=:-])".encode())
_TWO_WORDS_HINT = (
    r"(?:setenv|setx|set[ \t]+-[A-Za-z]+|ENV|ARG|(?:config|secrets?)[ \t]+set)[ \t][^\r\n=]*"
    rf"(?i:{NAME_END_HINT})[-_.]*(?:\\*[\"'])?[ \t]"
)
_DASH = pattern(f"{_NAME}(?:[ \\t]++|=)(?![ \\t-])".encode())
_DASH_HINT = rf"[ \t\n\"']-[A-Za-z0-9_-]*(?i:{NAME_END_HINT})(?:[ \t]+|=)[^- \t\r\n]"
_DASH_BEFORE = pattern(rb"(?:^|[ \t\n\"'])\Z")
_next_name = next_start(rf"(?i:{NAME_END_HINT})[-_.]*(?:\\*[\"'])?(?:[ \t]|=)")


def _words(buf: bytes) -> Iterator[Span]:
    pos = 0
    while (at := _next_name(buf, pos)) >= 0:
        pos = at + 1
        start = name_start(buf, at)
        match = _TWO_WORDS.match(buf, at)
        if match and _SET.search(buf, max(0, start - 160), start):
            pass
        elif buf[start : start + 1] == b"-" and _DASH_BEFORE.search(buf, max(0, start - 1), start):
            match = _DASH.match(buf, at)
        else:
            match = None
        if match is None or (match["part"] and not is_part(buf, match.start("part"))):
            continue
        begin, end = _argument(buf, match.end())
        yield begin, end, b""
        pos = max(pos, end)


COMMANDS = (
    Format("flag_value", needles=("-",), find=_options, guard=left_alone, hint=HINT),
    Format(
        "flag_value",
        needles=NEEDLES,
        find=_words,
        guard=left_alone,
        hint=f"{_TWO_WORDS_HINT}|{_DASH_HINT}",
    ),
)
"""The rules of this module."""
