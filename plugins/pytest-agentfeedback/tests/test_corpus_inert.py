"""The pure parts of `corpus add`: names, secrets, and lines of JSON rewritten in place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentfeedback.curation.filler import Filler
from pytest_agentfeedback.curation.names import Names
from pytest_agentfeedback.curation.rewriting import Rewriting, is_json
from pytest_agentfeedback.curation.shed import kinds

TOKEN = "gh" + "p_" + "Zx9Q" * 9
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
NAMES = Names(
    home="/home/marianne",
    directories=["/home/marianne/clients/acmeshop", "/home/marianne", "/srv/app/shop"],
    user="marianne",
    hosts=["wolpertinger"],
    given=[("Zwirn", "Garn")],
)


def rewriting(filler: Filler) -> Rewriting:
    return Rewriting(
        lambda name, text: filler.text(text) if name is None else filler.member(name, text),
        filler.empties,
    )


@given(value=VALUES, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 1]))
def test_line_without_a_change_keeps_every_byte(value, ensure_ascii, indent):
    """Whatever a line of JSON is made of, rewriting to the same texts gives the same bytes."""
    line = json.dumps([value], ensure_ascii=ensure_ascii, indent=indent).encode("utf-8", "replace")

    assert Rewriting(lambda name, text: text, lambda name: False).line(line) == line


@given(value=VALUES, before=st.text(), after=st.text())
def test_secret_anywhere_in_a_line_is_inert_at_the_same_length(value, before, after):
    """A token in a text, in a name, or in JSON inside a text is gone, and the line is JSON of the same length."""
    record = {"a": f"{before} {TOKEN} {after}", TOKEN: value, "b": json.dumps({"c": TOKEN})}
    line = json.dumps(record).encode()
    filler = Filler()

    filled = rewriting(filler).line(line)

    assert TOKEN.encode() not in filled
    assert is_json(filled.decode())
    assert not filler.finds_in(json.loads(filled))


@pytest.mark.parametrize(
    "record",
    [
        {"token": "ab"},
        {"token": 12345, "next": 1},
        {"credentials": {"a": [1, {"b": 2}]}, "next": "x"},
        {"arguments": json.dumps({"command": f"X_TOKEN={TOKEN} run", "password": "hunter2"})},
        {"text": f"curl -H 'Authorization: Bearer {TOKEN}' https://me:hunter2@example.com/"},
    ],
)
def test_secret_is_filled_to_its_length(record):
    """By both tables of the core, by member name too: the line has no secret any more, and its length."""
    line = json.dumps(record).encode()
    filler = Filler()

    filled = rewriting(filler).line(line)

    assert filled != line
    assert len(filled) == len(line)
    assert not filler.finds_in(json.loads(filled))
    assert filler.count


def test_text_around_a_secret_stays():
    """In a text inside JSON inside a text, too, the lines around a secret are as they were."""
    inner = {"command": f'echo before\nexport X_TOKEN="{TOKEN}"\necho after'}
    line = json.dumps({"arguments": json.dumps(inner)}).encode()

    filled = json.loads(json.loads(rewriting(Filler()).line(line))["arguments"])

    first, secret, last = filled["command"].split("\n")
    assert (first, last) == ("echo before", "echo after")
    assert secret.startswith('export X_TOKEN="$REDACTED_')


@given(st.text())
def test_names_never_make_a_text_longer(text):
    """A replacement fits where the old name was; nothing is changed twice."""
    given_none = Names(home="/home/marianne", user="marianne", directories=["/x/y"])
    around = f"{text}/home/marianne{text} marianne {text}/x/y a@b.co"

    new = given_none.text(around)

    assert len(new.encode("utf-8", "surrogatepass")) <= len(around.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cd /home/marianne/clients/acmeshop/src", "cd /srv/app/1/src"),
        ("ls /home/marianne/.ssh", "ls /home/user/.ssh"),
        ("/home/marianne2/x", "/home/user/x"),
        ("/Users/somebody/x", "/home/user/x"),
        ("Marianne on wolpertinger", "user on host"),
        ("AcmeShop's", "app1's"),
        ("marianne@corp.example.io", "user@example.com"),
        ("git@github.com:corp/thing.git", "git@github.com:app/app.git"),
        ("https://git.corp.io/corp/thing.git", "https://git.corp.io/app/app.git"),
        ("Zwirn", "Garn"),
        ("/srv/app/shop and user@example.com", "/srv/app/shop and user@example.com"),
        ("@app.route and pkg@1.2.3", "@app.route and pkg@1.2.3"),
    ],
)
def test_names_are_replaced(old, new):
    """Paths, users, hosts, addresses, remotes and given names have their stand-ins, other texts stay."""
    assert NAMES.text(old) == new


def test_name_inside_a_word_is_told_of():
    """A name that is part of a longer word stays, and is named for a person to judge."""
    text = NAMES.text("mariannebot")

    assert text == "mariannebot"
    assert NAMES.left(text) == ["marianne"]


def test_record_is_named_by_its_types():
    """`--drop` takes the outer type, an inner one, or both joined."""
    record = {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "Plan"}}}

    found = list(kinds(record))

    assert found == ["event_msg", "item_completed", "Plan", "event_msg/item_completed/Plan"]
