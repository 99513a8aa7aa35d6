"""Unchanged sessions are not opened again, changed ones once; the cache is never trusted and never fatal."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tracing as trace
from tests.support.machine import Machine, call, failed, line, prompt

META = {"id": "c1", "cwd": "/srv/app/api", "cli_version": "0.171.0"}


#: What `Machine.list_later` does, in a process of its own.
LIST_LATER = """
import os, sys, time
from agentfeedback.plugins.host import Host
from agentfeedback.sessions.engine import Engine
from agentfeedback.wire.encode import json_line
engine = Engine(os.environ, host=Host(os.environ), now=lambda: time.time_ns() + 10_000_000_000)
sys.stdout.buffer.write(json_line(engine.listing(None, None, False)))
"""


def rollout(cwd: str = "/srv/app/api") -> list[bytes]:
    return [
        line(
            timestamp="2026-11-03T10:00:00.000Z", type="session_meta", payload={**META, "cwd": cwd}
        ),
        line(type="event_msg", payload={"type": "user_message", "message": "fix it"}),
    ]


def settle(*paths: Path) -> None:
    """Make files look written long ago; their change time stays, so the first listing is by a later clock."""
    for path in paths:
        os.utime(path, (1_700_000_000, 1_700_000_000))


@pytest.fixture
def filled(machine: Machine) -> tuple[Machine, list[Path]]:
    """A machine with two settled sessions that were listed once."""
    paths = [
        machine.claude("s1", [prompt("u1"), call("a1", "t1"), failed("r1", "t1")]),
        machine.codex("c1", rollout()),
    ]
    settle(*paths)
    machine.list_later()
    return machine, paths


def opened(machine: Machine, paths: list[Path], *words: str) -> list[int]:
    traced = trace.by_audit(machine, "sessions", *words)
    assert traced.result.status == 0, traced.result.err
    return [traced.opens(path) for path in paths]


def cache_files(machine: Machine) -> list[Path]:
    return sorted((machine.home / ".cache/agentfeedback/listing").glob("*"))


def test_unchanged_sessions_are_not_opened(filled: tuple[Machine, list[Path]]) -> None:
    """List, status and the selection of a digest open no session file that is as it was, and say the same."""
    machine, paths = filled
    assert opened(machine, paths, "list", "--json") == [0, 0]
    assert opened(machine, paths, "status") == [0, 0]
    assert machine.sessions("list") == machine.sessions("list", "--no-cache")
    assert opened(machine, paths, "digest", "--unprocessed", "--limit", "1") == [1, 0]
    assert opened(machine, paths, "list", "--no-cache") != [0, 0]


@pytest.mark.skipif(not trace.has_strace(), reason="strace is not here or may not trace")
def test_no_system_call_opens_an_unchanged_session(filled: tuple[Machine, list[Path]]) -> None:
    """The same by the system's own trace."""
    machine, paths = filled
    traced = trace.by_strace(machine, "sessions", "list")
    assert [traced.opens(path) for path in paths] == [0, 0]


def test_a_changed_session_alone_is_read(filled: tuple[Machine, list[Path]]) -> None:
    """One line appended to one of two sessions opens that one; the counts are new."""
    machine, paths = filled
    with paths[0].open("ab") as file:
        file.write(prompt("u2") + b"\n")
    assert opened(machine, paths, "list") == [1, 0]
    (listed,) = machine.sessions("list", "--harness", "claude-code")["sessions"]
    assert listed["counts"]["prompts"] == 2


def test_a_rewrite_with_the_old_size_and_time_is_seen(filled: tuple[Machine, list[Path]]) -> None:
    """Size and modification time put back do not hide a change: inode and change time tell."""
    machine, paths = filled
    text = paths[0].read_bytes()
    paths[0].write_bytes(text.replace(b'"is_error":true', b'"is_error":null'))
    assert paths[0].stat().st_size == len(text)
    settle(paths[0])
    (listed,) = machine.sessions("list", "--harness", "claude-code")["sessions"]
    assert listed["counts"]["tool_errors"] == 0


