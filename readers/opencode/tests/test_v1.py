"""What OpenCode V1 rows say: entries, prompts, calls, results (see the reader's README)."""

from __future__ import annotations

import json
from typing import Any

import pytest

NOTE = "out\n\n<shell_metadata>\n%s\n</shell_metadata>"
OLD_NOTE = NOTE.replace("shell_metadata", "bash_metadata")
REJECTED = "The user rejected permission to use this specific tool call."


def calls(store: Any) -> list[tuple[str, str | None, int | None, str]]:
    found = [call for entry in store.read().entries for call in entry.calls]
    return [(call.span, call.status, call.exit_code, call.excerpt) for call in found]


def called(store: Any, part: dict[str, Any], **message: Any) -> tuple[str | None, int | None]:
    database = store.database()
    database.session()
    database.user("m1", "go")
    database.assistant("m2", part, **message)
    ((_, status, code, _),) = calls(store)
    return status, code


def test_prompt_is_what_was_typed(store: Any) -> None:
    """A prompt joins the text parts of a user message that are neither synthetic nor ignored; its span is the message."""
    database = store.database()
    database.session()
    database.message("m1", {"role": "user", "time": {"created": 1772359200123}})
    database.part("p1", "m1", {"type": "text", "text": "\n first line\nmore"})
    database.part("p2", "m1", {"type": "file", "url": "data:,x"})
    database.part("p3", "m1", {"type": "text", "text": "harness", "synthetic": True})
    database.part("p4", "m1", {"type": "text", "text": "ignored", "ignored": True})
    database.part("p5", "m1", {"type": "text", "text": "it is wrong"})
    timeline = store.read()
    (prompt,) = [entry for entry in timeline.entries if entry.kind == "prompt"]
    assert (prompt.span, prompt.offset, prompt.summary) == ("m1", 0, " first line")
    assert prompt.at == 1772359200123 * 1_000_000
    assert timeline.counts().entries == 2  # the message and the file: its texts are not entries
    assert timeline.counts().prompts == 1


@pytest.mark.parametrize("id", [None, ""])
def test_rows_without_an_id_have_spans(store: Any, opencode: Any, id: str | None) -> None:
    """Where a row has no id its offset names it: each prompt and each call has a span of its own."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    database.connection.executescript(
        "ALTER TABLE part RENAME TO old; CREATE TABLE part AS SELECT * FROM old; DELETE FROM part;"
        "ALTER TABLE message RENAME TO older; CREATE TABLE message AS SELECT * FROM older;"
    )
    message = {"session_id": "ses_1", "time_updated": 1}
    parts = [opencode.tool("error", error="x"), {"type": "text", "text": "again"}]
    done = {"role": "assistant", "time": {"created": 1, "completed": 2}}
    for number, data in enumerate([{"role": "user"}, done]):
        row = message | {"id": id, "time_created": number, "data": json.dumps(data)}
        database.put("message", **row)
    for data in parts:
        row = {"message_id": "", "session_id": "ses_1", "time_created": 1, "time_updated": 1}
        database.put("part", id=id, data=json.dumps(data), **row)
    timeline = store.read()
    spans = [entry.span for entry in timeline.entries if entry.kind == "prompt"]
    spans += [call.span for entry in timeline.entries for call in entry.calls]
    assert len(set(spans)) == len(spans) == 3
    assert all(span.startswith("L") for span in spans)
    assert timeline.counts().tool_errors == 2


def test_synthetic_text_alone_is_no_prompt(store: Any) -> None:
    """A user message that holds nothing typed (a `!` line) is an entry and no prompt."""
    database = store.database()
    database.session()
    database.message("m1", {"role": "user", "time": {"created": 1}})
    database.part("p1", "m1", {"type": "text", "text": "ran a tool", "synthetic": True})
    counts = store.read().counts()
    assert (counts.entries, counts.prompts) == (1, 0)


def test_assistant_message(store: Any, opencode: Any) -> None:
    """An assistant message gives model, directory and time; its last text is the final excerpt."""
    database = store.database()
    database.session(directory="/srv/app")
    database.user("m1", "go")
    said = {"type": "text", "text": "Done."}
    hidden = {"type": "text", "text": "hidden", "synthetic": True}
    database.assistant("m2", {"type": "step-start"}, said, hidden, path={"cwd": "/srv/app/sub"})
    timeline = store.read()
    assert (timeline.model, timeline.final_excerpt) == ("m-1", "Done.")
    assert list(timeline.cwds) == ["/srv/app", "/srv/app/sub"]
    assert timeline.cwd == "/srv/app/sub"
    assert timeline.counts().entries == 5
    # the time of completion does not widen the end
    assert timeline.last == (opencode.T0 + 2) * 1_000_000


def test_call_has_the_part_as_span(store: Any, opencode: Any) -> None:
    """A tool part is a call: span the part, time its start, digested by its command."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    database.assistant("m2", opencode.tool(output="no\n", metadata={"exit": 2}))
    assert calls(store) == [("prt_m2_0", "error", 2, "no\n")]
    (entry,) = [entry for entry in store.read().entries if entry.calls]
    assert entry.at == (opencode.T0 + 9) * 1_000_000
    spelled = opencode.tool(output="", metadata={"exit": 3}, input={"command": " make\n"})
    database.part("prt_m2_1", "m2", spelled)
    digests = {call.args_digest for entry in store.read().entries for call in entry.calls}
    assert len(digests) == 1


