"""Every way a secret is written behind its name, in every surrounding, through every door of the scrubber."""

import json
import os
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentfeedback.scrub import SUBMIT, Scrubber, cut
from tests.support.secret_forms import ALL, MISSES, SECRET, SURROUNDINGS, leaks

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


#: The rule that other clients have: a name, blanks, a colon or an equals sign, blanks, a value.
_PLAIN = re.compile(
    r"(?i:password|passwd|secret|token|api[_-]?key|access_key|private_key)[\"']?[ \t]*[:=][ \t]*"
    r"(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^ \t\n\r\f\v\"'&,;]+))"
)
_VALUE = "x9Kd72hf"
_PIECES = [
    *(
        "password",
        "token",
        "my_secret",
        "api_key",
        "=",
        ":",
        "=>",
        ":=",
        "==",
        " ",
        "\t",
        "\n",
        "'",
        '"',
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        "&",
        "\\",
        "str",
        "null",
        "-",
        "$A",
        "name ",
        "|\n  ",
        "b",
        "Zz8",
    ),
]


@settings(max_examples=400, deadline=None)
@given(
    before=st.lists(st.sampled_from(_PIECES), max_size=3).map("".join),
    name=st.sampled_from(["password", "X_TOKEN", "'secret'", '"api_key"', "access_key"]),
    separator=st.sampled_from(["=", ":", " = ", ": ", "\t:\t", "==", ":=", "= =", ":-", "=("]),
    quote=st.sampled_from(["", "", '"', "'", "b'", "[", "(", "{", "a", "\\"]),
    after=st.lists(st.sampled_from(_PIECES), max_size=4).map("".join),
)
@example(before="", name="password", separator="=", quote='"', after="")
def test_what_a_plain_rule_hides_is_hidden(
    before: str, name: str, separator: str, quote: str, after: str
) -> None:
    """But for what follows `::`, which is a path of a language and no value."""
    text = f"{before}{name}{separator}{quote}{_VALUE}{after}"
    hidden = any(_VALUE in match[match.lastindex or 0] for match in _PLAIN.finditer(text))
    if hidden and "::" not in text:
        assert _VALUE not in Scrubber(SUBMIT).text(text)
