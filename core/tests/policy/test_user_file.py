"""Near misses of `[collect]` in the user's configuration: nothing that was meant for it is passed over in silence."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.config.file import ConfigFile
from agentfeedback.config.shape import Collect, Config
from agentfeedback.foundation.errors import ConfigError
from agentfeedback.policy.rules import Policy, Verdict, cleaned, expanded
from agentfeedback.policy.user_file import KEYS, TOP, near_misses, refuse_near_misses, unknown_keys

HOMES = ("/home/u",)
WORDS = sorted({"collect", *KEYS["collect"]})
KNOWN = {*KEYS, *TOP}


def missed(text: str) -> list[str]:
    return near_misses(tomllib.loads(text), HOMES)


@pytest.mark.parametrize(
    ("text", "named", "right"),
    [
        ("[collect]\ndisable = true", "collect.disable ", "write disabled"),
        ("[collect]\ndeny_path = ['/a']", "collect.deny_path ", "write deny_paths"),
        ("[collect]\nDisabled = true", "collect.Disabled ", "write disabled"),
        ("[collect]\nrepos = ['/a']", "collect.repos ", "its keys are disabled, deny_paths"),
        ("[collect.deny]\npaths = ['/a']", "collect.deny ", "its keys are"),
        ("[colect]\ndisabled = true", "[colect] ", "write [collect]"),
        ("[Collect]\ndisabled = true", "[Collect] ", "write [collect]"),
        ("[collection]\ndisabled = true", "[collection] ", "write [collect]"),
        ("[[colect]]\ndisabled = true", "colect ", "write [collect]"),
        ("[later.collect]\nx = 1", "[later.collect] ", "write [collect]"),
        ("disabled = true", "disabled ", "below the line [collect]"),
        ("opt_in_only = true", "opt_in_only ", "below the line [collect]"),
        ("deny_path = ['/a']", "deny_path ", "write deny_paths below"),
        ("'collect.deny_paths' = ['/a']", "collect.deny_paths ", "[collect]"),
        ("[context]\ndeny_paths = ['/a']", "context.deny_paths ", "below the line [collect]"),
        ("[sessions]\ndisabled = true", "sessions.disabled ", "below the line [collect]"),
        ("[[later]]\ndisabled = true", "later.disabled ", "below the line [collect]"),
        ("later = [[{ disabled = true }]]", "later.disabled ", "below the line [collect]"),
        ("[collect]\ndeny_paths = ['']", "deny_paths entry '' is empty", "absolute path"),
        ("[collect]\ndeny_paths = ['srv/a']", "entry 'srv/a' is a relative", "absolute path"),
        ("[collect]\ndeny_paths = ['./a']", "entry './a' is a relative", "absolute path"),
        ("[collect]\ndeny_paths = [' /a']", "entry ' /a' is a relative", "absolute path"),
        ("[collect]\ndeny_paths = ['~other']", "entry '~other' is not a home", "begins with ~/"),
        ("[collect]\ndeny_paths = ['~other/x']", "'~other/x' is not a home", "begins with ~/"),
        ("[collect]\ndeny_paths = ['$HOME']", "entry '$HOME' begins with $", "begins with ~/"),
        ("[collect]\ndeny_paths = ['${HOME}/x']", "'${HOME}/x' begins with $", "begins with ~/"),
        ("[collect]\ndeny_paths = ['%USERPROFILE%']", "is a relative", "absolute path"),
        ("[collect]\ndeny_paths = ['file:///a']", "is a relative", "absolute path"),
        ("[collect]\ndeny_paths = ['/not/here/*']", "'/not/here/*' holds a *", "absolute path"),
        ("[collect]\ndeny_paths = ['~/*']", "'~/*' holds a *", "absolute path"),
        ('[collect]\ndeny_paths = ["/a\\u0000"]', "holds a NUL", "absolute path"),
        (
            "[collect]\nopt_in_only = true\nopt_in_paths = ['x']",
            "opt_in_paths entry 'x'",
            "absolute",
        ),
        ("[collect]\nopt_in_paths = ['/a']", "opt_in_paths is set without", "opt_in_only = true"),
    ],
)
def test_each_near_miss_is_named_with_the_right_form(text: str, named: str, right: str) -> None:
    """The key or entry is named as it is written, with what to write instead."""
    (miss,) = missed(text)
    assert named in miss and right in miss
    tables = tomllib.loads(text)
    with pytest.raises(ConfigError) as raised:
        refuse_near_misses(ConfigFile("/c/config.toml", Config(), tables), HOMES)
    assert raised.value.problem == f"config file /c/config.toml is not valid: {miss}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[collect]",
        "[collect]\ndisabled = false\ndeny_paths = ['/a', '~', '~/x', '/gone/away', '/a/$b']",
        "[collect]\nopt_in_only = false\nopt_in_paths = ['/a']",
        "[collect]\nopt_in_only = true\nopt_in_paths = []",
        "[collect]\nopt_in_paths = []",
        "url = 'https://a.example'\n[context]\ncwd = true\nurl = 'x'\n[detect]\n[sessions]",
        "[connect]\nx = 1",
        "later = 1\n[newer]\nx = [1, [2]]\n[newer.still]\nenabled = true",
    ],
)
def test_what_is_right_or_another_thing_is_no_near_miss(text: str) -> None:
    """The keys with values that can be followed, folders that are gone, and names of other things are let be."""
    assert missed(text) == []


def test_a_star_is_a_name_where_something_has_it(tmp_path: Path) -> None:
    """A folder whose very name holds a `*` may be denied, below any of the homes `~` stands for."""
    (tmp_path / "a*").mkdir()
    assert missed(f"[collect]\ndeny_paths = ['{tmp_path}/a*']") == []
    tables = {"collect": {"deny_paths": ["~/a*"]}}
    assert near_misses(tables, ("/home/u", str(tmp_path))) == []
    assert near_misses(tables, HOMES) != []


def test_an_error_stays_readable_and_holds_no_secret() -> None:
    """Few of many faults are named, entries are cut, and a key in the wrong place is not shown."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    entries = [token, *(f"x{number}" for number in range(50)), "y" * 100_000]
    tables = {"collect": {"deny_paths": entries}}
    with pytest.raises(ConfigError) as raised:
        refuse_near_misses(ConfigFile("/c", Config(), tables), HOMES)
    said = str(raised.value)
    assert token not in said and "and 47 more" in said and len(said) < 2000
    assert len(near_misses(tables, HOMES)) == 52


