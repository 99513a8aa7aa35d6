"""Cursor sessions in a listing: by the index alone, the policy before the open, storage only."""

from __future__ import annotations

import json
import os
import time

import pytest

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Home, Place, Report
from agentfeedback.reading.tally import Tally
from agentfeedback_cursor.reader import Cursor

WEEK = 7 * 86_400


def transcripts(names):
    return [name for name in names if name.endswith(".jsonl")]


@pytest.mark.parametrize("ide", [False, True])
def test_a_session_a_hook_named_is_listed(machine, ide):
    """Times are the transcript's, the project its first root, the state new; nothing is counted, so nothing shown as 0."""
    path = machine.transcript("c1", ide=ide)
    at = 1_793_000_000_123_456_789
    os.utime(path, ns=(at, at))
    machine.hook(
        conversation_id="c1",
        transcript_path=str(path),
        workspace_roots=["/srv/app", "/srv/lib"],
        cwd="/srv/app/sub",
    )
    found = machine.listed()["c1"]
    assert {
        "ref": "cursor:c1",
        "harness": "cursor",
        "session_id": "c1",
        "path": str(path),
        "project": "/srv/app",
        "cwds": ["/srv/app", "/srv/lib", "/srv/app/sub"],
        "start": "2026-10-26T07:33:20.123456789Z",
        "end": "2026-10-26T07:33:20.123456789Z",
        "state": "new",
    } == found


def test_transcripts_no_hook_named_are_not_found(machine):
    """No folder of Cursor's is searched: without a hook there is no store and no session."""
    machine.transcript("c1")
    listing = machine.sessions("list", "--harness", "cursor")
    assert [] == listing["sessions"]
    assert [("absent", str(machine.index))] == [
        (store["state"], store["location"]) for store in listing["stores"]
    ]


def test_a_session_whose_path_is_not_told_is_not_listed(machine):
    """Cursor's CLI may tell no path; it is not guessed, and that is not a problem of the store."""
    machine.transcript("c1")
    machine.hook(conversation_id="c1", transcript_path=None, workspace_roots=["/srv/app"])
    listing = machine.sessions("list", "--harness", "cursor")
    assert [] == listing["sessions"]
    assert "problems" not in listing["stores"][0]


@pytest.mark.parametrize(
    ("data", "entries", "unparsed"),
    [
        (b'{"a":1}\n{"b":2', 1, 0),
        (b"{}\r\n{}\r\n", 2, 0),
        (b'{}\nnot json\n[1]\n\n{"a":"\\ud800"}\n', 2, 3),
        (b'{"role":7,"message":null}\n', 1, 0),
    ],
)
def test_complete_lines_are_entries(machine, data, entries, unparsed):
    """A line with its newline that is a JSON object is an entry, any other unparsed, an unfinished one nothing."""
    tally = Tally()
    Cursor().read(Bytes(data), Place(paths=("/srv/app",)), tally)
    assert (entries, unparsed) == (tally.counts().entries, tally.counts().unparsed)
    machine.session("c1", data)
    assert "new" == machine.listed()["c1"]["state"]


@pytest.mark.parametrize("data", [b"", b"{}", b"user: hello\n"])
def test_a_transcript_without_a_complete_entry_is_of_no_known_format(machine, data):
    """Nothing that is a line of the format: unsupported."""
    machine.session("c1", data)
    assert "unsupported-format" == machine.listed()["c1"]["state"]


@pytest.mark.parametrize("where", ["root", "second root", "cwd", "earlier cwd", "linked root"])
def test_the_policy_is_asked_about_every_directory_before_the_open(machine, watch, where):
    """One refused root or directory of any hook refuses the session, and its transcript stays closed."""
    secret = machine.home / "secret"
    secret.mkdir()
    (machine.home / "link").symlink_to(secret)
    machine.config('[collect]\ndeny_paths = ["~/secret"]\n')
    app = str(machine.project)
    payloads = {
        "root": [{"workspace_roots": [f"{secret}/x"]}],
        "second root": [{"workspace_roots": [app, str(secret)]}],
        "cwd": [{"workspace_roots": [app], "cwd": f"{secret}/x"}],
        "earlier cwd": [{"workspace_roots": [app], "cwd": str(secret)}, {"cwd": app}],
        "linked root": [{"workspace_roots": [f"{machine.home}/link/x"]}],
    }
    for payload in payloads[where]:
        machine.session("c1", **{"workspace_roots": [app], **payload})
    machine.session("c2")
    with watch() as names:
        found = machine.listed()
    assert ("denied", "deny_paths") == (found["c1"]["state"], found["c1"]["reason"])
    assert "counts" not in found["c1"] and "cwds" not in found["c1"]
    assert ["c2.jsonl"] == transcripts(names)


