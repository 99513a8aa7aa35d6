"""Laws of a reader: any bytes, any member of any type, any cut, any number of reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.log import Log
from agentfeedback.reader import Home, Place, Report
from agentfeedback.tally import Tally
from agentfeedback.timeline import Timeline
from agentfeedback_claude_code.reader import ClaudeCode

REAL = Path(
    os.environ.get("AGENTFEEDBACK_REAL") or Path(__file__).parent / "../../../../shared/real"
)

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
LINES = [
    {"uuid": f"u{n}", "timestamp": f"2026-11-30T09:00:{n:02d}Z", "cwd": "/srv/app", **line}
    for n, line in enumerate(SESSION)
]


class Bytes(Log):
    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = content

    def blocks(self) -> Iterator[bytes]:
        yield self._content


def told(content: bytes) -> Timeline:
    timeline = Timeline(clip=lambda text, length: text[:length])
    ClaudeCode().read(Bytes(content), Place(), timeline)
    return timeline


def tallied(content: bytes) -> Tally:
    tally = Tally.for_reader(ClaudeCode.rewrites)
    ClaudeCode().read(Bytes(content), Place(), tally)
    return tally


def written(lines: list[Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def shown(timeline: Timeline) -> Any:
    entries = [
        (
            (entry.order, entry.offset, entry.span, entry.at, entry.kind, entry.summary),
            [
                (call.id, call.tool, call.args_digest, call.offset, call.status, call.result_offset)
                for call in entry.calls
            ],
        )
        for entry in timeline.entries
    ]
    return entries, str(timeline.counts()), timeline.final_excerpt, timeline.model


def assert_prefix(part: Timeline, whole: Timeline, cut: int) -> None:
    """What is told of a log's beginning is told of the whole log as well (the prefix law)."""
    before = [entry for entry in whole.entries if entry.offset < cut]
    assert len(before) == len(part.entries)
    for early, late in zip(part.entries, before, strict=True):
        for name in ("order", "offset", "span", "at", "kind", "summary"):
            assert getattr(early, name) == getattr(late, name)
        for was, became in zip(early.calls, late.calls, strict=True):
            assert (was.id, was.span, was.tool) == (became.id, became.span, became.tool)
            assert (was.args_digest, was.offset) == (became.args_digest, became.offset)
            if (was.status, was.exit_code) != (became.status, became.exit_code):
                assert became.result_offset >= cut
            if was.excerpt != became.excerpt:
                assert became.result_offset >= cut


def test_the_session_of_these_laws_uses_every_verb() -> None:
    """The hand-written session has prompts, calls of every status and an interrupt, so the laws say something."""
    counts = told(written(LINES)).counts()
    assert (counts.entries, counts.prompts, counts.tool_calls) == (15, 2, 3)
    assert (counts.denials, counts.interrupts) == (1, 2)


@pytest.mark.parametrize("cut", range(len(LINES) + 1))
def test_a_prefix_is_told_the_same(cut: int) -> None:
    """Cut at any line, the beginning tells what the whole log tells of it."""
    prefix = written(LINES[:cut])
    assert_prefix(told(prefix), told(written(LINES)), len(prefix))


def test_an_unfinished_last_line_changes_nothing() -> None:
    """A line without its newline is not read."""
    content = written(LINES)
    assert shown(told(content + b'{"type":"user","message":{"content":"x"}}')) == shown(
        told(content)
    )


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_any_bytes_are_read_without_an_error(pieces: list[bytes]) -> None:
    """No bytes raise, and every complete line is either an entry or unparsed."""
    content = written(LINES[:4]) + b"\n".join(pieces) + b"\n" + written(LINES[4:])
    counts = told(content).counts()
    assert counts.entries + counts.unparsed == content.count(b"\n")
    assert str(tallied(content).counts()) == str(counts)


VALUES: list[Any] = [None, True, 17, 1.5, "text", [], [7], [{}], {}, {"a": 1}]


