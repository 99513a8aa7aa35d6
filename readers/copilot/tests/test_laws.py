"""The laws every reader keeps: any bytes, prefixes, two readings, and what truly happened in the real logs."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.reader import Home, Report
from agentfeedback.tally import Tally
from agentfeedback.timeline import Timeline
from agentfeedback.wire import plain
from agentfeedback_copilot.reader import Copilot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Events

    Tell = Callable[[bytes], Timeline]

_VALUES: tuple[Any, ...] = (None, True, 7, 2**70, 1.5, "text", "", [], [1, {}], {}, {"a": [1]})


@pytest.fixture
def session(log: Events) -> list[bytes]:
    """A small session in which every kind of event has its turn."""
    log.add("session.start", {"selectedModel": "m", "context": {"cwd": "/srv/app"}})
    log.prompt("hello", source="user", isAutopilotContinuation=False)
    log.add("assistant.message", {"content": "On it.", "model": "m"})
    log.start("c1", shellToolInfo={})
    log.start("c2", "view", arguments="x")
    log.permission("denied-by-rules", "c2")
    log.complete("no\n<shellId: 0 completed with exit code 2>", shellExecution={"exitCode": 2})
    log.complete("", "c2", success=False, error={"code": "denied", "message": "Denied"})
    log.add("session.context_changed", {"cwd": "/srv/app/b"})
    log.add("session.model_change", {"newModel": "n"})
    log.start("c3", "bash")
    log.add("abort", {"reason": "user_abort"})
    log.complete("late", "c3")
    return log.lines


def variants(value: Any) -> Iterator[Any]:
    """Every way to replace one member, at any depth, by a value of each JSON type, or to leave it out."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield {other: value[other] for other in value if other != name}
            for replaced in (*_VALUES, *variants(member)):
                yield value | {name: replaced}


def view(timeline: Timeline, end: int | None = None) -> list[Any]:
    """What a timeline tells of entries before `end`, with the results that lie before it."""
    end = 1 << 60 if end is None else end
    return [
        (
            (entry.offset, entry.span, entry.kind, entry.summary, entry.at),
            [
                (call.span, call.tool, call.args_digest)
                + ((call.status, call.exit_code) if call.result_offset < end else (None, None))
                for call in entry.calls
            ],
        )
        for entry in timeline.entries
        if entry.offset < end
    ]


def check_prefixes(tell: Tell, lines: list[bytes], step: int = 1) -> None:
    """The prefix law: what a prefix tells, the whole tells too, but for results that lie after the cut."""
    whole = tell(b"".join(lines))
    for count in range(0, len(lines) + 1, step):
        head = b"".join(lines[:count])
        assert view(tell(head)) == view(whole, len(head))


def test_the_session_says_what_it_was_written_to_say(tell: Tell, session: list[bytes]) -> None:
    """The small session of these tests has one prompt and a failed, a denied and an interrupted call."""
    counts = tell(b"".join(session)).counts()
    assert (counts.prompts, counts.tool_calls, counts.tool_errors) == (1, 3, 1)
    assert (counts.interrupts, counts.denials) == (2, 1)


def test_members_of_any_type_leave_the_line_an_entry(tell: Tell, session: list[bytes]) -> None:
    """Whatever type a member has, nothing raises, the line counts, and both tellers count the same."""
    for index, line in enumerate(session):
        for variant in variants(json.loads(line)):
            changed = [*session]
            changed[index] = json.dumps(variant).encode() + b"\n"
            counts = tell(b"".join(changed)).counts()
            assert (counts.entries, counts.unparsed) == (len(session), 0)


@settings(
    max_examples=150,
    deadline=None,
    # the lines are only read
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.one_of(st.binary(max_size=60), st.integers(0, 12)), max_size=12), st.data())
def test_any_bytes_are_told(
    tell: Tell, session: list[bytes], pieces: list[bytes | int], data: st.DataObject
) -> None:
    """Any bytes between, inside or instead of lines never raise, and each line is an entry or unparsed."""
    content = b""
    for piece in pieces:
        if isinstance(piece, int):
            line = session[piece]
            content += line[data.draw(st.integers(0, len(line))) :]
        else:
            content += piece
    counts = tell(content + b"\n").counts()
    assert counts.entries + counts.unparsed == content.count(b"\n") + 1


def test_prefix_law(tell: Tell, session: list[bytes]) -> None:
    """Cut at any line, the log tells what the whole one tells of these lines."""
    check_prefixes(tell, session)


def test_read_twice(tell: Tell, session: list[bytes]) -> None:
    """Two readings tell the same, and a line without its newline is not told."""
    content = b"".join(session)
    assert view(tell(content)) == view(tell(content))
    assert view(tell(content + session[1][:-1])) == view(tell(content))


def test_nesting_is_no_crash(tell: Tell) -> None:
    """500 levels of nesting are an entry; a hundred thousand are at worst unparsed."""
    for depth in (500, 100_000):
        nested = b"[" * depth + b"]" * depth
        line = b'{"type":"tool.execution_start","data":{"toolName":"x","arguments":%s}}\n' % nested
        counts = tell(line).counts()
        assert counts.entries + counts.unparsed == 1
        assert depth > 500 or counts.tool_calls == 1


def test_real_logs_tell_what_happened(real: Path, tmp_path: Path) -> None:
    """Prompts, calls and aborts of every real session are those that truly happened."""
    shutil.copytree(real / "home", tmp_path / ".copilot")
    found = {s.id: s for s in Copilot().find(Home(str(tmp_path)), Report("copilot"))}
    expected = json.loads((real / "expected.json").read_text())
    assert expected
    for want in expected:
        listed = found[want["session_id"]]
        place = Copilot().place(listed, strict=True)
        timeline, tally = Timeline(clip=lambda text, size: text[:size]), Tally()
        for teller in (timeline, tally):
            log = Copilot().open(listed)
            Copilot().read(log, place, teller)
            log.close()
        assert plain(tally.counts()) == plain(timeline.counts())
        assert timeline.cwds.keys() >= set(place.paths) > set()
        prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
        assert prompts == [prompt["span"] for prompt in want["prompts"]]
        calls = [call for entry in timeline.entries for call in entry.calls]
        assert [
            (call.span, call.tool, call.status or "no_result", call.exit_code) for call in calls
        ] == [
            (each["span"], each["tool"], each["status"], each["exit_code"] or None)
            for each in want["calls"]
        ]
        interrupts = [entry.span for entry in timeline.entries if entry.kind == "interrupt"]
        assert interrupts == [abort["id"] for abort in want["aborts"]]


def test_prefix_law_of_real_logs(real: Path, tell: Tell) -> None:
    """The prefix law holds for the real logs at cuts spread over each of them."""
    for path in sorted(real.rglob("events.jsonl")):
        lines = path.read_bytes().split(b"\n")
        check_prefixes(tell, [line + b"\n" for line in lines[:-1]], max(1, len(lines) // 7))
