"""What the store refuses: foreign, newer, damaged, locked and forbidden databases, and full disks."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agentfeedback.foundation.errors import StoreError
from agentfeedback.state.state_store import MIGRATIONS, Digested, StateStore

# Newer Pythons warn of a fork beside the threads a test runner may have started.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

S1 = Digested("codex", "s1", "/srv/app/s1.jsonl", mtime=1, size=10, head="aa")
MANY = [Digested("codex", f"s{n}", "/srv/app/" + "x" * 200, n, n, "a" * 64) for n in range(200)]


@pytest.fixture
def path(tmp_path: Path) -> str:
    folder = tmp_path / "data"
    folder.mkdir()
    return str(folder / "agentfeedback.db")


def beside(path: str) -> dict[str, tuple[bytes, int]]:
    """Every file in the database's folder: its bytes and its mtime in ns."""
    entries = sorted(Path(path).parent.iterdir())
    return {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in entries}


def refused(path: str, says: str, busy_ms: int = 5000) -> None:
    """Each method fails with one error that names the file, the problem and a remedy."""
    store = StateStore(path, busy_ms=busy_ms)
    for call in (store.rows, lambda: store.digested([S1], 5), lambda: store.forget([("a", "b")])):
        with pytest.raises(StoreError, match=says) as raised:
            call()
        assert path in raised.value.problem
        assert raised.value.remedy
        assert 1 == raised.value.exit_status


def sqlite_file(path: str, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def forked(run: Callable[[], None]) -> int:
    """The exit status of a child that ran `run`; 1, and a traceback, when it raised."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run()
            status = 0
        except BaseException:  # noqa: BLE001 - a fork must never return into the test
            traceback.print_exc()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


FOREIGN: dict[str, Callable[[str], object]] = {
    "one byte": lambda path: Path(path).write_bytes(b"x"),
    "text": lambda path: Path(path).write_text("notes\n" * 2000),
    "zeros": lambda path: Path(path).write_bytes(bytes(8192)),
    "header alone": lambda path: Path(path).write_bytes(b"SQLite format 3\0" + bytes(84)),
    "no id": lambda path: sqlite_file(path, "CREATE TABLE sessions_seen (a)"),
    "no tables": lambda path: sqlite_file(path, "PRAGMA user_version = 1"),
    "other id": lambda path: sqlite_file(path, "PRAGMA application_id = 7", "CREATE TABLE t (a)"),
    "in WAL mode": lambda path: sqlite_file(
        path, "PRAGMA application_id = 7", "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)"
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_refused_and_untouched(path: str, kind: str) -> None:
    """A non-empty file without our application id keeps its bytes and mtime and gets no company."""
    FOREIGN[kind](path)
    before = beside(path)
    refused(path, "cannot be opened: .*; move the file away")
    assert before == beside(path)


def unfinished(path: str, *statements: str) -> None:
    """Change the database as a process would that is killed: its write-ahead log stays."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        for tail in ("", "-wal"):
            shutil.copy(path + tail, f"{path}.copy{tail}")
    for tail in ("", "-wal"):
        os.replace(f"{path}.copy{tail}", path + tail)


def test_a_foreign_write_ahead_log_is_untouched(path: str) -> None:
    """Another program's database with commits still in its write-ahead log stays as it is."""
    FOREIGN["in WAL mode"](path)
    unfinished(path, "INSERT INTO t VALUES (1)")
    before = beside(path)
    assert before["agentfeedback.db-wal"][0]
    refused(path, "it is not a database of agentfeedback; move the file away")
    assert before == beside(path)


def test_a_newer_database_is_refused_and_untouched(path: str) -> None:
    """A higher version is refused with the advice to update, and the file keeps its bytes."""
    StateStore(path).digested([S1], at=5)
    sqlite_file(path, "UPDATE schema_version SET version = 99")
    before = beside(path)
    refused(path, f"it has version 99, newer than {len(MIGRATIONS)}; update agentfeedback")
    assert before == beside(path)


def test_a_newer_write_ahead_log_is_refused_and_untouched(path: str) -> None:
    """A higher version that still is in the write-ahead log is seen there and left there."""
    StateStore(path).digested([S1], at=5)
    unfinished(path, "UPDATE schema_version SET version = 99")
    before = beside(path)
    refused(path, "it has version 99")
    after = beside(path)
    assert before == {name: after[name] for name in before}
    assert set(after) - set(before) <= {"agentfeedback.db-shm"}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM schema_version",
        "INSERT INTO schema_version VALUES (1)",
        "UPDATE schema_version SET version = 'one'",
        "UPDATE schema_version SET version = 0",
    ],
)
def test_a_database_without_one_version_is_refused(path: str, statement: str) -> None:
    """The version table holds exactly one version, else nothing is read or migrated."""
    StateStore(path).digested([S1], at=5)
    sqlite_file(path, statement)
    before = beside(path)
    refused(path, "holds no version")
    assert before == beside(path)


@pytest.mark.parametrize(("start", "end"), [(100, None), (100, 4096), (4096, None)])
def test_a_corrupt_database_is_one_error(path: str, start: int, end: int | None) -> None:
    """A database whose pages are overwritten is an error with a remedy and keeps its bytes."""
    StateStore(path).digested(MANY, at=5)
    content = bytearray(Path(path).read_bytes())
    content[start:end] = b"\xa5" * len(content[start:end])
    Path(path).write_bytes(content)
    refused(path, "malformed|no database of agentfeedback|no version")
    assert {"agentfeedback.db": bytes(content)} == {
        name: found for name, (found, _) in beside(path).items()
    }


