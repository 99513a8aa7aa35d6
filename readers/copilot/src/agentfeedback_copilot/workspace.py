"""The one member of a `workspace.yaml` that is read: a top-level `cwd`. Pure.

No YAML: one line that starts with `cwd:` in the first column, or a JSON object. What is not a plain or
quoted scalar there records nothing, and the log's own directories decide after the read.
"""

from __future__ import annotations

import re

from agentfeedback.reading import Record, decoder


class _Workspace(Record):
    cwd: str | None = None


_KEY = re.compile(r"^cwd:(.*)", re.MULTILINE)
_REST = r"(?:\s+#.*|\s*)"
_SINGLE = re.compile(rf"'((?:[^']|'')*)'{_REST}")
_DOUBLE = re.compile(rf'"((?:[^"\\]|\\.)*)"{_REST}')
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.ASCII | re.DOTALL
)
_ESCAPED = {
    "\\": "\\", '"': '"', "'": "'", "/": "/", " ": " ",
    "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0",
}  # fmt: skip


def recorded_directory(content: bytes) -> str | None:
    """The scalar of the top-level `cwd`, None where there is none (or no simple one)."""
    if content.startswith(b"{"):
        workspace = decoder(_Workspace)(content)
        return workspace.cwd if workspace is not None else None
    key = _KEY.search(content.decode("utf-8", "replace"))
    return _scalar(key[1].strip()) if key is not None else None


def _scalar(value: str) -> str | None:
    if value.startswith("'"):
        quoted = _SINGLE.fullmatch(value)
        return quoted[1].replace("''", "'") if quoted is not None else None
    if value.startswith('"'):
        quoted = _DOUBLE.fullmatch(value)
        return _unescaped(quoted[1]) if quoted is not None else None
    return _COMMENT.sub("", value).rstrip() or None


def _unescaped(text: str) -> str | None:
    try:
        plain = _ESCAPE.sub(_character, text)
    except ValueError:
        return None
    # Two escapes may be the halves of one character; half a character alone is not a character.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if digits is not None:
        return chr(int(digits, 16))
    if escape[4] not in _ESCAPED:
        raise ValueError
    return _ESCAPED[escape[4]]
