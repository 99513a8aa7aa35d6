"""Odd things in a store: links, pipes, devices, names, compressed files, files that come and go."""

from __future__ import annotations

import os
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import Machine, meta, prompt, typed
from tests.support.tracing import by_audit

zstandard = pytest.importorskip("zstandard")


def refs(machine: Machine, **environ: str) -> list[str]:
    result = machine.call("sessions", "list", "--json", **environ)
    assert result.status == 0, result.err
    return sorted(item["ref"] for item in result.json["sessions"])


def store(machine: Machine, harness: str, **environ: str) -> dict[str, Any]:
    result = machine.call("sessions", "list", "--json", **environ)
    assert result.status == 0, result.err
    return {each["harness"]: each for each in result.json["stores"]}[harness]


# Links, pipes, devices, sockets.


def odd_files(folder: Path, name: str) -> None:
    """A link to a readable log, a dangling one, a loop, a pipe, a socket, a folder, all named as sessions are."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder.parent.parent.parent / "elsewhere.jsonl"
    target.write_bytes(prompt("u1", "not yours") + b"\n")
    (folder / name.format("link")).symlink_to(target)
    (folder / name.format("dangling")).symlink_to(folder / "nowhere")
    (folder / name.format("loop")).symlink_to(name.format("loop"))
    os.mkfifo(folder / name.format("pipe"))
    (folder / name.format("folder")).mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        before = os.getcwd()
        os.chdir(folder)  # such an address holds a hundred characters
        try:
            bound.bind(name.format("socket"))
        finally:
            os.chdir(before)


def test_only_regular_files_are_sessions(machine: Machine) -> None:
    """Links, pipes, sockets and folders named like sessions are neither followed, waited on nor opened."""
    machine.claude("s1", [prompt("u1")])
    machine.codex("s1", [meta(), typed()])
    claude = machine.home / ".claude/projects/-srv-app-shop"
    codex = machine.home / ".codex/sessions/2026/11/03"
    odd_files(claude, "{}.jsonl")
    odd_files(codex, "rollout-2026-11-03T11-00-00-{}.jsonl")
    odd_files(machine.home / ".codex/archived_sessions", "rollout-2026-11-03T11-00-00-{}.jsonl")
    trace = by_audit(machine, "sessions", "digest", "--unprocessed", "--json")
    assert [item["ref"] for item in trace.result.json["sessions"]] == ["claude-code:s1", "codex:s1"]
    opened = [path for path in trace.opened if ".jsonl" in path]
    assert {Path(path).stem.rpartition("-")[2] for path in opened} == {"s1"}


def test_a_file_that_becomes_a_pipe_or_link_is_not_followed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What turns into something else between listing and open is `unreadable`, without a wait."""
    from agentfeedback.reading.reader import Reader

    paths = [machine.claude(f"s{number}", [prompt("u1")]) for number in range(4)]
    target = machine.home / "target"
    target.write_bytes(prompt("u1") + b"\n")
    plain_open = Reader.open

    def swapped(self: Reader, session: Any) -> Any:
        path = Path(session.path)
        path.unlink()
        if path == paths[0]:
            os.mkfifo(path)
        elif path == paths[1]:
            path.symlink_to(target)
        elif path == paths[2]:
            path.mkdir()
        return plain_open(self, session)

    monkeypatch.setattr(Reader, "open", swapped)
    listing = machine.sessions("list")["sessions"]
    assert [item["state"] for item in listing] == ["unreadable"] * 4
    reasons = {item["session_id"]: item["reason"] for item in listing}
    assert {reasons[each] for each in ("s0", "s1", "s2")} == {"not a regular file"}
    assert reasons["s3"] == "no such file or directory"


def test_device_in_the_place_of_a_store_is_a_store_that_is_not_there(machine: Machine) -> None:
    """A store that is a device, a file or a link to nowhere is absent or unreadable, and ends no command."""
    (machine.home / ".codex").symlink_to("/dev/null")
    (machine.home / ".claude").mkdir()
    (machine.home / ".claude/projects").write_text("a file")
    assert refs(machine) == []
    for harness in ("claude-code", "codex"):
        assert store(machine, harness)["state"] in ("absent", "unreadable")


def test_store_behind_a_link_is_read_and_no_walk_loops(machine: Machine) -> None:
    """A harness's home may be a link; folders inside a store that are links are not walked."""
    machine.claude("s1", [prompt("u1")])
    machine.codex("s1", [meta(), typed()])
    for name in (".claude", ".codex"):
        (machine.home / name).rename(machine.home / f"real{name}")
        (machine.home / name).symlink_to(machine.home / f"real{name}")
    (machine.home / ".codex/sessions/2026/loop").symlink_to(machine.home / ".codex/sessions")
    (machine.home / ".claude/projects/loop").symlink_to(machine.home / ".claude/projects")
    assert refs(machine) == ["claude-code:s1", "codex:s1"]


