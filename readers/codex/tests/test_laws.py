"""The laws every reader keeps: any bytes, prefixes, two readings, and what truly happened in the real logs."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.reader import Home, Report
from agentfeedback.tally import Tally
from agentfeedback.timeline import Timeline
from agentfeedback.wire import plain
from agentfeedback_codex.reader import Codex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Rollout

_VALUES: tuple[Any, ...] = (None, True, 7, -1, 2**70, 1.5, "text", "", [], [1, {}], {}, {"a": [1]})


def session(rollout: Rollout) -> list[bytes]:
    """A small rollout in which every kind of line has its turn."""
    command = ["bash", "-lc", "ls"]
    local = {"type": "local_shell_call", "call_id": "c3", "action": {"command": command}}
    custom = {"type": "custom_tool_call", "name": "exec", "call_id": "c2", "input": "x"}
    answer = {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"text": "error: x"}]}
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x"}],
    }
    ok = {"Ok": {"isError": True, "content": [{"type": "text", "text": "no"}]}}
    return [
        rollout.meta(),
        rollout.line("turn_context", {"cwd": "/srv/app", "model": "m"}),
        rollout.event("user_message", message="hello"),
        rollout.item("UserMessage", "i1", content=[{"type": "text", "text": "hello"}]),
        rollout.call(arguments='{"cmd": "ls"}', namespace="a"),
        rollout.output("Exit code: 1\nOutput:\nbad"),
        rollout.item("CommandExecution", status="failed", exit_code=2, aggregated_output="x"),
        rollout.line("response_item", custom),
        rollout.item("McpToolCall", "e1", server="s", tool="t", error={"message": "x"}),
        rollout.item("FileChange", "e2", stdout="a", stderr="b", status="failed", changes={}),
        rollout.item("CommandExecution", "e3", command=command, source="agent", status="failed"),
        rollout.line("response_item", answer),
        rollout.line("response_item", local),
        rollout.event("patch_apply_end", call_id="c3", status="failed", success=False, stdout="x"),
        rollout.event("mcp_tool_call_end", call_id="c3", result=ok),
        rollout.line("response_item", said),
        rollout.call("shell", '{"command": "ls"}', call_id="c4"),
        rollout.aborted(),
        rollout.item("CommandExecution", "c4", status="failed", exit_code=-1),
    ]


def variants(value: Any) -> Iterator[Any]:
    """Every way to replace one member, at any depth, by a value of each JSON type, or to leave it out."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield {other: value[other] for other in value if other != name}
            for replaced in (*_VALUES, *variants(member)):
                yield value | {name: replaced}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            for replaced in (*_VALUES, *variants(item)):
                yield [*value[:index], replaced, *value[index + 1 :]]


def view(timeline: Timeline, end: int | None = None) -> list[Any]:
    """What a timeline tells of entries and calls before `end`, but for how the calls ended."""
    return [
        (
            (entry.offset, entry.span, entry.kind, entry.summary, entry.at),
            [(call.span, call.tool, call.offset, call.args_digest) for call in entry.calls],
        )
        for entry in timeline.entries
        if end is None or entry.offset < end
    ]


def results(timeline: Timeline) -> dict[str, Any]:
    """How the calls ended, by span."""
    return {
        call.span: (call.status, call.result_offset, call.exit_code, call.excerpt)
        for entry in timeline.entries
        for call in entry.calls
    }


def check_prefix(prefix: Timeline, whole: Timeline, end: int) -> None:
    """The prefix law: what a prefix tells, the whole tells too, but for results that lie after the cut."""
    assert view(prefix) == view(whole, end)
    final = results(whole)
    for span, result in results(prefix).items():
        if final[span][0] != result[0]:
            assert final[span][1] >= end
        else:
            assert final[span][1] == result[1]


def test_members_of_any_type_leave_the_line_an_entry(rollout: Rollout) -> None:
    """Whatever type a member has, nothing raises, the line counts, and both tellers count the same."""
    lines = session(rollout)
    for index, line in enumerate(lines):
        for variant in variants(json.loads(line)):
            changed = [*lines[:index], json.dumps(variant).encode() + b"\n", *lines[index + 1 :]]
            tally = rollout.tally(*changed)
            assert (tally.entries, tally.unparsed_lines) == (len(lines), 0)
            if index % 3 == 0:
                assert plain(rollout.read(*changed).counts()) == plain(tally.counts())


def test_counts_of_the_whole_session(rollout: Rollout) -> None:
    """The small session of these tests says what it was written to say."""
    counts = rollout.read(*session(rollout)).counts()
    assert (counts.prompts, counts.tool_calls, counts.tool_errors) == (2, 7, 4)
    assert (counts.interrupts, counts.denials) == (3, 0)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=80), st.integers(0, 18)), max_size=12), st.data())