def test_a_repository_can_refuse(machine):
    """The rules of a repository a root is in hold for Cursor too."""
    (machine.project / ".git").mkdir()
    (machine.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (machine.project / ".agentfeedback.toml").write_text("[collect]\ndisabled = true\n")
    machine.session("c1")
    found = machine.listed()["c1"]
    assert ("disabled", "repo_disabled") == (found["state"], found["reason"])


@pytest.mark.parametrize(
    "payload",
    [
        {"workspace_roots": []},
        {"workspace_roots": None},
        {"workspace_roots": "/srv/app"},
        {"workspace_roots": ["app"]},
        {"workspace_roots": ["/srv/app", ""]},
        {"workspace_roots": ["/srv/app", 7]},
        {"workspace_roots": ["vscode-remote://host/srv/app"]},
        {"workspace_roots": [f"/srv/{number}" for number in range(300)]},
    ],
)
def test_missing_or_invalid_roots_are_an_unknown_project(machine, watch, payload):
    """Where the policy cannot be asked about every root the project is unknown, and the transcript stays closed."""
    machine.session("c1", cwd=str(machine.project), **payload)
    with watch() as names:
        found = machine.listed()["c1"]
    assert "unknown-project" == found["state"]
    assert "project" not in found and "counts" not in found
    assert [] == transcripts(names)


def test_a_refusal_goes_before_an_unknown_project(machine):
    """A directory that is refused decides, also where another is unknown."""
    machine.config('[collect]\ndeny_paths = ["/srv/secret"]\n')
    machine.session("c1", workspace_roots=["nowhere"], cwd="/srv/secret")
    assert "denied" == machine.listed()["c1"]["state"]


@pytest.mark.parametrize("level", ["transcript", "folder", "ancestor"])
def test_a_link_anywhere_in_the_path_is_refused(machine, tmp_path, level):
    """A transcript behind a link, in a linked folder or below one is not read."""
    path = machine.session("c1")
    moved = {"transcript": path, "folder": path.parent, "ancestor": machine.home / ".cursor"}[level]
    target = tmp_path / "elsewhere"
    moved.rename(target)
    moved.symlink_to(target)
    found = machine.listed()["c1"]
    assert ("unreadable", "its path holds a symbolic link") == (found["state"], found["reason"])


def test_a_linked_home_keeps_sessions_from_being_read(machine, tmp_path):
    """A home that is reached through a link gives no session its content."""
    machine.session("c1")
    linked = tmp_path / "linked"
    linked.symlink_to(machine.home)
    machine.home = linked
    machine.environ["HOME"] = str(linked)
    machine.session("c2")
    listing = machine.sessions("list", "--harness", "cursor")
    assert [("c2", "unreadable")] == [
        (item["session_id"], item["state"]) for item in listing["sessions"]
    ]
    assert 1 == len(listing["stores"][0]["problems"])


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_regular_file_is_refused(machine, kind):
    """A folder or pipe in a transcript's place is unreadable, and not waited for."""
    path = machine.session("c1")
    path.unlink()
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    found = machine.listed()["c1"]
    assert ("unreadable", "not a regular file") == (found["state"], found["reason"])


def test_a_path_that_turns_into_a_link_meanwhile_is_not_followed(machine, tmp_path):
    """Between the gate and the open a link is noticed too: the open itself goes folder by folder."""
    path = machine.session("c1")
    reader = Cursor()
    [session] = reader.find(Home(str(machine.home)), Report("cursor"))
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises((UnreadableLog, OSError)):
        reader.open(session)


def test_an_unchanged_transcript_is_judged_anew(machine, tmp_path):
    """New roots, and links in the path of a transcript that stayed as it was, count at the next listing."""
    path = machine.session("c1")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert [str(machine.project)] == machine.list_later()[0]["cwds"]
    assert [str(machine.project)] == machine.listed()["c1"]["cwds"]
    machine.hook(conversation_id="c1", workspace_roots=["/srv/lib"], cwd="/srv/new")
    assert [str(machine.project), "/srv/lib", "/srv/new"] == machine.listed()["c1"]["cwds"]
    (machine.home / ".cursor").rename(tmp_path / "elsewhere")
    (machine.home / ".cursor").symlink_to(tmp_path / "elsewhere")
    assert "unreadable" == machine.listed()["c1"]["state"]


def test_a_transcript_that_is_gone_is_not_listed(machine):
    """Once the file is gone there is no session, and no problem either."""
    machine.session("c1").unlink()
    listing = machine.sessions("list", "--harness", "cursor")
    assert ([], None) == (listing["sessions"], listing["stores"][0].get("problems"))


def test_after_seven_days_without_a_hook_a_session_is_gone(machine):
    """An old file of the index counts no longer, a hook later removes it, and another makes the session listed again."""
    path = machine.session("c1")
    [file] = machine.index.glob("*.json")
    for age, listed in ((WEEK - 60, ["c1"]), (WEEK + 7200, [])):
        os.utime(file, (time.time() - age, time.time() - age))
        assert listed == list(machine.listed())
    yesterday = time.time() - 90_000
    os.utime(machine.index.parent / ".pruned", (yesterday, yesterday))
    machine.hook(conversation_id="c2", workspace_roots=["/srv/app"])
    assert not file.exists() and path.exists()
    machine.session("c1")
    assert ["c1"] == list(machine.listed())


@pytest.mark.parametrize(
    "record",
    [
        "{",
        "[]",
        '{"conversation_id":"../x","transcript_path":"/etc/x.jsonl"}',
        '{"conversation_id":7,"transcript_path":"/etc/passwd"}',
        '{"conversation_id":"passwd","transcript_path":"/etc/passwd.jsonl"}',
    ],
)
def test_a_damaged_or_planted_record_is_a_problem_of_the_store(machine, watch, record):
    """A record of the index is trusted no more than a payload; the others are still listed."""
    machine.session("c1")
    planted = machine.index / "planted.json"
    planted.write_text(record)
    with watch() as names:
        listing = machine.sessions("list", "--harness", "cursor")
    assert ["c1"] == [item["session_id"] for item in listing["sessions"]]
    [problem] = listing["stores"][0]["problems"]
    assert problem.startswith(f"{planted}: ")
    assert ["c1.jsonl"] == transcripts(names)


def test_digest_says_that_cursor_is_storage_only(machine, watch):
    """A named digest is refused in plain words with status 1, and opens no transcript."""
    machine.session("c1")
    with watch() as names:
        done = machine.call("sessions", "digest", "cursor:c1", "--json")
    [error] = done.json["errors"]
    assert (1, "") == (done.status, done.err)
    assert ("cursor:c1", "unsupported-format") == (error["ref"], error["state"])
    assert "storage only" in error["message"]
    assert [] == transcripts(names)
    done = machine.call("sessions", "digest", "cursor:c1")
    assert 1 == done.status and "storage only" in done.err


def test_a_mixed_run_passes_cursor_over(machine, watch):
    """`--unprocessed` digests the other harnesses' sessions, and opens no transcript and names no Cursor session."""
    pytest.importorskip("agentfeedback_claude_code", reason="needs the reader of Claude Code")
    machine.session("c1")
    other = machine.home / ".claude/projects/-srv-app/s1.jsonl"
    other.parent.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-11-03T10:00:00.000Z",
        "cwd": "/srv/app",
        "message": {"role": "user", "content": "fix it"},
    }
    other.write_text(json.dumps(record) + "\n")
    with watch() as names:
        run = machine.sessions("digest", "--unprocessed")
    assert ["claude-code:s1"] == [digest["ref"] for digest in run["sessions"]]
    assert ([], []) == (run["errors"], run["deferred"])
    assert {str(other)} == set(transcripts(names))
    assert "new" == machine.listed()["c1"]["state"]


