"""The engine of OpenCode 2 inside V1: whose a session is, and what its rows say."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from attrs import evolve

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.sqlite import database as database_module

V1, V2 = "opencode-v1", "opencode-v2"
DONE = {"created": 3, "completed": 4}


def engine(database: Any, id: str, *rows: tuple[str, dict[str, Any]], **session: Any) -> None:
    """A session that the second engine wrote: a row of V1's `session`, messages in `session_message`."""
    database.session(id, **session)
    for seq, (type, data) in enumerate(rows or [("user", {"text": "go"})]):
        database.message_v2(f"{id}-m{seq}", type, seq, session=id, **data)


def answer(*content: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return ("assistant", {"content": list(content), "time": DONE, "finish": "tool-calls"} | more)


def tool(status: str = "completed", name: str = "bash", **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"command": "make"}} | state
    return {"type": "tool", "id": "c1", "name": name, "state": state, "time": {"created": 9}}


def failed(message: str, name: str = "bash", type: str = "unknown", **state: Any) -> dict[str, Any]:
    return tool("error", name, error={"type": type, "message": message}, **state)


def found(store: Any) -> dict[str, list[str]]:
    """The sessions of both readers."""
    return {harness: list(store.find(harness)[0]) for harness in (V1, V2)}


def told(store: Any) -> list[tuple[str | None, int | None, str]]:
    entries = store.read(harness=V2).entries
    return [(c.status, c.exit_code, c.excerpt) for entry in entries for c in entry.calls]


def kinds(store: Any) -> list[str]:
    return [entry.kind for entry in store.read(harness=V2).entries]


# -- whose a session is ----------------------------------------------------------------------------


def test_each_session_is_listed_once(store: Any) -> None:
    """In one database: those with messages of the second engine alone are OpenCode 2's, all others V1's."""
    database = store.database()
    engine(database, "ses_engine")
    engine(database, "ses_child", parent_id="ses_engine")
    engine(database, "ses_both")
    database.message("m1", {"role": "user"}, session="ses_both")
    database.session("ses_v1")
    database.message("m2", {"role": "user"}, session="ses_v1")
    database.session("ses_empty")
    database.session("ses_v1_child", parent_id="ses_v1")
    assert found(store) == {V1: ["ses_both", "ses_empty", "ses_v1"], V2: ["ses_engine"]}
    for harness in (V1, V2):
        report = store.find(harness)[1]
        assert (report.state, report.problems) == ("present", [])


def test_a_database_of_all_three_kinds(store: Any) -> None:
    """Beside `session_v2`: what V1 and its second engine wrote after the import is in V1's tables alone."""
    database = store.database("opencode.db", "v2-migrated.sql")
    database.session("ses_new", table="session_v2", title=None)
    database.message_v2("n1", "user", 1, session="ses_new", text="hi")
    tables = {"id": "ses_later", "directory": "/srv/app", "slug": "s", "title": "t", "version": "1"}
    for id in ("ses_later", "ses_engine", "ses_unused"):
        row = tables | {"id": id, "time_created": 1, "time_updated": 1}
        database.put("session", **row)
    database.put("session", **row | {"id": "ses_child", "parent_id": "ses_later"})
    database.message("l1", {"role": "user", "time": {"created": 5}}, session="ses_later")
    database.part("l1p", "l1", {"type": "text", "text": "after the import"}, session="ses_later")
    database.message_v2("e1", "user", 1, session="ses_engine", text="by the engine")
    assert found(store) == {
        V1: ["ses_later", "ses_unused"],
        V2: ["ses_new", "ses_old", "ses_engine"],
    }
    summaries = {
        id: [entry.summary for entry in store.read(id, harness).entries]
        for harness, id in ((V1, "ses_later"), (V2, "ses_old"), (V2, "ses_engine"))
    }
    assert summaries == {
        "ses_later": ["after the import"],
        "ses_old": ["old prompt"],
        "ses_engine": ["by the engine"],
    }
    assert not any(store.find(harness)[1].problems for harness in (V1, V2))


def test_an_imported_session_is_no_session_of_v1(store: Any) -> None:
    """Where everything was imported V1 has nothing there, however old the rows it left."""
    database = store.database("opencode.db", "v2-migrated.sql")
    database.connection.execute("DELETE FROM session_message")
    assert found(store) == {V1: [], V2: ["ses_old"]}
    report = store.find(V1)[1]
    assert (report.state, report.problems) == ("absent", [])


def test_tables_that_lack_a_column_hold_nothing_of_the_other_reader(store: Any) -> None:
    """The other reader's database is passed over in silence where its tables cannot hold a session."""
    database = store.database()
    engine(database, "ses_engine")
    database.connection.execute("ALTER TABLE session_message RENAME COLUMN seq TO number")
    assert found(store) == {V1: ["ses_engine"], V2: []}
    migrated = store.database("opencode-two.db", "v2-migrated.sql")
    row = {"id": "ses_later", "slug": "s", "title": "t", "version": "1", "time_updated": 1}
    migrated.put("session", directory="/srv/app", time_created=1, **row)
    assert found(store)[V1] == ["ses_engine", "ses_later"]
    migrated.connection.execute("ALTER TABLE part RENAME COLUMN data TO body")
    assert found(store)[V1] == ["ses_engine"]
    assert not any(store.find(harness)[1].problems for harness in (V1, V2))


