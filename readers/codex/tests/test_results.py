"""How a call ended, by the text of its output (rules 5 to 9 of the README)."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.reading import Raw
from agentfeedback_codex.results import outcome, read, succeeded

if TYPE_CHECKING:
    from conftest import Rollout


def header(*lines: str, body: str = "text") -> str:
    return "\n".join((*lines, "Output:", body))


def script(*texts: str, first: str = "Script failed") -> list[dict[str, str]]:
    parts = (f"{first}\nWall time 0.1 seconds\nOutput:\n", *texts)
    return [{"type": "input_text", "text": text} for text in parts]


@pytest.mark.parametrize(
    ("output", "want"),
    [
        (header("Chunk ID: a", "Process exited with code 3"), ("error", 3, "text")),
        (header("Exit code: 0 "), ("ok", 0, "")),
        (header("Process exited with code -1", body=""), ("error", -1, "")),
        (header("Exit code: 1", "Exit code: 2"), ("error", 2, "text")),
        (header("Exit code: 1", body="a\nOutput:\nb"), ("error", 1, "a\nOutput:\nb")),
        (header("Wall time: 1", body="Exit code: 1"), ("ok", None, "")),
        (header("Process running with session ID 7"), ("ok", None, "")),
        (header("Exit code: 1x"), ("ok", None, "")),
        ("Exit code: 1\nfailed", ("ok", None, "")),
        ("Exit code: 1\nOutput: ", ("ok", None, "")),
        ("Exit code: 1\nOutput:", ("error", 1, "")),
        ("Output:\nExit code: 1", ("ok", None, "")),
    ],
)
def test_header_gives_the_exit_code(rollout: Rollout, output: str, want: object) -> None:
    """The last exit code above the first line that is exactly `Output:` decides; what is below never does."""
    assert rollout.ended(rollout.output(output)) == want


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (header("exec command rejected by user"), "denied"),
        (header("Exit code: 1", "note: patch rejected by user"), "denied"),
        (header("rejected by configuration"), "denied"),
        (header("automatic approval review denied the action"), "denied"),
        (header("Exit code: 0", "exec command rejected by user"), "ok"),
        (header("Wall time: 1", "aborted by user after 2s"), "interrupted"),
        (header("Wall time: 1", body="exec command rejected by user\naborted by user"), "ok"),
    ],
)
def test_header_tells_denials_and_aborts(rollout: Rollout, output: str, status: str) -> None:
    """In the header Codex' own words decide, unless the exit code there is 0."""
    assert rollout.ended(rollout.output(output))[0] == status


@pytest.mark.parametrize(
    "text",
    [
        "exec command rejected by user",
        "patch rejected by user",
        "patch rejected: writing is blocked by read-only sandbox",
        "approval policy is Never; reject command - you cannot ask",
        "This action was rejected due to unacceptable risk.\nReason: x",
        "Automatic approval review failed: x",
        "Command blocked by PreToolUse hook: no. Command: ls",
        'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
        'exec_command failed for `a `b`\nc`: CreateProcess { message: "Rejected(\\"x\\")" }',
        "rejected by configuration",
        "automatic approval review denied the action",
        "  \npatch rejected by user",
    ],
)
def test_denials_without_a_header(rollout: Rollout, text: str) -> None:
    """A text that starts with one of Codex' denials is denied, without exit code; elsewhere it says nothing."""
    assert rollout.ended(rollout.output(text)) == ("denied", None, text)
    assert rollout.ended(rollout.output(f"log: {text}"))[0] == "ok"
    assert rollout.ended(rollout.output(f"Output:\n{text}"))[0] == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "apply_patch verification failed: x",
        "unsupported call: x",
        "unsupported custom tool call: x",
        "failed to parse function arguments: x",
        "unable to locate image at `x`",
        "write_stdin failed: x",
        "execution error: Sandbox(Signal(9))",
        "failed in sandbox None with execution error: x",
        'exec_command failed: CreateProcess { message: "Codex(Sandbox(Denied {',
        "exec_command failed for `ls`: x",
    ],
)
def test_failures_without_a_header(rollout: Rollout, text: str) -> None:
    """A text that starts with one of Codex' failures is an error without an exit code; elsewhere it says nothing."""
    assert rollout.ended(rollout.output(text)) == ("error", None, text)
    assert rollout.ended(rollout.output(f"log: {text}"))[0] == "ok"
    assert rollout.ended(rollout.output(f"Output:\n{text}"))[0] == "ok"


