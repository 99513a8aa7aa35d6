"""What a person typed, and what Codex says in its stead (rules 13 to 18 of the README)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import Rollout

REVIEW = "Review the changes and list what is wrong."
REQUEST = "## My request for Codex:"


def typed(rollout: Rollout, text: str) -> bytes:
    return rollout.event("user_message", message=text)


def item(rollout: Rollout, id: str, text: str, **more: Any) -> bytes:
    about = {"type": "UserMessage", "id": id, "content": [{"type": "text", "text": text}]}
    return rollout.event("item_completed", turn_id="t1", item=about, **more)


def said(rollout: Rollout, text: str = "Done.") -> bytes:
    content = [{"type": "output_text", "text": text}]
    return rollout.line(
        "response_item", {"type": "message", "role": "assistant", "content": content}
    )


def summaries(rollout: Rollout, *lines: bytes) -> list[str]:
    """The summaries of the prompts, which timeline and tally count alike."""
    found = [summary for _, summary in rollout.prompts(*lines)]
    assert rollout.tally(*lines).counts().prompts == len(found)
    return found


def test_prompts_have_two_sources(rollout: Rollout) -> None:
    """A `user_message` spans its line, a `UserMessage` item its id; blank ones are none."""
    typed = rollout.event("user_message", message="\nfirst\nsecond")
    nameless = rollout.item("UserMessage", "", content=[{"type": "text", "text": "nameless"}])
    content = [{"type": "text", "text": "one"}, {"type": "image", "text": "no"}]
    assert rollout.prompts(
        typed,
        nameless,
        rollout.event("user_message", message="  \n"),
        rollout.event("user_message", message=["no"]),
        rollout.item("UserMessage", "i1", content=content),
        rollout.item("UserMessage", "i2", content=[{"type": "text", "text": " "}]),
        rollout.item("AgentMessage", "i3", content=content),
    ) == [("L0", "first"), (f"L{len(typed)}", "nameless"), ("i1", "one")]


def test_injected_user_messages_are_no_prompts(rollout: Rollout) -> None:
    """A `response_item` user message also carries what the harness injects, so it never counts."""
    part = {"type": "input_text", "text": "<environment_context>"}
    message = {"type": "message", "role": "user", "content": [part]}
    assert rollout.prompts(rollout.meta(), rollout.line("response_item", message)) == []


@pytest.mark.parametrize(
    ("source", "prompts"),
    [
        ({"subagent": {"thread_spawn": {"depth": 1}}}, 0),
        ({"subagent": "review"}, 0),
        ({"other": 1}, 2),
        ("subagent", 2),
        ({"subagent": None}, 2),
        (None, 2),
    ],
)
def test_messages_of_a_sub_agent_are_no_prompts(
    rollout: Rollout, source: Any, prompts: int
) -> None:
    """What a parent model tells its sub-agent is not what a person typed."""
    said = (
        rollout.event("user_message", message="count"),
        rollout.item("UserMessage", "i1", content=[{"type": "text", "text": "count again"}]),
    )
    assert len(rollout.prompts(rollout.meta(source=source), *said)) == prompts


def test_only_the_first_line_makes_a_sub_agent(rollout: Rollout) -> None:
    """The copied first line of a forked parent says nothing of this rollout."""
    parent = rollout.meta(source={"subagent": "review"})
    prompt = rollout.event("user_message", message="hello")
    assert len(rollout.prompts(rollout.meta(), parent, prompt)) == 1


@pytest.mark.parametrize(
    ("kind", "prompts"),
    [("plain", 1), (None, 1), (7, 1), ("user_instructions", 0), ("environment_context", 0)],
)
def test_messages_of_a_kind_are_what_codex_put_in(
    rollout: Rollout, kind: object, prompts: int
) -> None:
    """The first events have a kind: only a plain one was typed."""
    event = rollout.event("user_message", message="be kind", kind=kind)
    assert len(summaries(rollout, event)) == prompts


def test_event_and_item_of_one_prompt_are_one(rollout: Rollout) -> None:
    """Equal words in both kinds of record, with no answer between, are one prompt, reported by the first."""
    event, recorded = typed(rollout, "hello"), item(rollout, "i1", "hello ")
    assert rollout.prompts(event, recorded) == [("L0", "hello")]
    assert rollout.prompts(recorded, event) == [("i1", "hello ")]
    assert len(summaries(rollout, event, event, recorded, item(rollout, "i2", "hello"))) == 2
    assert len(summaries(rollout, event, recorded, item(rollout, "i2", "hello"))) == 2
    assert len(summaries(rollout, event, item(rollout, "i1", "hello you"))) == 2


@pytest.mark.parametrize("answer", ["message", "event", "item", "call", "nested"])
def test_words_typed_again_after_an_answer_are_a_prompt(rollout: Rollout, answer: str) -> None:
    """What the assistant said or did between makes the second record another prompt."""
    between = {
        "message": said(rollout),
        "event": rollout.event("agent_message", message="Done."),
        "item": rollout.item("AgentMessage", "m1", content=[]),
        "call": rollout.call(),
        "nested": rollout.item("CommandExecution", "e1", status="completed"),
    }[answer]
    lines = (typed(rollout, "hello"), between, item(rollout, "i1", "hello"))
    assert len(summaries(rollout, *lines)) == 2


def test_two_records_of_one_kind_are_two_prompts(rollout: Rollout) -> None:
    """Who types the same words twice has typed two prompts."""
    assert len(summaries(rollout, typed(rollout, "again"), typed(rollout, "again"))) == 2
    items = (item(rollout, "i1", "again"), item(rollout, "i2", "again"))
    assert len(summaries(rollout, *items)) == 2


def test_history_recorded_again_holds_no_new_prompts(rollout: Rollout) -> None:
    """A turn that starts a second time, and an item of the same id and words, repeat what was said."""

    def turn(id: str | None, *lines: bytes) -> tuple[bytes, ...]:
        return (rollout.event("task_started", turn_id=id), *lines, said(rollout))

    hello, twice = typed(rollout, "hello"), item(rollout, "i1", "again")
    first = (*turn("t1", hello), *turn("t2", hello, hello, twice))
    assert summaries(rollout, *first) == ["hello", "hello", "hello", "again"]
    assert summaries(rollout, *first, *first, *first) == summaries(rollout, *first)
    more = turn("t2", hello, hello, hello, typed(rollout, "new"))
    assert summaries(rollout, *first, *more) == ["hello", "hello", "hello", "again", "hello", "new"]
    assert len(summaries(rollout, *turn("t1", hello), *turn("t3", hello))) == 2
    assert len(summaries(rollout, *turn(None, hello), *turn(None, hello))) == 2
    assert len(summaries(rollout, twice, said(rollout), twice)) == 1
    spans = [span for span, _ in rollout.prompts(twice, item(rollout, "i1", "other"))]
    assert spans == ["i1", f"L{len(twice)}"]


def test_interrupt_recorded_again_is_one(rollout: Rollout) -> None:
    """A turn is aborted once; without a turn id each record is an interrupt of its own."""
    once, other = rollout.aborted(), rollout.aborted(turn_id="t2")
    assert rollout.read(once, once, other).counts().interrupts == 2
    nameless = rollout.event("turn_aborted", reason="interrupted")
    assert rollout.read(nameless, nameless).counts().interrupts == 2
    open_again = rollout.read(once, rollout.call(), once)
    assert open_again.counts().interrupts == 2


def entered(rollout: Rollout, *, items: bool, target: Any = None) -> bytes:
    members = {"target": target or {"type": "uncommittedChanges"}, "user_facing_hint": "x"}
    if items:
        about = {"type": "EnteredReviewMode", "id": "r1", **members}
        return rollout.event("item_completed", thread_id="main", item=about)
    return rollout.event("entered_review_mode", **members)


def exited(rollout: Rollout, *, items: bool) -> bytes:
    if items:
        return rollout.item("ExitedReviewMode", "r2", review_output={"findings": []})
    return rollout.event("exited_review_mode", review_output={"findings": []})


@pytest.mark.parametrize("items", [False, True])
def test_review_mode_is_no_prompt(rollout: Rollout, items: bool) -> None:
    """What Codex asks of the reviewer is not a prompt, in either kind of record and however often; outside it is one."""
    asked = typed(rollout, REVIEW), item(rollout, "i1", REVIEW, thread_id="other")
    before, after = typed(rollout, "say hi"), typed(rollout, REVIEW)
    lines = (before, entered(rollout, items=items), *asked, *asked, exited(rollout, items=items))
    assert summaries(rollout, *lines, after) == ["say hi", REVIEW]


@pytest.mark.parametrize("items", [False, True])
def test_instructions_of_a_review_are_a_prompt(rollout: Rollout, items: bool) -> None:
    """A person wrote the instructions of a custom review: they are a prompt, once; other targets have none."""
    target = {"type": "custom", "instructions": " Look at the cart \n"}
    asked = typed(rollout, "Look at the cart")
    lines = (asked, asked, typed(rollout, REVIEW), exited(rollout, items=items))
    start = entered(rollout, items=items, target=target)
    assert summaries(rollout, start, *lines) == ["Look at the cart"]
    start = entered(rollout, items=items, target=target | {"type": "commit"})
    assert summaries(rollout, start, *lines) == []


def test_words_in_the_thread_that_asked_for_a_review_are_prompts(rollout: Rollout) -> None:
    """The reviewer has a thread of its own, so what is said in the asking one is a person's."""
    lines = (
        entered(rollout, items=True),
        item(rollout, "i1", REVIEW, thread_id="other"),
        item(rollout, "i2", "hurry up", thread_id="main"),
        item(rollout, "i3", REVIEW),
    )
    assert summaries(rollout, *lines) == ["hurry up"]