def test_cwd_behind_a_link_is_judged_where_it_leads(machine: Machine, tmp_path: Path) -> None:
    """A denied directory is denied under another name, gone or not; an allowed link opens nothing it leads to."""
    (tmp_path / "data/secret").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    machine.codex("there", [meta(f"{tmp_path}/link/secret"), typed()])
    machine.codex("gone", [meta(f"{tmp_path}/link/secret/deleted/long/ago"), typed()])
    machine.claude("after", [prompt("u1"), prompt("u2", cwd=f"{tmp_path}/link/secret")])
    machine.config(f'[collect]\ndeny_paths = ["{tmp_path}/data/secret"]\n')
    for ref in ("codex:there", "codex:gone", "claude-code:after"):
        assert machine.state(ref) == ("denied", "deny_paths")
    machine.config(f'[collect]\nopt_in_only = true\nopt_in_paths = ["{tmp_path}/link/secret"]\n')
    assert machine.state("codex:there") == ("new", "")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    machine.config(f'[collect]\nopt_in_only = true\nopt_in_paths = ["{tmp_path}/open"]\n')
    (tmp_path / "open").mkdir()
    (tmp_path / "open/way").symlink_to(tmp_path / "data/secret")
    machine.codex("way", [meta(f"{tmp_path}/open/way"), typed()])
    assert machine.state("codex:way") == ("denied", "opt_in_only")


@pytest.mark.parametrize(
    "directory", ["/w/my_app.v2", "/home/u/Проект", "/a b/@c", "/a/" + "long" * 90, "/\U0001f600"]
)
def test_denied_directory_is_denied_whatever_its_name(machine: Machine, directory: str) -> None:
    """However a harness encodes or cuts a denied directory's name, the session is denied."""
    import re

    machine.config(f'[collect]\ndeny_paths = ["{directory}"]\n')
    folder = re.sub("[^A-Za-z0-9]", "-", directory)
    machine.claude("s1", [prompt("u1", cwd=directory + "/below")], folder=(folder + "-below")[:200])
    machine.claude("s2", [prompt("u1", cwd=directory)], folder="-another-name")
    machine.codex("s3", [meta(directory), typed()])
    assert {machine.state(ref) for ref in ("claude-code:s1", "claude-code:s2", "codex:s3")} == {
        ("denied", "deny_paths")
    }


# Where stores are.

MOVED = {
    "absolute": ("{home}/moved", True),
    "a comma list is one odd path": ("{home}/moved,{home}/b", False),
    "empty": ("", None),
    "relative": ("moved", None),
    "with a tilde": ("~/moved", None),
    "with an odd name": ("{home}/a ?#%41'\"\\\n\U0001f600", False),
}


@pytest.mark.parametrize("how", MOVED)
@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_variable_that_moves_a_store(machine: Machine, harness: str, how: str) -> None:
    """An absolute variable replaces the default as one directory; an empty, relative or `~` one is ignored."""
    value, _ = MOVED[how]
    value = value.format(home=machine.home)
    write = {
        "claude-code": lambda name: machine.claude(name, [prompt("u1")]),
        "codex": lambda name: machine.codex(name, [meta(), typed()]),
    }[harness]
    variable, name = {
        "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": ("CODEX_HOME", ".codex"),
    }[harness]
    write("moved")
    (machine.home / name).rename(machine.home / "moved")
    write("default")
    environ = {variable: value}
    if not os.path.isabs(value):
        assert refs(machine, **environ) == [f"{harness}:default"]
        return
    if how == "absolute":
        assert refs(machine, **environ) == [f"{harness}:moved"]
        return
    assert refs(machine, **environ) == []
    assert store(machine, harness, **environ)["state"] == "absent"
    if how == "with an odd name":
        (machine.home / "moved").rename(value)
        assert refs(machine, **environ) == [f"{harness}:moved"]
        text = machine.call("sessions", "status", **environ)
        assert text.status == 0 and b"\\n" in text.out and value.encode() not in text.out


@pytest.mark.parametrize("word", ["XDG_DATA_HOME", "XDG_CONFIG_HOME"])
def test_relative_xdg_directory_is_ignored(machine: Machine, word: str) -> None:
    """A relative or empty XDG directory means the default below the home."""
    machine.claude("s1", [prompt("u1")])
    machine.config("[collect]\ndisabled = true\n")
    for value in ("", "rel", "~/x"):
        assert (
            machine.call("sessions", "list", "--json", **{word: value}).json["sessions"][0]["state"]
            == "disabled"
        )


