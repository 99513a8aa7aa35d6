"""Reports on their way to a server: delivered, kept for later, sent again, refused; through the commands."""

from __future__ import annotations

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from agentfeedback.plugins.host import Host
from agentfeedback_submit.context import SubmitContext
from agentfeedback_submit.delivery.destination import Remote
from agentfeedback_submit.delivery.flush import FlushRun
from agentfeedback_submit.delivery.spool import Spool
from agentfeedback_submit.delivery.spool_entry import SpoolEntry, read, written
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.remote.client import Client
from agentfeedback_submit.remote.server import ServerSettings

NOTE = ("submit", "note", "--summary", "s", "--key", "k")


class Wired:
    """A machine with a server configured."""

    def __init__(self, machine: Any, server: Any) -> None:
        self.machine = machine
        self.server = server
        self.data = machine.database.parent
        machine.environ["AGENT_FEEDBACK_API_KEY"] = server.key
        self.to("")

    def to(self, answer: str) -> None:
        """Have the server answer like this."""
        self.machine.environ["AGENT_FEEDBACK_URL"] = f"{self.server.url}/{answer}".rstrip("/")

    def call(self, *words: str, **more: Any) -> Any:
        return self.machine.call(*words, **more)

    def flush(self, *words: str) -> dict[str, int]:
        """What a flush that did something prints; members that are 0 are left out."""
        result = self.call("flush", *words)
        assert result.status == 0, result.err
        return {name: value for name, value in json.loads(result.text).items() if value}

    def files(self, folder: str) -> list[Path]:
        return sorted(self.data.glob(f"{folder}/*"))

    def entries(self, folder: str = "spool") -> list[SpoolEntry]:
        return [read(path.read_bytes()) for path in self.files(folder)]

    def due(self) -> None:
        """Let no entry wait any longer, and each be for the server as it answers now."""
        url = self.machine.environ["AGENT_FEEDBACK_URL"]
        self.change(not_before=0, destination=url)

    def change(self, **members: Any) -> None:
        for path in self.files("spool"):
            path.write_bytes(written(evolve(read(path.read_bytes()), **members)))

    def log(self) -> list[dict[str, Any]]:
        path = self.machine.home / ".cache/agentfeedback/log/client.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert all(line.pop("ts").endswith("Z") for line in lines)
        return lines

    @property
    def stored(self) -> int:
        total: int = self.server.service.list([]).body["total"]
        return total


@pytest.fixture
def wired(machine: Any, server: Any) -> Iterator[Wired]:
    found = Wired(machine, server)
    yield found
    for folder in (machine.home,):
        for path in folder.rglob("*"):
            if path.is_file():
                assert server.key.encode() not in path.read_bytes(), path


def test_delivered_report_leaves_nothing_but_a_line_of_the_log(wired: Wired) -> None:
    """The outcome has the server's id and uid; neither database nor spool is made with a report in it."""
    for word, status in (("submitted", 201), ("duplicate", 200)):
        result = wired.call(*NOTE)
        record = wired.server.service.get("1").body
        assert (result.status, result.err) == (0, "")
        outcome = result.outcome
        assert (outcome["outcome"], outcome["id"], outcome["uid"]) == (word, 1, record["uid"])
        assert (outcome["kind"], outcome["key"], len(outcome["request_id"])) == ("note", "k", 32), (
            status
        )
    assert wired.files("spool") == wired.files("rejected") == []
    assert not wired.machine.database.exists()
    first, second = wired.log()
    assert (first["outcome"], second["outcome"]) == ("submitted", "duplicate")
    assert first == {
        "outcome": "submitted",
        "kind": "note",
        "key": "k",
        "id": 1,
        "request_id": first["request_id"],
    }


