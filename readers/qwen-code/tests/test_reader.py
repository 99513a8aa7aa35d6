"""The rules of the README: through `find`, `place` and `read` alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading import FileLog, Home, Report, Session
from agentfeedback_qwen_code.reader import QwenCode
from agentfeedback_qwen_code.results import outcome
from pytest_agentfeedback import Recorder

CHATS = ".qwen/projects/-srv-app/chats"


def chat(home: Path, *records: dict[str, Any], name: str = "s1", folder: str = CHATS) -> Path:
    path = home / folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def find(home: Path) -> tuple[list[Session], Report]:
    report = Report("qwen-code")
    return list(QwenCode().find(Home(str(home)), report)), report


def told(home: Path, *records: dict[str, Any]) -> Recorder:
    numbered = ({"uuid": f"u{number}", **record} for number, record in enumerate(records))
    log = FileLog(str(chat(home, *numbered)))
    recorder = Recorder()
    ((session,), _) = find(home)
    QwenCode().read(log, QwenCode().place(session, strict=True), recorder)
    log.close()
    return recorder


def user(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "user", "cwd": "/srv/app", "message": {"parts": list(parts)}, **more}


def test_chats_of_all_projects(tmp_path: Path) -> None:
    """Every `.jsonl` in a folder `chats`; one id twice is one session, links are not followed."""
    first = chat(tmp_path, user({"text": "x"}))
    second = chat(tmp_path, user({"text": "x"}), folder=".qwen/projects/b/chats")
    chat(tmp_path, user({"text": "x"}), folder=".qwen/projects/b/other", name="s2")
    (first.parent / "notes.txt").write_text("x")
    (tmp_path / ".qwen/projects/c").mkdir()
    (tmp_path / ".qwen/projects/c/chats").symlink_to(first.parent)
    sessions, report = find(tmp_path)
    assert [session.path for session in sessions] == [str(first)]
    assert report.problems == [(str(second), f"session is listed from {first}", False)]
    assert find(tmp_path / "empty")[1].state == "absent"


@pytest.mark.parametrize(
    ("line", "paths", "failed"),
    [
        ({"type": "user", "cwd": "/srv/app"}, ("/srv/app",), False),
        ({"type": "user", "cwd": "app"}, (), False),
        ({"type": "user"}, (), True),
        ({"type": "user", "cwd": 5}, (), True),
        ([], (), True),
    ],
)
def test_place_is_the_first_lines_directory(
    tmp_path: Path, line: Any, paths: Any, failed: bool
) -> None:
    """A first line without a directory refuses the session where the policy has rules about paths."""
    chat(tmp_path).write_text(json.dumps(line) + "\n")
    place = QwenCode().place(find(tmp_path)[0][0], strict=True)
    assert (place.paths, place.failed) == (paths, failed)


@pytest.mark.parametrize(
    ("record", "prompts"),
    [
        (user({"text": "fix"}, {"text": "it"}), ["fix\nit"]),
        (user({"text": " "}), []),
        (user({"inlineData": {"data": "x"}}), [""]),
        (user({"text": "report"}, subtype="cron"), []),
        (user({"text": "done"}, subtype="notification"), []),
    ],
)
def test_prompts(tmp_path: Path, record: dict[str, Any], prompts: list[str]) -> None:
    """What a person typed; an image alone is a prompt without a word."""
    entries = told(tmp_path, record).recording().entries
    assert [entry.text or "" for entry in entries if entry.kind == "prompt"] == prompts


@pytest.mark.parametrize(
    ("event", "troubles"),
    [
        ({"error_message": "401 no", "error_type": "AuthenticationError"}, 1),
        ({"error": "401 no", "error_type": "authentication_error"}, 1),
        ({"error_message": "Request was aborted.", "error_type": "APIUserAbortError"}, 0),
    ],
)
def test_failures_of_the_provider(tmp_path: Path, event: Any, troubles: int) -> None:
    """An error of the API is a trouble; an answer that a person stopped is none."""
    named = {"event.name": "qwen-code.api_error", **event}
    record = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": named}}
    quoted = {"event.name": "qwen-code.tool_call", "function_args": {"x": "qwen-code.api_error"}}
    other = {**record, "systemPayload": {"uiEvent": quoted}}
    found = told(tmp_path, user({"text": "x"}), record, other).recording()
    assert len(found.troubles) == troubles


END = "\nError: (none)\nExit Code: {}\nSignal: {}\nProcess Group PGID: 12"


@pytest.mark.parametrize(
    ("end", "ended"),
    [
        (END.format(0, 0), ("ok", None)),
        (END.format(0, "(none)"), ("ok", None)),
        (END.format(3, 0), ("error", 3)),
        (END.format(-1, 0), ("error", -1)),
        (END.format(0, 9), ("error", None)),
        (END.format("(none)", 15), ("error", None)),
        (END.format("9" * 19, 0), ("error", None)),
        (END.format(3, 0).rpartition("\n")[0], ("error", 3)),
        (END.format(3, 0).replace("\nProcess", "\nBackground PIDs: 1\nProcess"), ("error", 3)),
        (END.format(3, 0) + "\nmore", ("ok", None)),
        ("", ("ok", None)),
    ],
)
@given(printed=st.sampled_from(["", END.format(5, 9), "Exit Code: 7\nSignal: 0", "x\n"]))
def test_the_end_of_a_command(end: str, ended: Any, printed: str) -> None:
    """The last lines are the program's, and what the command printed above changes nothing."""
    text = f"Command: x\nDirectory: (root)\nOutput: {printed}{end}"
    if end or not printed.startswith(("\n", "Exit")):
        assert outcome("success", None, "run_shell_command", text) == ended
    assert outcome("success", None, "read_file", text) == ("ok", None)


@pytest.mark.parametrize(
    ("status", "error_type", "text", "ended"),
    [
        ("error", "execution_denied", "anything", "denied"),
        ("error", "file_not_found", "[Operation Cancelled] Reason: User did not allow", "error"),
        ("cancelled", None, "[Operation Cancelled] Reason: User did not allow tool call", "denied"),
        ("cancelled", None, "[Operation Cancelled] Reason: User cancelled", "interrupted"),
        ("cancelled", "execution_denied", "", "interrupted"),
        ("success", "execution_denied", "", "ok"),
        (None, None, "", "ok"),
        ("novel", None, "", "ok"),
    ],
)
def test_status(status: str | None, error_type: str | None, text: str, ended: str) -> None:
    """The record decides how a call ended."""
    assert outcome(status, error_type, "edit", text) == (ended, None)