def test_any_bytes_are_told(
    rollout: Rollout, pieces: list[bytes | int], data: st.DataObject
) -> None:
    """Any bytes between, inside or instead of lines never raise, and each line is parsed or unparsed."""
    lines = session(rollout)
    content = b""
    for piece in pieces:
        if isinstance(piece, int):
            line = lines[piece]
            cut = data.draw(st.integers(0, len(line)))
            content += line[cut:] if data.draw(st.booleans()) else line
        else:
            content += piece
    content += b"\n"
    timeline, tally = rollout.read(content), rollout.tally(content)
    assert plain(timeline.counts()) == plain(tally.counts())
    assert tally.entries + tally.unparsed_lines == content.count(b"\n")


def test_prefix_law(rollout: Rollout) -> None:
    """Cut at any line, the rollout tells what the whole one tells of these lines."""
    lines = session(rollout)
    whole = rollout.read(*lines)
    for count in range(len(lines) + 1):
        end = len(b"".join(lines[:count]))
        check_prefix(rollout.read(*lines[:count]), whole, end)


def test_read_twice(rollout: Rollout) -> None:
    """Two readings tell the same, and a line without its newline is not told."""
    lines = session(rollout)
    first, second = rollout.read(*lines), rollout.read(*lines)
    cut = rollout.read(*lines, lines[2][:-1])
    for other in (second, cut):
        assert (view(other), results(other)) == (view(first), results(first))


def test_nesting_is_no_crash(rollout: Rollout) -> None:
    """500 levels of nesting are an entry; a hundred thousand are at worst unparsed."""
    deep = '{"type":"response_item","payload":{"type":"function_call","arguments":%s}}\n'
    for depth in (500, 100_000):
        nested = "[" * depth + "]" * depth
        for arguments in (nested, json.dumps(nested)):
            timeline = rollout.read((deep % arguments).encode())
            counts = timeline.counts()
            assert counts.entries + counts.unparsed == 1
            if depth == 500:
                assert counts.tool_calls == 1


def test_real_logs_tell_what_happened(real: Path, tmp_path: Path) -> None:
    """Prompts and failed calls of every real session are those that truly happened, in both tellers."""
    seen = 0
    for number, expected in enumerate(sorted(real.rglob("expected.json"))):
        home = tmp_path / str(number)
        shutil.copytree(expected.parent, home / ".codex")
        found = {s.id: s for s in Codex().find(Home(str(home)), Report("codex"))}
        for want in json.loads(expected.read_text()):
            listed = found[want["session_id"]]
            place = Codex().place(listed, strict=True)
            assert place.paths == (want["meta"]["cwd"],)
            timeline, tally = Timeline(clip=lambda text, size: text[:size]), Tally()
            for teller in (timeline, tally):
                log = Codex().open(listed)
                log.expected_first = place.first_line
                Codex().read(log, place, teller)
                log.close()
            assert plain(timeline.counts()) == plain(tally.counts())
            prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
            assert prompts == [prompt["span"] for prompt in want["prompts"]], listed.path
            assert failures(timeline) == expected_failures(want), listed.path
            seen += 1
    assert seen > 0


def failures(timeline: Timeline) -> list[tuple[str, str, int | None]]:
    calls = [call for entry in timeline.entries for call in entry.calls]
    return sorted(
        (call.span, call.status, call.exit_code if call.status == "error" else None)
        for call in calls
        if call.status not in (None, "ok")
    )


def expected_failures(want: dict[str, Any]) -> list[tuple[str, str, int | None]]:
    word = {"completed": "ok", "failed": "error", "declined": "denied"}
    told = [(call["span"], call["status"], call["exit_code"]) for call in want["calls"]]
    for item in want["items_without_call"]:
        if item["source"] != "user_shell":
            status = word.get(item["status"], item["status"])
            told.append((item["id"], status, item["exit_code"]))
    return sorted(
        (span, status, code if status == "error" else None)
        for span, status, code in told
        if status not in ("ok", "no_result")
    )


def test_prefix_law_of_real_logs(real: Path, rollout: Rollout) -> None:
    """The prefix law holds for the real logs at cuts spread over each of them."""
    for path in sorted(real.rglob("*.jsonl"))[::3]:
        lines = path.read_bytes().splitlines(keepends=True)
        if sum(map(len, lines)) > 1 << 20:
            continue
        whole = rollout.read(*lines)
        for count in range(0, len(lines), max(1, len(lines) // 7)):
            end = sum(map(len, lines[:count]))
            check_prefix(rollout.read(*lines[:count]), whole, end)