def test_a_session_is_never_unprocessed_and_cannot_be_marked(machine, watch):
    """There is nothing to digest, so nothing waits for a digest: not after a change either."""
    path = machine.session("c1")
    assert [] == list(machine.listed("--unprocessed"))
    path.write_bytes(path.read_bytes() * 2)
    assert [] == list(machine.listed("--unprocessed"))
    assert "counts" not in machine.listed()["c1"]
    with watch() as names:
        done = machine.call("sessions", "mark", "cursor:c1", "--outcome", "nothing")
    assert (1, b"") == (done.status, done.out)
    assert "cursor sessions are storage only" in done.err
    assert [] == transcripts(names)


def test_a_storage_only_session_marks_no_other(machine):
    """All sessions are marked or none."""
    machine.session("c1")
    words = ("claude-code:s1", "cursor:c1", "--outcome", "nothing")
    done = machine.call("sessions", "mark", *words)
    assert 1 == done.status and "claude-code:s1 was not digested yet" in done.err


def test_status_says_storage_only(machine):
    """The store of Cursor is named as one that is never digested, the others are not."""
    machine.session("c1")
    shown = {each["harness"]: each for each in machine.sessions("status")["harnesses"]}
    assert shown["cursor"].pop("storage_only") is True
    assert {"new": 1} == shown["cursor"]["states"]
    assert not any("storage_only" in each for each in shown.values())
    shown = machine.call("sessions", "status").text
    assert f"cursor: store {machine.index} (present) storage only\n" in shown