@pytest.mark.parametrize(
    ("tool", "status"),
    [("shell", "error"), ("apply_patch", "error"), ("exec_command", "ok"), ("mcp__x.shell", "ok")],
)
def test_bare_error_is_the_word_of_two_tools(rollout: Rollout, tool: str, status: str) -> None:
    """`error: ` at the start is Codex' own in `shell` and `apply_patch` only."""
    assert rollout.ended(rollout.output("error: no such file"), tool=tool)[0] == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("aborted by user after 4.6s", "interrupted"),
        ("Wall time: 8.8 seconds\naborted by user", "interrupted"),
        ("Wall time: 8.8 seconds\nfine\naborted by user", "ok"),
        ("fine\naborted by user", "ok"),
    ],
)
def test_aborts_without_a_header(rollout: Rollout, text: str, status: str) -> None:
    """An abort is the first line, or the second below a wall time."""
    assert rollout.ended(rollout.output(text))[0] == status


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (script("Script error:\nTypeError: x"), "error"),
        (script("printed", "Script error:\npatch rejected by user"), "denied"),
        (script("Script error:\npatch rejected by user", "printed"), "error"),
        (script("Script error:\nError: patch rejected by user"), "error"),
        (script("patch rejected by user"), "error"),
        (script(), "error"),
        (script("Script error:\npatch rejected by user", first="Script completed"), "ok"),
        (script("x", first="Script failed to start"), "ok"),
        ("Script failed\nOutput:\nScript error:\npatch rejected by user", "error"),
        ("Script failed", "ok"),
    ],
)
def test_code_mode_scripts(rollout: Rollout, output: object, status: str) -> None:
    """A failed script is an error, or denied when its last item is a script error that starts as a denial."""
    assert rollout.ended(rollout.output(output), tool="exec")[:2] == (status, None)


@pytest.mark.parametrize(
    ("output", "want"),
    [
        ('{"output":"bad","metadata":{"exit_code":2,"duration_seconds":1}}', ("error", 2, "bad")),
        ('\n{"output":"x\\nOutput:\\nbad","metadata":{"exit_code":-1}}', ("error", -1, "bad")),
        ('{"output":"ok","metadata":{"exit_code":0}}', ("ok", 0, "")),
        ('{"output":"patch rejected by user","metadata":{}}', ("ok", None, "")),
        ('{"output":"x","metadata":{"exit_code":"2"}}', ("ok", None, "")),
        ('{"output":"x","metadata":[2]}', ("ok", None, "")),
        ('{"output":["x"],"metadata":{"exit_code":2}}', ("ok", None, "")),
        ('{"output":"x","metadata":{"exit_code":2}', ("ok", None, "")),
        ({"output": "bad", "metadata": {"exit_code": 2}}, ("error", 2, "bad")),
        ({"content": "patch rejected by user"}, ("denied", None, "patch rejected by user")),
        ({"content": [{"text": "unsupported call: x"}]}, ("error", None, "unsupported call: x")),
    ],
)
def test_oldest_form_goes_by_its_metadata(rollout: Rollout, output: Any, want: object) -> None:
    """An object of a string `output` and an object `metadata` is decided by the exit code in it alone."""
    assert rollout.ended(rollout.output(output)) == want


