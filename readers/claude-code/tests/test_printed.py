"""What a command prints, a person pastes or a model says is never the harness's word."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP."
MARKER = "[Request interrupted by user for tool use]"
NOTICE = (
    "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t0</tool-use-id>\n"
    "<status>failed</status>\n<summary>x failed with exit code 6</summary>\n</task-notification>"
)
#: Every fixed text that a rule of the README reads.
TEXTS = (
    REFUSAL,
    MARKER,
    "[Request interrupted by user]",
    f"Exit code 137\n{MARKER}",
    "[Tool call interrupted: the session ended before this call's result was recorded",
    "User rejected tool use",
    "Error: User rejected tool use",
    "This command requires approval",
    "This Bash command contains multiple operations. The following part requires approval: x",
    "Permission to use Bash has been denied because",
    "Permission to use Bash has been auto-denied in dontAsk mode.",
    "Permission to read /srv has been denied.",
    "Permission for this action was denied by the Claude Code auto mode classifier. Reason: x",
    "Claude requested permissions to use Bash, but you haven't granted it yet.",
    "PreToolUse:Bash hook error: no",
    "Auto mode is unavailable: x",
    "Agent type 'x' has been denied by permission rule 'y'",
    "touch in '/srv/x' was blocked. For security, x",
    "touch in '/srv/x' needs approval. x",
    "<tool_use_error>File is in a directory that is denied by your permission settings.",
    "File has been unexpectedly modified",
    "house rule: not on a Friday",
    NOTICE,
    "Unknown skill: tidy",
    "/compact",
    "<command-message>a</command-message><command-name>/a</command-name><command-args>b</command-args>",
    "<bash-stdout>x</bash-stdout>",
    "<ide_selection>x</ide_selection>",
    "[Image #1]",
)
texts = st.sampled_from(TEXTS)
#: From 2.0.60 on a command that ran and failed begins with its exit code.
versions = st.sampled_from(("2.0.60", "2.1.64", "2.1.172", "2.1.197", "2.1.332"))
around = st.text(st.characters(codec="utf-8"), max_size=8)


def facts(log: Any) -> list[Any]:
    timeline = log.told()
    return [
        str(timeline.counts()),
        [(e.span, e.kind) for e in timeline.entries],
        [(c.status, c.exit_code) for e in timeline.entries for c in e.calls],
    ]


def session(new_log: Any, version: str, text: str, code: int | None, shape: str) -> Any:
    """A session in which a command prints `text` and ends with `code`, None for an end that is fine."""
    log = new_log()
    log.user("run it", version=version)
    log.call("t0")
    log.result("started", is_error=False, id="t0", version=version)
    log.call("t1", message_id="m1")
    printed = text if code is None else f"Exit code {code}\n{text}"
    content = printed if shape == "text" else [{"type": "text", "text": printed}]
    outcome: Any = {"stdout": text, "interrupted": False} if code is None else f"Error: {printed}"
    log.result(content, is_error=code is not None, version=version, toolUseResult=outcome)
    log.assistant({"type": "text", "text": text}, id="m2")
    log.user("and now?", version=version)
    return log


@settings(deadline=None)
@given(
    version=versions,
    text=texts,
    before=around,
    behind=around,
    code=st.none() | st.integers(1, 255),
    shape=st.sampled_from(("text", "list")),
)
def test_what_a_command_prints_changes_nothing(
    new_log: Any, version: str, text: str, before: str, behind: str, code: int | None, shape: str
) -> None:
    """A fixed text in a command's output, alone or among others, tells what any other output tells."""
    plain = facts(session(new_log, version, "plain", code, shape))
    assert facts(session(new_log, version, text, code, shape)) == plain
    assert facts(session(new_log, version, before + text + behind, code, shape)) == plain


@settings(deadline=None)
@given(text=texts, source=st.sampled_from(("typed", "queued", "sdk")), behind=around)
def test_what_a_person_pastes_is_a_prompt(
    new_log: Any, text: str, source: str, behind: str
) -> None:
    """Where the harness marks its texts, a fixed text that a person pastes is what they typed, with words or without."""
    log = new_log()
    log.call("t0")
    log.result("started", is_error=False, id="t0")
    before = facts(log)
    span = log.user(f"{text} what is this? {behind}", promptSource=source)
    assert log.prompts()[0][0] == span
    after = facts(log)
    assert after[2] == before[2]
    assert log.told().counts().interrupts == 0


@settings(deadline=None)
@given(text=texts, behind=around)
def test_a_fixed_text_within_a_prompt_is_the_persons(new_log: Any, text: str, behind: str) -> None:
    """Without marks a text that stands within a person's words is theirs, in all versions."""
    log = new_log()
    log.call("t0")
    log.result("started", is_error=False, id="t0")
    span = log.user(f"what is {text}{behind}")
    assert [prompt for prompt, _ in log.prompts()] == [span]
    assert log.calls()[0].status == "ok"
    assert log.told().counts().interrupts == 0


@settings(deadline=None)
@given(
    text=texts,
    kind=st.sampled_from(("system", "summary", "last-prompt", "api-request-blob", "file")),
)
def test_a_fixed_text_in_other_lines_says_nothing(new_log: Any, text: str, kind: str) -> None:
    """Lines of other types are entries that report no call, result or prompt."""
    log = new_log()
    log.call("t0")
    log.result("started", is_error=False, id="t0")
    log.line(kind, content=text, summary=text, lastPrompt=text, data={"type": text})
    log.line("attachment", attachment={"type": kind, "prompt": text, "content": text})
    log.line("progress", parentToolUseID="t0", data=text)
    assert json.loads(log.lines[-1])["data"] == text
    assert facts(log)[1:] == [[("u1", "other")], [("ok", None)]]
