"""Files dropped into the inbox: filed once, kept, or put aside with a reason."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentfeedback_submit.delivery.inbox as inbox_module
from agentfeedback.foundation.files import open_regular
from agentfeedback.foundation.json_text import parse
from agentfeedback_submissions.texts import trimmed
from agentfeedback_submit.delivery.inbox import NotUsable, adopted

OLD = time.time() - 3600


class Dropped:
    """A machine with an inbox."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.folder: Path = machine.database.parent / "inbox"
        self.folder.mkdir(parents=True, mode=0o700)

    def drop(self, name: str, data: bytes | dict[str, Any], at: float = OLD) -> Path:
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        os.utime(path, (at, at))
        return path

    def ingest(self, *words: str) -> dict[str, int]:
        """What a pass prints, without members that are 0."""
        result = self.machine.call("ingest", "--json", *words)
        assert result.status == 0, result.err
        return {name: value for name, value in json.loads(result.text).items() if value}

    def names(self, folder: str = "") -> list[str]:
        return sorted(path.name for path in (self.folder / folder).glob("*.*"))

    def record(self, id: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self.machine.call("show", str(id), "--json", "--local").text
        )
        return found


@pytest.fixture
def inbox(machine: Any) -> Dropped:
    return Dropped(machine)


def test_file_is_filed_once_and_kept(inbox: Dropped) -> None:
    """It moves to done under its id; origin and key are added; dropped again it is a duplicate."""
    data = {"kind": "note", "summary": "s", "context": {"tool": "cron", "origin": "elsewhere"}}
    inbox.drop("a.json", data)
    raw = json.dumps(data).encode()
    assert inbox.ingest() == {"ingested": 1}
    assert (inbox.names(), inbox.names("done")) == (["done"] * 0, ["1-a.json"])
    assert (inbox.folder / "done/1-a.json").read_bytes() == raw
    record = inbox.record(1)
    assert record["context"] == {"tool": "cron", "origin": "inbox"}
    assert record["key"] == "inbox-" + hashlib.sha256(b"a.json\x00" + raw).hexdigest()[:32]
    inbox.drop("a.json", data)
    assert inbox.ingest() == {"duplicates": 1}
    inbox.drop("b.json", data)
    assert inbox.ingest() == {"ingested": 1}
    assert inbox.ingest() == {}


def test_each_file_gets_its_due(inbox: Dropped, tmp_path: Path) -> None:
    """Whole objects are filed; broken ones wait a minute and are put aside; links, folders and hidden files are left alone."""
    outside = tmp_path / "outside.json"
    outside.write_text('{"kind":"note"}')
    inbox.drop("fresh.json", b'{"kind":"no', time.time())
    inbox.drop("old.json", b'{"kind":"no')
    inbox.drop("array.json", b"[1]")
    inbox.drop("empty.json", b"")
    inbox.drop("deep.json", b'{"a":' * 600 + b"1" + b"}" * 600)
    inbox.drop("kindless.json", b'{"summary":"x"}')
    inbox.drop(".hidden.json", b'{"kind":"note"}')
    inbox.drop("letter.txt", b'{"kind":"note"}')
    inbox.drop("big.json", b" " * ((10 << 20) + 1))
    (inbox.folder / "folder.json").mkdir()
    (inbox.folder / "link.json").symlink_to(outside)
    os.mkfifo(inbox.folder / "pipe.json")
    assert inbox.ingest() == {"ingested": 1, "rejected": 5, "pending": 1, "skipped": 3}
    assert inbox.names("done") == ["1-kindless.json"]
    rejected = ["array.json", "big.json", "deep.json", "empty.json", "old.json"]
    assert inbox.names("rejected") == sorted([*rejected, *(f"{name}.reason" for name in rejected)])
    reasons = {name: (inbox.folder / f"rejected/{name}.reason").read_text() for name in rejected}
    assert "larger than" in reasons["big.json"] and "not a JSON object" in reasons["old.json"]
    assert {"fresh.json", ".hidden.json", "letter.txt", "link.json"} <= set(
        os.listdir(inbox.folder)
    )
    assert outside.exists() and inbox.record(1)["kind"] == "unknown"


