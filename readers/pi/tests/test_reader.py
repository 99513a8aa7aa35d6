"""The rules of the README, one test each: through `find`, `place` and `read` alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading import FileLog, Home, Place, Report, Session
from agentfeedback_pi.reader import Pi
from pytest_agentfeedback import Recorder

HEADER = {
    "type": "session",
    "version": 3,
    "id": "s",
    "timestamp": "2026-03-02T09:00:00Z",
    "cwd": "/srv/app",
}


def session(
    tmp_path: Path, *lines: dict[str, Any], folder: str = ".pi/agent/sessions/--srv-app--"
) -> Path:
    path = tmp_path / folder / "2026-03-02T09-00-00-000Z_s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in (HEADER, *lines)))
    return path


def found(tmp_path: Path, **environ: str) -> list[Session]:
    return list(Pi().find(Home(str(tmp_path), environ), Report("pi")))


def told(tmp_path: Path, *messages: dict[str, Any]) -> Recorder:
    entries = [
        {"type": "message", "id": f"e{number}", "message": each}
        for number, each in enumerate(messages)
    ]
    log = FileLog(str(session(tmp_path, *entries)))
    recorder = Recorder()
    Pi().read(log, Place(), recorder)
    log.close()
    return recorder


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "toolCall", "id": "c1", "name": tool, "arguments": arguments}
    return {"role": "assistant", "content": [block], "stopReason": "toolUse"}


def result(text: str, *, error: bool = True, tool: str = "bash") -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": tool,
        "content": content,
        "isError": error,
    }


def test_id_is_what_follows_the_time_in_the_file_name(tmp_path: Path) -> None:
    """A session is named by the uuid in its file's name."""
    session(tmp_path)
    assert [each.id for each in found(tmp_path)] == ["s1"]


def test_id_in_two_files_is_one_session(tmp_path: Path) -> None:
    """Of two files with one id the first is the session, the other a problem of the store."""
    first = session(tmp_path)
    second = session(tmp_path, folder=".pi/agent/sessions/--srv-copy--")
    report = Report("pi")
    assert [each.path for each in Pi().find(Home(str(tmp_path)), report)] == [str(first)]
    assert [path for path, _, _ in report.problems] == [str(second)]


def test_environment_moves_the_store(tmp_path: Path) -> None:
    """The agent folder holds `sessions` with a folder for each project; a session folder holds files."""
    session(tmp_path, folder="moved/sessions/--srv-app--")
    session(tmp_path, folder="flat")
    assert len(found(tmp_path, PI_CODING_AGENT_DIR=str(tmp_path / "moved"))) == 1
    assert len(found(tmp_path, PI_CODING_AGENT_SESSION_DIR=str(tmp_path / "flat"))) == 1


@pytest.mark.parametrize(
    ("header", "paths", "failed"),
    [
        (HEADER, ("/srv/app",), False),
        ({**HEADER, "cwd": "app"}, (), False),
        ({**HEADER, "cwd": 5}, (), False),
        ({**HEADER, "type": "message"}, (), True),
    ],
)
def test_place_is_the_headers_directory(
    tmp_path: Path, header: Any, paths: Any, failed: bool
) -> None:
    """The absolute `cwd` of a header is the place; a first line of another type is not a header."""
    path = session(tmp_path)
    path.write_text(json.dumps(header) + "\n")
    place = Pi().place(found(tmp_path)[0], strict=True)
    assert (place.paths, place.failed) == (paths, failed)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("fix it", "fix it"),
        (
            [
                {"type": "text", "text": "fix"},
                {"type": "image", "data": "x"},
                {"type": "text", "text": "it"},
            ],
            "fix\nit",
        ),
        ('<skill name="ship" location="/s">\nlong\n</skill>\n\nnow', "/skill:ship now"),
        ('<skill name="ship" location="/s">\nlong\n</skill>', "/skill:ship"),
        ("<skill of mine", "<skill of mine"),
    ],
)
def test_prompt_is_what_was_typed(tmp_path: Path, content: Any, text: str) -> None:
    """A user message is a prompt, its text blocks joined, an expanded skill as it was called."""
    (entry,) = told(tmp_path, {"role": "user", "content": content}).recording().entries
    assert (entry.kind, entry.text) == ("prompt", text)


