"""Unchanged sessions are not opened again, changed ones once; the cache is never trusted and never fatal."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from tests import trace
from tests.conftest import Machine, call, failed, line, prompt

META = {"id": "c1", "cwd": "/srv/app/api", "cli_version": "0.171.0"}


def rollout(cwd: str = "/srv/app/api") -> list[bytes]:
    return [
        line(
            timestamp="2026-11-03T10:00:00.000Z", type="session_meta", payload={**META, "cwd": cwd}
        ),
        line(type="event_msg", payload={"type": "user_message", "message": "fix it"}),
    ]


def settle(*paths: Path) -> None:
    """Make files look written long ago; only their change time stays, so wait for that one."""
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
    time.sleep(2.1)
    machine.sessions("list")
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


@pytest.mark.parametrize("what", ["garbage", "truncated", "empty", "link", "folder", "readable"])
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
        elif what == "empty":
            path.write_bytes(b"")
        elif what == "link":
            path.symlink_to(machine.home / "nowhere")
        elif what == "folder":
            path.mkdir()
        else:
            path.write_bytes(content)
            path.chmod(0o666)
    assert machine.sessions("list") == before
    assert machine.sessions("list") == before
    if what != "folder":
        assert [stat.S_IMODE(path.stat().st_mode) for path in cache_files(machine)] == [
            0o600,
            0o600,
        ]


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
    time.sleep(2.1)
    machine.sessions("list")
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
            machine.argv("sessions", "list", "--json"), env=machine.environ, stdout=subprocess.PIPE
        )
        for _ in range(6)
    ]
    answers = [json.loads(process.communicate()[0]) for process in running]
    assert answers == [before] * 6
    assert len(cache_files(machine)) == 2


def test_a_side_file_that_says_another_directory_is_seen(machine: Machine) -> None:
    """Facts hold only while the files beside the log declare the same directory."""
    folder = machine.home / ".copilot/session-state/p1"
    folder.mkdir(parents=True)
    (folder / "workspace.yaml").write_text("cwd: /srv/app/one\n")
    log = folder / "events.jsonl"
    log.write_bytes(line(id="e1", type="user.message", data={"content": "fix it"}) + b"\n")
    settle(log)
    time.sleep(2.1)
    assert [item["cwds"] for item in machine.sessions("list")["sessions"]] == [["/srv/app/one"]]
    (folder / "workspace.yaml").write_text("cwd: /srv/app/two\n")
    assert [item["cwds"] for item in machine.sessions("list")["sessions"]] == [["/srv/app/two"]]
