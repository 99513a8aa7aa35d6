"""Marked entries in the text of a hook file: only they come and go, every other byte stays."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.harness_hooks import entries
from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.harness_hooks.json_edit import NotEditable
from agentfeedback.harness_hooks.own_command import commands, owner

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


class Capturing(Installer):
    """Another program's hooks in the same file: another mark, arguments, and groups with a matcher."""

    harness = "claude-code"
    events = ("PreToolUse", "Stop")
    grouped = True

    def entry(self, command: str) -> dict[str, Any]:
        return {"type": "command", "command": command, "timeout": 20}

    def item(self, event: str, command: str) -> dict[str, Any]:
        group = super().item(event, command)
        return {"matcher": "*", **group} if event == "PreToolUse" else group


FLAT, GROUPED, CAPTURING = Flat(), Grouped(), Capturing()
INSTALLERS = [FLAT, GROUPED, CAPTURING]


def captures(words: list[str]) -> bool:
    return words[1:4] == ["capture", "--root", "/a b"] and os.path.basename(words[0]) == "agentscm"


def commands_of(installer: Installer, program: str) -> dict[str, str]:
    if isinstance(installer, Capturing):
        program = program.replace("agentfeedback", "agentscm")
        return dict.fromkeys(installer.events, f"{program} capture --root '/a b'")
    return commands(installer, program)


def owns_of(installer: Installer) -> Callable[[list[str]], bool]:
    return captures if isinstance(installer, Capturing) else owner(installer.harness)


def install(text: str, installer: Installer, program: str = PROGRAM) -> str:
    return entries.installed(text, installer, commands_of(installer, program), owns_of(installer))


def remove(text: str, installer: Installer) -> str:
    return entries.removed(text, installer, owns_of(installer))


def events(text: str, installer: Installer) -> list[str]:
    return entries.events(text, installer, owns_of(installer))


def make(installer: Installer) -> str:
    return entries.made(installer, commands_of(installer, PROGRAM))


def was_made(text: str, installer: Installer) -> bool:
    return entries.was_made(text, installer, owns_of(installer))


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
    added = install(text, installer)
    assert added != text
    assert list(installer.events) == [
        event for event in installer.events if event in events(added, installer)
    ]
    assert text == remove(added, installer)
    assert not was_made(added, installer)


@given(_texts(), st.sampled_from(INSTALLERS))
def test_a_second_install_is_none(text, installer):
    """What is installed is found again, whatever surrounds it."""
    once = install(text, installer)
    assert once == install(once, installer)


@given(_texts(), st.sampled_from(INSTALLERS))
def test_only_entries_are_added(text, installer):
    """What JSON readers see is what was there, with one entry more at the end of each event's array."""
    before = json.loads(text)
    after = json.loads(install(text, installer))
    for event in installer.events:
        item = installer.item(event, commands_of(installer, PROGRAM)[event])
        assert item == after["hooks"][event].pop()
        if event not in before.get("hooks", {}):
            assert [] == after["hooks"].pop(event)
    if "hooks" not in before:
        assert {} == after.pop("hooks")
    assert before == after
    assert list(before) == list(after)


@given(_texts(), st.sampled_from(INSTALLERS), st.sampled_from([None, 2, "\t"]))
def test_entries_are_found_after_the_harness_wrote_the_file_anew(text, installer, indent):
    """A file in another layout loses exactly our entries, and arrays and objects that held nothing else."""
    added = json.loads(install(text, installer))
    left = json.loads(remove(json.dumps(added, indent=indent), installer))
    assert _without_empty(json.loads(text)) == _without_empty(left)