def test_the_table_counts_nothing(machine):
    """Where nothing is counted the table has dashes."""
    machine.session("c1")
    shown = machine.call("sessions", "list", "--harness", "cursor").text
    assert ["-", "-", "-"] == shown.splitlines()[1].split()[-3:]


def test_since_goes_by_the_transcript(machine):
    """The modification time is the last entry's, for --since too."""
    path = machine.session("c1")
    os.utime(path, (time.time() - 7200, time.time() - 7200))
    assert [] == list(machine.listed("--since", "1h"))
    assert ["c1"] == list(machine.listed("--since", "3h"))


def test_another_home_has_an_index_of_its_own(machine, tmp_path):
    """With --home the index below that home is read, and XDG_CACHE_HOME is not asked."""
    machine.session("c1")
    environ = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "none")}
    done = machine.call(
        "sessions", "list", "--home", str(machine.home), "--harness", "cursor", "--json", **environ
    )
    assert 0 == done.status
    assert ["c1"] == [item["session_id"] for item in done.json["sessions"]]


def test_the_store_is_untouched(machine):
    """Listing changes nothing of a transcript, not even when it was read last, and writes nothing beside it."""
    path = machine.session("c1")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    status = path.stat()
    folders = {folder: os.listdir(folder) for folder in (path.parent, machine.index)}
    machine.listed()
    assert status == path.stat()
    assert folders == {folder: os.listdir(folder) for folder in folders}


class Bytes(Log):
    """A log that is in memory."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = content

    def blocks(self):
        yield self._content


def test_a_prefix_tells_what_the_whole_tells():
    """Cut at any line, the counts are those of the lines before the cut; read twice, they are equal."""
    lines = [b'{"a":1}\n', b"x\n", b"{}\n", b"[]\n", b'{"role":"user"}\n']
    place = Place(paths=("/srv/app",))
    for cut in range(len(lines) + 1):
        tallies = []
        for _ in range(2):
            tally = Tally()
            Cursor().read(Bytes(b"".join(lines[:cut])), place, tally)
            tallies.append((tally.counts().entries, tally.counts().unparsed, list(tally.cwds)))
        entries = sum(line.startswith(b"{") for line in lines[:cut])
        assert [(entries, cut - entries, ["/srv/app"])] * 2 == tallies
