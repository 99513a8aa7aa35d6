"""What Cursor's hooks keep of a session, and that they open nothing."""

from __future__ import annotations

import json
import os
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback_cursor.hooks import INSTALLER, MOST, is_transcript, valid_id

HOME = "/home/u"
PATH = "/home/u/.cursor/projects/home-u-app/agent-transcripts/c1.jsonl"


def kept(*payloads: dict[str, Any]) -> dict[str, Any]:
    """What hooks with these payloads keep, one after the other."""
    members: dict[str, Any] = {}
    for payload in payloads:
        if INSTALLER.session(payload):
            INSTALLER.keep(members, payload, HOME)
    return members


@pytest.mark.parametrize("event", ["postToolUseFailure", "stop", "sessionEnd"])
def test_three_events_feed_the_index(machine, event):
    """Each of the three events records id, transcript, roots and directory; the hook opens no transcript."""
    path = machine.transcript("c1")
    path.chmod(0)
    machine.hook(
        event,
        conversation_id="c1",
        transcript_path=str(path),
        workspace_roots=["/srv/app", "/srv/lib"],
        cwd="/srv/app/sub",
        tool_name="Shell",
        user_email="someone@example.com",
        error_message="secret words",
    )
    found = machine.kept("c1")
    assert {"created", "updated"} == found.keys() - {
        "conversation_id",
        "transcript_path",
        "workspace_roots",
        "cwd",
        "cwds",
    }
    assert ("c1", str(path)) == (found["conversation_id"], found["transcript_path"])
    assert (["/srv/app", "/srv/lib"], "/srv/app/sub") == (found["workspace_roots"], found["cwd"])
    [file] = machine.index.glob("*.json")
    text = file.read_text()
    assert "secret" not in text and "example.com" not in text
    assert 0o600 == file.stat().st_mode & 0o777 and 0o700 == machine.index.stat().st_mode & 0o777


@pytest.mark.parametrize("event", ["sessionStart", "preToolUse", "Stop", "afterFileEdit", ""])
def test_other_events_keep_nothing(machine, event):
    """An event that is not wired is passed over."""
    machine.hook(event, conversation_id="c1", workspace_roots=["/srv/app"])
    assert not machine.index.exists()


def test_the_hook_opens_no_transcript(machine, watch):
    """Of all files a hook opens none is a transcript, nor anything else the payload names."""
    path = machine.transcript("c1")
    with watch() as names:
        machine.hook(conversation_id="c1", transcript_path=str(path), workspace_roots=["/srv/app"])
    assert names and not [name for name in names if name.endswith(".jsonl")]


def test_what_several_hooks_report_is_kept_together():
    """Roots and directories add up in order of first appearance; a hook that tells no path takes none away."""
    found = kept(
        {"conversation_id": "c1", "workspace_roots": ["/srv/b"], "cwd": "/srv/b/1"},
        {"conversation_id": "c1", "transcript_path": PATH, "workspace_roots": ["/srv/a", "/srv/b"]},
        {
            "conversation_id": "c1",
            "transcript_path": None,
            "cwd": "/srv/b/2",
            "workspace_roots": [],
        },
        {"conversation_id": "c1", "cwd": "/srv/b/1"},
        {"session_id": "c1", "cwd": "relative", "workspace_roots": "/srv/c"},
    )
    assert PATH == found["transcript_path"]
    assert ["/srv/b", "/srv/a"] == found["workspace_roots"]
    assert ("/srv/b/1", ["/srv/b/1", "/srv/b/2"]) == (found["cwd"], found["cwds"])


def test_a_transcript_that_moved_is_followed():
    """One id can appear in two folders: the latest hook is right."""
    other = PATH.replace("home-u-app", "home-u-lib")
    found = kept(
        {"conversation_id": "c1", "transcript_path": PATH},
        {"conversation_id": "c1", "transcript_path": other},
        {"conversation_id": "c1", "transcript_path": "/etc/c1.jsonl"},
    )
    assert other == found["transcript_path"]