def test_ids_that_are_no_text_hide_no_session(store: Any) -> None:
    """NULL in the place of an id, in any of the tables, keeps every other session listed."""
    database = store.database()
    engine(database, "ses_engine")
    database.session("ses_v1")
    columns = "(id, session_id, time_created, time_updated, data)"
    database.connection.executescript(
        "ALTER TABLE message RENAME TO old; CREATE TABLE message AS SELECT * FROM old;"
        f"INSERT INTO message {columns} VALUES (NULL, NULL, 1, 1, '{{}}');"
        "ALTER TABLE session_message RENAME TO older;"
        "CREATE TABLE session_message AS SELECT * FROM older;"
        "INSERT INTO session_message (id, session_id, type, seq) VALUES (NULL, NULL, 'user', 1)"
    )
    assert found(store) == {V1: ["ses_v1"], V2: ["ses_engine"]}


def test_no_message_is_looked_at_without_need(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of messages only the session ids are read, and those of V1 only where the second engine wrote some."""
    seen: set[tuple[str, str]] = set()
    connect = database_module._connect

    def watched(path: str, how: str) -> sqlite3.Connection:
        connection = connect(path, how)
        connection.set_authorizer(note)
        return connection

    def note(action: int, table: str | None, column: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ and table in ("message", "session_message", "part"):
            seen.add((str(table), str(column)))
        return sqlite3.SQLITE_OK

    monkeypatch.setattr(database_module, "_connect", watched)
    database = store.database()
    database.session()
    database.user("m1", "go")
    assert found(store) == {V1: ["ses_1"], V2: []}
    assert {table for table, _ in seen} <= {"session_message"}
    engine(database, "ses_engine")
    assert found(store) == {V1: ["ses_1"], V2: ["ses_engine"]}
    assert {column for _, column in seen} <= {"", "session_id"}


# -- what its rows say -----------------------------------------------------------------------------


@pytest.fixture
def rows(store: Any) -> Any:
    """Writes the rows of one session of the second engine."""
    database = store.database()
    return lambda *written: engine(database, "ses_1", *written)


@pytest.mark.parametrize(
    ("state", "want"),
    [
        ({"structured": {"exit": 2}}, ("error", 2)),
        ({"structured": {"exit": 0}}, ("ok", None)),
        ({"structured": {}}, ("ok", None)),
        ({"structured": None}, ("ok", None)),
        ({"structured": {"timeout": True}}, ("error", None)),
        ({"structured": {"timeout": False}}, ("ok", None)),
        ({"structured": {"timeout": "yes"}}, ("ok", None)),
        ({"structured": {"exit": 3, "timeout": True}}, ("error", 3)),
        ({"structured": {"exit": 1 << 64}}, ("ok", None)),
        ({"structured": {"exit": True}}, ("ok", None)),
        ({"structured": {"exit": 0}, "metadata": {"exit": 4}}, ("ok", None)),
        ({"metadata": {"exit": 4}}, ("error", 4)),
    ],
)
def test_completed_calls(
    store: Any, rows: Any, state: dict[str, Any], want: tuple[str, int | None]
) -> None:
    """The exit code and the timeout that were recorded decide, never the text."""
    rows(answer(tool(content=[{"type": "text", "text": "Command exited with code 9."}], **state)))
    ((status, code, _),) = told(store)
    assert (status, code) == want


@pytest.mark.parametrize(
    ("item", "finish", "want"),
    [
        (failed("Unable to execute command: make"), "tool-calls", "denied"),
        (failed("Unable to execute command: make"), None, "denied"),
        (failed("Unable to execute command: make it"), "tool-calls", "error"),
        (failed("Unable to execute command: make", "read"), "tool-calls", "error"),
        (failed("Unable to execute command: ", input={}), "tool-calls", "error"),
        (failed("Tool execution interrupted"), "tool-calls", "interrupted"),
        (failed("Tool execution interrupted"), None, "denied"),
        (failed("Tool execution interrupted", "question"), "", "denied"),
        (failed("Tool execution interrupted."), None, "error"),
        (failed("Tool execution interrupted", type="tool.execution"), None, "error"),
        (failed("Tool execution interrupted", type="aborted"), None, "interrupted"),
        (failed("Tool execution interrupted", type="permission.rejected"), "stop", "denied"),
        (failed("Unknown tool: depot", "depot"), "tool-calls", "error"),
        (failed("Invalid tool input: Missing key"), "tool-calls", "error"),
    ],
)
def test_failed_calls(store: Any, rows: Any, item: Any, finish: str | None, want: str) -> None:
    """The harness's own messages, matched whole, tell refusals and interrupts; a type of its own wins."""
    rows(answer(item, finish=finish))
    assert told(store) == [(want, None, item["state"]["error"]["message"])]


def test_an_input_that_is_no_json(store: Any, rows: Any) -> None:
    """Such a call is an error with the words of its message, and the message is final at once."""
    error = {"type": "unknown", "message": "Invalid JSON input for call bash"}
    broken = tool("pending", input="not json {")
    rows(answer(broken, tool("running"), finish="error", error=error))
    assert told(store) == [("error", None, "Invalid JSON input for call bash"), (None, None, "")]
    assert store.read(harness=V2).counts().tool_errors == 1


@pytest.mark.parametrize("finish", [None, "stop"])
def test_a_pending_call_of_another_message_ends_the_log(
    store: Any, rows: Any, finish: str | None
) -> None:
    """Only a message whose answer broke off is final with a pending call."""
    rows(answer(tool("pending"), finish=finish))
    assert store.lines(harness=V2) == []


def test_a_message_without_completion_ends_the_log(store: Any, rows: Any) -> None:
    """Also with `finish` `error` the time of completion must be there, while the message is the last."""
    rows(answer(failed("x"), finish="error", time={"created": 1}))
    assert store.lines(harness=V2) == []


def test_interrupted_turns(store: Any, rows: Any) -> None:
    """`Provider turn interrupted` is an interrupt, once for each Esc; other errors of a message are none."""
    text = {"type": "text", "text": "half"}
    interrupted = {"type": "unknown", "message": "Provider turn interrupted"}
    rows(
        answer(text, finish="error", error=interrupted),
        answer(failed("Tool execution interrupted"), error=interrupted),
        answer(
            text, finish="error", error={"type": "unknown", "message": "Provider request failed"}
        ),
        answer(
            text,
            finish="error",
            error={"type": "unknown", "message": "a Provider turn interrupted"},
        ),
    )
    assert kinds(store) == ["interrupt", "other"]
    assert store.read(harness=V2).counts().interrupts == 2


def test_prompts_and_words(store: Any, rows: Any) -> None:
    """A `user` row is a prompt; the model's words are its last text."""
    rows(("user", {"text": "fix it"}), answer({"type": "text", "id": "text-0", "text": "Sorry."}))
    timeline = store.read(harness=V2)
    assert [entry.summary for entry in timeline.entries] == ["fix it"]
    assert (timeline.final_excerpt, list(timeline.cwds)) == ("Sorry.", ["/srv/app"])


def test_the_log_only_grows(store: Any, opencode: Any) -> None:
    """Each later state of a session extends the log, and reports of the earlier part what was reported of it."""
    database = store.database()
    prompt, more = ("user", {"text": "go"}), ("user", {"text": "go on"})
    running = answer(tool("running"), time={"created": 1})
    refused = answer(failed("Tool execution interrupted"), finish=None)
    pending = answer(tool("pending", input="{"), time={"created": 1})
    broken = answer(tool("pending", input="{"), finish="error", error={"message": "Invalid JSON"})
    last = answer(tool(structured={"exit": 2}))
    lines: list[bytes] = []
    shown: list[Any] = []
    for rows in (
        [prompt],
        [prompt, running],
        [prompt, refused],
        [prompt, refused, more],
        [prompt, refused, more, pending],
        [prompt, refused, more, broken],
        [prompt, refused, more, broken, last],
    ):
        engine(database, "ses_1", *rows)
        now, told_now = store.lines(harness=V2), opencode.view(store.read(harness=V2))
        assert (now[: len(lines)], told_now[: len(shown)]) == (lines, shown)
        lines, shown = now, told_now
    statuses = [each[4] for each in shown if len(each) == 8]
    assert (statuses, len(lines)) == (["denied", "error", "error"], 5)


def test_moved_session_is_refused(store: Any) -> None:
    """The row is looked at again in the table that it was listed from, before anything of it is read."""
    database = store.database("opencode.db", "v2-migrated.sql")
    row = {"id": "ses_1", "slug": "s", "title": "t", "version": "1", "time_updated": 1}
    database.put("session", directory="/srv/app", time_created=1, **row)
    database.message_v2("m1", "user", 1, text="go")
    session = store.find(V2)[0]["ses_1"]
    assert json.loads(store.lines_of(session)[0])["text"] == "go"
    database.connection.execute("UPDATE session SET directory = '/srv/b' WHERE id = 'ses_1'")
    with pytest.raises(UnreadableLog, match="directory changed since it was listed"):
        store.lines_of(store_again(store, session))


def store_again(store: Any, listed: Any) -> Any:
    """The session as it was listed, in the database as it is now."""
    now = store.find(V2)[0]["ses_1"]
    return evolve(now, detail=evolve(now.detail, directory=listed.detail.directory))
