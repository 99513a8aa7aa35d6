"""What the scrubber promises for every text: laws, trees, cuts, and that it always ends."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.foundation.json_text import Number
from agentfeedback.scrub import CAPTURE, MAX_DEPTH, SUBMIT, Format, Scrubber, Table, cut
from tests.support import ROOT
from tests.support import scrub_parts as parts

PARTS: dict[str, str] = parts.PARTS

TABLES = pytest.mark.parametrize("table", [SUBMIT, CAPTURE], ids=["submit", "capture"])
LAW = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

_FRAGMENTS = [
    *PARTS.values(),
    *("[REDACTED:assignment]", "[REDACTED:jwt]", "[REDACTED:fie", "[REDACTED:", "]", "$", "${A}"),
    *("password", "token", "secret", "DB_PASS", "auth", "API_KEY", "cookie", "authorization"),
    *("=", ":", "=>", "\n", "\r\n", "\\n", " ", "\t", '"', "'", '\\"', '\\\\\\"', "\\", ",", ";"),
    *(
        "{",
        "}",
        "[",
        "&",
        "@",
        "/",
        "://",
        "a://",
        "--",
        "--token ",
        "curl -u ",
        "mysql -p",
        "Basic ",
    ),
    *("export ", "A", "_", "-", ".", "<", ">", "***", "null", "7", "é", "😀", "\ud800", "x y"),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(_FRAGMENTS), max_size=14).map("".join),
    st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=6), max_size=10).map("".join),
)


@TABLES
@LAW
@given(text=TEXTS)
def test_scrubbing_twice_changes_nothing_more(table: Table, text: str) -> None:
    scrubber = Scrubber(table)
    once = scrubber.text(text)
    count = scrubber.count
    assert scrubber.text(once) == once
    assert scrubber.count == count
    assert (count > 0) == (once != text)


@TABLES
@LAW
@given(text=TEXTS)
def test_the_needle_pass_hides_nothing_from_the_rules(table: Table, text: str) -> None:
    formats = tuple(rule._replace(hint="", needles=()) for rule in table.formats)
    always = Scrubber(table._replace(formats=formats))
    assert always.text(text) == Scrubber(table).text(text)


def _outside(table: Table) -> st.SearchStrategy[tuple[str, str]]:
    """Surroundings that do not make a token part of a longer word, which is not its shape."""
    word = "A-Za-z0-9_" if table is SUBMIT else "A-Za-z0-9"
    left = st.from_regex(rf"(?s:.*)[^{word}]|", fullmatch=True) | TEXTS.map(lambda text: text + " ")
    right = st.from_regex(r"[^A-Za-z0-9_](?s:.*)|", fullmatch=True) | TEXTS.map(
        lambda text: " " + text
    )
    return st.tuples(left, right)


_PLANTED = [
    *((SUBMIT, name) for name in parts.SHAPES[0]),
    *((CAPTURE, name) for name in parts.SHAPES[1]),
]


@pytest.mark.parametrize(("table", "name"), _PLANTED, ids=range(len(_PLANTED)))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_planted_token_never_survives(table: Table, name: str, data: st.DataObject) -> None:
    token = PARTS[name]
    left, right = data.draw(_outside(table).filter(lambda pair: token not in "|".join(pair)))
    text = left + token + right
    scrubber = Scrubber(table)
    results = [
        scrubber.text(text),
        scrubber.clip(text, 240),
        scrubber.tree({"a": [{"b": text}]})["a"][0]["b"],
    ]
    # Table A knows no escapes: the `n` of an escaped break is a letter before the token.
    if table is CAPTURE or left.isprintable():
        results.append(scrubber.text(json.dumps({"a": text}, ensure_ascii=False)))
    limits = range(len(left), len(left) + len(token), 7)
    results.extend(scrubber.clip(text, limit) for limit in limits)
    assert all(token not in result for result in results)


_ASSIGNED = [
    (SUBMIT, "password={}"),
    (SUBMIT, "token: '{}'"),
    (SUBMIT, '"api-key" : "{}"'),
    (SUBMIT, "http://user:{}@host/"),
    (SUBMIT, "\nexport MY_KEY={}\n"),
    (CAPTURE, "password={}"),
    (CAPTURE, "dbPwd => '{}'"),
    (CAPTURE, '"api-key" : "{}"'),
    (CAPTURE, '\\"token\\":\\"{}\\"'),
    (CAPTURE, "http://user:{}@host/"),
    (CAPTURE, "--db-password {}"),
    (CAPTURE, "curl -u user:{}"),
    (CAPTURE, "mysql -u root -p{}"),
    (CAPTURE, "Authorization: Basic {}"),
    (CAPTURE, "Cookie: a={}"),
]


@pytest.mark.parametrize(("table", "template"), _ASSIGNED, ids=range(len(_ASSIGNED)))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    value=st.from_regex(r"[A-Za-z0-9!^*+_~.-]{3}Q9[A-Za-z0-9!^*+_~.]{3}", fullmatch=True),
    left=st.sampled_from(["", "\n", " ", "é ", "a\n", "x; ", "> ", "+", "\t", "12→"]),
    right=st.sampled_from(["", "\n", " ", " é", "\nb", "; x", "\r\n", " \\"]),
)
def test_a_planted_value_never_survives(
    table: Table, template: str, value: str, left: str, right: str
) -> None:
    if "--" in template and value.startswith("-"):
        value = "x" + value
    if "http" in template:
        left = "" if left == "+" else left  # glued to the scheme it is another scheme
    text = left + template.format(value) + right
    scrubber = Scrubber(table)
    core = value[1:]
    assert core not in scrubber.text(text)
    assert core not in scrubber.clip(text, 240)
    assert core not in json.dumps(scrubber.tree([{"n": text}]))
    if table is CAPTURE:  # rules of table A have no escaped names (a known miss)
        escaped = json.dumps(json.dumps({"cmd": text, "n": 1}, ensure_ascii=False))
        assert core not in scrubber.text(escaped)


@given(text=st.text() | TEXTS, limit=st.integers(-1, 60))
def test_a_cut_is_the_longest_prefix_that_fits(text: str, limit: int) -> None:
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert len(kept.encode("utf-8", "surrogatepass")) <= max(0, limit)
    marker = re.compile(r"\[REDACTED:[a-z_]+\]|(?s:.)").match(text, len(kept))
    if marker:
        assert len((kept + marker[0]).encode("utf-8", "surrogatepass")) > limit
    for whole in re.finditer(r"\[REDACTED:[a-z_]+\]", text):
        assert not whole.start() < len(kept) < whole.end()


def test_clip_strips_scrubs_and_then_cuts() -> None:
    text = "  " + "x" * 150 + " " + PARTS["gh"] + PARTS["an36"] + " tail"
    marker = "[REDACTED:github_token]"
    for limit in range(151, 151 + len(marker)):
        assert Scrubber(SUBMIT).clip(text, limit) == "x" * 150 + " "
    assert Scrubber(SUBMIT).clip(text, 151 + len(marker)) == "x" * 150 + " " + marker


def _nested(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


@TABLES
def test_a_tree_deeper_than_the_limit_fails_closed(table: Table) -> None:
    scrubber = Scrubber(table)
    whole = _nested(MAX_DEPTH, "plain")
    assert scrubber.tree(whole) == whole
    marker = f"[REDACTED:{table.fallback}]"
    assert scrubber.tree(_nested(MAX_DEPTH + 1, "x")) == _nested(MAX_DEPTH, marker)
    assert marker in repr(scrubber.tree(_nested(50_000, PARTS["jwt"])))


def test_members_of_submit_trees() -> None:
    scrubber = Scrubber(SUBMIT)
    given_tree = {
        "my.Token": "abc",
        "tokens": "abc",
        "secret": 5,
        "password": "",
        "api_key": "$KEY",
    }
    assert scrubber.tree(given_tree) == given_tree | {"my.Token": "[REDACTED:assignment]"}
    assert scrubber.count == 1
    name = PARTS["gh"] + PARTS["an36"]
    assert list(scrubber.tree({name: 1})) == [name]


def test_members_of_capture_trees() -> None:
    scrubber = Scrubber(CAPTURE)
    token = PARTS["gh"] + PARTS["an36"]
    tree = scrubber.tree(
        {
            "dbPwd": "abc",
            "token": 12,
            "pwd": Number("1.0e3"),
            "auth": {"user": "x"},
            "credentials": [],
            "max_tokens": 5,
            "password": None,
            f"{token}": 1,
            f"a-{token}": 2,
            "list": [{"pass": "x"}, "y", True],
        }
    )
    field = "[REDACTED:field]"
    assert tree == {
        "dbPwd": field,
        "token": field,
        "pwd": field,
        "auth": field,
        "credentials": [],
        "max_tokens": 5,
        "password": None,
        "[REDACTED:github_token]": 1,
        "a-[REDACTED:github_token]": 2,
        "list": [{"pass": field}, "y", True],
    }
    assert scrubber.count == 7
    assert scrubber.tree(tree) == tree


def test_two_names_with_one_marker_keep_both_values() -> None:
    one, two = (PARTS["gh"] + letter * 36 for letter in "AB")
    tree = Scrubber(CAPTURE).tree({one: 1, two: 2})
    assert list(tree.values()) == [1, 2]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | TEXTS.filter(str.isprintable),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "token", "auth", "n"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@TABLES
@LAW
@given(tree=JSON)
def test_trees_stay_trees(table: Table, tree: Any) -> None:
    before = json.dumps(tree)
    scrubber = Scrubber(table)
    once = scrubber.tree(tree)
    assert json.dumps(tree) == before, "a new object"
    json.dumps(once)
    assert scrubber.tree(once) == once


@LAW
@given(
    tree=st.dictionaries(st.sampled_from(["token", "n", "DSN", "x"]), JSON, max_size=4),
    levels=st.integers(0, 2),
)
def test_json_in_a_string_stays_json(tree: Any, levels: int) -> None:
    """Plain words as values; what stands in a string may itself look like an assignment."""
    plain = json.loads(json.dumps(tree, default=str))
    text = json.dumps(_words(plain))
    for _ in range(levels):
        text = json.dumps({"s": text})
    scrubbed: Any = json.loads(Scrubber(CAPTURE).text(text))
    for _ in range(levels):
        scrubbed = json.loads(scrubbed["s"])


def _words(tree: Any) -> Any:
    if isinstance(tree, str):
        return "".join(filter(str.isalnum, tree))
    if isinstance(tree, dict):
        return {name: _words(value) for name, value in tree.items()}
    return [_words(item) for item in tree] if isinstance(tree, list) else tree


def test_formats_of_plugins_are_added_and_cannot_take_away() -> None:
    extra = Format("acme_key", "acme-[0-9]{4}", needles=("acme-",))
    scrubber = Scrubber(SUBMIT, extra=(extra,))
    assert scrubber.text("use ACME-1 acme-1234") == "use ACME-1 [REDACTED:acme_key]"
    assert scrubber.text("token=acme-1234") == "token=[REDACTED:assignment]"
    assert scrubber.tree({"a": "acme-1234"}) == {"a": "[REDACTED:acme_key]"}
    spaced = Format("pin", "PIN is ([0-9]{4})", needles=("pin is ",), value=(1,))
    assert Scrubber(SUBMIT, extra=(spaced,)).text("PIN is 1234") == "PIN is [REDACTED:pin]"
    words = Format("words", "[a-z]+|.", needles=())
    text = Scrubber(SUBMIT, extra=(words,)).text("token=x é")
    assert "x" not in text.replace("REDACTED", "")


def test_importing_compiles_nothing() -> None:
    code = "import sys, agentfeedback.scrub; sys.exit('re2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


_HANG = """
import sys
sys.path.insert(0, {bench!r})
from scrub import HOSTILE
from agentfeedback.scrub import CAPTURE, SUBMIT, Scrubber
for unit in HOSTILE.values():
    Scrubber({table}).text("x" + unit * (2**17 // len(unit)) + "x")
"""


@pytest.mark.parametrize("table", ["SUBMIT", "CAPTURE"])
def test_no_hostile_text_hangs(table: str) -> None:
    """A guard and no measurement, which `bench/scrub_rates.py` makes: a quadratic rule needs hours."""
    code = _HANG.format(bench=str(ROOT / "bench"), table=table)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@TABLES
def test_long_text_is_scrubbed_as_a_short_one(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking each rule at the few places where any may match finds what asking each over the whole text finds."""
    words = "plain words of a log, nothing else\n" * 600
    parts = [PARTS[name] for name in sorted(PARTS)]
    secrets = [
        *parts,
        *(f"token={part}" for part in parts),
        "password: 'a b c'",
        "\x1b[31mred\x1b[0m",
    ]
    texts = [f"{words}{secret}\n{words}" for secret in secrets]
    texts += [f"{words}{one} {other}\n" for one, other in zip(secrets, secrets[7:], strict=False)]
    found = [Scrubber(table).text(text) for text in texts]
    monkeypatch.setattr("agentfeedback.scrub.engine._LONG", 1 << 30)
    assert found == [Scrubber(table).text(text) for text in texts]
    assert any(text not in texts for text in found)
