"""Marked entries in the text of a hook file: only they come and go, every other byte stays."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.harness_hooks import entries as hook_entries
from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.harness_hooks.json_edit import NotEditable

PROGRAM = "/opt/bin/agentfeedback"


class Flat(Installer):
    harness = "cursor"
    events = ("postToolUseFailure", "stop", "sessionEnd")
    version = 1

    def entry(self, command: str) -> dict[str, Any]:
        return {"command": command, "timeout": 5}


class Grouped(Installer):
    harness = "claude-code"
    events = ("Stop",)
    grouped = True

    def entry(self, command: str) -> dict[str, Any]:
        return {"type": "command", "command": command, "timeout": 5}


FLAT, GROUPED = Flat(), Grouped()
INSTALLERS = [FLAT, GROUPED]

_words = st.text(string.ascii_letters + ' "\\\u20ac\U0001f600/\n', max_size=6)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _words
)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=8,
)
_commands = st.sampled_from(
    [
        "./mine.sh",
        "agentfeedback sessions list",
        "agentfeedback hook other stop",
        "nice agentfeedback hook cursor stop",
        "'unbalanced",
        "",
    ]
)
_entry = st.fixed_dictionaries({"command": _commands}, optional={"timeout": st.integers(0, 9)})
_foreign = (
    _entry
    | st.fixed_dictionaries({"hooks": st.lists(_entry, max_size=2)}, optional={"matcher": _words})
    | _json
)
_event = st.sampled_from(["stop", "Stop", "sessionEnd", "PreToolUse", "beforeReadFile"])
_hooks = st.dictionaries(_event, st.lists(_foreign, max_size=3), max_size=4)
_root = st.dictionaries(_words.filter(lambda name: name != "hooks"), _json, max_size=3)
_space = st.text(" \t\n\r", max_size=3)


@st.composite
def _texts(draw: Any) -> str:
    """A hook file as anybody may write one: any members, any order, any white space."""
    root = draw(_root)
    if draw(st.booleans()):
        items = list(root.items())
        items.insert(draw(st.integers(0, len(items))), ("hooks", draw(_hooks)))
        root = dict(items)
    if draw(st.booleans()):
        indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
        text = json.dumps(root, indent=indent, ensure_ascii=draw(st.booleans()))
        ending = draw(st.sampled_from(["", "\n"]))
        return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + ending
    return draw(_space) + _spaced(draw, root) + draw(_space)


def _spaced(draw: Any, value: Any) -> str:
    def between(items: list[str], brackets: str) -> str:
        inside = ",".join(draw(_space) + item + draw(_space) for item in items) or draw(_space)
        return brackets[0] + inside + brackets[1]

    if isinstance(value, dict):
        return between(
            [
                json.dumps(name) + draw(_space) + ":" + draw(_space) + _spaced(draw, item)
                for name, item in value.items()
            ],
            "{}",
        )
    if isinstance(value, list):
        return between([_spaced(draw, item) for item in value], "[]")
    return json.dumps(value)


@given(_texts(), st.sampled_from(INSTALLERS))
def test_removal_gives_back_the_bytes_there_were(text, installer):
    """Install, then uninstall: the same text, whatever foreign entries, members and white space it has."""
    added = hook_entries.installed(text, installer, PROGRAM)
    assert added != text
    assert list(installer.events) == [
        event for event in installer.events if event in hook_entries.events(added, installer)
    ]
    assert text == hook_entries.removed(added, installer)
    assert not hook_entries.was_made(added, installer)


@given(_texts(), st.sampled_from(INSTALLERS))
def test_a_second_install_is_none(text, installer):
    """What is installed is found again, whatever surrounds it."""
    once = hook_entries.installed(text, installer, PROGRAM)
    assert once == hook_entries.installed(once, installer, PROGRAM)


@given(_texts(), st.sampled_from(INSTALLERS))
def test_only_entries_are_added(text, installer):
    """What JSON readers see is what was there, with one entry more at the end of each event's array."""
    before = json.loads(text)
    after = json.loads(hook_entries.installed(text, installer, PROGRAM))
    for event in installer.events:
        entry = installer.entry(f"{PROGRAM} hook {installer.harness} {event}")
        assert ({"hooks": [entry]} if installer.grouped else entry) == after["hooks"][event].pop()
        if event not in before.get("hooks", {}):
            assert [] == after["hooks"].pop(event)
    if "hooks" not in before:
        assert {} == after.pop("hooks")
    assert before == after
    assert list(before) == list(after)


@given(_texts(), st.sampled_from(INSTALLERS), st.sampled_from([None, 2, "\t"]))
def test_entries_are_found_after_the_harness_wrote_the_file_anew(text, installer, indent):
    """A file in another layout loses exactly our entries, and arrays and objects that held nothing else."""
    added = json.loads(hook_entries.installed(text, installer, PROGRAM))
    left = json.loads(hook_entries.removed(json.dumps(added, indent=indent), installer))
    assert _without_empty(json.loads(text)) == _without_empty(left)