def test_session_ids_of_any_form(machine: Machine) -> None:
    """Ids are file names: segments with `_`, spaces, quotes, emoji and endless names can be listed, digested, marked."""
    ids = ["a_b", "a b", "it's", 'q"q', "a:b", "-x", "é", "\U0001f600", "x" * 240, "--json"]
    for id in ids:
        machine.claude(id, [prompt("u1")])
    machine.codex("0199_0aaa", [meta(), typed()])
    expected = sorted([*(f"claude-code:{id}" for id in ids), "codex:0199_0aaa"])
    assert refs(machine) == expected
    run = machine.sessions("digest", *expected)
    assert sorted(item["ref"] for item in run["sessions"]) == expected
    machine.sessions("mark", *expected, "--outcome", "nothing")
    assert {machine.state(ref)[0] for ref in expected} == {"processed"}


def test_names_that_are_no_session_are_problems_and_end_nothing(machine: Machine) -> None:
    """A name with `#` or bytes that are not UTF-8 is a problem of its store; the others are listed."""
    folder = machine.claude("s1", [prompt("u1")]).parent
    for name in (b"a#b.jsonl", b"bad-\xff.jsonl", b"...jsonl", b".jsonl"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(prompt("u1") + b"\n")
    os.mkdir(os.path.join(os.fsencode(folder.parent), b"dir-\xfe"))
    assert refs(machine) == ["claude-code:s1"]
    problems = store(machine, "claude-code")["problems"]
    assert len(problems) == 5 and sum("not UTF-8" in problem for problem in problems) == 2
    result = machine.call("sessions", "list")
    assert result.err.count("warning: claude-code: not listed: ") == 5


def test_same_session_twice_is_one_ref(machine: Machine) -> None:
    """A copied or moved session is listed once, from the file written last, and the other is named."""
    old, new = (machine.claude("s1", [prompt("u1", text)], folder=text) for text in ("old", "new"))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    (item,) = machine.sessions("list")["sessions"]
    assert item["path"] == str(new)
    assert [
        problem.partition(": ")[0] for problem in store(machine, "claude-code")["problems"]
    ] == [str(old)]


# Compressed rollouts.


def test_rollout_keeps_its_mark_when_it_is_compressed_and_when_it_comes_back(
    machine: Machine,
) -> None:
    """A marked rollout stays `processed` compressed, beside its plain file, and plain again; more is `appended`."""
    plain = machine.codex("s1", [meta(), typed("one")])
    machine.sessions("digest", "codex:s1")
    machine.sessions("mark", "codex:s1", "--outcome", "nothing")
    content = plain.read_bytes()
    packed = plain.with_name(plain.name + ".zst")
    half = len(content) // 2
    packed.write_bytes(zstandard.compress(content[:half]) + zstandard.compress(content[half:]))
    assert machine.state("codex:s1") == ("processed", "")
    assert "also in" in store(machine, "codex")["problems"][0]
    plain.unlink()
    assert machine.state("codex:s1") == ("processed", "")
    packed.write_bytes(zstandard.compress(content + typed("two") + b"\n"))
    assert machine.state("codex:s1") == ("changed", "appended")
    (found,) = machine.sessions("digest", "codex:s1")["sessions"]
    assert [event["summary"] for event in found["events"]] == ["two"]
    assert found["from_offset"] == len(content)
    plain.write_bytes(content)
    packed.unlink()
    assert machine.state("codex:s1") == ("processed", "")


@pytest.mark.parametrize("how", ["damaged", "cut short", "no frame", "empty", "a bomb", "much"])
def test_compressed_rollout_that_cannot_be_had_is_unreadable(machine: Machine, how: str) -> None:
    """A frame that cannot be decompressed is one session's failure, and a bomb takes no memory."""
    packer = zstandard.ZstdCompressor(write_checksum=True)
    frame = bytearray(packer.compress(meta() + b"\n" + os.urandom(5000).hex().encode() + b"\n"))
    if how == "damaged":
        frame[len(frame) // 2] ^= 0xFF
        frame[len(frame) // 3] ^= 0xFF
    content = {
        "damaged": bytes(frame),
        "cut short": bytes(frame[:-10]),
        "no frame": b"not a frame at all\n",
        "empty": b"",
        "a bomb": zstandard.compress(meta() + b"\n" + (b"{}" + b" " * (1 << 20) + b"\n") * 64),
        "much": zstandard.compress(meta() + b"\n" + (b"{}" + b" " * (1 << 20) + b"\n") * 60),
    }[how]
    path = machine.codex("s1", [])
    path.with_name(path.name + ".zst").write_bytes(content)
    path.unlink()
    machine.codex("s2", [meta(), typed()])
    expected = {"empty": "unsupported-format", "much": "new"}.get(how, "unreadable")
    assert machine.state("codex:s1")[0] == expected
    assert machine.state("codex:s2") == ("new", "")


# First lines of rollouts.


@pytest.mark.parametrize("more", [-1, 0, 1], ids=["below", "at", "above"])
def test_first_line_of_a_rollout_around_its_bound(machine: Machine, more: int) -> None:
    """A first line of at most 1 MiB is read for the gate; a longer one is refused under path rules, read without."""
    empty = len(meta(base_instructions={"text": ""}))
    first = meta(base_instructions={"text": "x" * ((1 << 20) + more - empty)})
    assert len(first) == (1 << 20) + more
    machine.codex("s1", [first, typed()])
    assert machine.state("codex:s1") == ("new", "")
    machine.config('[collect]\ndeny_paths = ["/nowhere"]\n')
    assert machine.state("codex:s1")[0] == ("denied" if more > 0 else "new")


FIRST_LINES = {
    "of noise": b"x" * 3000 + b"\n",
    "no JSON": b"{broken\n",
    "after a byte order mark": b"\xef\xbb\xbf" + meta() + b"\n",
    "of another type": typed() + b"\n",
    "without a directory of text": meta(cwd=7) + b"\n",
    "without a payload object": b'{"type":"session_meta","payload":[]}\n',
    "empty": b"\n",
}


@pytest.mark.parametrize("how", FIRST_LINES)
def test_first_line_that_tells_nothing_is_refused_under_path_rules_alone(
    machine: Machine, how: str
) -> None:
    """A rollout whose first line does not tell its directory is denied where paths matter, else judged after the read."""
    path = machine.codex("s1", [])
    path.write_bytes(FIRST_LINES[how] + meta("/srv/later") + b"\n" + typed() + b"\n")
    assert machine.state("codex:s1")[0] == "new"
    for policy in ('deny_paths = ["/nowhere"]', 'opt_in_only = true\nopt_in_paths = ["/srv"]'):
        machine.config(f"[collect]\n{policy}\n")
        state, reason = machine.state("codex:s1")
        assert state == "denied" and "metadata could not be read" in reason
    # Entries without the switch are not a rule about paths.
    machine.config('[collect]\nopt_in_only = false\nopt_in_paths = ["/nowhere"]\n')
    assert machine.state("codex:s1")[0] == "new"


# Files that come and go, and that may not be read.


def test_vanished_and_growing_files_fail_nothing(machine: Machine) -> None:
    """While files come, grow and go, every command ends well and without a traceback."""
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            path = machine.claude(f"s{number % 20}", [prompt("u1")] * (number % 5))
            machine.codex(f"x{number % 10}", [meta(), typed()])
            if number % 3:
                path.unlink(missing_ok=True)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(15):
            for words in (("list",), ("digest", "--unprocessed"), ("status",)):
                result = machine.call("sessions", *words, "--json")
                assert result.status in (0, 1) and "Traceback" not in result.err
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_unreadable_file_and_folder_are_named(machine: Machine) -> None:
    """A log without permission is `unreadable`; a folder without it is a problem, and hides rows as `unreadable`."""
    path = machine.claude("s1", [prompt("u1")])
    hidden = machine.claude("s2", [prompt("u1")], folder="hidden")
    machine.sessions("digest", "claude-code:s2")
    path.chmod(0)
    hidden.parent.chmod(0)
    try:
        assert machine.state("claude-code:s1") == ("unreadable", "permission denied")
        assert machine.state("claude-code:s2") == ("unreadable", "permission denied")
    finally:
        hidden.parent.chmod(stat.S_IRWXU)


def test_row_without_its_file_or_with_its_folder_gone_is_absent(machine: Machine) -> None:
    """When a harness cleans up, the row stays and says absent; a store that vanished fails nothing."""
    import shutil

    machine.claude("s1", [prompt("u1")])
    machine.sessions("digest", "claude-code:s1")
    shutil.rmtree(machine.home / ".claude")
    assert machine.state("claude-code:s1") == ("absent", "")
    run = machine.call("sessions", "digest", "claude-code:s1", "--json")
    assert (run.status, run.json["errors"][0]["state"]) == (1, "absent")
