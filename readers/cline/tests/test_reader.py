"""The rules of the README: through `find`, `place`, `open` and `read` alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading import Home, Report, Session, UnreadableLog
from agentfeedback_cline.reader import Cline
from pytest_agentfeedback import Recorder

SESSIONS = ".cline/data/sessions"
NO = " -- NOT a tool or system failure. Clarify with user before proceeding."


def session(home: Path, *messages: Any, id: str = "1_a", state: Any = None) -> Path:
    folder = home / SESSIONS / id
    folder.mkdir(parents=True, exist_ok=True)
    document = {"version": 1, "messages": list(messages)}
    (folder / f"{id}.messages.json").write_text(json.dumps(document))
    if state is not None:
        (folder / f"{id}.json").write_text(json.dumps(state))
    return folder


def find(home: Path) -> list[Session]:
    return list(Cline().find(Home(str(home)), Report("cline")))


def told(home: Path, *messages: dict[str, Any]) -> Recorder:
    session(home, *({"id": f"m{number}", "ts": 1, **each} for number, each in enumerate(messages)))
    (found,) = find(home)
    recorder = Recorder()
    log = Cline().open(found)
    try:
        Cline().read(log, Cline().place(found, strict=True), recorder)
    finally:
        log.close()
    return recorder


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def call(content: Any, **more: Any) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "c1", "name": "run_commands", "input": {"commands": ["x"]}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content, **more}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def test_a_session_is_the_document_of_its_folders_name(tmp_path: Path) -> None:
    """Documents of sub-agents, a compaction and the state beside it are not sessions."""
    folder = session(tmp_path, state={"cwd": "/srv/app"})
    for name in ("agent_2.messages.json", "1_a.compaction.json", "other.json"):
        (folder / name).write_text("{}")
    assert [each.id for each in find(tmp_path)] == ["1_a"]


@pytest.mark.parametrize(
    ("state", "paths", "failed"),
    [
        ({"cwd": "/srv/app"}, ("/srv/app",), False),
        ({"cwd": "app"}, (), False),
        ({}, (), True),
        ({"cwd": 5}, (), True),
        ([], (), True),
        (None, (), True),
    ],
)
def test_place_is_in_the_state_beside_it(
    tmp_path: Path, state: Any, paths: Any, failed: bool
) -> None:
    """Without a directory there a policy with rules about paths refuses the session."""
    session(tmp_path, state=state)
    place = Cline().place(find(tmp_path)[0], strict=True)
    assert (place.paths, place.failed) == (paths, failed)


@pytest.mark.parametrize(
    ("text", "prompts"),
    [
        ('<user_input mode="act">fix\nit</user_input>', ["fix\nit"]),
        ('<user_input mode="plan">a </user_input> b</user_input>\n', ["a </user_input> b"]),
        ("fix it", []),
        ('said: <user_input mode="act">fix it</user_input>', []),
        ('<user_input mode="act"> </user_input>', []),
    ],
)
def test_prompts(tmp_path: Path, text: str, prompts: list[str]) -> None:
    """What the program marked as typed."""
    entries = told(tmp_path, user(text)).recording().entries
    assert [entry.text for entry in entries if entry.kind == "prompt"] == prompts


def item(error: str | None = None, result: str = "") -> dict[str, Any]:
    return {"query": "x", "result": result, "success": error is None, "error": error}


@pytest.mark.parametrize(
    ("content", "rejected", "ended"),
    [
        ([item()], False, ("ok", None)),
        (
            [item("Command exited with code 3", "[Command exited with code 3]\nno\n")],
            False,
            ("error", 3),
        ),
        (
            [item(), item("Command exited with code 3"), item("Command exited with code 4")],
            False,
            ("error", 3),
        ),
        ([item("Command exited with code 0")], False, ("error", None)),
        ([item("Command exited with code " + "9" * 19)], False, ("error", None)),
        ([item("Command failed: Command timed out after 30000ms")], False, ("error", None)),
        ([item("Command failed: Command was aborted")], False, ("interrupted", None)),
        (
            [item(result="[Command exited with code 3]\nCommand failed: Command was aborted")],
            False,
            ("ok", None),
        ),
        (json.dumps(item("Editor operation failed")), False, ("error", None)),
        (json.dumps(item()), False, ("ok", None)),
        ("A", False, ("ok", None)),
        ('{"half', False, ("ok", None)),
        (json.dumps({"error": "✖ Invalid input"}), True, ("error", None)),
        (
            json.dumps({"error": "This tool call was rejected by the user." + NO}),
            True,
            ("denied", None),
        ),
        (json.dumps({"error": NO + " it said"}), True, ("error", None)),
        ([item("This tool call was rejected by the user." + NO)], False, ("error", None)),
        ("no JSON" + NO, True, ("denied", None)),
        (5, False, ("ok", None)),
    ],
)
def test_results(tmp_path: Path, content: Any, rejected: bool, ended: Any) -> None:
    """`success` of each item decides, and `is_error` says only that a call did not run."""
    more = {"is_error": True} if rejected else {}
    entries = told(tmp_path, *call(content, **more)).recording().entries
    (found,) = [each for entry in entries for each in entry.calls]
    assert (found.status, found.exit_code) == ended


def test_what_is_written_for_the_person(tmp_path: Path) -> None:
    """An error that is only shown is the provider's trouble, and nothing that the model said."""
    shown = {"displayOnly": True, "displayRole": "error"}
    texts = ["the key was not accepted", "Capability owner client x disconnected", "hello"]
    messages = [{**user(text), "role": "assistant", "metadata": shown} for text in texts[:2]]
    messages.append({**user(texts[2]), "role": "assistant", "metadata": {"displayOnly": True}})
    found = told(tmp_path, *messages).recording()
    assert len(found.troubles) == 1
    assert [said for entry in found.entries for said in entry.said] == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"messages":5}', '{"messages":[1,[],"x",{}]}'])
def test_any_document(tmp_path: Path, text: str) -> None:
    """A document of another form has no messages, or some that are unparsed; half of one is unreadable."""
    folder = session(tmp_path)
    (folder / "1_a.messages.json").write_text(text)
    (found,) = find(tmp_path)
    recorder = Recorder()
    log = Cline().open(found)
    try:
        Cline().read(log, Cline().place(found, strict=False), recorder)
        assert recorder.counts().entries == 0
    except UnreadableLog:
        assert text in ("", "{")
    finally:
        log.close()