def test_review_without_an_end(rollout: Rollout) -> None:
    """An abort ends a review, and so does the turn after the one in which Codex asked."""
    start, asked = entered(rollout, items=False), typed(rollout, REVIEW)
    turns = [rollout.event("task_started", turn_id=f"t{n}") for n in range(4)]
    after = typed(rollout, "still there?")
    assert summaries(rollout, start, turns[0], turns[1], asked, asked) == []
    assert summaries(rollout, start, turns[0], asked, turns[1], after) == ["still there?"]
    for reason in ("interrupted", "replaced"):
        lines = (start, asked, rollout.aborted(reason), after)
        assert summaries(rollout, *lines) == ["still there?"]


CONTEXT = (
    "# Files mentioned by the user:\n\n## a.png: /srv/a.png\n\n",
    "# Context from my IDE setup:\n\n## Active file: wrong.py\n",
    "# In app browser:\n- Current URL: http://x.test/again\n",
    "# Review findings:\n1. broken\n",
    "",
)
UNREAD = "Codex could not read the local image at `/srv/a.png`: "
NO_IMAGE = "Codex cannot attach image at `/srv/a.png`: unsupported image format `image/png`."


@pytest.mark.parametrize("context", CONTEXT)
@pytest.mark.parametrize("blank", ["", "\n", "\n  \n"])
def test_what_the_app_puts_before_the_words(rollout: Rollout, context: str, blank: str) -> None:
    """Everything through the line of the request is cut, in events and items; nothing left is not a prompt."""
    for end, want in (("\nwhy?\nplease", ["why?"]), ("\n\n", []), ("", []), ("\r\nwhy?", ["why?"])):
        text = f"{blank}{context}{REQUEST}{end}"
        assert summaries(rollout, typed(rollout, text)) == want
        assert summaries(rollout, item(rollout, "i1", text)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (f"{NO_IMAGE}why so dark?", ["why so dark?"]),
        (f"{NO_IMAGE}{NO_IMAGE}\nwhy so dark?", ["why so dark?"]),
        (f"{NO_IMAGE}# In app browser:\n{REQUEST}\nwhy?", ["why?"]),
        (f"# In app browser:\n{REQUEST}\n{NO_IMAGE}why?", ["why?"]),
        (NO_IMAGE, []),
        ("Codex cannot attach image at `/srv/a.x`: unsupported image `image/x`.why?", ["why?"]),
        (f"{NO_IMAGE}{UNREAD}unsupported MIME type (unknown)why?", ["why?"]),
        (f"{UNREAD}failed to read image at /srv/a.png: gone (os error 2){NO_IMAGE}why?", ["why?"]),
        (f"{UNREAD}unsupported MIME type `a/b`", []),
        (f"{UNREAD}of a new kind", [f"{UNREAD}of a new kind"]),
        (f"It says {NO_IMAGE}", [f"It says {NO_IMAGE}"]),
        ("Codex cannot attach image at home", ["Codex cannot attach image at home"]),
        (f"# In app browser:\nno {REQUEST}\nx", ["# In app browser:"]),
        (f"# In app browser:\n{REQUEST} x", ["# In app browser:"]),
        (f"# In app browsers\n{REQUEST}\nx", ["# In app browsers"]),
        (f"  # In app browser:\n{REQUEST}\nx", ["  # In app browser:"]),
        (f"put it\n{REQUEST}\nhere", ["put it"]),
    ],
)
def test_only_the_apps_own_forms_are_cut(rollout: Rollout, text: str, want: list[str]) -> None:
    """Words that look like the app's are a person's, unless they stand where the app puts its own."""
    assert summaries(rollout, typed(rollout, text)) == want