def slips(word: str) -> st.SearchStrategy[str]:
    """A word with one letter left out, doubled, replaced, or changed places with the next."""
    at = st.integers(0, len(word) - 1)
    made: list[Callable[[int], str]] = [
        lambda i: word[:i] + word[i + 1 :],
        lambda i: word[:i] + word[i] + word[i:],
        lambda i: word[:i] + "x" + word[i + 1 :],
        lambda i: word[:i] + word[i : i + 2][::-1] + word[i + 2 :],
    ]
    return st.builds(lambda change, i: change(i), st.sampled_from(made), at)


@given(st.sampled_from(WORDS).flatmap(slips), st.booleans())
def test_a_slip_in_a_name_is_never_passed_over(name: str, upper: bool) -> None:
    """One wrong letter in the table's name or one of its keys refuses, at the top of the file and within the table."""
    name = name.upper() if upper else name
    if name not in KNOWN:
        assert near_misses({name: {"x": 1}}, HOMES) and near_misses({name: True}, HOMES)
    if name not in KEYS["collect"]:
        assert near_misses({"collect": {name: True}}, HOMES)


written = st.one_of(
    st.text(max_size=8),
    st.text(alphabet="/~$*. \0ab", max_size=8),
    st.sampled_from(["/", "~", "/a", "~/a"]).flatmap(
        lambda start: st.text(max_size=5).map(lambda rest: start + rest)
    ),
)


@given(written)
def test_no_entry_is_ignored(entry: str) -> None:
    """Whatever is written is refused, or is followed: each folder it stands for, and what is in it, is denied."""
    if near_misses({"collect": {"deny_paths": [entry]}}, HOMES):
        return
    paths = expanded(entry, HOMES)
    assert paths
    rules = Policy(Collect(deny_paths=(entry,)), HOMES, lambda path: path)
    opted = Policy(Collect(opt_in_only=True, opt_in_paths=(entry,)), HOMES, lambda path: path)
    for path in paths:
        for directory in (path, cleaned(path) + "/x"):
            assert rules.check(directory, directory) == Verdict("denied", "deny_paths")
            assert opted.check(directory, directory) is None


values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*WORDS, "x", "colect", ""]), inner, max_size=3),
    ),
    max_leaves=8,
)
names = st.one_of(st.sampled_from(sorted(KNOWN - {"collect"})), st.text(max_size=12))


@given(st.dictionaries(names, values, max_size=4))
def test_every_key_that_has_no_effect_is_told(tables: dict[str, object]) -> None:
    """A key at the top that nobody knows refuses or is warned of; none does both."""
    refused, warned = near_misses(tables, HOMES), unknown_keys(tables)
    for name in tables.keys() - KNOWN:
        alone = {name: tables[name]}
        assert near_misses(alone, HOMES) or unknown_keys(alone)
    assert len(refused) == sum(len(near_misses({name: tables[name]}, HOMES)) for name in tables)
    assert len(warned) == sum(len(unknown_keys({name: tables[name]})) for name in tables)