@pytest.mark.parametrize(
    ("answer", "reason", "waits"),
    [
        ("status-503", "server_503", 30),
        ("status-429", "rate_limited", 30),
        ("no-json", "malformed_response", 30),
        ("closed", "network", 30),
        ("later-120", "server_503", 120),
        ("later-date", "server_503", 900),
        ("later-days", "server_503", 86_400),
        ("later-now", "server_503", 30),
        ("later-odd", "rate_limited", 30),
        ("status-401", "unauthorized", 0),
        ("status-404", "wrong_url", 0),
        ("moved-308", "wrong_url", 0),
    ],
)
def test_undelivered_report_is_kept_and_sent_later(
    wired: Wired, answer: str, reason: str, waits: int
) -> None:
    """The outcome is spooled and no failure; the entry says why and until when, and the next flush in time delivers it."""
    wired.to(answer)
    result = wired.call(*NOTE)
    assert (result.status, result.outcome["outcome"], result.outcome["reason"]) == (
        0,
        "spooled",
        reason,
    )
    (entry,) = wired.entries()
    assert (entry.body.kind, entry.body.key) == ("note", "k")
    assert (entry.attempts, entry.last_error) == (1, reason)
    assert entry.destination == wired.machine.environ["AGENT_FEEDBACK_URL"]
    waited = (entry.not_before - entry.created_at) / 1e9 if entry.not_before else 0
    assert waits - 2 <= waited <= waits + 2
    before = len(wired.server.requests)
    if waits:
        assert wired.flush() == {"pending": 1, "deferred": 1}
        assert len(wired.server.requests) == before
    else:
        assert wired.flush() == {"pending": 1, "stopped": reason}
        assert len(wired.server.requests) == before + 1
    wired.to("")
    wired.due()
    assert wired.flush() == {"flushed": 1}
    assert wired.files("spool") == [] and wired.stored == 1
    outcomes = [(line["outcome"], line.get("reason")) for line in wired.log()]
    assert outcomes[0] == ("spooled", reason) and outcomes[-1] == ("flushed", None)


def test_refused_report_is_kept_apart(wired: Wired) -> None:
    """It is in rejected/ with the server's answer, in which neither key nor secret nor escape sequence is shown."""
    wired.to("echo")
    result = wired.call(*NOTE)
    assert (result.status, result.outcome["outcome"], result.outcome["reason"]) == (
        1,
        "rejected",
        "rejected",
    )
    assert wired.files("spool") == []
    (path,) = wired.files("rejected")
    told = path.read_text()
    assert (
        '"status":422' in told
        and "[REDACTED:api_key]" in told
        and "REDACTED:aws_access_key" in told
    )
    for text in (result.text, result.err, told):
        assert wired.server.key not in text and "IOSFODNN7" not in text and "\x1b" not in text
    assert "\\x1b[31m" in result.err


def test_report_under_a_taken_key_is_kept_apart(wired: Wired) -> None:
    """A mismatch names the record that has the key; the report is in rejected/, for whoever answered so need not be right."""
    wired.call(*NOTE)
    result = wired.call("submit", "note", "--summary", "other", "--key", "k")
    assert (result.status, result.outcome["outcome"], result.outcome["id"]) == (1, "mismatch", 1)
    assert result.outcome["reason"] == "mismatch" and wired.files("spool") == []
    (kept,) = wired.files("rejected")
    assert b'"summary":"other"' in kept.read_bytes() and b"replay_mismatch" in kept.read_bytes()


def test_conflict_from_anybody_keeps_the_report(wired: Wired) -> None:
    """A hotel's portal that answers 409 empties no spool: each body stays in rejected/ beside what was said."""
    wired.to("status-503")
    for number in range(3):
        wired.call("submit", "note", "--summary", f"s{number}", "--key", f"k{number}")
    wired.to("status-409")
    wired.due()
    bodies = {entry.body.data for entry in wired.entries()}
    assert wired.flush() == {"mismatched": 3}
    assert {entry.body.data for entry in wired.entries("rejected")} == bodies
    assert all(b'"status":409' in path.read_bytes() for path in wired.files("rejected"))