def mutants(value: Any) -> Iterator[Any]:
    """`value` with each member and item in turn replaced by each JSON type."""
    yield from VALUES
    if isinstance(value, dict):
        for name in value:
            for changed in mutants(value[name]):
                yield {**value, name: changed}
    elif isinstance(value, list):
        for at in range(len(value)):
            for changed in mutants(value[at]):
                yield [*value[:at], changed, *value[at + 1 :]]


@pytest.mark.parametrize("at", range(len(LINES)))
def test_a_member_of_another_type_leaves_an_entry(at: int) -> None:
    """Whatever type a member takes, the line is an entry and the others are read on."""
    seen = 0
    for line in mutants(LINES[at]):
        if not isinstance(line, dict):
            continue
        content = written([*LINES[:at], line, *LINES[at + 1 :]])
        timeline = told(content)
        assert (timeline.counts().entries, timeline.counts().unparsed) == (len(LINES), 0)
        assert str(tallied(content).counts()) == str(timeline.counts())
        seen += 1
    assert seen > 30


@given(st.integers(min_value=0), st.integers(min_value=0))
def test_a_damaged_line_costs_only_itself(line: int, at: int) -> None:
    """A byte of a line turned into a raw control character makes that line unparsed and no other."""
    lines = [json.dumps(each).encode() for each in LINES]
    hurt = line % len(lines)
    place = at % len(lines[hurt])
    lines[hurt] = lines[hurt][:place] + b"\x01" + lines[hurt][place + 1 :]
    counts = told(b"".join(each + b"\n" for each in lines)).counts()
    assert (counts.entries, counts.unparsed) == (len(lines) - 1, 1)


@pytest.mark.parametrize("member", ["cwd", "uuid"])
def test_unpaired_surrogates_and_broken_utf8_are_replaced(member: str) -> None:
    """A line with an unpaired surrogate or invalid UTF-8 is an entry, and nothing of it is unprintable."""
    good = json.dumps({**LINES[1], member: "/srv/@"}).encode()
    for bad in (rb"\udc88", b"\xff"):
        timeline = told(good.replace(b"@", bad) + b"\n")
        (entry,) = timeline.entries
        assert (timeline.cwd if member == "cwd" else entry.span) == "/srv/\ufffd"


real = pytest.mark.skipif(not REAL.is_dir(), reason="the real stores are not here")


def real_sessions() -> list[Path]:
    if not REAL.is_dir():
        return []
    return sorted(REAL.glob("claude-code/*/projects/*/*.jsonl"))


@real
@pytest.mark.parametrize("path", real_sessions(), ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_the_laws_hold_on_real_sessions(path: Path) -> None:
    """Read twice, tallied, and cut at some lines, a real session is told the same."""
    content = path.read_bytes()
    whole = told(content)
    assert shown(told(content)) == shown(whole)
    assert str(tallied(content).counts()) == str(whole.counts())
    lines = content.splitlines(keepends=True) if len(content) < 1 << 20 else []
    for cut in range(0, len(lines), max(1, len(lines) // 12)):
        prefix = b"".join(lines[:cut])
        assert_prefix(told(prefix), whole, len(prefix))


@real
def test_real_sessions_tell_what_happened() -> None:
    """Prompts, calls and their statuses are those that `expected.json` says truly happened."""
    seen = 0
    for store in sorted((REAL / "claude-code").iterdir()):
        found = {}
        home = Home(str(store), {"CLAUDE_CONFIG_DIR": str(store)})
        for session in ClaudeCode().find(home, Report("claude-code")):
            found[session.id] = told(Path(session.path).read_bytes())
        for expected in json.loads((store / "expected.json").read_text()):
            if expected.get("parent_id"):
                continue
            timeline = found[expected["session_id"]]
            spans = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert sorted(spans) == sorted(prompt["span"] for prompt in expected["prompts"])
            calls = {call.span: call for entry in timeline.entries for call in entry.calls}
            assert len(calls) == len(expected["calls"])
            for want in expected["calls"]:
                call = calls[want["span"]]
                status = "no_result" if call.status is None else call.status
                assert status in {want["status"], *want.get("also", [])}
                if want["status"] == "error":
                    assert call.exit_code == want["exit_code"]
                seen += 1
    assert seen
