"""What two failures have in common: their command and their error line without what differs by chance. Pure.

Texts come scrubbed. Nothing here backtracks over more than a line's beginning, since logs are hostile.
"""

from __future__ import annotations

import re

from agentfeedback.scrub import cut

#: Bytes of a normalised text.
NORMAL_BYTES = 200
#: Bytes of the beginning and of the end of a result among which its error line is looked for.
_SEARCHED = 64 * 1024

_ESCAPES = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_QUOTE = re.compile(r"(?<![A-Za-z0-9])[\"'`]")
_QUOTED = {
    quote: re.compile(rf"{quote}(?:[^{quote}\\]|\\.)*+{quote}", re.DOTALL) for quote in "\"'`"
}
_TIME = (
    r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]++)?)?)?"
    r"(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?(?![0-9])"
    r"|(?<![0-9])[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]++)?(?![0-9])"
)
_PATH = (
    r"(?:(?<=[\s\"'`=(\[,:<>])|\A)"
    r"(?:~?/|\.{1,2}/|[A-Za-z]:[\\/]|[A-Za-z0-9_.@+-]++/)[^\s\"'`<>|;&)\],:]*+"
)
_RULES = tuple(
    (re.compile(pattern, re.ASCII), by)
    for pattern, by in (
        # the characters of a scheme as one run, so that a long word is looked at once
        (
            r"(?<![A-Za-z0-9+.-])([0-9+.-]*+)[A-Za-z][A-Za-z0-9+.-]*+://[^\s\"'`<>|)\]}]*+",
            r"\1<url>",
        ),
        (r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b", "<id>"),
        (_TIME, "<time>"),
        (
            r"\b0[xX][0-9A-Fa-f]++|\b(?=[a-f]*+[0-9])(?=[0-9]*+[a-f])[0-9a-f]{7,64}\b",
            "<hex>",
        ),
        (_PATH, "<path>"),
        (r"(?<![A-Za-z0-9])[0-9]++(?:[.,][0-9]++)*+", "<n>"),
    )
)
_BEFORE = re.compile(
    r"(?:cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&\"']+)\s*(?:&&|;)\s*"
    r"|[A-Za-z_][A-Za-z0-9_]*=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*)\s+)*+",
    re.ASCII,
)
_STATUS = re.compile(r"Exit code -?[0-9]+", re.ASCII)
_RAISED = re.compile(
    r"[ \tE>|]*(?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Z][A-Za-z0-9_]*(?:Error|Exception)\b", re.ASCII
)
_TELLING = re.compile(
    r"\b(?:error|fatal|failed|failure|panic|denied|cannot|unable|undefined|invalid|refused"
    r"|not found|no such|timed out)\b",
    re.ASCII | re.IGNORECASE,
)
#: Characters of a line that are matched against the form of an exception.
_LINE = 1000


def normalised(text: str) -> str:
    """The text with what differs from run to run replaced by its kind: `<str>`, `<url>`, `<path>`, `<n>` and others."""
    text = _without_quoted(_CONTROL.sub(" ", _ESCAPES.sub("", text)))
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return cut(" ".join(text.split()), NORMAL_BYTES)


def normalised_command(command: str) -> str:
    """A command without where it ran and its variables, its program by its base name, the rest normalised."""
    text = " ".join(command.split())
    text = text[_BEFORE.match(text).end() :]  # type: ignore[union-attr] # it matches nothing, too
    first, _, rest = text.partition(" ")
    program = re.split(r"[/\\]", first)[-1]
    return cut(f"{program} {normalised(rest)}".strip(), NORMAL_BYTES)


def error_line(text: str) -> str:
    """The line of a failed result that says why: an exception's last, else the first telling one, else the last."""
    lines = [
        line.strip() for line in _ends(text).split("\n") if line.strip() and not _is_status(line)
    ]
    for line in reversed(lines):
        if _RAISED.match(line[:_LINE]):
            return line
    telling = (line for line in lines if _TELLING.search(line))
    return next(telling, lines[-1] if lines else "")


def _is_status(line: str) -> bool:
    return _STATUS.fullmatch(line.strip()) is not None


def _ends(text: str) -> str:
    if len(text) <= _SEARCHED:
        return text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= 2 * _SEARCHED:
        return text
    # A character that is cut in two is in no line that could matter.
    return b"\n".join((data[:_SEARCHED], data[-_SEARCHED:])).decode("utf-8", "replace")


def _without_quoted(text: str) -> str:
    """Quoted texts become `<str>`; where a quote is not closed, no later one of its kind can be."""
    parts: list[str] = []
    at, looked = 0, 0
    closed = set(_QUOTED)
    while closed and (found := _QUOTE.search(text, looked)) is not None:
        quote, start = found[0], found.start()
        whole = _QUOTED[quote].match(text, start) if quote in closed else None
        if whole is None:
            closed.discard(quote)
            looked = start + 1
            continue
        parts += (text[at:start], "<str>")
        at = looked = whole.end()
    return "".join((*parts, text[at:]))