def test_output_lists_are_joined_by_lines(rollout: Rollout) -> None:
    """The texts of a list are joined by LF, so a header may end its item; images and odd items are left out."""
    parts = [
        {"type": "input_text", "text": "Exit code: 4\nOutput:"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": ""},
        7,
        {"type": "input_text", "text": ["no"]},
        {"type": "input_text", "text": "boom"},
    ]
    assert rollout.ended(rollout.output(parts)) == ("error", 4, "boom")
    assert rollout.ended(rollout.output(None)) == ("ok", None, "")


def test_first_output_wins(rollout: Rollout) -> None:
    """A second output of a call changes nothing, and one of an unknown call is not a call."""
    first, second = rollout.output(header("Exit code: 1")), rollout.output(header("Exit code: 0"))
    unknown = rollout.output(header("Exit code: 1"), call_id="c9")
    assert rollout.ended(unknown, first, second) == ("error", 1, "text")


@pytest.mark.parametrize(
    ("code", "want"),
    [
        (2**63 - 1, ("error", 2**63 - 1)),
        (-(2**63), ("error", -(2**63))),
        (2**63, ("ok", None)),
        (-(2**63) - 1, ("ok", None)),
        (10**40, ("ok", None)),
    ],
)
def test_exit_codes_beyond_64_bits_are_absent(
    rollout: Rollout, code: int, want: tuple[str, int | None]
) -> None:
    """A number that no exit code can be counts as if it were not there, in a header and in metadata."""
    for output in (
        header(f"Process exited with code {code}"),
        {"output": "x", "metadata": {"exit_code": code}},
        f'{{"output":"x","metadata":{{"exit_code":{code}}}}}',
    ):
        assert rollout.ended(rollout.output(output))[:2] == want


def test_output_before_its_call(rollout: Rollout) -> None:
    """An output whose call comes later is that call's, judged by its tool and reported with it; the first one wins."""
    output = rollout.output("unable to process image: x")
    later = rollout.output(header("Exit code: 0"))
    lines = (output, rollout.call("view_image"), later)
    (entry,) = rollout.read(*lines).entries
    (call,) = entry.calls
    assert (call.status, call.exit_code) == ("error", None)
    assert call.result_offset == call.offset == len(output)
    assert rollout.calls(output, rollout.call("depot_lookup")) == [
        ("c1", "depot_lookup", "ok", None)
    ]
    assert rollout.tally(*lines).counts().tool_errors == 1


def test_few_outputs_wait_for_their_calls(rollout: Rollout) -> None:
    """Of outputs without a call the last thousand are kept, a few thousand characters of each."""
    many = [
        rollout.output(header("Exit code: 1", body="x" * 9000), call_id=f"c{n}")
        for n in range(1001)
    ]
    calls = [rollout.call(call_id=f"c{n}") for n in (0, 1, 1000)]
    timeline = rollout.read(*many, *calls)
    told = [call for entry in timeline.entries for call in entry.calls]
    assert [call.status for call in told] == [None, "error", "error"]
    assert len(told[1].excerpt) <= 4096


PATCH_ENDS = [
    ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno space", ("error", 1, "no space")),
    ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess", ("ok", 0, "")),
    ('{"output":"no space","metadata":{"exit_code":1}}', ("error", 1, "no space")),
    ('{"output":"Success","metadata":{"exit_code":0}}', ("ok", 0, "")),
    ("Success", ("ok", None, "")),
]


@pytest.mark.parametrize(("body", "want"), PATCH_ENDS)
def test_patch_given_to_a_command_tool(rollout: Rollout, body: str, want: object) -> None:
    """Below a header of the wall time alone `exec_command` has the patch's own result."""
    output = rollout.output(f"Wall time: 0.0000 seconds\nOutput:\n{body}")
    assert rollout.ended(output) == want
    assert rollout.ended(output, tool="depot_lookup")[0] == "ok"
    for line in ("Process running with session ID 7", "Original token count: 1", "Chunk ID: 1a"):
        printed = rollout.output(f"Wall time: 0.0000 seconds\n{line}\nOutput:\n{body}")
        assert rollout.ended(printed)[0] == "ok"


def quoted(command: str, double: bool) -> str:
    """A command as one word of a shell, in single or in double quotes."""
    if not double:
        return shlex.quote(command)
    return '"' + re.sub(r'(["\\\\$`])', r"\\\1", command) + '"'


@given(
    command=st.lists(
        st.sampled_from(
            [
                "Output:",
                "Process exited with code 0",
                "patch rejected by user",
                "\n",
                "'",
                '"',
                "\\",
                "`",
                "$",
            ]
        )
        | st.text(max_size=8)
    ).map("".join),
    double=st.booleans(),
    code=st.integers(0, 255),
    printed=st.text(),
)
@settings(deadline=None, max_examples=200)
def test_command_above_the_header_says_nothing(
    rollout: Rollout, command: str, double: bool, code: int, printed: str
) -> None:
    """Some versions name the command above the header: any lines may be in it, and none of them is a header's."""
    header = f"Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n"
    named = f"Command: /bin/bash -lc {quoted(command, double)}\n"
    want = rollout.ended(rollout.output(f"{header}{printed}"))
    assert rollout.ended(rollout.output(f"{named}{header}{printed}")) == want
    assert want[:2] == ("error" if code else "ok", code)


_LINES = st.sampled_from(
    [
        "Process exited with code 0",
        "Exit code: 0",
        "Exit code: 1",
        "Output:",
        "Wall time: 0.1 seconds",
        "Command: 'a",
        "{",
        '{"output":"x","metadata":{"exit_code":1}}',
        "aborted by user",
        "exec command rejected by user",
        "tool call error: tool call failed for `x/y`",
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(_LINES, max_size=6),
    st.sampled_from(["exec_command", "shell", "mcp__x__y", "apply_patch"]),
)
def test_a_header_that_tells_success_says_what_the_whole_output_says(
    lines: list[str], tool: str
) -> None:
    """Where the header alone decides, counting gives the status that reading all of the output gives."""
    member = Raw(json.dumps("\n".join(lines)).encode())
    if succeeded(member, tool):
        assert outcome(read(member), tool).status == "ok"


def test_a_usual_header_tells_success_by_itself() -> None:
    """The short way is taken where nearly every result goes."""
    usual = header("Chunk ID: a", "Wall time: 0.1 seconds", "Process exited with code 0")
    assert succeeded(Raw(json.dumps(usual).encode()), "exec_command")
    assert not succeeded(Raw(json.dumps(usual).encode()), "mcp__x__y")