def test_policy_is_applied_anew_to_kept_facts(filled: tuple[Machine, list[Path]]) -> None:
    """A rule added later refuses a cached session, before the open and by what its log recorded."""
    machine, paths = filled
    machine.config('[collect]\ndeny_paths = ["/srv/app"]\n')
    assert opened(machine, paths, "list") == [0, 0]
    for item in machine.sessions("list")["sessions"]:
        assert (item["state"], item["reason"]) == ("denied", "deny_paths")
        assert not {"project", "cwds", "counts", "start"} & set(item)
    machine.config("")
    assert {item["state"] for item in machine.sessions("list")["sessions"]} == {"new"}


@pytest.mark.parametrize(
    "what", ["garbage", "truncated", "nested", "empty", "link", "folder", "readable"]
)
def test_a_cache_that_is_not_whole_is_made_anew(
    filled: tuple[Machine, list[Path]], what: str
) -> None:
    """Damaged, foreign or missing, the cache changes no answer and is written again."""
    machine, _ = filled
    before = machine.sessions("list")
    for path in cache_files(machine):
        content = path.read_bytes()
        path.unlink()
        if what == "garbage":
            path.write_bytes(os.urandom(len(content)))
        elif what == "truncated":
            path.write_bytes(content[: len(content) // 2])
        elif what == "nested":
            path.write_bytes(b"\x83\xa1x" + b"\x91" * 100_000 + content[1:])
        elif what == "empty":
            path.write_bytes(b"")
        elif what == "link":
            path.symlink_to(machine.home / "nowhere")
        elif what == "folder":
            path.mkdir()
        else:
            path.write_bytes(content)
            path.chmod(0o666)
    assert machine.list_later() == before
    assert machine.sessions("list") == before
    if what != "folder":
        assert [stat.S_IMODE(path.stat().st_mode) for path in cache_files(machine)] == [
            0o600,
            0o600,
        ]


def test_the_cache_is_made_for_its_owner_alone(filled: tuple[Machine, list[Path]]) -> None:
    """Every folder that is made for it, the program's own among them, is closed to others whatever the umask."""
    machine, _ = filled
    shutil.rmtree(machine.home / ".cache")
    before = os.umask(0o022)
    try:
        machine.list_later()
    finally:
        os.umask(before)
    folders = [path for path in machine.home.glob(".cache/**/") if path.is_dir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert machine.home / ".cache/agentfeedback/listing" in folders


def test_a_place_for_the_cache_is_not_needed(filled: tuple[Machine, list[Path]]) -> None:
    """Where the cache directory cannot be made, every session is read and the answer is the same."""
    machine, _ = filled
    before = machine.sessions("list")
    shutil.rmtree(machine.home / ".cache")
    (machine.home / ".cache").write_bytes(b"")
    assert machine.sessions("list") == before


def test_the_cache_holds_no_text_of_a_log(machine: Machine) -> None:
    """Neither prompts nor output nor tool names reach it."""
    path = machine.claude(
        "s1", [prompt("u1", "Zanzibar"), call("a1", "t1", "quux"), failed("r1", "t1", "Yonder")]
    )
    settle(path)
    machine.list_later()
    (kept,) = [
        file.read_bytes() for file in cache_files(machine) if b"s1.jsonl" in file.read_bytes()
    ]
    assert b"/srv/app/shop" in kept
    assert not any(word in kept for word in (b"Zanzibar", b"quux", b"Yonder", b"Bash"))


def test_a_session_that_went_leaves_the_cache(filled: tuple[Machine, list[Path]]) -> None:
    """What is no longer in the store is no longer in its cache."""
    machine, paths = filled
    paths[0].unlink()
    machine.sessions("list")
    assert not any(b"s1.jsonl" in path.read_bytes() for path in cache_files(machine))


def test_two_processes_at_once_agree(filled: tuple[Machine, list[Path]]) -> None:
    """Listing while others list gives the same answer, whoever writes the cache last."""
    machine, _ = filled
    before = machine.sessions("list")
    for path in cache_files(machine):
        path.unlink()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", LIST_LATER], env=machine.environ, stdout=subprocess.PIPE
        )
        for _ in range(6)
    ]
    answers = [json.loads(process.communicate()[0]) for process in running]
    assert answers == [before] * 6
    assert len(cache_files(machine)) == 2


def test_a_side_file_that_says_another_directory_is_seen(machine: Machine) -> None:
    """LogFacts hold only while the files beside the log declare the same directory."""
    folder = machine.home / ".copilot/session-state/p1"
    folder.mkdir(parents=True)
    (folder / "workspace.yaml").write_text("cwd: /srv/app/one\n")
    log = folder / "events.jsonl"
    log.write_bytes(line(id="e1", type="user.message", data={"content": "fix it"}) + b"\n")
    settle(log)
    assert [item["cwds"] for item in machine.list_later()["sessions"]] == [["/srv/app/one"]]
    (folder / "workspace.yaml").write_text("cwd: /srv/app/two\n")
    assert [item["cwds"] for item in machine.sessions("list")["sessions"]] == [["/srv/app/two"]]


def test_times_the_cache_cannot_hold_are_read_each_time(
    filled: tuple[Machine, list[Path]],
) -> None:
    """Sessions of another millennium end no command, and the other sessions are kept all the same."""
    machine, paths = filled
    odd = {}
    for year in ("0001", "1600", "2600", "9999"):
        time_of_year = f"{year}-01-01T00:00:00Z"
        record = line(type="user", uuid="u1", cwd="/srv/app/shop", timestamp=time_of_year)
        odd[time_of_year] = machine.claude(f"odd{year}", [record])
        settle(odd[time_of_year])
    listed = machine.list_later()
    assert {item["start"] for item in listed["sessions"]} > set(odd)
    assert machine.sessions("list") == listed
    assert opened(machine, [*odd.values(), *paths], "list") == [1, 1, 1, 1, 0, 0]


def test_only_caches_leave_the_folder(filled: tuple[Machine, list[Path]]) -> None:
    """What else is in the cache's folder, which may be a link, is nobody's to remove; old caches go."""
    machine, paths = filled
    documents = machine.home / "documents"
    folder = machine.home / ".cache/agentfeedback/listing"
    folder.rename(documents)
    folder.symlink_to(documents)
    old = [f"x-{24 * 'a'}.msgpack", f".x-{24 * 'a'}.msgpack.unfinished-0f0f"]
    others = ["thesis.txt", "x.msgpack", "data-0123.msgpack", "deep"]
    for name in (*old, *others[:-1]):
        (documents / name).write_bytes(b"")
        settle(documents / name)
    (documents / "deep").mkdir()
    settle(documents / "deep")
    with paths[0].open("ab") as file:
        file.write(prompt("u2") + b"\n")
    settle(paths[0])
    machine.list_later()
    left = {path.name for path in documents.iterdir()}
    assert left >= set(others)
    assert not left & set(old)


def test_a_file_written_during_a_long_scan_is_not_kept(tmp_path: Path) -> None:
    """LogFacts are kept only of files that were settled before anything was read, however long that took."""
    from agentfeedback.reading.load import LogFacts
    from agentfeedback.reading.reader import Place, Reader, Session
    from agentfeedback.sessions.facts_cache import FactsCache
    from agentfeedback.wire.records import Counts

    clock = [10_000_000_000]
    cache = FactsCache(str(tmp_path), "x", "/x", now=lambda: clock[0])
    times = {"fresh": clock[0] - 1_900_000_000, "settled": clock[0] - 2_100_000_000}
    clock[0] += 300_000_000  # the fresh file is more than two seconds old by now
    for name, at in times.items():
        session = Session("x", name, f"/x/{name}", at, inode=1, ctime=at)
        cache.keep(Reader(), session, Place(), LogFacts(None, None, ["/x"], Counts(), 1, ""))
    cache.save(whole=True)
    again = FactsCache(str(tmp_path), "x", "/x")
    found = {
        name: again.find(Reader(), Session("x", name, f"/x/{name}", at, inode=1, ctime=at))
        for name, at in times.items()
    }
    assert found["fresh"] is None
    assert found["settled"] is not None


def test_doctor_shows_the_cache_and_leaves_it(filled: tuple[Machine, list[Path]]) -> None:
    """The sessions kept are counted, a damaged file counts for nothing, and neither is changed."""
    machine, _ = filled
    before = {path: path.read_bytes() for path in cache_files(machine)}
    cache = machine.run("doctor", "--json").json["cache"]
    assert (cache["files"], cache["sessions"]) == (2, 2)
    assert cache["bytes"] == sum(map(len, before.values()))
    assert "(2 sessions, " in machine.run("doctor").out.decode()
    cache_files(machine)[0].write_bytes(b"\xff")
    assert machine.run("doctor", "--json").json["cache"]["sessions"] == 1
    assert cache_files(machine)[0].read_bytes() == b"\xff"