@pytest.mark.parametrize(
    "path",
    [
        "/home/u/.ssh/id_rsa",
        "/home/u/../v/c1.jsonl",
        "/home/u/x/../c1.jsonl",
        "/home/u/./c1.jsonl",
        "/home/u//c1.jsonl",
        "/home/u/c1.jsonl/",
        "../../c1.jsonl",
        "c1.jsonl",
        "~/c1.jsonl",
        "/etc/c1.jsonl",
        "/home/u2/c1.jsonl",
        "/home/u",
        "/home/u/c1.json",
        "/home/u/c1.jsonl.txt",
        "/home/u/C1.jsonl",
        "/home/u/c2.jsonl",
        "/home/u/xc1.jsonl",
        "/home/u/a\0/c1.jsonl",
        "/home/u/" + "d/" * 2100 + "c1.jsonl",
        "",
    ],
)
def test_a_path_a_payload_names_is_not_trusted(path):
    """Only a path beneath the home that is named exactly as the session can be a transcript (C107)."""
    assert not is_transcript(path, "c1", HOME)
    assert "transcript_path" not in kept({"conversation_id": "c1", "transcript_path": path})


@pytest.mark.parametrize("home", ["/home/u", "/home/u/", "/home//u", "/"])
def test_a_transcript_lies_anywhere_beneath_the_home(home):
    """Its place below the home is up to Cursor, and how the home is written does not matter."""
    for path in (PATH, "/home/u/c1.jsonl", "/home/u/projects/c1/c1.jsonl"):
        assert is_transcript(path, "c1", home)


@pytest.mark.parametrize(
    "id",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "a#b",
        "a\0b",
        "x" * 300,
        "\ud800",
        "é" * 130,
        7,
        None,
        ["c1"],
    ],
)
def test_an_id_that_no_ref_can_hold_is_none(machine, id):
    """A session without a usable id is not kept at all."""
    machine.hook(conversation_id=id, workspace_roots=["/srv/app"])
    assert not machine.index.exists()
    if isinstance(id, str):
        assert not valid_id(id)


def test_too_many_directories_are_remembered_as_too_many():
    """What does not fit is not forgotten silently: the record says it is incomplete."""
    roots = [f"/srv/{number}" for number in range(MOST)]
    whole = kept({"conversation_id": "c1", "workspace_roots": roots})
    assert roots == whole["workspace_roots"] and "incomplete" not in whole
    for payload in ({"workspace_roots": ["/more"]}, {"workspace_roots": ["/" + "x" * 5000]}):
        assert kept(
            {"conversation_id": "c1", "workspace_roots": roots},
            {"conversation_id": "c1", **payload},
        )["incomplete"]
    many = [{"conversation_id": "c1", "cwd": f"/srv/{number}"} for number in range(MOST + 1)]
    assert kept(*many)["incomplete"] and MOST == len(kept(*many)["cwds"])


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(string.printable, max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
_members = st.sampled_from(
    ["conversation_id", "session_id", "transcript_path", "workspace_roots", "cwd"]
)


@given(st.lists(st.dictionaries(_members, _values), max_size=4))
def test_any_payload_keeps_a_record_of_the_right_shape(payloads):
    """Members of any type never raise, and what is kept has always the same types."""
    found = kept(*payloads)
    json.dumps(found)
    for member in ("workspace_roots", "cwds"):
        assert all(isinstance(path, str) for path in found.get(member, []))
    assert all(os.path.isabs(path) for path in found.get("cwds", []))
    assert found == {} or valid_id(found["conversation_id"])


@given(st.dictionaries(st.sampled_from(["workspace_roots", "cwds", "cwd", "incomplete"]), _values))
def test_a_damaged_record_is_repaired(members):
    """Whatever stood in the file, the next hook leaves lists of texts."""
    members = dict(members)
    payload = {"conversation_id": "c1", "workspace_roots": ["/srv/app"], "cwd": "/srv/app"}
    INSTALLER.keep(members, payload, HOME)
    assert "/srv/app" in members["workspace_roots"] and "/srv/app" in members["cwds"]
    assert all(isinstance(path, str) for path in members["workspace_roots"] + members["cwds"])
