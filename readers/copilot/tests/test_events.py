"""What events say: prompts, texts, directories, models, calls and aborts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentfeedback.foundation import times

if TYPE_CHECKING:
    from conftest import Events


def prompts(log: Events) -> list[str]:
    return [entry.span for entry in log.told().entries if entry.kind == "prompt"]


def test_every_event_is_an_entry(log: Events) -> None:
    """Known, unknown and odd events all count, and one without an id is named by its offset."""
    log.prompt("hello")
    log.add("system.notification", {"x": 1})
    log.add(7, [])
    offset = sum(map(len, log.lines))
    log.lines.append(b'{"type":"user.message","data":{"content":"hi"}}\n')
    counts = log.told().counts()
    assert (counts.entries, counts.unparsed) == (4, 0)
    assert prompts(log) == ["e1", f"L{offset}"]


def test_what_is_no_object_is_unparsed(log: Events) -> None:
    """Blank lines and JSON that is not an object are not events."""
    log.lines += [b"\n", b"null\n", b"[]\n", b"{\n"]
    assert log.told().counts().unparsed == 4


@pytest.mark.parametrize(
    "data", [{}, {"source": "user"}, {"source": ""}, {"source": None}, {"source": "command-7"}]
)
def test_a_prompt_is_typed_by_a_person(log: Events, data: dict[str, Any]) -> None:
    """A message without a source, or from the user, is a prompt."""
    span = log.prompt("fix it", isAutopilotContinuation=False, **data)
    assert prompts(log) == [span]


@pytest.mark.parametrize(
    "data",
    [
        {"source": "agent-1"},
        {"source": "system"},
        {"source": "skill-release"},
        {"source": "commands"},
        {"source": "command-7", "isAutopilotContinuation": True},
        {"isAutopilotContinuation": True},
        {"content": " \n"},
        {"content": None},
    ],
)
def test_other_messages_are_no_prompts(log: Events, data: dict[str, Any]) -> None:
    """A message of an agent, of the autopilot, or without text is not a prompt."""
    log.prompt(**{"content": "fix it", **data})
    assert prompts(log) == []


def test_a_raw_line_separator_ends_no_line(log: Events) -> None:
    """A raw U+2028, U+0085 or form feed escape inside a text ends neither the line nor the prompt."""
    log.prompt("a\u2028b\u0085c")
    timeline = log.told()
    assert [entry.summary for entry in timeline.entries] == ["a\u2028b\u0085c"]
    assert timeline.counts().entries == 1


def test_what_a_subagent_does_is_not_read(log: Events) -> None:
    """Events with an `agentId` are entries of which only the time counts."""
    log.add("user.message", {"content": "sub"}, agentId="a1")
    call = {"toolCallId": "c9", "toolName": "bash"}
    log.add("tool.execution_start", call, agentId="a1")
    log.add("abort", {}, agentId="a1", timestamp="2026-11-30T10:00:00Z")
    timeline = log.told()
    assert (timeline.counts().entries, timeline.entries) == (3, [])
    assert timeline.last is not None
    assert times.list_form(timeline.last) == "2026-11-30T10:00:00Z"


def test_directories_are_recorded_in_their_order(log: Events) -> None:
    """Starts, resumes and changes record the working directory; a relative one is ignored."""
    log.add("session.start", {"context": {"cwd": "/srv/app/a"}})
    log.add("session.context_changed", {"cwd": "/srv/app/b"})
    log.add("session.context_changed", {"cwd": "relative"})
    log.add("session.resume", {"context": {"cwd": "/srv/app/a"}})
    timeline = log.told()
    assert (list(timeline.cwds), timeline.cwd) == (["/srv/app/a", "/srv/app/b"], "/srv/app/a")


def test_first_releases_name_the_call_a_subagent_works_for(log: Events) -> None:
    """Events of a sub-agent that have no `agentId` yet name their call: entries of which only the time counts."""
    log.start("c1", "task", arguments={"prompt": "look"}, parentToolCallId=None)
    log.start("c2", "bash", parentToolCallId="c1")
    log.complete("x\n<exited with exit code 1>", "c2", parentToolCallId="c1")
    log.add("assistant.message", {"content": "sub", "model": "m", "parentToolCallId": "c1"})
    log.complete("It looked.", "c1", parentToolCallId="")
    timeline = log.told()
    assert [(call.tool, call.status) for call in log.calls()] == [("task", "ok")]
    assert (timeline.final_excerpt, timeline.model, timeline.counts().entries) == ("", "", 5)


@pytest.mark.parametrize(
    ("type", "data", "model"),
    [
        ("session.start", {"selectedModel": "m1"}, "m1"),
        ("session.resume", {"selectedModel": "m1"}, "m1"),
        ("session.model_change", {"newModel": "m1", "model": "m2", "selectedModel": "m3"}, "m1"),
        ("session.model_change", {"newModel": 7, "model": "m2", "selectedModel": "m3"}, "m2"),
        ("session.model_change", {"selectedModel": "m3"}, "m3"),
        ("assistant.message", {"model": "m1"}, "m1"),
        ("tool.execution_start", {"model": "m1"}, "m1"),
        ("tool.execution_complete", {"model": "m1"}, "m1"),
        ("session.usage_record", {"model": "m1"}, "m0"),
    ],
)
def test_the_model_is_the_last_named(log: Events, type: str, data: Any, model: str) -> None:
    """Each event that names a model in its own member names the session's."""
    log.add("assistant.message", {"model": "m0"})
    log.add(type, data)
    assert log.told().model == model


