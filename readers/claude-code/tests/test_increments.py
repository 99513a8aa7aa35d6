"""Whatever the order of lines: what a later line brings is reported once, by a whole digest and by digests in parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.digest.detect import is_event

REFUSAL = "The user doesn't want to proceed with this tool use. STOP."
MARKER = "[Request interrupted by user for tool use]"
REJECTED = {"toolUseResult": "User rejected tool use"}

Step = Callable[[Any, int], Any]


def notice(n: int) -> str:
    return (
        f"<task-notification>\n<tool-use-id>t{n}</tool-use-id>\n<status>failed</status>\n"
        "<summary>x failed with exit code 6</summary>\n</task-notification>"
    )


def operate(log: Any, operation: str, content: str | None = None) -> None:
    more = {"content": content} if content is not None else {}
    log.line("queue-operation", uuid=None, operation=operation, version=None, **more)


#: What a transcript may hold next; the number names a call and its message.
STEPS: dict[str, Step] = {
    "prompt": lambda log, n: log.user(f"do {n}", version="2.1.40"),
    "later version": lambda log, n: log.user(f"do {n}", version="2.1.197"),
    "call": lambda log, n: log.call(f"t{n}", message_id=f"m{n}"),
    "sub-agent": lambda log, n: log.call(f"t{n}", tool="Task", message_id=f"m{n}"),
    "progress": lambda log, n: log.line(
        "progress", parentToolUseID=f"t{n}", data={"type": "agent_progress"}
    ),
    "ok": lambda log, n: log.result("started", is_error=False, id=f"t{n}"),
    "error": lambda log, n: log.result("Exit code 2\nboom", id=f"t{n}", version="2.1.40"),
    "hook": lambda log, n: log.result("house rule", id=f"t{n}", version="2.1.40"),
    "killed": lambda log, n: log.result(f"Exit code 137\n{MARKER}", id=f"t{n}"),
    "refused": lambda log, n: log.result(REFUSAL, id=f"t{n}", **REJECTED),
    "broken off": lambda log, n: log.result(
        REFUSAL, id=f"t{n}", toolDenialKind="user-rejected", entrypoint="cli", **REJECTED
    ),
    "marker": lambda log, n: log.user([{"type": "text", "text": MARKER}]),
    "marker of a message": lambda log, n: log.user(MARKER, interruptedMessageId=f"m{n}"),
    "said": lambda log, n: log.assistant({"type": "text", "text": f"done {n}"}, id=f"m{n}"),
    "notice": lambda log, n: log.user(notice(n), promptSource="system"),
    "notice in the queue": lambda log, n: operate(log, "enqueue", notice(n)),
    "enqueue": lambda log, n: operate(log, "enqueue", f"do {n}"),
    "remove": lambda log, n: operate(log, "remove"),
    "dequeue": lambda log, n: operate(log, "dequeue"),
    "attachment": lambda log, n: log.queued(f"do {n}", uuid=None),
    "recorded again": lambda log, n: log.user(
        f"do {n}", parentUuid=None, timestamp="2026-12-01T00:00:00.000Z"
    ),
}
steps = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 3)), max_size=24)


def events(timeline: Any, start: int) -> tuple[list[str], Counter[tuple[str, str, int | None]]]:
    """The spans of prompts, and span, status and exit code of each call that is an event."""
    prompts = [e.span for e in timeline.entries if e.kind == "prompt" and e.offset >= start]
    calls = Counter(
        (call.span, str(call.status), call.exit_code)
        for entry in timeline.entries
        for call in entry.calls
        if is_event(call, start)
    )
    return prompts, calls


def prefix(new_log: Any, log: Any, cut: int) -> Any:
    part = new_log()
    part.lines = log.lines[:cut]
    return part


def status_of(log: Any, span: str) -> str | None:
    status: str | None = next(call.status for call in log.calls() if call.span == span)
    return status


@settings(deadline=None)
@given(steps=steps)
def test_every_event_is_told_once_however_a_log_is_cut(
    new_log: Any, steps: list[tuple[str, int]]
) -> None:
    """What two digests tell of a cut log is what one tells of the whole, but for a status that changed since."""
    log = new_log()
    for name, number in steps:
        STEPS[name](log, number)
    prompts, calls = events(log.told(), 0)
    assert all(count == 1 for count in calls.values())
    sizes = [sum(len(line) + 1 for line in log.lines[:cut]) for cut in range(len(log.lines) + 1)]
    parts = [events(prefix(new_log, log, cut).told(), 0) for cut in range(len(sizes))]
    for cut, (size, (prompts_before, calls_before)) in enumerate(zip(sizes, parts, strict=True)):
        prompts_then, calls_then = events(log.told(start=size), size)
        assert prompts_before + prompts_then == prompts
        assert calls_then <= calls <= calls_before + calls_then
        for event in calls_before & calls_then:
            assert any(event not in later for _, later in parts[cut:]), "told twice"
        for span, *_ in calls_before - calls:
            assert status_of(log, span) == "ok" or any(span == told for told, *_ in calls_then)