def test_taken_key_is_put_aside(inbox: Dropped) -> None:
    """Other content under a key names the record that has it; earlier files of the same name stay."""
    inbox.drop("a.json", {"kind": "note", "key": "k", "summary": "one"})
    inbox.ingest()
    for _ in range(2):
        inbox.drop("a.json", {"kind": "note", "key": "k", "summary": "two"})
        assert inbox.ingest() == {"rejected": 1}
    later, told, first, reason = inbox.names("rejected")
    assert re.fullmatch(r"a-[0-9]{19}\.json", later) and told == f"{later}.reason"
    assert (first, reason) == ("a.json", "a.json.reason")
    outcome, answer = (inbox.folder / "rejected" / reason).read_text().splitlines()
    shown = json.loads(outcome)
    assert (shown["outcome"], shown["reason"], shown["id"]) == ("mismatch", "mismatch", 1)
    assert json.loads(answer)["error"] == "replay_mismatch"


def test_what_is_refused_here_says_so_in_one_line(inbox: Dropped) -> None:
    """The outcome as submit prints it: too large, no object, a key that is not a text."""
    inbox.drop("big.json", b" " * ((10 << 20) + 1))
    inbox.drop("list.json", b"[]")
    inbox.drop("keyed.json", b'{"kind":"note","key":5}')
    inbox.drop("grown.json", b'{"a":"%s"}' % (b"x" * ((10 << 20) - 20)))
    assert inbox.ingest() == {"rejected": 4}
    for name, reason in (
        ("big", "body_too_large"),
        ("list", "invalid_body"),
        ("keyed", "invalid_body"),
        ("grown", "body_too_large"),
    ):
        (line,) = (inbox.folder / f"rejected/{name}.json.reason").read_text().splitlines()
        shown = json.loads(line)
        assert (shown["outcome"], shown["reason"]) == ("rejected", reason)


def test_byte_order_mark_and_future_times_hold_nothing_up(inbox: Dropped) -> None:
    """A mark at the start is dropped; a file from the future is as old as any."""
    inbox.drop("a.json", b'\xef\xbb\xbf{"kind":"note","key":"k"}')
    inbox.drop("b.json", b"{", time.time() + 9_000)
    assert inbox.ingest() == {"ingested": 1, "rejected": 1}