def test_the_last_text_of_the_assistant_stays(log: Events) -> None:
    """A message with text is what the assistant said; a blank one says nothing."""
    log.add("assistant.message", {"content": "Done."})
    log.add("assistant.message", {"content": " \n"})
    assert log.told().final_excerpt == "Done."


def test_a_call_belongs_to_its_first_start(log: Events) -> None:
    """Span, tool and arguments are those of the first start of an id."""
    span = log.start(tool="view", arguments={"path": "x"})
    log.start(tool="bash")
    call = log.call()
    assert (call.span, call.tool, call.own) == (span, "view", False)


def test_what_a_call_was_given(log: Events) -> None:
    """A command is digested by its words; other arguments, also a string, as JSON; absent ones as nothing."""
    log.start("c1", arguments={"command": "go  build   ./..."})
    log.start("c2", arguments="*** Begin Patch")
    log.start("c3", arguments=None)
    log.lines.append(b'{"type":"tool.execution_start","data":{"toolCallId":"c4"}}\n')
    log.start("c5", arguments={"command": 7})
    log.start("c6", arguments='{"command": "make"}')
    digests = [call.args_digest for call in log.calls()]
    assert digests[0] == "854004a0c269"
    assert digests[2:4] == ["74234e98afe7", "e3b0c44298fc"]
    assert len(set(digests)) == 6


def test_calls_without_an_id_have_no_result(log: Events) -> None:
    """A call that no result can name counts, and stays without one through an abort."""
    log.start(None)
    log.start("")
    log.complete(id="")
    log.complete(id=None)
    log.add("abort", {"reason": "user_abort"})
    assert [call.status for call in log.calls()] == [None, None]


def test_an_abort_interrupts_what_runs(log: Events) -> None:
    """Calls without a result are interrupted, others keep theirs, and what comes later changes nothing."""
    log.start("c1")
    log.start("c2")
    log.complete("fine", "c1")
    log.add("abort", {"reason": "user_abort"})
    log.complete("late\n<shellId: 0 completed with exit code 1>", "c2")
    first, second = log.calls()
    assert (first.status, second.status, second.exit_code) == ("ok", "interrupted", None)
    assert second.excerpt == "Operation aborted by user"
    assert log.told().counts().interrupts == 2


def test_an_abort_without_data_is_one(log: Events) -> None:
    """An abort whose data is missing or of a wrong type interrupts all the same."""
    log.lines += [b'{"type":"abort"}\n', b'{"type":"abort","data":[]}\n']
    assert log.told().counts().interrupts == 2
