"""Databases and exports that earlier versions wrote are read, whole and unchanged."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from agentfeedback.state.database import Database
from agentfeedback.state.state_store import StateStore
from agentfeedback_submissions.export import lines
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions

EARLIER = Path(__file__).with_name("earlier")
VERSIONS = sorted(path.stem for path in EARLIER.glob("*.sql"))
#: The same content under the same key as a row of each database.
DOCS = (
    b'{"kind":"friction","key":"docs-1","summary":"the docs name a flag that is gone","machine":"m1",'
    b'"model":"o","harness":"codex","project":"shop","payload":{"category":"docs",'
    b'"details":"a\\nb \\u00e9","evidence":[{"at":"5"}]}}'
)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def path(version: str, tmp_path: Path) -> Path:
    """A database of an earlier version, made from its text."""
    path = tmp_path / "agentfeedback.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((EARLIER / f"{version}.sql").read_text())
    return path


def records(data: bytes) -> list[bytes]:
    """The lines of an export between its header and its trailer."""
    return data.splitlines(keepends=True)[1:-1]


def exported(service: Service) -> list[bytes]:
    rows = service.everything(Filters({}))
    return records(b"".join(lines(rows, time.time_ns() // 1000)))


def test_the_submissions_are_those_its_own_version_exported(path: Path, version: str) -> None:
    """Every member of every row, tombstones and hidden kinds too, byte for byte."""
    service = Service(SqliteSubmissions(Database(str(path), "submissions")))
    assert exported(service) == records((EARLIER / f"{version}.ndjson").read_bytes())
    listed = service.list([("category", "docs"), ("origin", "session-scan"), ("processed", "true")])
    assert [record["id"] for record in listed.body["submissions"]] == [1]


def test_filing_goes_on_where_it_was(path: Path) -> None:
    """Known content is a duplicate, ids go on, marks can be taken back."""
    store = SqliteSubmissions(Database(str(path), "submissions"))
    service = Service(store)
    last = store.page(Filters({}), Page()).rows[0].id
    assert [service.create(DOCS).status, service.create(DOCS + b" ").status] == [200, 200]
    created = service.create(b'{"kind":"note","key":"new"}')
    assert (created.status, created.body["submission"]["id"]) == (201, last + 1)
    assert "verdict" not in service.mark("1", b'{"processed":false}').body


def test_its_export_is_taken(version: str, tmp_path: Path) -> None:
    """An empty store holds the same records after it; taken again, all are there already."""
    service = Service(SqliteSubmissions(Database(str(tmp_path / "new.db"), "submissions")))
    data = (EARLIER / f"{version}.ndjson").read_bytes()
    taken = service.import_(data)
    assert (taken.status, taken.body["imported"]) == (200, len(records(data)))
    assert exported(service) == records(data)
    assert service.import_(data).body["skipped"] == len(records(data))


def test_the_sessions_keep_their_marks(path: Path) -> None:
    """The other tables of the same file are read too: watermarks and the saved selection."""
    state = StateStore(str(path))
    marked, digested = state.rows()["codex", "s1"], state.rows().get(("claude-code", "s2"))
    assert marked is not None and digested is not None
    assert (marked.processed_at, marked.processed_size, marked.outcome) == (6, 10, "filed")
    assert marked.refs == ("01a0c450-6fe8-7507-9f26-4ab07d44a0be",)
    assert (digested.size, digested.processed_at) == (20, None)
    selection = state.selection()
    assert selection is not None and (selection.since, selection.limit) == ("7d", 5)
