"""A store is left exactly as it was: bytes, times, inodes, modes and names, also where it may not be written."""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support.machine import Machine, call, failed, meta, prompt, typed

OLD = 1_000_000_000
REFS = ("claude-code:s1", "codex:s1")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("list", "--json", "--since", "7d"),
    ("digest", "--unprocessed"),
    ("digest", *REFS),
    ("mark", *REFS, "--outcome", "nothing"),
    ("status",),
    ("status", "--set-selection", "--limit", "3"),
    ("digest", "--unprocessed", "--allow-unknown-project"),
    ("forget", REFS[0]),
    ("list",),
)
State = dict[str, tuple[object, ...]]


def picture(folder: Path) -> State:
    """All there is to know of everything below a folder."""
    found: State = {}
    for path in sorted([folder, *folder.rglob("*")]):
        seen = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(seen.st_mode) else None
        found[str(path.relative_to(folder))] = (
            seen.st_ino,
            seen.st_mode,
            seen.st_uid,
            seen.st_gid,
            seen.st_nlink,
            seen.st_size,
            seen.st_mtime_ns,
            seen.st_ctime_ns,
            os.readlink(path) if path.is_symlink() else content,
        )
    return found


def age(folder: Path) -> None:
    """Old access times, older than the times of change: so that a file system that records reads does."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (OLD, path.stat().st_mtime))


def access_times(folder: Path) -> dict[str, int]:
    return {
        str(path): path.lstat().st_atime_ns for path in sorted(folder.rglob("*")) if path.is_file()
    }


def fill(machine: Machine) -> list[Path]:
    """Stores of both harnesses with good, broken, unfinished, empty, linked and foreign files."""
    machine.claude("s1", [prompt("u1"), call("a1", "t1"), failed("u2", "t1"), b"{broken"], end=b"")
    machine.claude("empty", [])
    machine.codex("s1", [meta(), typed()])
    machine.codex("none", [typed()])
    claude, codex = machine.home / ".claude", machine.home / ".codex"
    (claude / "projects/-srv-app-shop/notes.txt").write_text("not a session")
    (claude / "projects/link").symlink_to(codex)
    (claude / "settings.json").write_text("{}")
    os.mkfifo(codex / "sessions/pipe.jsonl")
    return [claude, codex]


def test_no_command_leaves_a_trace_in_a_store(machine: Machine) -> None:
    """After every command each file and folder of a store is what it was, read times included, and nothing is new."""
    folders = fill(machine)
    for folder in folders:
        age(folder)
    times = [access_times(folder) for folder in folders]
    before = [picture_without_reading(folder) for folder in folders]
    for words in COMMANDS:
        result = machine.run("sessions", *words)
        assert result.status == 0, result.err
        assert [access_times(folder) for folder in folders] == times
        assert [picture_without_reading(folder) for folder in folders] == before


def picture_without_reading(folder: Path) -> State:
    found: State = {}
    for path in sorted([folder, *folder.rglob("*")]):
        seen = path.lstat()
        found[str(path)] = (
            seen.st_ino,
            seen.st_mode,
            seen.st_nlink,
            seen.st_size,
            seen.st_mtime_ns,
            seen.st_ctime_ns,
        )
    return found


def test_real_stores_stay_byte_for_byte(machine: Machine, real: Path) -> None:
    """A copy of stores the real harnesses wrote is the same after every command, byte for byte."""
    versions = {name: max((real / name).iterdir()) for name in ("claude-code", "codex")}
    shutil.copytree(versions["claude-code"], machine.home / ".claude")
    shutil.copytree(versions["codex"], machine.home / ".codex")
    folders = [machine.home / ".claude", machine.home / ".codex"]
    for path in (each for folder in folders for each in folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = [picture(folder) for folder in folders]
    refs = [item["ref"] for item in machine.sessions("list")["sessions"]]
    assert len(refs) > 5
    run = machine.sessions("digest", "--unprocessed")
    marked = [item["ref"] for item in run["sessions"]]
    assert marked
    machine.sessions("mark", *marked, "--outcome", "nothing")
    machine.sessions("status")
    assert [picture(folder) for folder in folders] == before


@pytest.fixture
def as_nobody() -> list[str]:
    """A prefix that runs a command without the powers of the superuser; empty where there are none."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("the superuser writes everywhere, and setpriv is not here")
    return ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]


def test_store_that_may_not_be_written_is_read_all_the_same(
    machine: Machine, as_nobody: list[str]
) -> None:
    """On a store made read-only every command works and answers what it answers on a writable one."""
    expected = None
    folders = fill(machine)
    expected = machine.sessions("list")
    everything = [
        path for folder in folders for path in (folder, *folder.rglob("*")) if not path.is_symlink()
    ]
    for path in everything:
        path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~0o222)
    try:
        probe = subprocess.run(
            [*as_nobody, "touch", str(folders[0] / "probe")], capture_output=True, check=False
        )
        assert probe.returncode != 0, "the store can still be written"
        for words in COMMANDS:
            done = subprocess.run(
                [*as_nobody, *machine.argv("sessions", *words)],
                env=machine.environ,
                capture_output=True,
                check=False,
            )
            assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
        listing = subprocess.run(
            [*as_nobody, *machine.argv("sessions", "list", "--json")],
            env=machine.environ,
            stdout=-1,
            check=True,
        )
        assert {item["ref"] for item in expected["sessions"]} == refs_in(listing.stdout)
    finally:
        for path in everything:
            path.chmod(0o755 if path.is_dir() else 0o644)


def refs_in(output: bytes) -> set[str]:
    import json

    return {item["ref"] for item in json.loads(output)["sessions"]}


def test_store_mounted_read_only(machine: Machine, tmp_path: Path) -> None:
    """On a file system mounted read-only every command works (where this machine lets a test mount one)."""
    folder = tmp_path / "disk"
    folder.mkdir()
    fill(machine)
    libc = ctypes.CDLL(None, use_errno=True)
    source, target = str(machine.home / ".claude").encode(), str(folder).encode()
    bind, read_only_remount = 4096, 4096 | 32 | 1
    if not hasattr(libc, "mount") or libc.mount(source, target, None, bind, None):
        pytest.skip("a mount is not allowed here")
    try:
        if libc.mount(None, target, None, read_only_remount, None):
            pytest.skip("a read-only mount is not allowed here")
        with pytest.raises(OSError, match="Read-only"):
            (folder / "probe").touch()
        machine.environ["CLAUDE_CONFIG_DIR"] = str(folder)
        for words in COMMANDS:
            result = machine.run("sessions", *words)
            assert result.status == 0, result.err
    finally:
        libc.umount2(target, 2)