def test_input_is_digested_in_source_order(store: Any, opencode: Any) -> None:
    """An input without a command is digested as compact JSON in the order of its source; none at all as nothing."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    one = opencode.tool(name="read", input={"b": 1, "a": [1.0, None]})
    other = opencode.tool(name="read", input={"a": [1.0, None], "b": 1})
    none = opencode.tool(name="read", input=None)
    absent = opencode.tool(name="read")
    del absent["state"]["input"]
    database.assistant("m2", one, other, none, absent)
    digests = [call.args_digest for entry in store.read().entries for call in entry.calls]
    assert digests[0] != digests[1]
    assert digests[2:] == ["74234e98afe7", "e3b0c44298fc"]


@pytest.mark.parametrize(
    ("exit", "want"),
    [
        (0, ("ok", None)),
        (127, ("error", 127)),
        (-1, ("error", -1)),
        (1.0, ("error", 1)),
        (2**31 - 1, ("error", 2**31 - 1)),
        (2**31, ("ok", None)),
        (1.5, ("ok", None)),
        (True, ("ok", None)),
        ("1", ("ok", None)),
        ([1], ("ok", None)),
    ],
)
def test_exit(store: Any, opencode: Any, exit: object, want: tuple[str, int | None]) -> None:
    """A whole exit code other than 0 is an error with that code; anything else is ok."""
    assert called(store, opencode.tool(output="x", metadata={"exit": exit})) == want


@pytest.mark.parametrize(
    ("output", "want"),
    [
        (NOTE % "User aborted the command", "interrupted"),
        (NOTE % "shell tool terminated command after exceeding timeout 120000 ms.", "error"),
        (NOTE % "something else", "ok"),
        ("User aborted the command", "ok"),
        (NOTE % "User aborted the command" + NOTE % "fine", "ok"),
        (OLD_NOTE % "bash tool terminated command after exceeding timeout 1500 ms", "error"),
        (OLD_NOTE % "User aborted the command", "interrupted"),
        (OLD_NOTE % "shell tool terminated command after exceeding timeout 1500 ms", "error"),
        (NOTE % "bash tool terminated command after exceeding timeout 1500 ms", "error"),
        (NOTE % "read tool terminated command after exceeding timeout 1500 ms", "ok"),
        (OLD_NOTE % "User aborted the command" + NOTE % "fine", "ok"),
        (NOTE % "User aborted the command" + OLD_NOTE % "fine", "ok"),
        ("bash tool terminated command after exceeding timeout 1500 ms", "ok"),
    ],
)
def test_exit_null(store: Any, opencode: Any, output: str, want: str) -> None:
    """Without an exit code the note after the last opening tag decides; what the command printed does not."""
    assert called(store, opencode.tool(output=output, metadata={"exit": None})) == (want, None)


@pytest.mark.parametrize("metadata", [{}, None, [], {"interrupted": False}])
def test_no_exit_is_ok(store: Any, opencode: Any, metadata: object) -> None:
    """A completed tool that records no exit code is ok, whatever it printed."""
    output = NOTE % "User aborted the command"
    assert called(store, opencode.tool(output=output, metadata=metadata)) == ("ok", None)


@pytest.mark.parametrize(
    ("name", "error", "want"),
    [
        ("bash", "The user rejected permission to use this specific tool call.", "denied"),
        ("bash", "The user rejected permission to use this specific tool call with: no", "denied"),
        (
            "bash",
            "The user has specified a rule which prevents you from using this specific tool call. x",
            "denied",
        ),
        ("question", "The user dismissed this question", "denied"),
        ("bash", "Tool execution aborted", "interrupted"),
        ("bash", "see Tool execution aborted", "error"),
        ("task", "Task cancelled", "interrupted"),
        ("task", "Task cancelled.", "error"),
        ("bash", "Task cancelled", "error"),
        ("read", "File not found", "error"),
        ("bash", "Error: The user rejected permission to use this specific tool call.", "denied"),
        ("stock", f"MCP error -32001: {REJECTED}", "error"),
        ("stock", f"the log says: {REJECTED}", "error"),
        ("stock", "MCP error -32001: The user dismissed this question", "error"),
    ],
)
def test_error(store: Any, opencode: Any, name: str, error: str, want: str) -> None:
    """The texts of the harness tell denied and interrupted calls from plain errors."""
    assert called(store, opencode.tool("error", name, error=error)) == (want, None)
    assert calls(store)[0][3] == error


@pytest.mark.parametrize("outside", [False, True])
def test_interrupted_mark(store: Any, opencode: Any, outside: bool) -> None:
    """`metadata.interrupted` of the state or of the part makes an error part interrupted."""
    part = opencode.tool("error", error="x")
    (part if outside else part["state"])["metadata"] = {"interrupted": True}
    assert called(store, part) == ("interrupted", None)


def test_invalid_tool(store: Any, opencode: Any) -> None:
    """The tool `invalid`, though completed, is a call the harness rejected: an error without exit code."""
    part = opencode.tool(name="invalid", output="Invalid tool", metadata={"exit": 3})
    assert called(store, part) == ("error", None)


def test_text_in_an_ok_result_decides_nothing(store: Any, opencode: Any) -> None:
    """A completed call whose output quotes a denial stays ok."""
    output = "The user rejected permission to use this specific tool call."
    assert called(store, opencode.tool(output=output, metadata={"exit": 0})) == ("ok", None)


def test_aborted_message(store: Any, opencode: Any) -> None:
    """`MessageAbortedError` is an interrupt, unless a tool part of the message already is one."""
    database = store.database()
    database.session()
    aborted = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    database.user("m1", "go")
    database.assistant("m2", {"type": "text", "text": "half"}, error=aborted)
    database.assistant("m3", opencode.tool("error", error="Tool execution aborted"), error=aborted)
    database.assistant("m4", opencode.tool("error", error="bad"), error=aborted)
    database.assistant("m5", error={"name": "APIError"})
    timeline = store.read()
    assert [e.span for e in timeline.entries if e.kind == "interrupt"] == ["m2", "m4"]
    assert timeline.counts().interrupts == 3


def test_data_that_is_no_object(store: Any, opencode: Any) -> None:
    """A row whose data is not a JSON object is one unparsed line, and the parts of such a message are still reported."""
    database = store.database()
    database.session()
    for number, data in enumerate(["[]", "null", "nonsense", "7", b"\xff\x00", 5, ""]):
        database.message(f"m{number}", data)
        database.part(f"p{number}", f"m{number}", opencode.tool(output=""))
    database.part("q", "m6", "[1]")
    timeline = store.read()
    counts = timeline.counts()
    assert (counts.unparsed, counts.entries, counts.tool_calls) == (8, 7, 7)
    assert json.loads(store.lines()[0]) == {"data": "[]", "id": "m0", "kind": "message"}


def test_layout(store: Any, opencode: Any) -> None:
    """A line holds only what is final, sorted by name, compact, nulls kept, nothing where nothing is."""
    database = store.database()
    database.session()
    message = {
        "role": "user",
        "time": {"created": 5, "completed": 6},
        "agent": "build",
        "model": {"modelID": "x"},
        "summary": {"diffs": ["big"]},
        "modelID": None,
        "path": {"root": "/"},
    }
    database.message("m1", message)
    database.part(
        "p1", "m1", {"type": "text", "text": "é", "time": {"start": 1}, "synthetic": None}
    )
    database.assistant("m2", error={"name": "X", "data": 1})
    part = opencode.tool(output="o", title="t", input={"z": 1, "a": {"c": 1, "b": 2}})
    part["state"] |= {"metadata": {"exit": None, "output": "big"}, "time": {"start": 1, "end": 2}}
    database.part("p2", "m2", part)
    database.part("p3", "m2", {"type": "file", "text": "not kept", "url": "u"})
    database.part("p4", "m2", {"type": "reasoning", "text": "hm", "time": {"end": 1}})
    assert [line.decode() for line in store.lines()] == [
        '{"id":"m1","kind":"message","modelID":null,"role":"user","time":{"created":5}}',
        '{"id":"p1","kind":"part","messageID":"m1","synthetic":null,"text":"é","type":"text"}',
        (
            '{"error":{"name":"X"},"id":"m2","kind":"message","modelID":"m-1",'
            '"path":{"cwd":"/srv/app"},"role":"assistant",'
            f'"time":{{"completed":{opencode.T0 + 3},"created":{opencode.T0 + 2}}}}}'
        ),
        (
            '{"callID":"call_1","id":"p2","kind":"part","messageID":"m2","state":{"input":'
            '{"z":1,"a":{"c":1,"b":2}},"metadata":{"exit":null},"output":"o","status":"completed",'
            '"time":{"start":1}},"tool":"bash","type":"tool"}'
        ),
        '{"id":"p3","kind":"part","messageID":"m2","type":"file"}',
        '{"id":"p4","kind":"part","messageID":"m2","text":"hm","type":"reasoning"}',
    ]


def test_order(store: Any) -> None:
    """Messages come by time and id, parts by id, whatever the order they were written in."""
    database = store.database()
    database.session()
    for id, created in (("b", 20), ("a", 20), ("c", 10)):
        database.message(id, {"role": "user"}, created=created)
    for id, message in (("p4", "a"), ("p3", "a"), ("p2", "b"), ("p1", "c")):
        database.part(id, message, {"type": "text", "text": "x"})
    ids = [json.loads(line)["id"] for line in store.lines()]
    assert ids == ["c", "p1", "a", "p3", "p4", "b", "p2"]


# -- what ends the log -----------------------------------------------------------------------------


def ids(store: Any) -> list[str]:
    return [json.loads(line)["id"] for line in store.lines()]


def test_user_message_without_parts_ends_the_log(store: Any) -> None:
    """The last user message counts once it has a part."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    database.user("m2")
    assert ids(store) == ["m1", "prt_m1_0"]
    database.part("p", "m2", {"type": "text", "text": "on"})
    assert ids(store) == ["m1", "prt_m1_0", "m2", "p"]


