"""Every way a secret is written behind its name, and what such a text stands in.

`core/tests/scrub/forms.txt` has one form a line: `§` is the secret, `⏎` a line break. The secret has
no form of its own, so only what stands around it says what it is.
"""

import json
from collections.abc import Callable

from agentfeedback.scrub.unseen import without
from tests.support import ROOT

SECRET = "Zq7xKp2m" + "Vw9tRb4"
#: So much of the secret in a row is a leak; shorter pieces are in other words by chance.
PIECE = 5


def _forms() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in (ROOT / "core/tests/scrub/forms.txt").read_text("utf-8").splitlines():
        if line.startswith("## "):
            forms = sections[line[3:]] = []
        else:
            forms.append(line.replace("⏎", "\n").replace("§", SECRET))
    return sections


FORMS = _forms()
MISSES = FORMS.pop("not found")
ALL = [form for forms in FORMS.values() for form in forms]


def _before_each_line(mark: str) -> Callable[[str], str]:
    return lambda text: "\n".join(mark + line for line in text.split("\n"))


def _inside(unseen: str) -> Callable[[str], str]:
    return lambda text: text.replace(SECRET, unseen + SECRET[:6] + unseen + SECRET[6:] + unseen)


def _numbered(between: str, width: int) -> Callable[[str], str]:
    return lambda text: "\n".join(
        f"{number:{width}}{between}{line}" for number, line in enumerate(text.split("\n"), 9)
    )


def _in_json(text: str) -> str:
    return json.dumps({"a": text, "b": 1})


SURROUNDINGS: dict[str, Callable[[str], str]] = {
    "alone": str,
    "JSON": _in_json,
    "JSON in JSON": lambda text: _in_json(_in_json(text)),
    "a list": lambda text: json.dumps(["x", text]),
    "repr": repr,
    "escaped": lambda text: "'" + text.replace("'", "\\'") + "'",
    "lines": lambda text: f"see\n{text}\nthere",
    "glued": lambda text: f"({text})",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "added": _before_each_line("+"),
    "removed": _before_each_line("-"),
    "added, blank": _before_each_line("+ "),
    "quotation": _before_each_line("> "),
    "indented": _before_each_line("    "),
    "line numbers": _numbered("\u2192", 6),
    "grep": _numbered(":", 0),
    "ANSI": _inside("\x1b[0m"),
    "ANSI escaped": _inside("\\u001b[1m"),
    "zero-width": _inside("\u200b"),
    "soft hyphen": _inside("\u00ad"),
    "NUL": _inside("\0"),
    "coloured": lambda text: "\x1b[32m" + text.replace(SECRET, "\x1b[1m" + SECRET) + "\x1b[0m",
    "coloured diff": lambda text: "\n".join(
        f"\x1b[32m+\x1b[m\x1b[32m{line}\x1b[m" for line in text.split("\n")
    ),
}


def leaks(shown: str) -> bool:
    """Whether a piece of the secret is in a text, or in what is seen of it."""
    seen = (without(shown.encode("utf-8", "surrogatepass")) or b"").decode("utf-8", "surrogatepass")
    pieces = [SECRET[at : at + PIECE] for at in range(len(SECRET) - PIECE + 1)]
    return any(piece in text for piece in pieces for text in (shown, seen))