def test_a_cut_database_is_one_error(path: str) -> None:
    """A database cut in the middle of its pages is an error and keeps its bytes."""
    StateStore(path).digested(MANY, at=5)
    os.truncate(path, 6000)
    before = beside(path)
    refused(path, "malformed")
    assert before == beside(path)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_regular_file_is_refused(path: str, make: Callable[[str], None]) -> None:
    """A folder or a FIFO in the database's place is an error, without waiting on it."""
    make(path)
    refused(path, "not a regular file; move it away")
    assert os.path.exists(path)


def test_a_file_in_place_of_a_folder_is_one_error(tmp_path: Path) -> None:
    """Where a folder is needed and a file is, writing is an error and reading finds nothing."""
    blocker = tmp_path / "data"
    blocker.write_text("mine")
    store = StateStore(str(blocker / "x" / "agentfeedback.db"))
    assert {} == store.rows()
    with pytest.raises(StoreError, match="cannot be opened: not a directory"):
        store.digested([S1], at=5)
    assert "mine" == blocker.read_text()


def test_a_locked_database_is_one_error_after_the_wait(path: str) -> None:
    """While another process writes for longer than the wait, writing fails and reading does not."""
    store = StateStore(path, busy_ms=50)
    store.digested([S1], at=5)
    before = store.rows()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="database is locked; try again when") as raised:
            store.digested([S1], at=6)
        assert path in raised.value.problem
        assert before == store.rows()
        other.execute("ROLLBACK")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        refused(path, "database is locked; try again when", busy_ms=50)
    assert before == store.rows()


@contextmanager
def in_open_folder(tmp_path: Path) -> Iterator[str]:
    """A database in a folder that a user without rights can reach although pytest's are private."""
    with tempfile.TemporaryDirectory(prefix="agentfeedback-") as folder:
        os.chmod(folder, 0o755)
        yield os.path.join(folder, "data", "agentfeedback.db")


def unprivileged(run: Callable[[], None]) -> int:
    def drop_and_run() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        run()

    return forked(drop_and_run)


def test_what_may_only_be_read_is_read(tmp_path: Path) -> None:
    """Its rows are those that are there, nothing is made beside it, and a write says what is missing."""
    with in_open_folder(tmp_path) as path:
        StateStore(path).digested([S1], at=5)
        os.chmod(path, 0o444)
        os.chmod(os.path.dirname(path), 0o555)

        def attempt() -> None:
            assert [("codex", "s1")] == list(StateStore(path).rows())
            with pytest.raises(StoreError, match="check the permissions") as raised:
                StateStore(path).digested([S1], at=6)
            assert raised.value.fault == "unwritable"

        assert 0 == unprivileged(attempt)
        os.chmod(os.path.dirname(path), 0o700)
        assert [os.path.basename(path)] == os.listdir(os.path.dirname(path))


@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o600), (0o000, 0o600)])
def test_what_may_not_be_written_is_one_error(tmp_path: Path, folder: int, file: int) -> None:
    """A folder or file without permission is an error that says so, and the file is unchanged."""
    with in_open_folder(tmp_path) as path:
        StateStore(path).digested([S1], at=5)
        content = Path(path).read_bytes()
        os.chmod(path, file)
        os.chmod(os.path.dirname(path), folder)

        def attempt() -> None:
            refused(path, "cannot be .*; check the permissions")

        assert 0 == unprivileged(attempt)
        os.chmod(os.path.dirname(path), 0o700)
        assert [os.path.basename(path)] == os.listdir(os.path.dirname(path))
        assert content == Path(path).read_bytes()


def test_a_folder_that_may_not_be_made_is_one_error(tmp_path: Path) -> None:
    """Where the folders cannot be made, writing is an error and reading finds nothing."""
    with in_open_folder(tmp_path) as path:
        os.chmod(os.path.dirname(os.path.dirname(path)), 0o555)

        def attempt() -> None:
            assert {} == StateStore(path).rows()
            with pytest.raises(StoreError, match="permission denied; check the permissions"):
                StateStore(path).digested([S1], at=5)

        assert 0 == unprivileged(attempt)
        assert not os.path.exists(os.path.dirname(path))


@pytest.mark.parametrize("existing", [False, True])
def test_a_disk_that_fills_at_any_page_loses_nothing(tmp_path: Path, existing: bool) -> None:
    """Wherever writing hits the limit there is one error, and what was stored is as it was."""
    outcomes = set()
    for limit in (0, 1, 512, 4096, 4097, 8192, 20_000, 33_000, 50_000, 90_000, 1 << 20):
        path = str(tmp_path / str(limit) / "agentfeedback.db")
        store = StateStore(path)
        if existing:
            store.digested([S1], at=5)

        def attempt(store: StateStore = store, limit: int = limit) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                store.digested(MANY, at=6)
            except StoreError as error:
                assert store.path in error.problem and error.remedy
                os._exit(3)

        before = store.rows()
        status = forked(attempt)
        outcomes.add(status)
        after = store.rows()
        assert before == after if status == 3 else len(MANY) == len(after)
        store.digested(MANY, at=7)
        assert {7} == {row.digested_at for row in store.rows().values()}
    assert {0, 3} == outcomes


@pytest.mark.parametrize("left", [0, 12, 60])
def test_a_full_disk_is_named(tmp_path: Path, left: int) -> None:
    """With only some pages left on the disk the error speaks of space, and freeing it is enough."""
    room = tmp_path / "room"
    room.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(room)]
    if mount is None or os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        store = StateStore(str(room / "agentfeedback.db"))
        store.digested([S1], at=5)
        before = store.rows()
        filler = room / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(4096))
        os.truncate(filler, filler.stat().st_size - left * 1024)
        with pytest.raises(StoreError, match="; .*space"):
            store.digested(MANY, at=6)
        filler.unlink()
        assert before == store.rows()
        store.digested(MANY, at=6)
    finally:
        subprocess.run(["umount", str(room)], check=True)