def bare(**members: Any) -> bytes:
    return json.dumps(members).encode() + b"\n"


def message(text: str, role: str = "user", kind: str = "input_text") -> bytes:
    return bare(type="message", role=role, content=[{"type": kind, "text": text}])


HEAD = bare(id="s1", timestamp="2026-03-01T10:00:00.000Z", instructions=None)
ENVIRONMENT = "<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>"


def test_first_rollouts_have_bare_records(rollout: Rollout) -> None:
    """Records without payload are read as those of later versions are; every line is an entry."""
    local = {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}}
    custom = {"type": "custom_tool_call", "call_id": "c3", "name": "apply_patch", "input": "x"}
    lines = (
        HEAD,
        bare(record_type="state"),
        message("<user_instructions>\nbe kind\n</user_instructions>"),
        message(ENVIRONMENT),
        message("count the tests"),
        bare(type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        bare(
            type="function_call_output",
            call_id="c1",
            output='{"output":"x","metadata":{"exit_code":2}}',
        ),
        bare(**local),
        bare(**custom),
        bare(type="custom_tool_call_output", call_id="c3", output="patch rejected by user"),
        bare(type="reasoning", summary=[]),
        message("done", "assistant", "output_text"),
        message("explain <environment_context>"),
    )
    timeline = rollout.read(*lines)
    assert summaries(rollout, *lines) == ["count the tests", "explain <environment_context>"]
    assert rollout.calls(*lines) == [
        ("c1", "shell", "error", 2),
        ("c2", "local_shell", None, None),
        ("c3", "apply_patch", "denied", None),
    ]
    assert (timeline.counts().entries, timeline.counts().unparsed) == (len(lines), 0)
    assert (timeline.cwd, timeline.final_excerpt) == ("/srv/app", "done")


@pytest.mark.parametrize(
    "first",
    [
        bare(timestamp="2026-03-01T10:00:00.000Z"),
        bare(type="session_meta", id="s1"),
        bare(type="session_meta", payload={"id": "s1"}),
        bare(type="thread.started", id="s1"),
        b"not json\n",
    ],
)
def test_bare_records_say_nothing_elsewhere(rollout: Rollout, first: bytes) -> None:
    """Without the first line of a first rollout, a record without a payload is an entry that says nothing."""
    call = bare(type="function_call", name="shell", arguments="{}", call_id="c1")
    timeline = rollout.read(first, message("hello"), message(ENVIRONMENT), call)
    counts = timeline.counts()
    assert (counts.prompts, counts.tool_calls, timeline.cwds) == (0, 0, {})


@given(words=st.text(), context=st.sampled_from(CONTEXT))
@settings(deadline=None, max_examples=100)
def test_words_are_found_whatever_stands_before_them(
    rollout: Rollout, words: str, context: str
) -> None:
    """Any words after the app's context are reported as they are without it."""
    bare_words = words.strip("\r\n")
    if bare_words.startswith(("#", "Codex cannot attach")) or REQUEST in bare_words:
        return
    alone = summaries(rollout, typed(rollout, bare_words))
    assert summaries(rollout, typed(rollout, f"{context}{REQUEST}\n{bare_words}")) == alone
