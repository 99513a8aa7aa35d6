"""What OpenCode 2 rows say (the rules are second-hand: see the reader's README)."""

from __future__ import annotations

import json
from typing import Any

import pytest

V2 = "opencode-v2"


@pytest.fixture(params=["v2.sql", "v2-migrated.sql"])
def database(store: Any, request: pytest.FixtureRequest) -> Any:
    """A fresh database, and a migrated one with its columns in another order."""
    made = store.database("opencode.db", request.param)
    made.session(table="session_v2", title=None)
    return made


def called(store: Any) -> list[tuple[str, str, str | None, int | None, str]]:
    entries = store.read(harness=V2).entries
    return [
        (call.span, call.tool, call.status, call.exit_code, call.excerpt)
        for entry in entries
        for call in entry.calls
    ]


def tool(status: str = "completed", name: str = "shell", **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"command": "make"}} | state
    return {"type": "tool", "id": "c1", "name": name, "state": state, "time": {"created": 9}}


def assistant(database: Any, id: str, seq: int, *content: Any, **more: Any) -> None:
    time = more.pop(
        "time", {"created": database.clock + seq, "completed": database.clock + seq + 1}
    )
    database.message_v2(id, "assistant", seq, content=list(content), time=time, **more)


def texts(*said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words} for words in said]


def ids(store: Any) -> list[str]:
    members = map(json.loads, store.lines(harness=V2))
    return [line.get("id") or f"{line['messageID']}/{line['ordinal']}" for line in members]


def test_entries(store: Any, database: Any) -> None:
    """Every message row is an entry under its id; user rows with text are prompts, other types of text are not."""
    database.message_v2("m1", "user", 4, text="fix this\nplease", files=[])
    database.message_v2("m2", "user", 5, text=" ")
    database.message_v2("m3", "synthetic", 14, text="injected")
    database.message_v2("m4", "system", 19, text="tools changed")
    database.message_v2("m5", "shell", 20, command="false", exit=1, status="completed")
    database.message_v2("m6", "some-new-type", 21, text="x")
    model = {"id": "model-2", "providerID": "p"}
    assistant(database, "m7", 22, *texts("Done.", " ", "Really."), model=model)
    timeline = store.read(harness=V2)
    counts = timeline.counts()
    assert (counts.entries, counts.prompts, counts.unparsed) == (7, 1, 0)
    (prompt,) = timeline.entries
    assert (prompt.span, prompt.summary) == ("m1", "fix this")
    assert (timeline.model, timeline.final_excerpt) == ("model-2", "Done.\nReally.")
    assert list(timeline.cwds) == ["/srv/app"]


def test_embedded_calls(store: Any, database: Any) -> None:
    """A call's span is its message and the index of its item; a whole exit code other than 0 makes it an error."""
    content = [
        *texts("I try."),
        tool(metadata={"exit": 0}, content=texts("fine")),
        tool(metadata={"exit": 7}, content=texts("no", "Command exited with code 7.")),
        7,
        tool(name="read", content=texts("x"), input={"path": "README.md"}),
        tool(metadata={"exit": None}, content=None),
    ]
    assistant(database, "m1", 1, *content)
    assert called(store) == [
        ("m1/1", "shell", "ok", None, ""),
        ("m1/2", "shell", "error", 7, "no\nCommand exited with code 7."),
        ("m1/4", "read", "ok", None, ""),
        ("m1/5", "shell", "ok", None, ""),
    ]
    assert store.read(harness=V2).counts().entries == 1


@pytest.mark.parametrize(
    ("error", "want"),
    [
        ({"type": "permission.rejected", "message": "Permission denied: bash"}, "denied"),
        ({"type": "aborted", "message": "Session interrupted by user"}, "interrupted"),
        ({"type": "tool.execution", "message": "Permission denied: bash"}, "error"),
        ({"type": "unknown"}, "error"),
        ({}, "error"),
        (None, "error"),
    ],
)
def test_error_types(store: Any, database: Any, error: Any, want: str) -> None:
    """`error.type` alone tells denied and interrupted calls from errors; the message never does."""
    assistant(database, "m1", 1, tool("error", error=error, content=texts("returned")))
    excerpt = (error or {}).get("message", "returned")
    assert called(store) == [("m1/0", "shell", want, None, excerpt)]


def test_idle(store: Any, database: Any) -> None:
    """An `idle` row with outcome `interrupted` is an interrupt, with another outcome a plain entry."""
    for seq, outcome in enumerate(["succeeded", "interrupted", "failed", None]):
        database.message_v2(f"m{seq}", "idle", seq, outcome=outcome)
    timeline = store.read(harness=V2)
    assert [entry.span for entry in timeline.entries if entry.kind == "interrupt"] == ["m1"]
    assert timeline.counts().entries == 4


@pytest.mark.parametrize("previous", [{"directory": "/srv/old"}, "/srv/old"])
def test_moved_session(store: Any, database: Any, previous: object) -> None:
    """A `location-switched` row records both directories, so both are checked; the last one is the session's."""
    database.message_v2(
        "m1", "location-switched", 1, location={"directory": "/srv/new"}, previous=previous
    )
    database.message_v2("m2", "agent-switched", 2, agent="plan", previous="/srv/no")
    timeline = store.read(harness=V2)
    assert list(timeline.cwds) == ["/srv/app", "/srv/old", "/srv/new"]
    assert timeline.cwd == "/srv/new"