def _without_empty(root: dict[str, Any]) -> dict[str, Any]:
    hooks = {event: each for event, each in root.get("hooks", {}).items() if each}
    rest = {name: value for name, value in root.items() if name != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest


@given(_texts(), st.sampled_from(INSTALLERS))
def test_a_program_that_moved_is_followed(text, installer):
    """Installed again from elsewhere, the entries stay where they are and call the new program."""
    old = install(text, installer, "/old/agentfeedback")
    moved = install(old, installer, "'/new place/agentfeedback'")
    name = "agentscm" if installer is CAPTURING else "agentfeedback"
    assert old.replace(f"/old/{name}", f"'/new place/{name}'") == moved
    assert text == remove(moved, installer)


def test_a_file_made_new_is_recognised_as_such():
    """The text of a new file is known again, and is another once somebody has a part in it."""
    for installer in INSTALLERS:
        text = make(installer)
        assert text == install(text, installer)
        assert was_made(text, installer)
        assert not was_made(text + "\n", installer)
        assert not was_made(text.replace('"timeout": ', '"timeout": 1'), installer)
    assert 1 == json.loads(make(FLAT))["version"]
    assert ["hooks"] == list(json.loads(make(GROUPED)))


def test_the_layout_is_that_of_the_neighbours():
    """Added lines are indented as the file is, with its line ends."""
    text = '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"x": []\r\n\t}\r\n}\r\n'
    expected = (
        '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"x": [],\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n'
        '\t\t\t\t\t{\r\n\t\t\t\t\t\t"type": "command",\r\n\t\t\t\t\t\t"command": "/opt/bin/agentfeedback hook '
        'claude-code Stop",\r\n\t\t\t\t\t\t"timeout": 5\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n'
    )
    assert expected == install(text, GROUPED)


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
            lambda: install(text, installer),  # noqa: B023
            lambda: remove(text, installer),  # noqa: B023
        ):
            with pytest.raises(NotEditable, match="it|is not JSON"):
                edit()


def test_numbers_of_any_length_are_no_reason_to_refuse():
    """A number too long for Python is a number all the same."""
    text = '{"a":' + "9" * 5000 + ',"b":1e999}'
    assert text == remove(install(text, FLAT), FLAT)


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
    assert own == bool(events(text, GROUPED))
    assert own == (text != remove(text, GROUPED))


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
    assert expected == json.loads(remove(text, GROUPED))
    once = json.loads(install(text, GROUPED))
    assert 1 == json.dumps(once["hooks"]["Stop"]).count("hook claude-code Stop")


#: Files that are hard to leave alone: what surrounds the hooks is odd, or looks like an entry.
HOSTILE = {
    "one line": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"./mine.sh"}]}]},"a":1}',
    "no hooks": "{}",
    "empty hooks with room": '{\n  "hooks": {\n  }\n}\n',
    "windows": '{\r\n\t"hooks": {\r\n\t\t"stop": [],\r\n\t\t"Stop": [ ]\r\n\t}\r\n}\r\n',
    "escapes": '{"\\u0068ooks":{"\\u0053top":[]},"k":"\\"hooks\\": {","\\ud800":"\\ud83d\\ude00"}',
    "numbers": '{"a":1E400,"b":-0.0,"c":123456789012345678901234567890,"hooks":{"x":[1e-999]}}',
    "odd layout": '\n\n {"hooks"\t:\n{ "Stop"\n:[ {"hooks" : [ ] , "matcher":""} ,\n\n7 ]  } ,"z":[ [ ] ]}  \n',
    "entries of all kinds": '{"hooks":{"Stop":[null,"x",{"hooks":"x"},{"hooks":[[],{}]},{"command":5}]}}',
    "looks like ours": '{"hooks":{"Stop":[{"hooks":[{"command":"/x/agentfeedback hook claude-code Stop; rm x"},'
    '{"command":"/x/agentscm capture --root /other"},{"command":"\'/x/agentfeedback hook"}]}]}}',
    "deep": '{"hooks":{"Stop":[]},"a":' + "[" * 400 + "]" * 400 + "}",
    "no newline and blanks": ' { "b" : "\u2028" , "hooks" : { } } ',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("installer", INSTALLERS, ids=["flat", "grouped", "another mark"])
def test_hostile_files_are_given_back_byte_for_byte(text: str, installer: Installer) -> None:
    """Each mark comes and goes without a trace, and finds itself again."""
    added = install(text, installer)
    assert events(added, installer) and install(added, installer) == added
    assert remove(added, installer) == text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_two_programs_share_a_file(text: str) -> None:
    """Each removes its own entries alone, in whatever order they came and go; both gone, what was there is back."""
    both = install(install(text, GROUPED), CAPTURING)
    assert events(both, GROUPED) == ["Stop"] and set(events(both, CAPTURING)) == {
        "PreToolUse",
        "Stop",
    }
    assert remove(both, CAPTURING) == install(text, GROUPED)
    left = remove(both, GROUPED)
    assert not events(left, GROUPED) and events(left, CAPTURING) == events(both, CAPTURING)
    before, after = json.loads(text), json.loads(remove(left, CAPTURING))
    assert _without_empty(before) == _without_empty(after)