def test_clock_that_was_ahead_loses_and_holds_back_nothing(wired: Wired) -> None:
    """What it spooled is due when it is put right, and what it made too old is taken back."""
    wired.to("status-503")
    for key in ("k1", "k2"):
        wired.call("submit", "friction", "--summary", key, "--key", key)
    wired.to("")
    wired.due()
    day = 86_400 * 10**9
    ahead = time.time_ns() + 9 * day
    wired.change(not_before=ahead)
    one, other = wired.files("spool")
    run = SubmitContext(wired.machine.environ, Host(wired.machine.environ), "")
    spool = Spool(str(wired.data), now=lambda: ahead)
    destination = Remote(Client(ServerSettings(wired.server.url, wired.server.key)))
    found = FlushRun(spool, destination, run.tell).run()
    assert found.expired == 2 and wired.files("spool") == []
    names = [path.name for path in wired.files("rejected")]
    assert names == [one.name, other.name]
    for path in wired.files("rejected"):
        os.utime(path, ns=(ahead, ahead))
    entry = wired.entries("rejected")[0]
    kept = [other.name.replace("af1-", f"af1-{number}") for number in (0, 1)]
    refused = written(evolve(entry, last_error="server_503"))  # refused by a server, not by a clock
    for name, content in zip(kept, (b"{}", refused), strict=True):
        (wired.data / "rejected" / name).write_bytes(content)
        os.utime(wired.data / "rejected" / name, ns=(ahead, ahead))
    assert wired.flush() == {"flushed": 2} and wired.stored == 2
    assert [path.name for path in wired.files("rejected")] == kept


def test_wait_beyond_the_longest_is_none(wired: Wired) -> None:
    """A day is the longest wait; an entry that would wait longer has its time from a clock that was ahead."""
    wired.to("status-503")
    for key in ("k1", "k2"):
        wired.call("submit", "note", "--summary", key, "--key", key)
    wired.to("")
    wired.due()
    waits, is_due = wired.files("spool")
    for path, hours in ((waits, 23), (is_due, 25)):
        entry = evolve(read(path.read_bytes()), not_before=time.time_ns() + hours * 3600 * 10**9)
        path.write_bytes(written(entry))
    assert wired.flush() == {"flushed": 1, "pending": 1, "deferred": 1}
    assert wired.files("spool") == [waits]


def test_flush_counts_every_end(wired: Wired) -> None:
    """New, repeated, mismatched, refused, expired, unreadable and not yet due are told apart."""
    wired.to("status-503")
    for number in range(7):
        assert (
            wired.call("submit", "note", "--summary", f"s{number}", "--key", f"k{number}").status
            == 0
        )
    wired.to("")
    wired.due()
    paths = wired.files("spool")
    entries = wired.entries()
    wired.server.service.create(entries[1].body.data)
    wired.server.service.create(entries[2].body.data.replace(b'"s2"', b'"t"'))
    deep = Body(b'{"a":' * 511 + b"[[{}]]" + b"}" * 511, "note", "k")
    paths[3].write_bytes(written(evolve(entries[3], body=deep)))
    paths[4].write_bytes(written(evolve(entries[4], created_at=10**18)))
    paths[5].write_bytes(paths[5].read_bytes()[:-9])
    paths[6].write_bytes(written(evolve(entries[6], not_before=time.time_ns() + 3600 * 10**9)))
    spoilt = paths[3].read_bytes()
    assert wired.flush() == {
        "flushed": 1, "duplicates": 1, "mismatched": 1, "rejected": 2, "expired": 1, "pending": 1, "deferred": 1,
    }  # fmt: skip
    assert wired.files("spool") == [paths[6]]
    assert [path.name for path in wired.files("rejected")] == [path.name for path in paths[2:6]]
    assert wired.files("rejected")[1].read_bytes() == spoilt
    words = [(line["outcome"], line.get("reason")) for line in wired.log()[7:]]
    assert words == [
        ("flushed", None), ("flushed", "duplicate"), ("mismatch", "mismatch"), ("rejected", "unreadable_entry"),
        ("expired", "server_503"), ("rejected", "unreadable_entry"),
    ]  # fmt: skip
    assert wired.flush() == {"pending": 1, "deferred": 1}


