"""A state database that is foreign, newer, unreadable, locked or full: one clear error, and nothing changed."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agentfeedback.state.migrations import MIGRATIONS
from tests.support.machine import Machine, Result, meta, prompt, typed

UID = "01234567-89ab-7def-8123-456789abcdef"
READING = (("list",), ("list", "--json"), ("status",))
WRITING = (
    ("digest", "codex:s1"),
    ("digest", "--unprocessed", "--json"),
    ("mark", "codex:s1", "--outcome", "filed", "--ref", UID),
    ("forget", "codex:s1"),
    ("status", "--set-selection", "--limit", "3"),
)


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """A machine with two sessions, one of them digested."""
    machine.claude("s1", [prompt("u1")])
    machine.codex("s1", [meta(), typed()])
    machine.sessions("digest", "codex:s1")
    return machine


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def foreign(path: Path) -> None:
    path.unlink()
    execute(path, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)")


def newer(path: Path) -> None:
    execute(path, "UPDATE schema_version SET version = 99")


def text(path: Path) -> None:
    path.write_text("this is a letter to somebody\n" * 400)


def damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def damaged_row(path: Path) -> None:
    execute(path, "PRAGMA ignore_check_constraints = 1", "UPDATE sessions_seen SET size = 'many'")


FAULTS: dict[Callable[[Path], None], str] = {
    foreign: "move the file away",
    newer: "update agentfeedback",
    text: "move the file away",
    damaged: "agentfeedback doctor",
    folder: "move it away",
    pipe: "move it away",
    damaged_row: "agentfeedback doctor",
}


def one_error(machine: Machine, result: Result, *remedies: str) -> None:
    """Exit 1, nothing on standard output, and one line on standard error that names file and remedy."""
    assert (result.status, result.out) == (1, b"")
    (line,) = [each for each in result.err.splitlines() if "warning" not in each]
    assert line.startswith("agentfeedback sessions: ") and line.endswith(".")
    assert str(machine.database) in line
    assert any(remedy in line for remedy in remedies), line


def files(machine: Machine) -> dict[str, bytes | int]:
    """What is in the data directory, the shared memory file of an open database left out."""
    return {
        path.name: path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else path.lstat().st_mode
        for path in sorted(machine.database.parent.iterdir())
        if not path.name.endswith("-shm")
    }


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faulty_database_is_one_error_and_stays_as_it_is(
    machine: Machine, fault: Callable[[Path], None]
) -> None:
    """Every command names the file and what to do, exits 1, and leaves each byte as it found it."""
    fault(machine.database)
    before = files(machine)
    for words in (*READING, *WRITING):
        if fault is damaged_row and words[0] in ("mark", "forget"):
            continue  # these look at no more than they change
        one_error(machine, machine.call("sessions", *words), FAULTS[fault])
        if fault is not damaged_row or words in READING:
            assert files(machine) == before


def test_locked_database_is_one_error_after_a_wait(machine: Machine) -> None:
    """A database another process keeps locked is named with the advice to try again; what only reads still answers."""
    held = sqlite3.connect(machine.database, isolation_level=None)
    try:
        held.execute("BEGIN IMMEDIATE")
        assert machine.state("codex:s1") == ("new", "")
        running = [
            subprocess.Popen(
                machine.argv("sessions", *words), env=machine.environ, stdout=-1, stderr=-1
            )
            for words in WRITING[1:4]
        ]
        for process in running:
            out, err = process.communicate(timeout=60)
            one_error(machine, Result(process.returncode, out, err), "try again")
    finally:
        held.rollback()
        held.close()
    assert machine.call("sessions", *WRITING[2]).status == 0


def test_full_disk_is_one_error_and_loses_nothing(machine: Machine) -> None:
    """Where the database cannot grow, a digest fails with one error, and what was stored is still there."""
    for number in range(400):
        machine.codex(f"n{number}" + "x" * 100, [meta(), typed()])
    limit = machine.database.stat().st_size + 16384

    def no_room() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        machine.argv("sessions", "digest", "--unprocessed", "--json"),
        env=machine.environ,
        preexec_fn=no_room,
        capture_output=True,
        check=False,
    )
    one_error(machine, Result(done.returncode, done.stdout, done.stderr), "space")
    rows = {item["ref"] for item in machine.sessions("list")["sessions"] if item["state"] == "new"}
    assert len(rows) == 402
    assert machine.call("sessions", *WRITING[2]).status == 0
    assert machine.state("codex:s1") == ("processed", "")


def test_full_file_system_is_one_error_and_loses_nothing(machine: Machine, tmp_path: Path) -> None:
    """On a disk without room a digest fails with one error that says so (where a test may mount a small one)."""
    small = tmp_path / "small"
    small.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "umount2") or libc.mount(b"none", bytes(small), b"tmpfs", 0, b"size=1m"):
        pytest.skip("a small file system cannot be mounted here")
    try:
        machine.environ["XDG_DATA_HOME"] = str(small)
        assert machine.run("sessions", "digest", "codex:s1").status == 0
        kept = small / "agentfeedback/agentfeedback.db"
        with contextlib.suppress(OSError), (small / "filler").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                continue
        result = machine.run("sessions", "digest", "--unprocessed", "--json")
        assert (result.status, result.out) == (1, b"")
        assert str(kept) in result.err and "space" in result.err
        (small / "filler").unlink()
        marked = machine.run("sessions", "mark", "codex:s1", "--outcome", "nothing")
        assert (marked.status, marked.err) == (0, "")
    finally:
        libc.umount2(bytes(small), 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read and write everything")
@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_database_without_permission_is_one_error(machine: Machine, mode: int) -> None:
    """A database that may not be read, or not be written, is named with its permissions as the remedy."""
    machine.database.chmod(mode)
    for words in WRITING if mode else (*READING, *WRITING):
        one_error(machine, machine.call("sessions", *words), "permissions")


def test_place_that_is_no_folder_is_one_error(machine: Machine) -> None:
    """A data directory that cannot be made is one error of what writes; what reads finds nothing stored."""
    machine.environ["XDG_DATA_HOME"] = str(machine.home / "file")
    (machine.home / "file").write_text("")
    assert machine.state("codex:s1") == ("new", "")
    result = machine.call("sessions", "digest", "codex:s1")
    assert (result.status, result.out) == (1, b"") and str(machine.home / "file") in result.err


def test_faulty_database_is_named_without_its_content(machine: Machine) -> None:
    """The error of a foreign file shows nothing of what is in it."""
    machine.database.write_text("hunter2 " * 1000)
    assert "hunter2" not in machine.call("sessions", "list").err


@pytest.mark.parametrize("how", ["at rest", "live", "older"])
def test_read_only_data_directory_is_read(machine: Machine, tmp_path: Path, how: str) -> None:
    """What reads works, a digest is printed and not remembered, a mark fails; nothing is made (where a test may mount)."""
    place = tmp_path / "data"
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "umount2") or libc.mount(b"none", bytes(place), b"tmpfs", 0, b"size=8m"):
        pytest.skip("a small file system cannot be mounted here")
    try:
        machine.environ["XDG_DATA_HOME"] = str(place)
        assert machine.run("sessions", "digest", "codex:s1").status == 0
        assert machine.run("sessions", "mark", "codex:s1", "--outcome", "nothing").status == 0
        assert machine.run("submit", "note", "--summary", "kept").status == 0
        kept = place / "agentfeedback/agentfeedback.db"
        if how == "live":
            owner = sqlite3.connect(kept, isolation_level=None)
            owner.execute("UPDATE triage_state SET value = value")
            owner.execute("INSERT INTO triage_state VALUES ('x', '{}')")
            log = kept.with_name(f"{kept.name}-wal")
            both = [(path, path.read_bytes()) for path in (kept, log)]
            assert both[1][1]
            owner.close()  # a file that is open for writing could not become read-only
            for path, content in both:
                path.write_bytes(content)
        if how == "older":
            execute(
                kept,
                "PRAGMA journal_mode = DELETE",
                "ALTER TABLE submissions DROP COLUMN checksum",
                f"UPDATE schema_version SET version = {len(MIGRATIONS) - 1}",
                "PRAGMA journal_mode = WAL",
            )
        for tail in ("-shm",) if how != "live" else ():
            kept.with_name(kept.name + tail).unlink(missing_ok=True)
        before = sorted(each.name for each in kept.parent.iterdir())
        assert libc.mount(b"none", bytes(place), b"tmpfs", 1 | 32, b"size=8m") == 0
        listed = machine.run("sessions", "list", "--json")
        assert listed.status == 0, listed.err
        states = {each["ref"]: each["state"] for each in json.loads(listed.out)["sessions"]}
        assert states == {"codex:s1": "processed", "claude-code:s1": "new"}
        filed = machine.run("list", "--json")
        assert filed.status == 0 and json.loads(filed.out)["total"] == 1, filed.err
        assert machine.run("export").out.count(b'"kept"') == 1
        digest = machine.run("sessions", "digest", "--unprocessed", "--json")
        assert digest.status == 0 and len(json.loads(digest.out)["sessions"]) == 1
        assert (
            "the watermarks were not stored, so the next digest shows the same again" in digest.err
        )
        marked = machine.run("sessions", "mark", "codex:s1", "--outcome", "filed")
        assert marked.status == 1 and "permissions" in marked.err
        assert sorted(each.name for each in kept.parent.iterdir()) == before
    finally:
        libc.umount2(bytes(place), 2)
