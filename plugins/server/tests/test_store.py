"""The server's store keeps the contract of stores on both databases, each organisation by itself."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from attrs import evolve
from sqlalchemy import event

from agentfeedback.foundation.errors import AgentFeedbackError, NewerStoreError, StoreError
from agentfeedback_server import tables
from agentfeedback_server.database import opened
from agentfeedback_server.store import SqlSubmissions
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.row import SubmissionRow
from agentfeedback_submissions.store import Mark, SubmissionStore
from agentfeedback_web.sql import Database
from tests.support.databases import URL, postgres
from tests.support.submission_store import ALL, Clock, SubmissionStoreContract, file, rows


def store(of: Database, now: Callable[[], int]) -> SqlSubmissions:
    """The store of another organisation in a database."""
    id = secrets.token_hex(8)
    with of.writing() as connection:
        connection.execute(sa.insert(tables.organisations).values(id=id, name="n", created_at=0))
    return SqlSubmissions(of, id, now=now)


class OnServer(SubmissionStoreContract):
    """The contract, on a database at a URL; connections are closed at the end."""

    @pytest.fixture(autouse=True)
    def _closed(self) -> Iterator[None]:
        self.used: list[Database] = []
        yield
        for each in self.used:
            each.close()

    def at(self, folder: Path) -> str:
        raise NotImplementedError

    def nowhere(self, folder: Path) -> str:
        raise NotImplementedError

    def make(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
        self.used.append(opened(self.at(folder)))
        return store(self.used[-1], now)

    def unusable(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
        self.used.append(Database(self.nowhere(folder), "data", application_id=1))
        return SqlSubmissions(self.used[-1], "none", now=now)

    def test_organisations_do_not_see_each_other(self, tmp_path: Path, clock: Clock) -> None:
        """The same key, uid and content are another row elsewhere, whose id is of no use here."""
        ours = self.make(tmp_path, clock)
        theirs = store(self.used[-1], clock)
        mine = [file(ours, key="k", summary="a"), file(ours, summary="b")]
        other = [file(theirs, key="k", summary="c"), file(theirs, summary="b")]
        assert [each.outcome for each in (*mine, *other)] == ["new"] * 4
        assert [row.id for row in rows(ours)] == [each.row.id for each in mine]
        foreign = other[0].row
        assert ours.get(foreign.id) is None and ours.by_uid(foreign.uid) is None
        assert ours.redact(foreign.id) is None
        assert list(ours.mark([foreign.id], Mark()).missing) == [foreign.id]
        assert ours.counts(ALL).total == 2
        assert len(ours.insert_all([foreign]).conflicts) == 1
        assert len(ours.insert_all([other[1].row]).rows) == 1
        assert [row.record() for row in rows(theirs)] == [each.row.record() for each in other]

    @pytest.mark.parametrize("text", ["\0", "a\0\U0010ffffb\U0010ffff\U0010fffe\0", "é\ud800"])
    def test_any_text_is_kept(self, tmp_path: Path, clock: Clock, text: str) -> None:
        """Also what a database has no room for; a lone surrogate becomes a question mark."""
        ours = self.make(tmp_path, clock)
        id = file(ours).row.id
        (row,) = ours.mark([id], Mark(members={"ref": text})).rows
        assert row.ref == text
        found = ours.get(id)
        assert found is not None and found.ref == text.replace("\ud800", "?")
        assert ours.page(Filters({"kind": "note"}, q=text or "x"), Page()).total == 0

    def test_lists_use_an_index(self, tmp_path: Path, clock: Clock) -> None:
        """No page and no look-up reads the whole table."""
        ours = self.make(tmp_path, clock)
        ours.insert_all([file_row(number) for number in range(300)])
        plans: list[str] = []
        engine = self.used[-1].engine
        with engine.begin() as connection:
            connection.exec_driver_sql("ANALYZE submissions")

        def explained(connection: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
            if statement.startswith("SELECT submissions"):
                with engine.connect() as other:
                    if engine.dialect.name == "postgresql":
                        other.exec_driver_sql("SET enable_seqscan = off; SET enable_sort = off")
                        found = other.exec_driver_sql(f"EXPLAIN {statement}", values)
                    else:
                        found = other.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
                    plans.append(" ".join(str(row) for row in found))

        event.listen(engine, "before_cursor_execute", explained)
        ours.page(ALL, Page())
        ours.page(Filters({"kind": "note"}, q="x"), Page(50, 20))
        ours.page(ALL, Page(50, None, 20))
        file(ours, key="k")
        file(ours, summary="x")
        ours.get(3)
        assert len(plans) == 6
        for plan in plans:
            assert "submissions_" in plan or "PRIMARY KEY" in plan or "pkey" in plan, plan
            assert "Seq Scan" not in plan and "'SCAN" not in plan and "SORT" not in plan.upper(), (
                plan
            )


def file_row(number: int) -> SubmissionRow:
    """A row of an import."""
    (row,) = SubmissionStoreContract._elsewhere(1)
    return evolve(row, uid=f"018bcfe5-6800-7000-8000-{number:012x}", key=str(number))


class TestOnSqlite(OnServer):
    """The contract, on SQLite."""

    def at(self, folder: Path) -> str:
        return f"sqlite:///{folder}/server.db"

    def nowhere(self, folder: Path) -> str:
        folder.mkdir(parents=True)
        (folder / "server.db").write_bytes(b"no database" * 100)
        return self.at(folder)

    def test_the_file_is_the_owners_and_is_recognised(self, tmp_path: Path) -> None:
        """Mode 0600; a file of another program is refused and left as it is."""
        path = tmp_path / "a/server.db"
        opened(self.at(path.parent)).close()
        opened(self.at(path.parent)).close()
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        other = tmp_path / "b/server.db"
        other.parent.mkdir()
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("PRAGMA application_id = 7")
        before = other.read_bytes()
        with pytest.raises(StoreError, match="another program"):
            opened(self.at(other.parent))
        assert other.read_bytes()[:18] == before[:18]  # 18: the journal mode

    def test_a_newer_database_is_refused(self, tmp_path: Path) -> None:
        """Its tables have a version that this program does not know."""
        opened(self.at(tmp_path)).close()
        with closing(sqlite3.connect(tmp_path / "server.db")) as connection:
            connection.execute("UPDATE server_version SET version_num = '9999'")
            connection.commit()
        with pytest.raises(NewerStoreError, match="upgrade"):
            opened(self.at(tmp_path))


class TestOnPostgres(OnServer):
    """The contract, on PostgreSQL."""

    @pytest.fixture(autouse=True)
    def _schema(self, _closed: None) -> Iterator[None]:
        with postgres() as self.url:
            yield
            for each in self.used:
                each.close()

    def at(self, folder: Path) -> str:
        return self.url

    def nowhere(self, folder: Path) -> str:
        return "postgresql://nobody@127.0.0.1:1/none"

    def test_two_servers_take_turns(self, tmp_path: Path, clock: Clock) -> None:
        """Of what both file at once there is one row, and ids appear in their order to who follows them."""
        ours = self.make(tmp_path, clock)
        self.used.append(opened(self.url))
        theirs = SqlSubmissions(self.used[-1], ours._organisation, now=clock)
        outcomes: list[str] = []
        seen: list[int] = []
        ended = threading.Event()

        def follow() -> None:
            last = False
            while not last:
                last = ended.is_set()
                page = ours.page(ALL, Page(500, None, seen[-1] if seen else 0))
                seen.extend(row.id for row in page.rows)

        def work(store: Any) -> None:
            for number in range(8):
                outcomes.append(file(store, key=f"k{number}").outcome)
                outcomes.append(file(store, summary=f"s{number}").outcome)

        follower = threading.Thread(target=follow)
        follower.start()
        threads = [threading.Thread(target=work, args=(each,)) for each in (ours, theirs) * 2]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        ended.set()
        follower.join(60)
        assert (outcomes.count("new"), outcomes.count("duplicate")) == (16, 48)
        assert seen == [row.id for row in rows(ours)]

    def test_connections_that_the_database_ended_are_made_again(
        self, tmp_path: Path, clock: Clock
    ) -> None:
        """After a restart of the database a call or two fail, and nothing is lost; then all is as before."""
        ours = self.make(tmp_path, clock)
        file(ours, key="k")
        with self.used[-1].reading() as connection:
            pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with psycopg.connect(URL, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (pid,))
        with pytest.raises(StoreError):
            file(ours, key="k")
        assert file(ours, key="k").outcome == "duplicate"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_steps_make_the_tables_that_queries_use(kind: str, tmp_path: Path) -> None:
    """Alembic finds no difference between what the steps made and `tables`."""
    with postgres() if kind == "postgres" else nullcontext(f"sqlite:///{tmp_path}/s.db") as url:
        of = opened(url)
        with of.reading() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": False})
            found = compare_metadata(context, tables.metadata)
            assert [each for each in found if "server_version" not in repr(each)] == []
        of.close()


@pytest.mark.parametrize(
    "url", ["server.db", "mysql://h/d", "sqlite://", "sqlite:///", "postgresql+nope://h/d", ":"]
)
def test_a_url_that_is_none_of_a_database_is_refused(url: str) -> None:
    """Before anything is made."""
    with pytest.raises(AgentFeedbackError):
        Database(url, "data", application_id=1)


def test_a_password_is_not_shown() -> None:
    """Errors name the database."""
    word = "not" + "-shown"
    of = Database(f"postgresql://me:{word}@127.0.0.1:1/d", "data", application_id=1)
    with pytest.raises(StoreError) as caught, of.reading():
        pass
    assert word not in str(caught.value) and "127.0.0.1" in str(caught.value)
    of.close()