def _without_empty(root: dict[str, Any]) -> dict[str, Any]:
    hooks = {event: entries for event, entries in root.get("hooks", {}).items() if entries}
    rest = {name: value for name, value in root.items() if name != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest


@given(_texts(), st.sampled_from(INSTALLERS))
def test_a_program_that_moved_is_followed(text, installer):
    """Installed again from elsewhere, the entries stay where they are and call the new program."""
    old = hook_entries.installed(text, installer, "/old/agentfeedback")
    moved = hook_entries.installed(old, installer, "'/new place/agentfeedback'")
    assert old.replace("/old/agentfeedback", "'/new place/agentfeedback'") == moved
    assert text == hook_entries.removed(moved, installer)


def test_a_file_made_new_is_recognised_as_such():
    """The text of a new file is known again, and is another once somebody has a part in it."""
    for installer in INSTALLERS:
        text = hook_entries.made(installer, PROGRAM)
        assert text == hook_entries.installed(text, installer, PROGRAM)
        assert hook_entries.was_made(text, installer)
        assert not hook_entries.was_made(text + "\n", installer)
        assert not hook_entries.was_made(text.replace("5", "6"), installer)
    assert 1 == json.loads(hook_entries.made(FLAT, PROGRAM))["version"]
    assert ["hooks"] == list(json.loads(hook_entries.made(GROUPED, PROGRAM)))


def test_the_layout_is_that_of_the_neighbours():
    """Added lines are indented as the file is, with its line ends."""
    text = '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"x": []\r\n\t}\r\n}\r\n'
    expected = (
        '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"x": [],\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n'
        '\t\t\t\t\t{\r\n\t\t\t\t\t\t"type": "command",\r\n\t\t\t\t\t\t"command": "/opt/bin/agentfeedback hook '
        'claude-code Stop",\r\n\t\t\t\t\t\t"timeout": 5\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n'
    )
    assert expected == hook_entries.installed(text, GROUPED, PROGRAM)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '"hooks"',
        '{"a":1,}',
        '{"a":[1,]}',
        "{'a':1}",
        '{"a":1} // mine',
        '{/* mine */"a":1}',
        '{"a":1}{',
        '{"a":NaN}',
        '{"a":-Infinity}',
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":1}}',
        '{"a":"\n"}',
        '{"a":01}',
        '\ufeff{"a":1}',
        '{"hooks":[]}',
        '{"hooks":null}',
        '{"hooks":{"Stop":{}}}',
        '{"hooks":{"stop":"./mine.sh"}}',
        '{"a":' + "[" * 100_000,
        '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_is_no_hook_file_is_refused(text):
    """Anything but strict JSON of the right shape is refused by both ways, with a reason."""
    for installer in INSTALLERS:
        for edit in (
            lambda: hook_entries.installed(text, installer, PROGRAM),  # noqa: B023
            lambda: hook_entries.removed(text, installer),  # noqa: B023
        ):
            with pytest.raises(NotEditable, match="it|is no JSON"):
                edit()


def test_numbers_of_any_length_are_no_reason_to_refuse():
    """A number too long for Python is a number all the same."""
    text = '{"a":' + "9" * 5000 + ',"b":1e999}'
    assert text == hook_entries.removed(hook_entries.installed(text, FLAT, PROGRAM), FLAT)


OURS = "agentfeedback hook claude-code"


@pytest.mark.parametrize(
    ("command", "own"),
    [
        (f"/x/{OURS} Stop", True),
        (f"{OURS} Stop", True),
        ("'/a b/agentfeedback' hook claude-code Stop", True),
        (f"/usr/bin/python3 -m {OURS} Stop", True),
        (f"python3 -m {OURS} Stop", False),
        (f"/x/my{OURS} Stop", False),
        (f"/x/{OURS} Stop --x", False),
        (f"/x/{OURS} Stop; true", False),
        (f"sudo /x/{OURS} Stop", False),
        ("/x/agentfeedback hook codex Stop", False),
        (f"/x/{OURS}", False),
        (f"'/x/{OURS} Stop", False),
        (5, False),
    ],
)
def test_what_is_marked(command, own):
    """An entry is ours when it calls agentfeedback's hook for this harness, and nothing else is."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}})
    assert own == bool(hook_entries.events(text, GROUPED))
    assert own == (text != hook_entries.removed(text, GROUPED))


def test_edits_by_hand_do_not_hide_an_entry():
    """Entries moved into a foreign group, doubled or put under another event are removed, and nothing beside them."""
    ours = {"type": "command", "command": "/x/agentfeedback hook claude-code Stop", "async": True}
    mine = {"type": "command", "command": "./mine.sh"}
    text = json.dumps(
        {
            "hooks": {
                "Stop": [
                    {"hooks": [ours, mine, ours]},
                    {"matcher": "x", "hooks": [ours]},
                    {"hooks": []},
                ],
                "SubagentStop": [{"hooks": [ours]}],
                "PreToolUse": [7, "x", {"hooks": mine}, {"hooks": [5, {"command": None}]}],
            }
        },
        indent=4,
    )
    expected = {
        "hooks": {
            "Stop": [{"hooks": [mine]}, {"hooks": []}],
            "PreToolUse": [7, "x", {"hooks": mine}, {"hooks": [5, {"command": None}]}],
        }
    }
    assert expected == json.loads(hook_entries.removed(text, GROUPED))
    once = json.loads(hook_entries.installed(text, GROUPED, PROGRAM))
    assert 1 == json.dumps(once["hooks"]["Stop"]).count("hook claude-code Stop")
