"""Which databases and sessions are found."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.sqlite import database as database_module


def test_nothing_there(store: Any) -> None:
    """Without a data directory, or without a database in it, the store is absent and its location named."""
    for _ in range(2):
        for harness in ("opencode-v1", "opencode-v2"):
            sessions, report = store.find(harness)
            assert (sessions, report.state) == ({}, "absent")
            assert report.location == str(store.directory)
            assert report.problems == []
        store.directory.mkdir(parents=True, exist_ok=True)
        (store.directory / "storage").mkdir(exist_ok=True)
        (store.directory / "other.db").write_bytes(b"")


def test_session_rows(store: Any, opencode: Any) -> None:
    """Sessions are the rows without a parent; their time is `time_updated`, their path the database."""
    database = store.database()
    database.session("ses_1", "/srv/app", time_archived=5)
    database.session("ses_2", "/srv/app", parent_id="ses_1")
    database.session("ses_3", "", time_updated="soon")
    database.session("ses_4", "relative/dir")
    sessions, report = store.find()
    assert list(sessions) == ["ses_1", "ses_3", "ses_4"]
    assert (report.state, report.problems) == ("present", [])
    first = sessions["ses_1"]
    assert (first.path, first.size) == (str(database.path), 0)
    assert first.mtime == (opencode.T0 + 5000) * 1_000_000
    assert sessions["ses_3"].mtime == 0
    places = [opencode.place(session).paths for session in sessions.values()]
    assert places == [("/srv/app",), (), ()]


def test_order_of_databases(store: Any) -> None:
    """`opencode.db` comes first, then `opencode-*.db` by name; an id found again is named as a problem."""
    for name in ("opencode-b.db", "opencode.db", "opencode-a.db", "xopencode-a.db"):
        database = store.database(name)
        database.session("ses_1", "/srv/app")
        database.session(f"ses_{name}", "/srv/app")
    sessions, report = store.find()
    first = str(store.directory / "opencode.db")
    assert sessions["ses_1"].path == first
    assert set(sessions) == {"ses_1", *(f"ses_opencode{n}.db" for n in ("", "-a", "-b"))}
    reason = f"session ses_1 is also in {first}; listed from there"
    others = [str(store.directory / f"opencode-{n}.db") for n in "ab"]
    assert report.problems == [(path, reason, False) for path in others]


def test_named_database(store: Any, tmp_path: Path) -> None:
    """`$OPENCODE_DB` is taken as set, a relative one below the data directory, and no other database is read."""
    store.database().session("ses_default")
    store.database("sub/custom.db").session("ses_relative")
    moved = store.home.parent / "at ?#%41.db"
    for value, want in (("sub/custom.db", "ses_relative"), (str(moved), "ses_moved")):
        if want == "ses_moved":
            database = store.database(str(moved))
            database.session(want)
        sessions, report = store.find(environ={"OPENCODE_DB": value})
        assert list(sessions) == [want]
        assert report.location == os.path.join(store.directory, value)
    assert list(store.find(environ={"OPENCODE_DB": ""})[0]) == ["ses_default"]


def test_named_database_must_be_a_regular_file(store: Any) -> None:
    """A missing `$OPENCODE_DB` is an absent store; a directory, link or FIFO an unreadable one."""
    database = store.database()
    database.session()
    database.rest()
    store.open.clear()
    (store.directory / "dir.db").mkdir()
    (store.directory / "link.db").symlink_to(database.path)
    os.mkfifo(store.directory / "fifo.db")
    states = {}
    for name in ("none.db", "dir.db", "link.db", "fifo.db", "opencode.db/x"):
        sessions, report = store.find(environ={"OPENCODE_DB": name})
        assert sessions == {}
        states[name] = report.state
    absent = dict.fromkeys(("none.db", "opencode.db/x"), "absent")
    assert states == absent | dict.fromkeys(("dir.db", "link.db", "fifo.db"), "unreadable")


def test_data_home(store: Any, tmp_path: Path) -> None:
    """An absolute `$XDG_DATA_HOME` moves the store, a relative or empty one is ignored."""
    store.database().session("ses_default")
    store.database(str(tmp_path / "data" / "opencode" / "opencode.db")).session("ses_moved")
    found = {}
    for value in ("", "data", str(tmp_path / "data")):
        found[value] = list(store.find(environ={"XDG_DATA_HOME": value})[0])
    assert list(found.values()) == [["ses_default"], ["ses_default"], ["ses_moved"]]


def test_foreign_database(store: Any) -> None:
    """A database without the tables is of an unsupported format, an empty one too; OpenCode 2 does not claim it."""
    store.directory.mkdir(parents=True)
    path = store.directory / "opencode.db"
    for statement in ("", "CREATE TABLE session (id)", "CREATE TABLE sessions (id)"):
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()
        sessions, report = store.find()
        assert (sessions, report.state) == ({}, "unsupported-format")
        column = "session.parent_id" if statement.startswith("CREATE TABLE session (") else None
        reason = f"unsupported session store format: no column {column or 'session.id'}"
        assert report.reason == reason
        assert report.problems == [(str(path), reason, False)]
        assert store.find("opencode-v2")[1].state == "absent"
        path.unlink()


@pytest.mark.parametrize("column", ["message.time_created", "part.message_id", "session.directory"])
def test_missing_column(store: Any, column: str) -> None:
    """Each column that is read must be there; the first missing one is named."""
    database = store.database()
    table, name = column.split(".")
    for index in ("message_session_time_created_id_idx", "part_message_id_id_idx"):
        database.connection.execute(f"DROP INDEX {index}")
    database.connection.execute(f"ALTER TABLE {table} RENAME COLUMN {name} TO other")
    _, report = store.find()
    assert report.reason == f"unsupported session store format: no column {column}"


def test_one_failing_database(store: Any) -> None:
    """A database that fails is a problem while another can be read; when all fail, the store takes the first error."""
    store.database("opencode-ok.db").session()
    bad = store.directory / "opencode.db"
    bad.write_bytes(b"no database at all" * 100)
    sessions, report = store.find()
    assert (list(sessions), report.state) == (["ses_1"], "present")
    assert report.problems == [(str(bad), "file is not a database", False)]
    store.open[0].rest()
    store.open.clear()
    (store.directory / "opencode-ok.db").unlink()
    (store.directory / "opencode-z.db").write_bytes(b"")
    _, report = store.find()
    assert (report.state, report.reason) == ("unreadable", "file is not a database")
    assert len(report.problems) == 2


def test_unlistable_directory(store: Any) -> None:
    """A file in the place of the data directory is an absent store, and nothing raises."""
    store.directory.parent.mkdir(parents=True)
    store.directory.write_text("x")
    assert store.find()[1].state == "absent"


def test_links_are_skipped(store: Any, tmp_path: Path) -> None:
    """A database that is a symbolic link, a directory or a FIFO is not listed and never waited on."""
    elsewhere = store.database(str(tmp_path / "else.db"))
    elsewhere.session()
    store.directory.mkdir(parents=True)
    (store.directory / "opencode.db").symlink_to(elsewhere.path)
    (store.directory / "opencode-a.db").mkdir()
    os.mkfifo(store.directory / "opencode-b.db")
    sessions, report = store.find()
    assert (sessions, report.state) == ({}, "absent")


@pytest.mark.parametrize("id", ["", "a/b", b"a\xffb", 7])
def test_any_id_is_listed(store: Any, id: object) -> None:
    """Any value in the place of an id is listed as text and hides no other session."""
    database = store.database()
    database.session(id)
    database.session("ses_1")
    sessions, report = store.find()
    assert len(sessions) == 2
    assert (report.state, report.problems) == ("present", [])


def test_each_database_belongs_to_one_reader(store: Any) -> None:
    """A database with `session_v2` is read by OpenCode 2 alone, the others by V1 alone; neither names the other's."""
    store.database("opencode.db", "v2-migrated.sql")
    v1, report = store.find()
    assert (v1, report.state, report.problems) == ({}, "absent", [])
    assert list(store.find("opencode-v2")[0]) == ["ses_old"]
    store.database("opencode-one.db").session()
    for harness, ids in (("opencode-v1", ["ses_1"]), ("opencode-v2", ["ses_old"])):
        sessions, report = store.find(harness)
        assert (list(sessions), report.state, report.problems) == (ids, "present", [])