@pytest.mark.parametrize("role", ["custom", "bashExecution", "branchSummary", "compactionSummary"])
def test_other_roles_are_no_prompts(tmp_path: Path, role: str) -> None:
    """What an extension, pi itself or a `!` command wrote is an entry that says nothing."""
    counts = told(
        tmp_path, {"role": role, "content": "hello", "command": "ls", "exitCode": 1}
    ).counts()
    assert (counts.entries, counts.prompts, counts.tool_calls) == (1, 0, 0)


@pytest.mark.parametrize(
    ("tool", "text", "status", "code"),
    [
        ("bash", "no such file\n\nCommand exited with code 2", "error", 2),
        ("bash", "Command exited with code 127", "error", 127),
        ("bash", "part\n\nCommand aborted", "interrupted", None),
        ("bash", "Command aborted\n\nCommand exited with code 1", "error", 1),
        ("bash", "slow\n\nCommand timed out after 9 seconds", "error", None),
        ("bash", "Blocked by user", "denied", None),
        ("bash", "Blocked by user\n\nCommand exited with code 1", "error", 1),
        ("write", "Tool execution was blocked", "denied", None),
        ("read", "Operation aborted", "interrupted", None),
        ("read", "line\nOperation aborted", "error", None),
        ("read", "Command exited with code 3", "error", None),
    ],
)
def test_failed_result_is_what_pi_says_of_it(
    tmp_path: Path, tool: str, text: str, status: str, code: Any
) -> None:
    """Status and exit code come from pi's own closing words, never from what a command printed."""
    entry = told(tmp_path, call(tool), result(text, tool=tool)).recording().entries[0]
    assert [(each.status, each.exit_code) for each in entry.calls] == [(status, code)]


def test_result_without_error_is_ok_whatever_it_holds(tmp_path: Path) -> None:
    """A result that is not marked as an error is ok."""
    told_of = told(
        tmp_path, call("bash"), result("Blocked by user\n\nCommand aborted", error=False)
    )
    assert told_of.recording().entries[0].calls[0].status == "ok"


def test_aborted_answer_is_an_interrupt_of_its_calls(tmp_path: Path) -> None:
    """An answer that was aborted is an interrupt, and the calls in it never ran."""
    recording = told(
        tmp_path, {**call("bash", command="make"), "stopReason": "aborted"}
    ).recording()
    assert recording.entries[0].kind == "interrupt"
    assert recording.entries[0].calls[0].status == "interrupted"


def test_command_is_known_of_bash_alone(tmp_path: Path) -> None:
    """Calls of `bash` with the same command are the same call, whatever else they were given."""
    first = told(tmp_path, call("bash", command="make", timeout=5)).recording().entries[0].calls[0]
    again = told(tmp_path, call("bash", command="make")).recording().entries[0].calls[0]
    other = told(tmp_path, call("read", command="make", timeout=5)).recording().entries[0].calls[0]
    assert first.args_digest == again.args_digest != other.args_digest


def test_model_is_the_last_one_named(tmp_path: Path) -> None:
    """A change of model and each answer name the model."""
    log = FileLog(
        str(
            session(
                tmp_path,
                {
                    "type": "message",
                    "id": "a",
                    "message": {"role": "assistant", "content": [], "model": "m-1"},
                },
                {"type": "model_change", "id": "b", "modelId": "m-2"},
            )
        )
    )
    recorder = Recorder()
    Pi().read(log, Place(), recorder)
    log.close()
    assert recorder.recording().model == "m-2"


def test_line_without_a_type_is_no_entry(tmp_path: Path) -> None:
    """A line whose type is missing or no text is counted as unparsed; an unknown type is an entry."""
    log = FileLog(str(session(tmp_path, {"id": "a"}, {"type": 5}, {"type": "later", "id": "b"})))
    recorder = Recorder()
    Pi().read(log, Place(), recorder)
    log.close()
    counts = recorder.counts()
    assert (counts.entries, counts.unparsed) == (1, 2)
