"""However far a body goes, it is parsed whole once."""

from __future__ import annotations

from typing import Any

import pytest

from agentfeedback.state.database import Database
from agentfeedback_submissions import envelope
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions
from agentfeedback_submit.delivery import spool
from agentfeedback_submit.delivery.destination import Local
from agentfeedback_submit.delivery.flush import FlushRun
from agentfeedback_submit.delivery.spool_entry import SpoolEntry
from agentfeedback_submit.filing.body import Body

FRICTION = b'{"kind":"friction","key":"k","summary":"s","context":{"session_id":"s1"},"payload":{}}'


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that were parsed whole."""
    found: list[bytes] = []
    whole = envelope.parse

    def counted(data: bytes, **more: Any) -> Any:
        found.append(data)
        return whole(data, **more)

    monkeypatch.setattr(envelope, "parse", counted)
    return found


def test_of_a_submit(machine: Any, parsed: list[bytes]) -> None:
    """Sent, logged and marked: the store's parse is the one."""
    assert machine.submit("friction", "--stdin", stdin=FRICTION).status == 0
    assert len(parsed) == 1
    parsed.clear()
    assert machine.submit("friction", "--stdin", "--dry-run", stdin=FRICTION).status == 0
    assert len(parsed) == 1


def test_of_the_inbox(machine: Any, parsed: list[bytes]) -> None:
    """Checked, named, sent and logged."""
    inbox = machine.database.parent / "inbox"
    inbox.mkdir(parents=True)
    (inbox / "one.json").write_bytes(FRICTION)
    assert machine.call("ingest").status == 0
    assert len(parsed) == 1


def test_of_the_spool(tmp_path: Any, monkeypatch: Any, parsed: list[bytes]) -> None:
    """Looked at, claimed, sent and logged; the entry around it is read once too, unless it has changed."""
    reads: list[bytes] = []
    real = spool.read
    monkeypatch.setattr(spool, "read", lambda data: reads.append(data) or real(data))
    service = Service(SqliteSubmissions(Database(str(tmp_path / "data.db"), "submissions")))
    here, told = spool.Spool(str(tmp_path)), []
    entry = SpoolEntry(Body(FRICTION, "friction", "k"), "local", here.now())
    here.release(here.hold(entry))
    done = FlushRun(here, Local(service), told.append).run()
    assert (done.flushed, [line.session_id for line in told]) == (1, ["s1"])
    assert (len(parsed), len(reads)) == (1, 1)


def test_an_entry_that_changed_is_read_again(tmp_path: Any) -> None:
    """What another process wrote between the look and the claim counts."""
    here = spool.Spool(str(tmp_path))
    old = SpoolEntry(Body(FRICTION, "friction", "k"), "local", here.now())
    here.release(here.hold(old))
    (found,) = here.files()
    seen = here.look(found)
    held = here.claim(found)
    assert seen is not None and held is not None
    here.release(held, SpoolEntry(old.body, "local", old.created_at, attempts=3))
    held = here.claim(found)
    assert held is not None
    entry = here.read(held, seen)
    assert entry is not None and entry.attempts == 3