def test_pass_goes_on_after_a_failing_server_and_ends_without_one(wired: Wired) -> None:
    """A failure of one report does not hold up the others; a key that is refused does."""
    wired.to("status-503")
    for number in range(3):
        wired.call("submit", "note", "--key", f"k{number}")
    wired.due()
    before = len(wired.server.requests)
    assert wired.flush() == {"pending": 3}
    assert len(wired.server.requests) == before + 3
    assert [entry.attempts for entry in wired.entries()] == [2, 2, 2]
    assert all(
        abs(entry.not_before - entry.created_at - 60 * 10**9) < 20 * 10**9
        for entry in wired.entries()
    )
    wired.to("status-401")
    wired.due()
    assert wired.flush() == {"pending": 3, "stopped": "unauthorized"}
    assert len(wired.server.requests) == before + 4


def test_reports_for_another_server_stay_and_their_command_is_told(wired: Wired) -> None:
    """They are not sent to the one that is configured now, nor filed here."""
    wired.to("status-503")
    wired.call(*NOTE)
    wired.due()
    other = wired.machine.environ["AGENT_FEEDBACK_URL"]
    wired.to("")
    result = wired.call("flush")
    assert json.loads(result.text)["other_destination"] == 1
    assert f"send with agentfeedback flush --server {other}." in result.err
    wired.machine.environ["AGENT_FEEDBACK_URL"] = ""
    assert wired.call("list").status == 0
    assert len(wired.entries()) == 1 and wired.stored == 0
    assert wired.flush("--server", f"{wired.server.url}/repeated") == {"other_destination": 1}
    wired.change(destination=wired.server.url)
    assert wired.flush("--server", f"{wired.server.url}/") == {"flushed": 1}


def test_friction_of_a_session_leaves_its_marker(wired: Wired) -> None:
    """Delivered or kept for later, the session is known to have filed; other kinds leave none."""
    folder = wired.machine.home / ".cache/agentfeedback/filed"
    context = ("--context", "session_id=abc")
    wired.call("submit", "note", "--summary", "s", *context)
    assert not folder.exists()
    wired.to("status-503")
    wired.call("submit", "friction", "--summary", "s", *context)
    (marker,) = folder.iterdir()
    assert (marker.stat().st_size, marker.stat().st_mode & 0o777) == (0, 0o600)
    marker.unlink()
    wired.to("")
    wired.due()
    wired.flush()
    assert list(folder.iterdir()) == [marker]
    assert wired.log()[-1]["session_id"] == "abc"


def test_switched_off_directory_sends_nothing(wired: Wired) -> None:
    """The policy that refuses a submission also holds back what was kept before."""
    wired.to("status-503")
    wired.call(*NOTE)
    wired.to("")
    wired.due()
    wired.machine.config("[collect]\ndisabled = true\n")
    before = len(wired.server.requests)
    told = wired.call("flush")
    assert (told.status, told.outcome) == (0, {"outcome": "disabled", "reason": "disabled"})
    assert wired.log()[-1] == {"outcome": "disabled", "reason": "disabled"}
    assert wired.call(*NOTE).outcome["outcome"] == "disabled"
    wired.call("flush", "--hook")
    assert len(wired.server.requests) == before and len(wired.entries()) == 1


def test_setup_that_cannot_send(wired: Wired) -> None:
    """Both modes at once are a wrong command line; no key, or a URL that is none, are errors that give the report back."""
    for words in (NOTE, ("flush",), ("ingest",), ("list",)):
        assert wired.call(*words, "--local", "--server", "https://x.example").status == 2
    assert wired.call(*NOTE, "--server", "x.example").status == 2
    for environ in (
        {"AGENT_FEEDBACK_API_KEY": ""},
        {"AGENT_FEEDBACK_URL": "https://u:hunter2@x.example"},
    ):
        result = wired.call(*NOTE, **environ)
        assert (result.status, result.outcome["reason"]) == (1, "client_setup")
        assert result.err.startswith('{"kind":"note"') and "hunter2" not in result.err + result.text
        assert wired.call("flush", **environ).status == 1
        silent = wired.call("flush", "--hook", **environ)
        assert (silent.status, silent.text, silent.err) == (0, "", "")
    assert wired.server.requests == [] and wired.files("spool") == []