def test_layout(store: Any, database: Any) -> None:
    """A line holds what is final alone, sorted by name; a returned file keeps type, name and MIME type, not its content."""
    file = {
        "type": "file",
        "name": "a.png",
        "mime": "image/png",
        "uri": "data:image/png;base64,AAAA",
    }
    database.message_v2("m1", "user", 1, text="é", files=[file], time={"created": 1, "x": 2})
    call = tool(content=[*texts("t"), file, 7], metadata={"exit": 0, "output": "big"}, title="x")
    call |= {"executed": True, "time": {"created": 5, "ran": 6, "completed": 7}}
    content = [{"type": "reasoning", "text": "hm", "time": {}}, call, {"type": "new", "text": "?"}]
    more = {"agent": "build", "cost": 1, "tokens": {}, "model": {"id": "m", "variant": "x"}}
    assistant(database, "m2", 2, *content, time={"created": 3, "completed": 4}, **more)
    database.message_v2("m3", "synthetic", 3, text="big", time={"created": 8})
    assert [line.decode() for line in store.lines(harness=V2)] == [
        '{"id":"m1","kind":"message","text":"é","time":{"created":1},"type":"user"}',
        (
            '{"content":[{"text":"hm","type":"reasoning"},{"id":"c1","name":"shell","state":{"content":'
            '[{"text":"t","type":"text"},{"mime":"image/png","name":"a.png","type":"file"}],'
            '"input":{"command":"make"},"metadata":{"exit":0},"status":"completed"},'
            '"time":{"created":5},"type":"tool"},{"type":"new"}],"id":"m2","kind":"message",'
            '"model":{"id":"m"},"time":{"completed":4,"created":3},"type":"assistant"}'
        ),
        '{"id":"m3","kind":"message","time":{"created":8},"type":"synthetic"}',
    ]


def test_data_that_is_no_object(store: Any, database: Any) -> None:
    """A row whose data is not a JSON object is one unparsed line."""
    for seq, data in enumerate(["[]", "null", "nonsense", "", b"\xff"]):
        row = {"id": f"m{seq}", "session_id": "ses_1", "type": "assistant", "seq": seq}
        database.put("session_message", **row, time_created=0, time_updated=0, data=data)
    counts = store.read(harness=V2).counts()
    assert (counts.entries, counts.unparsed) == (0, 5)


@pytest.mark.parametrize(
    "unfinished",
    [
        {"time": {"created": 1}},
        {"content": [tool("running")]},
        {"content": [tool("streaming", input='{"comm')]},
        {"content": [{"type": "tool"}]},
    ],
)
def test_unfinished_message_ends_the_log(
    store: Any, database: Any, unfinished: dict[str, Any]
) -> None:
    """The last assistant message ends the log until it and its tools are complete; a later one makes it final."""
    database.message_v2("m1", "user", 1, text="go")
    done = {"created": 1, "completed": 2}
    database.message_v2("m2", "assistant", 2, **{"content": [], "time": done} | unfinished)
    database.message_v2("m3", "user", 3, text="queued")
    assert ids(store) == ["m1"]
    database.message_v2("m4", "assistant", 4, content=[], time=done)
    assert ids(store) == ["m1", "m2", "m3", "m4"]
    assert all(status is None for _, _, status, _, _ in called(store))


def test_children_are_not_read(store: Any, database: Any) -> None:
    """A session with a parent is a sub-agent's and not listed."""
    database.session("ses_child", table="session_v2", parent_id="ses_1")
    assert "ses_child" not in store.find(V2)[0]


def parts_table(database: Any, columns: str = "message_id, ordinal, type, data") -> None:
    database.connection.execute(f"CREATE TABLE session_part ({columns})")


def test_part_rows(store: Any, database: Any) -> None:
    """Where there are part rows each is an entry after its message, under the message and its ordinal."""
    parts_table(database)
    database.message_v2("m1", "user", 1, text="go")
    assistant(database, "m2", 2)
    failed = tool(metadata={"exit": 2}, content=texts("no"))
    for message, ordinal, data in (
        ("m2", 10, {"type": "text", "text": "Sorry."}),
        ("m2", 2, failed),
        ("m1", 0, {"type": "text", "text": "of the user"}),
    ):
        database.put("session_part", message_id=message, ordinal=ordinal, data=json.dumps(data))
    assert ids(store) == ["m1", "m1/0", "m2", "m2/2", "m2/10"]
    assert called(store) == [("m2/2", "shell", "error", 2, "no")]
    timeline = store.read(harness=V2)
    assert timeline.final_excerpt == "Sorry."
    assert (timeline.counts().entries, timeline.counts().prompts) == (5, 1)
    running = json.dumps(tool("running"))
    database.put("session_part", message_id="m2", ordinal=5, data=running)
    database.put("session_part", message_id="m2", ordinal=1, data="[]")
    assert ids(store) == ["m1", "m1/0", "m2", "m2/1", "m2/2"]
    assert store.read(harness=V2).counts().unparsed == 1


def test_part_rows_of_another_shape(store: Any, database: Any) -> None:
    """A `session_part` without the columns that are read makes the database unsupported, rather than half told."""
    parts_table(database, "message_id, number, data")
    _, report = store.find(V2)
    assert report.state == "unsupported-format"
    assert report.reason == "unsupported session store format: no column session_part.ordinal"


def test_missing_column(store: Any, database: Any) -> None:
    """A database without a column that is read is unsupported, and V1 does not take it."""
    database.connection.execute("ALTER TABLE session_v2 RENAME COLUMN directory TO place")
    _, report = store.find(V2)
    assert report.reason == "unsupported session store format: no column session_v2.directory"
    assert store.find()[1].state == "absent"