@pytest.mark.parametrize("completed", [None, "soon", True])
def test_assistant_message_not_completed_ends_the_log(store: Any, completed: object) -> None:
    """The last assistant message is laid out once it has a time of completion."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    database.assistant("m2", {"type": "text", "text": "hal"}, time={"completed": completed})
    database.user("m3", "queued")
    assert ids(store) == ["m1", "prt_m1_0"]
    database.assistant("m4", done=False)
    assert ids(store) == ["m1", "prt_m1_0", "m2", "prt_m2_0", "m3", "prt_m3_0"]


@pytest.mark.parametrize("state", [{"status": "running"}, {"status": "pending"}, {}, None, "x"])
def test_running_tool_ends_the_log(store: Any, opencode: Any, state: object) -> None:
    """A tool part without a result ends the log before it, and earlier parts of its message count."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    running = {"type": "tool", "tool": "bash", "state": state}
    database.assistant("m2", opencode.tool(output=""), running, opencode.tool(output=""))
    assert ids(store) == ["m1", "prt_m1_0", "m2", "prt_m2_0"]
    # The harness died there: a later assistant message makes it final, without a result.
    database.assistant("m3")
    assert ids(store)[-4:] == ["prt_m2_0", "prt_m2_1", "prt_m2_2", "m3"]
    assert [status for _, status, _, _ in calls(store)] == ["ok", None, "ok"]


def test_empty_session(store: Any) -> None:
    """A session without messages is an empty log."""
    store.database().session()
    assert store.lines() == []