def test_flush_of_a_hook_says_nothing_and_sends(wired: Wired) -> None:
    """Silent, status 0, also where the server hangs or the configuration is broken."""
    wired.to("status-503")
    wired.call(*NOTE)
    wired.to("")
    wired.due()
    for _ in range(2):
        result = wired.call("flush", "--hook")
        assert (result.status, result.text, result.err) == (0, "", "")
    assert wired.stored == 1 and wired.files("spool") == []
    wired.machine.config("[collect\n")
    result = wired.call("flush", "--hook")
    assert (result.status, result.text, result.err) == (0, "", "")


def test_hook_is_over_in_time(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time nothing more is sent, and a hanging server is not waited for."""
    from agentfeedback_submit.cli import flush as delivery

    monkeypatch.setattr(delivery, "_SENDING", 0.3)
    monkeypatch.setattr(delivery, "_LAST", 0.6)
    wired.to("status-503")
    for number in range(3):
        wired.call("submit", "note", "--key", f"k{number}")
    wired.to("slow")
    wired.due()
    before, started = len(wired.server.requests), time.monotonic()
    assert wired.call("flush", "--hook").status == 0
    assert time.monotonic() - started < 3
    assert len(wired.server.requests) == before + 1 and len(wired.entries()) == 3
    monkeypatch.setattr(delivery, "_SENDING", -1.0)
    wired.due()
    wired.call("flush", "--hook")
    assert len(wired.server.requests) == before + 1 and len(wired.entries()) == 3


def program(wired: Wired, *words: str, full: bool = False) -> subprocess.Popen[bytes]:
    """The program in a process of its own; `full` lets it write no byte into any file."""
    limited = ["sh", "-c", 'ulimit -f 0 && exec "$@"', "sh"] if full else []
    return subprocess.Popen(
        [*limited, sys.executable, "-B", "-m", "agentfeedback", *words],
        env={**wired.machine.environ, "PATH": os.environ["PATH"]},
        cwd=wired.machine.directory,
        stdout=-1,
        stderr=-1,
    )


def test_flushes_at_once_send_each_report_once(wired: Wired) -> None:
    """Of several processes each entry is sent by one: none is lost, none is sent twice."""
    wired.to("status-503")
    for number in range(12):
        wired.call("submit", "note", "--key", f"k{number}")
    wired.to("")
    wired.due()
    before = len(wired.server.requests)
    running = [program(wired, "flush") for _ in range(4)]
    total = 0
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        total += json.loads(out)["flushed"]
    assert total == wired.stored == len(wired.server.requests) - before == 12
    assert wired.files("spool") == []


def test_full_disk(wired: Wired) -> None:
    """A report that cannot be kept is still delivered; undelivered it is given back; what is kept already stays."""
    wired.to("status-503")
    wired.call(*NOTE)
    (path,) = wired.files("spool")
    before = path.read_bytes()
    words = ("submit", "note", "--summary", "precious", "--key", "k2")
    out, err = program(wired, *words, full=True).communicate(timeout=60)
    outcome = json.loads(out)
    assert (outcome["outcome"], outcome["reason"]) == ("error", "spool_unwritable")
    assert b'"summary":"precious"' in err
    wired.to("")
    out, err = program(wired, *words, full=True).communicate(timeout=60)
    assert json.loads(out)["outcome"] == "submitted" and wired.stored == 1
    wired.to("status-500")
    wired.due()
    process = program(wired, "flush", full=True)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert [each.read_bytes() for each in wired.files("spool")] == [path.read_bytes()]
    assert read(before).body.data == wired.entries()[0].body.data
    wired.to("")
    wired.due()
    process = program(wired, "flush", full=True)
    process.communicate(timeout=60)
    assert process.returncode == 0 and wired.stored == 2 and wired.files("spool") == []


def test_place_that_is_no_folder(wired: Wired) -> None:
    """Where the spool cannot be, a report is delivered or given back; a refused one is given back too."""
    wired.data.mkdir(parents=True)
    (wired.data / "spool").write_text("")
    (wired.data / "rejected").write_text("")
    assert wired.call(*NOTE).outcome["outcome"] == "submitted"
    wired.to("status-503")
    result = wired.call(*NOTE)
    assert (result.status, result.outcome["reason"]) == (1, "spool_unwritable")
    assert '"summary":"s"' in result.err
    wired.to("status-400")
    result = wired.call(*NOTE)
    assert (result.status, result.outcome["reason"]) == (1, "rejected_unwritable")
    assert '"summary":"s"' in result.err


def test_refused_report_without_a_place_waits(wired: Wired) -> None:
    """It stays in the spool until it can be kept apart, and other reports go on."""
    wired.to("status-503")
    wired.call(*NOTE)
    wired.to("status-400")
    wired.due()
    (wired.data / "rejected").write_text("")
    assert wired.flush() == {"pending": 1}
    (entry,) = wired.entries()
    assert entry.last_error == "rejected_unwritable" and entry.not_before > entry.created_at
    (wired.data / "rejected").unlink()
    wired.due()
    assert wired.flush() == {"rejected": 1}


def read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the system refuse every change below a folder, as it does on a read-only file system."""

    def refusing(plain: Any) -> Any:
        def call(path: Any, *rest: Any, **more: Any) -> Any:
            writes = plain.__name__ != "open" or rest[0] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR)
            if writes and str(path).startswith(str(folder)):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
            return plain(path, *rest, **more)

        return call

    for name in ("open", "rename", "replace", "unlink", "mkdir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))


def test_read_only_data_folder_loses_nothing(wired: Wired) -> None:
    """A flush is one error and leaves the entries as they were; a report is delivered, or given back."""
    wired.to("status-503")
    wired.call(*NOTE)
    wired.due()
    before = [(path.name, path.read_bytes()) for path in wired.files("spool")]
    with pytest.MonkeyPatch.context() as patch:
        read_only(patch, wired.data)
        result = wired.call("submit", "note", "--summary", "precious")
        assert (result.status, result.outcome["reason"]) == (1, "spool_unwritable")
        assert '"summary":"precious"' in result.err
        wired.to("")
        assert wired.call("submit", "note", "--key", "other").outcome["outcome"] == "submitted"
        wired.to("status-503")
        result = wired.call("flush")
        assert (result.status, result.text) == (1, "") and "read-only file system" in result.err
        assert wired.call("flush", "--hook").status == 0
    wired.to("")
    assert [(path.name, path.read_bytes()) for path in wired.files("spool")] == before
    wired.due()
    assert wired.flush() == {"flushed": 1} and wired.stored == 2


def test_log_that_cannot_be_written_stops_nothing(wired: Wired) -> None:
    """A warning is all that comes of it."""
    cache = wired.machine.home / ".cache/agentfeedback"
    cache.mkdir(parents=True)
    (cache / "log").write_text("")
    result = wired.call(*NOTE)
    assert (result.status, result.outcome["outcome"]) == (0, "submitted")
    assert "warning: the outcome log cannot be written" in result.err


def test_log_is_moved_aside_past_its_limit(wired: Wired) -> None:
    """Past 10 MiB the lines go to `.1`, over what was there, and the log begins again."""
    wired.call(*NOTE)
    path = wired.machine.home / ".cache/agentfeedback/log/client.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    old = path.with_name("client.jsonl.1")
    old.write_bytes(b"older\n")
    path.write_bytes(b" " * (10 << 20))
    wired.call(*NOTE)
    assert path.stat().st_size > 10 << 20 and old.read_bytes() == b"older\n"
    wired.call(*NOTE)
    assert old.stat().st_size > 10 << 20 and len(wired.log()) == 1


def test_start_up_pass_of_local_mode(wired: Wired) -> None:
    """A report for this machine's own database that could not be stored is, by the next command, silently; flush and remote commands leave it or do it themselves."""
    wired.machine.environ["AGENT_FEEDBACK_URL"] = ""
    wired.data.mkdir(parents=True)
    wired.machine.database.write_text("a letter")
    result = wired.call(*NOTE)
    assert (result.status, result.outcome["outcome"], result.outcome["reason"]) == (
        0,
        "spooled",
        "database_unusable",
    )
    assert result.err == (
        "agentfeedback submit: kept for later (the database cannot be used); agentfeedback flush sends it.\n"
    )
    (entry,) = wired.entries()
    assert (entry.destination, entry.attempts) == ("local", 1)
    wired.machine.database.unlink()
    wired.to("")
    wired.change(not_before=0)
    assert wired.call("submit", "note", "--key", "other").status == 0
    assert len(wired.entries()) == 1
    wired.machine.environ["AGENT_FEEDBACK_URL"] = ""
    wired.change(not_before=time.time_ns() + 3600 * 10**9)
    assert wired.call("list").text.count("note") == 0
    wired.change(not_before=0)
    result = wired.call("list")
    assert result.text.count("note") == 1 and result.err == ""
    assert wired.files("spool") == []


def test_start_up_pass_that_fails_keeps_no_command_from_its_work(wired: Wired) -> None:
    """A spool that cannot be read is one line of the log."""
    wired.machine.environ["AGENT_FEEDBACK_URL"] = ""
    (wired.data / "inbox/a.json").parent.mkdir(parents=True)
    (wired.data / "inbox/a.json").write_text('{"kind":"note"}')
    (wired.data / "inbox/done").write_text("")
    result = wired.call("list", "--json")
    assert (result.status, result.err) == (0, "")
    assert wired.log()[-1]["reason"].startswith("startup_")


def test_submit_killed_while_it_waits_for_the_server_loses_nothing(wired: Wired) -> None:
    """What hangs in the middle and is killed has its report in the spool, for whoever comes when the claim is stale."""
    wired.to("slow")
    process = program(wired, *NOTE)
    for _ in range(500):
        if wired.server.requests:
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert out == b"" and len(wired.server.requests) == 1
    (path,) = wired.files("spool")
    name, _, claimed = path.name.partition(".inflight-")
    wired.due()
    wired.to("")
    wired.due()
    assert wired.flush() == {"pending": 1} and wired.stored == 0
    path.rename(path.with_name(f"{name}.inflight-{int(claimed) - 61 * 10**9}"))
    assert wired.flush() == {"flushed": 1} and wired.stored == 1


def test_database_of_a_newer_program_is_left_alone(wired: Wired) -> None:
    """No wait would help: the report is given back, the log says why, and what was kept before stays."""
    wired.machine.environ["AGENT_FEEDBACK_URL"] = ""
    wired.call(*NOTE)
    with closing(sqlite3.connect(wired.machine.database)) as connection:
        connection.execute("UPDATE schema_version SET version = 99")
        connection.commit()
    result = wired.call("submit", "note", "--summary", "precious")
    assert (result.status, result.outcome["outcome"], result.outcome["reason"]) == (
        1,
        "error",
        "schema_too_new",
    )
    assert (
        '"summary":"precious"' in result.err.splitlines()[0]
        and "update agentfeedback" in result.err
    )
    assert wired.log()[-1]["reason"] == "schema_too_new" and wired.files("spool") == []


def test_each_outcome_is_a_line_of_the_log(wired: Wired) -> None:
    """Also of what never left; a dry run is none."""
    wired.call("submit", "note", "--dry-run")
    wired.call("submit", "note", "--key", "k", AGENT_FEEDBACK_API_KEY="")
    wired.call("submit", "note", "--stdin", stdin={"key": 7})
    wired.call("submit", "note", "--stdin", "--dry-run", stdin={"key": 7})
    assert [(line["outcome"], line["reason"]) for line in wired.log()] == [
        ("error", "client_setup"),
        ("rejected", "invalid_body"),
    ]
