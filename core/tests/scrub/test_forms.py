"""Every way a secret is written behind its name, in every surrounding, through every door of the scrubber.

`forms.txt` has one form a line: `§` is the secret, `⏎` a line break. The secret has no form of its
own, so only what stands around it says what it is.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.scrub import SUBMIT, Scrubber, cut
from agentfeedback.scrub.unseen import without

SECRET = "Zq7xKp2m" + "Vw9tRb4"
#: So much of the secret in a row is a leak; shorter pieces are in other words by chance.
PIECE = 5


def _forms() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("forms.txt").read_text("utf-8").splitlines():
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


#: Surroundings that every form is put into; of the others each form sees every third, and all of
#: them where the environment says so (a session of nox does).
FULL = ("alone", "JSON", "JSON in JSON")
STEP = 1 if os.environ.get("AGENTFEEDBACK_ALL_FORMS") else 3


@pytest.mark.parametrize("where", SURROUNDINGS)
def test_no_form_of_a_secret_leaks(where: str) -> None:
    first = 0 if where in FULL else list(SURROUNDINGS).index(where) % STEP
    found = []
    for form in ALL[first :: 1 if where in FULL else STEP]:
        text = SURROUNDINGS[where](form)
        scrubber = Scrubber(SUBMIT)
        scrubbed = scrubber.text(text)
        # What `clip` does, at limits inside of the secret and of its marker.
        outputs = [scrubbed, *(cut(scrubbed, text.find(SECRET[:4]) + more) for more in (4, 9))]
        if where == "alone":
            outputs.append(json.dumps(scrubber.tree({"m": [{"n": text}]})))
            if scrubber.text(scrubbed) != scrubbed:
                found.append(f"changed twice: {form}")
        found += [form] if any(map(leaks, outputs)) else []
    assert found == []


def test_there_are_hundreds_of_forms() -> None:
    assert len(ALL) == len(set(ALL)) > 470


@pytest.mark.parametrize("form", MISSES, ids=range(len(MISSES)))
def test_forms_that_are_not_found_stay_known(form: str) -> None:
    """What the documentation names as not found: a change here is a change of what is promised."""
    assert leaks(Scrubber(SUBMIT).text(form))


@pytest.mark.parametrize(
    "text",
    [
        "Unexpected token: )",
        "SyntaxError: Unexpected token: EOF",
        "expected token: identifier",
        "def login(user: str, token: str) -> bool:",
        "token: Optional[str] = None",
        "password?: string;",
        "secret: &str,",
        "fn f(password: Option<String>)",
        "api_key: null, token: undefined",
        "password: <your password>",
        "token: ***",
        "API_TOKEN=$TOKEN\nA_TOKEN=${TOKEN}\nB_TOKEN=%TOKEN%",
        "secret:\n  name: value",
        "password:\n  min_length: 8",
        "Token::new()",
        "--- PASS: TestLogin (0.00s)",
        "tests pass: 57",
        "auth: required",
        "PWD=/home/a/b",
        "fetch(url, {credentials: 'include'})",
        "he said the auth: it broke",
        'url = "https://a.example/?token=" + token',
        'print("shlex: token=" + repr(raw))',
        'const body = "password=" + encode(password);',
        "max_tokens=4096, input_tokens: 812, token_count=7",
        "<total_tokens>14998758 tokens left</total_tokens>",
        '"user_authorization": "low", "outcome": "allow"',
        '{"type": "password", "label": "your password"}',
        "docker run -p 8080:80 a",
        "ssh -p 2222 a",
        "mysql -p db",
        "curl -u user a",
        "ssh://git@host.example/a.git and https://me@host.example/",
        "the password is needed; see --password-file and --token --verbose",
        "set -x; set -e PASSWORD",
        "sk-learn-upgrade-to-new-version",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Scrubber(SUBMIT).text(text) is text
