"""The hooks in a settings file: added and removed byte for byte, whatever the file looks like."""

import json
import os
import shlex
import stat
from pathlib import Path

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture.setup import claude_settings as settings
from tests.support import real_hooks

PROGRAM = "/opt/agent tools/bin/agentscm"
ROOT = "/srv/app/it's a shop"

_HOOK = '{"type":"command","command":"%s"}'
_OTHER = shlex.join([PROGRAM, "change-capture", "hook-claude", "--root", "/srv/other"])

#: Ten files as people, editors and other programs leave them.
HOSTILE: dict[str, bytes] = {
    "an empty object": b"{}",
    "one line": b'{"model":"opus","hooks":{"Stop":[{"hooks":['
    + (_HOOK % "true").encode()
    + b"]}]}}",
    "tabs and CRLF": b'{\r\n\t"permissions": {\r\n\t\t"allow": []\r\n\t},\r\n\t"hooks": {}\r\n}\r\n',
    "byte order mark": b'\xef\xbb\xbf{\n    "env": {"A": "1"}\n}\n\n',
    "odd white space": b'\n\n {"a" :1 ,\t"hooks":{ "PreToolUse" :[ ] } }  \n',
    "hooks of others": json.dumps(
        {
            "hooks": {
                event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo é"}]}]
                for event in settings.EVENTS
            }
        },
        indent=4,
        ensure_ascii=False,
    ).encode(),
    "hooks of another checkout": json.dumps(
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": _OTHER}]}]}}, indent=2
    ).encode(),
    "numbers and escapes": b'{"n": 1.0e400, "big": 123456789012345678901234567890, "u": "\\u0041\\ud800"}',
    "members in odd order": b'{"hooks": {"SessionEnd": [], "Stop": [[]], "Unknown": [5]}, "a": null}',
    "almost ours": json.dumps(
        {
            "hooks": {
                "Stop": [
                    {"hooks": [{"type": "command", "command": f"agentscm {words}"}]}
                    for words in (
                        f"change-capture hook-claude --root {shlex.quote(ROOT)}",
                        "change-capture inspect",
                        'change-capture "',
                    )
                ]
            }
        }
    ).encode(),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.local.json"


@pytest.mark.parametrize("name", HOSTILE)
def test_removing_gives_back_the_bytes_there_were(path: Path, name: str) -> None:
    path.write_bytes(HOSTILE[name])
    path.chmod(0o640)
    added = settings.adding(str(path), ROOT, PROGRAM)
    assert (added.added, added.unchanged, added.created) == (11, 0, False)
    assert added.apply(keep_old=True)
    hooked = path.read_bytes()
    assert (path.parent / f"{path.name}.agentscm-old").read_bytes() == HOSTILE[name]
    assert settings.state(str(path), ROOT) == "installed"
    again = settings.adding(str(path), ROOT, PROGRAM)
    assert (again.added, again.unchanged) == (0, 11)
    assert not again.apply(keep_old=True)
    assert path.read_bytes() == hooked
    gone = settings.removing(str(path), ROOT)
    assert gone.added == 11
    assert gone.apply(keep_old=False)
    assert path.read_bytes() == HOSTILE[name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == [path.name]
    assert settings.state(str(path), ROOT) == "missing"


@pytest.mark.parametrize("name", HOSTILE)
def test_everything_else_in_the_file_stays(path: Path, name: str) -> None:
    path.write_bytes(HOSTILE[name])
    before = json.loads(HOSTILE[name].decode("utf-8-sig"), parse_float=str, parse_int=str)
    settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    after = json.loads(path.read_bytes().decode("utf-8-sig"), parse_float=str, parse_int=str)
    hooks = after.pop("hooks")
    had = before.pop("hooks", {})
    assert after == before
    for event in {*hooks, *had}:
        kept = had.get(event, [])
        assert hooks[event][: len(kept)] == kept
        assert len(hooks[event]) == len(kept) + (event in settings.EVENTS)


def test_the_entries(path: Path) -> None:
    settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    hooks = json.loads(path.read_text())["hooks"]
    assert settings.EVENTS == real_hooks.EVENTS
    assert tuple(hooks) == settings.EVENTS
    for event, groups in hooks.items():
        [group] = groups
        assert group.get("matcher") == ("*" if "Tool" in event else None)
        [entry] = group["hooks"]
        assert (entry["type"], entry["timeout"]) == ("command", 20)
        runner = shlex.join([PROGRAM, "change-capture", "run-recipe"])
        assert shlex.split(entry["command"]) == [
            *(PROGRAM, "change-capture", "hook-claude"),
            *("--root", ROOT, "--runner", runner),
        ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_was_made_for_the_hooks_goes_with_them(path: Path) -> None:
    added = settings.adding(str(path), ROOT, PROGRAM)
    assert added.created
    added.apply(keep_old=True)
    settings.removing(str(path), ROOT).apply(keep_old=False)
    assert os.listdir(path.parent) == []
    nothing = settings.removing(str(path), ROOT)
    assert not nothing.apply(keep_old=False)


def test_a_program_that_has_moved_replaces_its_entries(path: Path) -> None:
    path.write_bytes(HOSTILE["hooks of others"])
    settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    moved = settings.adding(str(path), ROOT, "/usr/bin/agentscm")
    assert moved.added == 11
    moved.apply(keep_old=True)
    assert PROGRAM not in path.read_text()
    settings.removing(str(path), ROOT).apply(keep_old=False)
    assert path.read_bytes() == HOSTILE["hooks of others"]


def test_only_some_hooks_are_partial(path: Path) -> None:
    settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    value = json.loads(path.read_text())
    del value["hooks"]["Stop"]
    path.write_text(json.dumps(value))
    assert settings.state(str(path), ROOT) == "partial"
    change = settings.adding(str(path), ROOT, PROGRAM)
    assert (change.added, change.unchanged) == (1, 10)


def test_two_checkouts_share_a_file(path: Path) -> None:
    path.write_bytes(HOSTILE["tabs and CRLF"])
    settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    one = path.read_bytes()
    settings.adding(str(path), "/srv/b", PROGRAM).apply(keep_old=True)
    settings.removing(str(path), "/srv/b").apply(keep_old=False)
    assert path.read_bytes() == one
    settings.removing(str(path), ROOT).apply(keep_old=False)
    assert path.read_bytes() == HOSTILE["tabs and CRLF"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dots").mkdir()
    target = tmp_path / "dots/settings.json"
    target.write_bytes(HOSTILE["byte order mark"])
    link = tmp_path / "settings.local.json"
    link.symlink_to(target)
    settings.adding(str(link), ROOT, PROGRAM).apply(keep_old=True)
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path / "dots")) == ["settings.json", "settings.json.agentscm-old"]
    settings.removing(str(link), ROOT).apply(keep_old=False)
    assert target.read_bytes() == HOSTILE["byte order mark"]


REFUSED = {
    "a comment": b'{// mine\n"a":1}',
    "a trailing comma": b'{"a":1,}',
    "a member twice": b'{"hooks":{},"hooks":{}}',
    "an inner member twice": b'{"a":{"b":1,"b":2}}',
    "not UTF-8": b'{"a":"\xff"}',
    "not an object": b"[]",
    "hooks not an object": b'{"hooks":[]}',
    "an event not an array": b'{"hooks":{"Stop":{}}}',
    "nothing": b"",
    "NaN": b'{"a":NaN}',
    "deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_left_as_it_is(path: Path, name: str) -> None:
    path.write_bytes(REFUSED[name])
    for attempt in (settings.adding, lambda path, root, _: settings.removing(path, root)):
        with pytest.raises(AgentFeedbackError, match="was left as it is"):
            attempt(str(path), ROOT, PROGRAM)
    assert path.read_bytes() == REFUSED[name]
    assert os.listdir(path.parent) == [path.name]


def test_a_read_only_file_and_a_pipe_are_refused(path: Path) -> None:
    path.write_bytes(b"{}")
    path.chmod(0o400)
    with pytest.raises(AgentFeedbackError, match="read-only"):
        settings.adding(str(path), ROOT, PROGRAM)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(AgentFeedbackError, match="not a regular file"):
        settings.adding(str(path), ROOT, PROGRAM)


def test_what_a_killed_process_left_is_removed(path: Path) -> None:
    path.write_bytes(b"{}")
    beside = path.parent / f"{path.name}.agentscm-new"
    beside.write_bytes(b'{"half')
    settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    assert not beside.exists()
    assert settings.state(str(path), ROOT) == "installed"
    beside.write_bytes(b'{"half')
    assert not settings.adding(str(path), ROOT, PROGRAM).apply(keep_old=True)
    assert not beside.exists()


def test_a_file_that_changes_meanwhile_is_left_as_it_is_then(path: Path) -> None:
    path.write_bytes(b"{}")
    change = settings.adding(str(path), ROOT, PROGRAM)
    path.write_bytes(b'{"a":1}')
    with pytest.raises(AgentFeedbackError, match="changed at the same time"):
        change.apply(keep_old=True)
    assert path.read_bytes() == b'{"a":1}'