def test_no_link_is_followed(inbox: Dropped, tmp_path: Path) -> None:
    """A link in the place of one of the folders stops the pass; one among the files is named and stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    kept = inbox.drop("a.json", {"kind": "note"})
    for name in ("done", "rejected"):
        (inbox.folder / name).symlink_to(outside)
        refused = inbox.machine.call("ingest", "--json")
        assert refused.status == 1 and f"{inbox.folder}/{name}: not a directory" in refused.err
        (inbox.folder / name).unlink()
    inbox.folder.rename(outside / "inbox")
    inbox.folder.symlink_to(outside / "inbox")
    refused = inbox.machine.call("ingest", "--json")
    assert refused.status == 1 and f"{inbox.folder}: not a directory" in refused.err
    inbox.folder.unlink()
    (outside / "inbox").rename(inbox.folder)
    assert kept.exists() and list(outside.iterdir()) == []
    (inbox.folder / "link.json").symlink_to(kept)
    told = inbox.machine.call("ingest")
    assert told.err == (
        f"agentfeedback ingest: {inbox.folder}/link.json is not a regular file and was left there.\n"
    )
    assert (inbox.folder / "link.json").is_symlink()


def test_file_that_is_replaced_while_it_is_read_waits(
    inbox: Dropped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the file that was looked at is opened, and what took its place is the next pass's."""
    path = inbox.drop("a.json", {"kind": "note", "summary": "first"})

    def replaced(name: str, *more: Any, **named: Any) -> int:
        if os.fspath(name) == str(path):
            new = path.with_name("new")
            new.write_text('{"kind":"note","summary":"other"}')
            new.rename(path)
        return open_regular(name, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(inbox_module, "open_regular", replaced)
        assert inbox.ingest() == {"pending": 1}
    assert inbox.ingest() == {"ingested": 1} and inbox.record(1)["summary"] == "other"


def test_names_of_any_length_are_put_aside(inbox: Dropped) -> None:
    """A name that leaves no room for an id or an ending is cut, and holds up no other file."""
    for letter in ("n", "\u00e9"):
        longest = letter * (249 // len(letter.encode()))
        for end, data in (("a", b"no"), ("b", b"no"), ("c", {"kind": "note", "summary": letter})):
            inbox.drop(f"{longest}{end}.json", data)
    inbox.drop("z.json", {"kind": "note"})
    assert inbox.ingest() == {"ingested": 3, "rejected": 4}
    assert inbox.names() == []
    assert len(inbox.names("done")) == 3 and len(inbox.names("rejected")) == 8
    assert all(name.endswith((".json", ".json.reason")) for name in inbox.names("rejected"))


def test_database_that_fails_leaves_the_files(inbox: Dropped) -> None:
    """They wait for the next pass."""
    inbox.drop("a.json", {"kind": "note"})
    inbox.drop("b.json", {"kind": "note", "summary": "b"})
    inbox.machine.database.write_text("a letter")
    assert inbox.ingest() == {"pending": 2}
    inbox.machine.database.unlink()
    assert inbox.ingest() == {"ingested": 2}


def test_every_command_of_local_mode_files_what_lies_there(inbox: Dropped) -> None:
    """Silently, before its own work; a flush does so too."""
    for words in (("list",), ("stats",), ("submit", "note", "--key", "own"), ("flush",)):
        inbox.drop("a.json", {"kind": "note", "summary": str(words)})
        result = inbox.machine.call(*words)
        assert (result.status, result.err) == (0, "")
        assert inbox.names() == [] and "1-a.json" in inbox.names("done")
    inbox.drop("a.json", {"kind": "note"})
    for words in (("doctor",), ("config",), ("sessions", "list"), ("submit", "note", "--dry-run")):
        assert inbox.machine.call(*words).status == 0
        assert inbox.names() == ["a.json"]


def test_switched_off_machine_files_nothing(inbox: Dropped) -> None:
    """Where everything is switched off the files stay."""
    inbox.drop("a.json", {"kind": "note"})
    inbox.machine.config("[collect]\ndisabled = true\n")
    told = inbox.machine.call("ingest")
    assert (told.status, told.outcome) == (0, {"outcome": "disabled", "reason": "disabled"})
    assert inbox.machine.call("list").status == 0
    assert inbox.names() == ["a.json"]


def test_remote_mode_sends_them(inbox: Dropped, server: Any) -> None:
    """With a server the files go there; undelivered they stay where they are, refused they are put aside without the key."""
    environ = inbox.machine.environ
    environ |= {
        "AGENT_FEEDBACK_API_KEY": server.key,
        "AGENT_FEEDBACK_URL": f"{server.url}/status-401",
    }

    def through(answer: str) -> dict[str, int]:
        environ["AGENT_FEEDBACK_URL"] = f"{server.url}/{answer}".rstrip("/")
        return inbox.ingest()

    inbox.drop("a.json", {"kind": "note", "summary": "a"})
    inbox.drop("b.json", {"kind": "note", "summary": "b"})
    assert inbox.ingest() == {"pending": 2} and len(server.requests) == 1
    assert through("status-500") == {"pending": 2}
    assert len(server.requests) == 3
    assert through("") == {"ingested": 2}
    assert server.service.list([]).body["total"] == 2 and not inbox.machine.database.exists()
    inbox.drop("c.json", {"kind": "note"})
    assert through("echo") == {"rejected": 1}
    reason = (inbox.folder / "rejected/c.json.reason").read_text()
    assert "REDACTED" in reason and server.key not in reason and "\x1b" not in reason


def test_passes_at_once_file_each_file_once(inbox: Dropped) -> None:
    """Of several processes each file is filed by one; the others wait or leave it."""
    for number in range(10):
        inbox.drop(f"f{number}.json", {"kind": "note", "summary": str(number)})
    running = [
        subprocess.Popen(
            [sys.executable, "-B", "-m", "agentfeedback", "ingest", "--json"],
            env={**inbox.machine.environ, "PATH": os.environ["PATH"]},
            stdout=-1,
        )
        for _ in range(3)
    ]
    total = 0
    for process in running:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        found = json.loads(out)
        total += found["ingested"]
        assert found["duplicates"] == found["rejected"] == 0
    assert total == 10 and inbox.names() == [] and len(inbox.names("done")) == 10


def test_text_for_a_person(inbox: Dropped) -> None:
    """Without --json one line of numbers."""
    inbox.drop("a.json", {"kind": "note"})
    assert (
        inbox.machine.call("ingest").text
        == "1 ingested, 0 duplicates, 0 rejected, 0 pending, 0 skipped\n"
    )
    assert inbox.machine.call("ingest", "x").status == 2


json_members = st.dictionaries(
    st.text(max_size=8), st.none() | st.integers() | st.text(max_size=8), max_size=4
)


@given(
    json_members,
    st.none() | st.text(max_size=5) | json_members | st.integers(),
    st.none() | st.text(max_size=5),
)
def test_adopted_body_keeps_all_else(members: dict[str, Any], context: Any, key: Any) -> None:
    """Only origin and, where there is none, key are new; a context that is not an object moves aside, but not over another."""
    given_members = {
        name: value for name, value in members.items() if name not in ("key", "context")
    }
    data = json.dumps(given_members | {"context": context, "key": key}).encode()
    body = adopted("n.json", data)
    assert body is not None
    found = json.loads(body)
    assert {name: found[name] for name in given_members} == given_members
    if context is None or isinstance(context, dict):
        assert found["context"] == {**(context or {}), "origin": "inbox"}
    elif "context_raw" in given_members:
        assert found["context"] == context
    else:
        assert (found["context"], found["context_raw"]) == ({"origin": "inbox"}, context)
    assert found["key"] == key if key and trimmed(key) else found["key"].startswith("inbox-")
    assert adopted("n.json", data) == body


@given(st.binary(max_size=60))
def test_anything_may_be_dropped(data: bytes) -> None:
    """What is not an object is none, and a key that is not a text the only other fault."""
    try:
        body = adopted("n.json", data)
    except NotUsable:
        return
    assert body is None or isinstance(parse(body).value, dict)


def test_numbers_and_bytes_pass_through() -> None:
    """Spelling of numbers, white space and broken Unicode are the file's own."""
    body = adopted("n.json", b'{"x": 1.50e+3, "y": "\xff", "key":"k", "context":{"a":"b"}}')
    assert body == b'{"x":1.50e+3,"y":"\xff","key":"k","context":{"a":"b","origin":"inbox"}}'


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.touch()], ids=["fifo", "file"])
def test_what_stands_where_a_folder_belongs_is_named(
    machine: Any, make: Callable[[Path], None]
) -> None:
    """An inbox that is not a folder is not an empty one; nor is a file lost that cannot be moved to done."""
    folder = machine.database.parent / "inbox"
    folder.parent.mkdir(parents=True, exist_ok=True)
    make(folder)
    refused = machine.call("ingest", "--json")
    assert refused.status == 1 and f": {folder}: not a directory;" in refused.err
    folder.unlink()
    inbox = Dropped(machine)
    kept = inbox.drop("a.json", {"kind": "note", "summary": "s"})
    make(folder / "done")
    refused = machine.call("ingest", "--json")
    assert refused.status == 1 and f": {folder}/done: not a directory;" in refused.err
    assert kept.exists()
    (folder / "done").unlink()
    assert inbox.ingest() == {"ingested": 1}
