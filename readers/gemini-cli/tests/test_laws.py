"""The laws every reader keeps: any bytes, prefixes, two readings, and what truly happened in the real logs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.reader import Home, Report
from agentfeedback.tally import Tally
from agentfeedback.timeline import Timeline
from agentfeedback.wire import plain
from agentfeedback_gemini_cli.reader import GeminiCli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Written

    Tell = Callable[..., Timeline]
    Make = Callable[..., dict[str, Any]]

_VALUES: tuple[Any, ...] = (None, True, 7, 2**70, 1.5, "text", "", [], [1, {}], {}, {"a": [1]})


@pytest.fixture
def session(log: Written, call: Make) -> list[bytes]:
    """A small log in which every kind of line has its turn."""
    shell, grid = "run_shell_command", [[{"text": "Exit Code: 2"}]]
    log.metadata(directories=["/srv/app/b"])
    log.set(messages=[{"type": "user", "content": [{"text": "zero"}]}])
    log.user("one", id="x1")
    log.gemini("On it.", id="x2", tokens=None)
    failed = call("Output: x\nExit Code: 2", id="a", name=shell, resultDisplay="x")
    printed = call("Exit Code: 2\nProcess Group PGID: 1", id="b", name=shell, resultDisplay=grid)
    log.gemini("On it.", failed, printed, call(status="executing", id="c"), id="x2")
    log.responses()
    log.gemini("", call("Output: x", id="c"), call("no", "error", member="error", id="d"), id="x2")
    progress = {"isSubagentProgress": True, "terminateReason": "TIMEOUT"}
    log.gemini("", call("x", id="e", resultDisplay=progress), id="x3")
    refused = "[Operation Cancelled] Reason: User denied execution."
    log.gemini("", call(refused, "cancelled", member="error", id="f"), id="x4")
    log.message("info", "Request cancelled.", "x5")
    log.context_again("one")
    log.user("one", id="x6")
    log.gemini([{"text": "Done."}], id="x7")
    log.set(messages=[], directories=["/srv/app/c"])
    log.line(**{"$rewindTo": "x1"})
    log.line(**{"$patch": {}})
    log.user("one", id="x8")
    return log.lines


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


def view(timeline: Timeline, end: int = 1 << 60) -> tuple[list[Any], list[Any]]:
    """What a timeline tells of entries and calls first recorded before `end`, with results that lie before it.

    Texts, tools and arguments are left out: a later line may write them again.
    """
    calls = [call for entry in timeline.entries for call in entry.calls if call.offset < end]
    return (
        [(e.offset, e.span, e.kind) for e in timeline.entries if e.offset < end],
        [
            (call.span, call.offset)
            + (
                (call.status, call.exit_code, call.excerpt, call.result_offset)
                if call.status is not None and call.result_offset < end
                else ()
            )
            for call in calls
        ],
    )


def check_prefixes(tell: Tell, lines: list[bytes], step: int = 1) -> None:
    """The prefix law, and that the counts of two digests add up wherever the first one ended (D28)."""
    content = b"".join(lines)
    whole = tell(content)
    total = plain(whole.counts())
    for count in range(0, len(lines) + 1, step):
        head = b"".join(lines[:count])
        first = tell(head)
        assert view(first) == view(whole, len(head))
        rest = plain(tell(content, len(head)).counts())
        for name in ("entries", "prompts", "tool_calls"):
            assert plain(first.counts())[name] + rest[name] == total[name]


def test_the_session_says_what_it_was_written_to_say(tell: Tell, session: list[bytes]) -> None:
    """The small log of these tests has two prompts, and calls that ended in each way."""
    counts = tell(b"".join(session)).counts()
    assert (counts.entries, counts.unparsed) == (10, 0)
    assert (counts.prompts, counts.tool_calls) == (2, 6)
    assert (counts.tool_errors, counts.denials, counts.interrupts) == (3, 1, 0)


def test_members_of_any_type_never_raise(tell: Tell, session: list[bytes]) -> None:
    """Whatever type a member has, both tellers count the same, and a message with id and type is an entry."""
    for index, line in enumerate(session):
        for variant in variants(json.loads(line)):
            changed = [*session]
            changed[index] = json.dumps(variant).encode() + b"\n"
            counts = tell(b"".join(changed)).counts()
            id, type = variant.get("id"), variant.get("type")
            message = bool(id) and isinstance(id, str) and isinstance(type, str)
            assert counts.unparsed == 0 or not message


@settings(
    max_examples=150,
    deadline=None,
    # the lines are only read
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.one_of(st.binary(max_size=60), st.integers(0, 17)), max_size=12), st.data())
def test_any_bytes_are_told(
    tell: Tell, session: list[bytes], pieces: list[bytes | int], data: st.DataObject
) -> None:
    """Any bytes between, inside or instead of lines never raise, and no line counts twice."""
    content = b""
    for piece in pieces:
        if isinstance(piece, int):
            line = session[piece % len(session)]
            content += line[data.draw(st.integers(0, len(line))) :]
        else:
            content += piece
    counts = tell(content + b"\n").counts()
    assert counts.entries + counts.unparsed <= content.count(b"\n") + 1


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.permutations(range(18)))
def test_prefix_law(tell: Tell, session: list[bytes], order: list[int]) -> None:
    """Cut at any line, and in any order of its lines, the log tells what the whole one tells of them."""
    check_prefixes(tell, [session[each] for each in order if each < len(session)])


def test_read_twice(tell: Tell, session: list[bytes]) -> None:
    """Two readings tell the same, and a line without its newline is not told."""
    content = b"".join(session)
    check_prefixes(tell, session)
    assert view(tell(content)) == view(tell(content))
    assert view(tell(content + session[2][:-1])) == view(tell(content))


def test_nesting_is_no_crash(tell: Tell) -> None:
    """500 levels of nesting are an entry; a hundred thousand are at worst unparsed."""
    line = b'{"id":"m","type":"gemini","toolCalls":[{"name":"x","args":%s,"resultDisplay":%s}]}\n'
    for depth in (500, 100_000):
        nested = b"[" * depth + b"]" * depth
        counts = tell(line % (nested, nested)).counts()
        assert counts.entries + counts.unparsed == 1
        assert depth > 500 or counts.tool_calls == 1


def test_real_logs_tell_what_happened(real: Path, tmp_path: Path) -> None:
    """Prompts and calls of every real session are those that truly happened."""
    shutil.copytree(real / "home", tmp_path / ".gemini")
    found = {s.id: s for s in GeminiCli().find(Home(str(tmp_path)), Report("gemini-cli"))}
    expected = json.loads((real / "expected.json").read_text())
    assert expected
    for want in expected:
        listed = found[Path(want["file"]).stem]
        place = GeminiCli().place(listed, strict=True)
        timeline = Timeline(lambda text, size: text[:size], rewrites=True)
        tally = Tally.for_reader(GeminiCli.rewrites)
        for teller in (timeline, tally):
            log = GeminiCli().open(listed)
            GeminiCli().read(log, place, teller)
            log.close()
        assert plain(tally.counts()) == plain(timeline.counts())
        assert timeline.counts().unparsed == 0
        assert next(iter(timeline.cwds)) == place.paths[0]
        prompts = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
        assert prompts == [prompt["span"] for prompt in want["prompts"]]
        calls = [call for entry in timeline.entries for call in entry.calls]
        assert [(call.span, call.tool, call.status, call.exit_code) for call in calls] == [
            (each["span"], each["tool"], each["status"], each["exit_code"] or None)
            for each in want["calls"]
        ]


def test_prefix_law_of_real_logs(real: Path, tell: Tell) -> None:
    """The prefix law holds for the real logs at cuts spread over each of them."""
    paths = sorted(real.rglob("*.jsonl"))
    assert paths
    for path in paths:
        if path.stat().st_size < 1 << 20:
            lines = path.read_bytes().split(b"\n")
            check_prefixes(tell, [line + b"\n" for line in lines[:-1]], max(1, len(lines) // 7))
