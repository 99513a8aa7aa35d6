"""The database as a file: how it is made, where it is, how an older one is taken forward."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agentfeedback.foundation.errors import StoreError
from agentfeedback.state.database import Database
from agentfeedback.state.migrations import Step
from agentfeedback.state.state_store import MIGRATIONS, Digested, StateStore

S1 = Digested("codex", "s1", "/srv/app/s1.jsonl", mtime=1, size=10, head="aa")


@pytest.fixture
def path(tmp_path: Path) -> str:
    folder = tmp_path / "data"
    folder.mkdir()
    return str(folder / "agentfeedback.db")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_database_and_folders_are_the_owners_alone(tmp_path: Path, umask: int) -> None:
    """Whatever the umask, the file and its journals are 0600 and the folders made for it 0700."""
    path = tmp_path / "a b" / "%41?#" / "agentfeedback.db"
    store = StateStore(str(path))
    before = os.umask(umask)
    try:
        store.digested([S1], at=5)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("SELECT * FROM sessions_seen").fetchall()
            store.digested([S1], at=6)
            modes = {entry.name: entry.stat().st_mode & 0o777 for entry in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert {f"agentfeedback.db{tail}": 0o600 for tail in ("", "-wal", "-shm")} == modes
    for folder in (path.parent, path.parent.parent):
        assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


def test_nothing_lies_beside_a_database_at_rest(path: str) -> None:
    """Between calls there is the one file and no open descriptor of it."""
    store = StateStore(path)
    store.digested([S1], at=5)
    store.rows()
    assert ["agentfeedback.db"] == os.listdir(os.path.dirname(path))
    os.rename(path, f"{path}.away")
    assert {} == store.rows()


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    """A database behind a link, even a dangling one, is made and read where the link points."""
    link, target = tmp_path / "link.db", tmp_path / "real" / "state.db"
    link.symlink_to(target)
    assert {} == StateStore(str(link)).rows()
    StateStore(str(link)).digested([S1], at=5)
    assert link.is_symlink()
    assert StateStore(str(target)).rows() == StateStore(str(link)).rows() != {}


FIRST = MIGRATIONS[:1]
QUEUE = """
CREATE TABLE queue (id INTEGER PRIMARY KEY, body TEXT);
CREATE TRIGGER queue_kept BEFORE DELETE ON queue BEGIN
    SELECT RAISE(ABORT, 'kept');
END;
"""


def test_an_older_database_is_taken_forward(path: str) -> None:
    """Steps added later run once, in order, on the rows that are there, and lose no progress."""
    old = StateStore(path, migrations=FIRST)
    with Database(path, "session state", migrations=FIRST).writing() as connection:
        connection.execute(
            "INSERT INTO sessions_seen VALUES"
            " ('opencode', 'ses_1', '/srv/opencode.db', 1, 10, 'aa', 5, 6, 10, 1, 'aa', 'filed', '[]')"
        )
    newer = StateStore(path, migrations=(*MIGRATIONS, Step("queue", QUEUE)))
    row = newer.rows()["opencode-v1", "ses_1"]
    assert (10, 6, "filed") == (row.processed_size, row.processed_at, row.outcome)
    assert {("opencode-v1", "ses_1")} == set(newer.rows())
    with closing(sqlite3.connect(path)) as connection:
        assert [(len(MIGRATIONS) + 1,)] == connection.execute(
            "SELECT version FROM schema_version"
        ).fetchall()
        connection.execute("INSERT INTO queue VALUES (1, '')")
        with pytest.raises(sqlite3.IntegrityError, match="kept"):
            connection.execute("DELETE FROM queue")
    with pytest.raises(StoreError, match="newer than 1; update agentfeedback"):
        old.rows()


def test_a_failing_step_leaves_the_version_before_it(path: str) -> None:
    """A step is taken whole or not at all, and the older program still reads the database."""
    old = StateStore(path)
    old.digested([S1], at=5)
    before = old.rows()
    broken = StateStore(
        path, migrations=(*MIGRATIONS, Step("queue", "CREATE TABLE queue (a);\nDROP TABLE no;"))
    )
    with pytest.raises(StoreError, match="cannot be opened: no such table: no"):
        broken.rows()
    assert before == old.rows()
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert ("sessions_seen",) in names and ("queue",) not in names


def test_a_database_with_its_id_alone_is_completed(path: str) -> None:
    """A creation killed after the application id is finished by the next run, also by a reading."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {0x61667079}")
    assert os.path.getsize(path)
    assert {} == StateStore(path).rows()
    StateStore(path).digested([S1], at=5)
    assert [("codex", "s1")] == list(StateStore(path).rows())


def test_a_write_ahead_log_left_by_a_killed_process_is_read(path: str) -> None:
    """What another process committed and did not live to move into the file is there."""
    StateStore(path).digested([S1], at=5)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE sessions_seen SET size = 77, checksum = NULL")
        for tail in ("", "-wal"):
            shutil.copy(path + tail, f"{path}.killed{tail}")
    assert 77 == StateStore(f"{path}.killed").rows()["codex", "s1"].size


def test_a_database_that_is_being_made_is_waited_for(path: str) -> None:
    """While another process holds a database of which only the id exists, a call waits its turn."""
    code = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        f"c.execute('PRAGMA application_id = {0x61667079}'); c.execute('BEGIN IMMEDIATE');"
        "print(flush=True); time.sleep(0.3); c.execute('COMMIT')"
    )
    command = [sys.executable, "-c", code, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        StateStore(path).digested([S1], at=5)
    assert [("codex", "s1")] == list(StateStore(path).rows())


def test_other_connections_of_the_process_keep_their_locks(path: str) -> None:
    """A call does not drop the lock by which this process' other connection keeps the log in use."""
    store = StateStore(path)
    store.digested([S1], at=5)

    with closing(sqlite3.connect(path)) as mine:
        mine.execute("SELECT * FROM sessions_seen").fetchall()
        store.rows()
        store.digested([S1], at=6)
        code = f"import sqlite3; c = sqlite3.connect({path!r}, timeout=0); "
        code += "c.execute('PRAGMA journal_mode = DELETE')"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert "database is locked" in done.stderr


def test_the_command_line_pays_little_for_the_module() -> None:
    """Importing the store loads neither asyncio, urllib nor importlib.metadata."""
    code = "import sys, agentfeedback.state.state_store; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set() == {"asyncio", "urllib.parse", "importlib.metadata"} & set(done.stdout.split())


def test_a_step_changes_the_tables_of_its_owner_alone() -> None:
    """A table belongs to whoever made it, and only steps of that owner name it."""
    owners: dict[str, str] = {}
    for step in MIGRATIONS:
        for table in re.findall(r"CREATE TABLE (\w+)", step.sql):
            assert owners.setdefault(table, step.owner) == step.owner
        named = re.findall(r"(?:TABLE|INTO|FROM|INDEX \w+ ON|UPDATE(?: OR \w+)?) (\w+)", step.sql)
        assert named and {owners[table] for table in named} == {step.owner}
    assert set(owners.values()) == {"sessions", "submissions"}


def test_messages_name_what_the_owner_keeps(tmp_path: Path) -> None:
    """A block that fails says in its owner's word what cannot be read or written."""
    database = Database(str(tmp_path / "agentfeedback.db"), "list of wishes")
    problem = "the list of wishes in .* cannot be read or written"
    with pytest.raises(StoreError, match=problem), database.writing() as connection:
        connection.execute("SELECT * FROM wishes")
