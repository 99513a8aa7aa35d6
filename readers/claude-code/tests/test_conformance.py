"""The promises every reader makes, over the corpus and a session written here; and that no line is lost."""

from __future__ import annotations

import json
from typing import Any

from hypothesis.strategies import SearchStrategy

from pytest_agentfeedback import ReaderConformance, fuzz

REFUSAL = "The user doesn't want to proceed with this tool use. STOP."
MARKER = "[Request interrupted by user for tool use]"


def block(id: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": True, **more}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": "m1", "model": "m", "content": list(blocks)}}


#: A session in which every rule has its say.
SESSION = [
    {"type": "mode", "mode": "normal"},
    user("Fix it", origin={"kind": "human"}, promptSource="typed"),
    assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ok"}),
    assistant(use("t1"), use("t2")),
    assistant(use("t3")),
    user([block("t2", "Exit code 2\nboom")], permissionDecision={"decision": "accept"}),
    user([block("t1", REFUSAL)], toolUseResult="User rejected tool use"),
    user([{"type": "text", "text": MARKER}], interruptedMessageId="m1"),
    user([block("t3", [{"type": "text", "text": "no"}])], toolDenialKind="permission-rule"),
    user([block("t3", "late", is_error=False)], toolUseResult={"interrupted": False}),
    {
        "type": "attachment",
        "attachment": {
            "type": "queued_command",
            "commandMode": "prompt",
            "origin": {"kind": "human"},
            "prompt": "and the tests",
        },
    },
    user([block("t2", REFUSAL)], toolDenialBeforeRun=True, toolDenialKind="user-rejected"),
    user(MARKER),
    user("<bash-input>ls</bash-input>", isCompactSummary=False, isMeta=False),
    assistant({"type": "text", "text": "done"}),
]
RECORDS: list[dict[str, Any]] = [
    {"uuid": f"u{n}", "timestamp": f"2026-11-30T09:00:{n:02d}Z", "cwd": "/srv/app", **line}
    for n, line in enumerate(SESSION)
]
LINES = [json.dumps(record).encode() for record in RECORDS]


class TestClaudeCode(ReaderConformance):
    harness = "claude-code"
    corpus = "corpus/claude-code"
    every_object_is_an_entry = True

    def more_logs(self) -> SearchStrategy[list[bytes]]:
        return fuzz.logs([LINES])


def test_the_session_uses_every_verb(log: Any) -> None:
    """The session written here has prompts, calls of every status and an interrupt, so the laws say something."""
    log.lines = LINES
    counts = log.told().counts()
    assert (counts.entries, counts.prompts, counts.tool_calls) == (15, 2, 3)
    assert (counts.denials, counts.interrupts) == (1, 2)


def test_a_member_of_another_type_leaves_an_entry(log: Any) -> None:
    """Whatever type a member takes, the line is an entry and the others are read on."""
    for at, line in enumerate(LINES):
        for _, _, what, changed in fuzz.mutations([[line]]):
            log.lines = [*LINES[:at], changed, *LINES[at + 1 :]]
            counts = log.told().counts()
            assert (counts.entries, counts.unparsed) == (len(LINES), 0), what


def test_a_damaged_line_costs_only_itself(log: Any) -> None:
    """A byte of a line turned into a raw control character makes that line unparsed and no other."""
    for at, line in enumerate(LINES):
        for place in range(len(line)):
            damaged = line[:place] + b"\x01" + line[place + 1 :]
            log.lines = [*LINES[max(0, at - 3) : at], damaged, *LINES[at + 1 : at + 4]]
            counts = log.told().counts()
            assert (counts.entries, counts.unparsed) == (len(log.lines) - 1, 1)


def test_unpaired_surrogates_and_broken_utf8_are_replaced(log: Any) -> None:
    """A line with an unpaired surrogate or invalid UTF-8 is an entry, and nothing of it is unprintable."""
    for member in ("cwd", "uuid"):
        good = json.dumps({**RECORDS[1], member: "/srv/@"}).encode()
        for bad in (rb"\udc88", b"\xff"):
            log.lines = [good.replace(b"@", bad)]
            timeline = log.told()
            (entry,) = timeline.entries
            assert (timeline.cwd if member == "cwd" else entry.span) == "/srv/\ufffd"