def test_find_reads_session_rows_only(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing reads neither messages nor parts nor events; reading a session reads no events."""
    database = store.database()
    database.session()
    database.user("m1", "go")
    tables: set[str] = set()
    connect = database_module._connect

    def watched(path: str, how: str) -> sqlite3.Connection:
        connection = connect(path, how)
        connection.set_authorizer(note)
        return connection

    def note(action: int, table: str | None, column: str | None, *_: object) -> int:
        # an empty column is a table that is only counted or tested for
        if action == sqlite3.SQLITE_READ and table is not None:
            tables.add(table)
        return sqlite3.SQLITE_OK

    monkeypatch.setattr(database_module, "_connect", watched)
    session = store.find()[0]["ses_1"]
    assert tables & {"session", "message", "part", "event"} == {"session"}
    assert store.told(session).counts().prompts == 1
    assert "event" not in tables


def test_moved_session_is_refused(store: Any) -> None:
    """A session whose directory changed since it was listed, or that is gone, is unreadable."""
    database = store.database()
    database.session("ses_1", "/srv/app")
    database.session("ses_2", "/srv/app")
    database.user("m1", "go")
    database.rest()
    sessions, _ = store.find()
    with sqlite3.connect(database.path) as connection:
        connection.execute("UPDATE session SET directory = '/srv/other' WHERE id = 'ses_1'")
        connection.execute("DELETE FROM session WHERE id = 'ses_2'")
    connection.close()
    store.open.clear()
    with pytest.raises(UnreadableLog, match="the session's directory changed since it was listed"):
        store.told(sessions["ses_1"])
    with pytest.raises(UnreadableLog, match="was deleted"):
        store.told(sessions["ses_2"])
