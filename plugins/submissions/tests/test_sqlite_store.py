"""The store in the local database keeps the contract of stores, and the contract notices one that does not."""

from __future__ import annotations

import inspect
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from agentfeedback.foundation.errors import NewerStoreError, StoreError
from agentfeedback.state.database import Database
from agentfeedback_submissions.envelope import Normalised
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.row import COLUMNS, SubmissionRow, new_row
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions
from agentfeedback_submissions.store import (
    Counts,
    Created,
    FoundPage,
    Inserted,
    Mark,
    Marked,
    SubmissionStore,
)
from tests.support.submission_store import Clock, SubmissionStoreContract, file, rows


class TestSqliteSubmissions(SubmissionStoreContract):
    """The contract, on SQLite."""

    def make(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
        return SqliteSubmissions(Database(str(folder / "agentfeedback.db"), "submissions"), now=now)

    def unusable(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
        folder.mkdir(parents=True)
        (folder / "agentfeedback.db").write_bytes(b"no database" * 100)
        return self.make(folder, now)

    def test_a_newer_database_is_named_as_such(self, tmp_path: Path, clock: Clock) -> None:
        """It is left as it is; whoever asks can tell it from a broken one."""
        store = self.make(tmp_path, clock)
        file(store)
        with closing(sqlite3.connect(tmp_path / "agentfeedback.db")) as connection:
            connection.execute("UPDATE schema_version SET version = 99")
            connection.commit()
        before = (tmp_path / "agentfeedback.db").read_bytes()
        with pytest.raises(NewerStoreError):
            file(store, key="k")
        assert (tmp_path / "agentfeedback.db").read_bytes() == before

    def test_reading_makes_no_database(self, tmp_path: Path, clock: Clock) -> None:
        """What only reads, marks or redacts creates no file."""
        self.test_an_empty_store_holds_nothing(self.make(tmp_path / "none", clock))
        assert list(tmp_path.iterdir()) == []


class KeysAreIgnored(SqliteSubmissions):
    def create(self, envelope: Normalised) -> Created:
        members = {name: value for name, value in envelope.members.items() if name != "key"}
        return super().create(evolve(envelope, members=members))


class LooksBeforeItWrites(SqliteSubmissions):
    """The lookup is not in the transaction of the insert."""

    def create(self, envelope: Normalised) -> Created:
        for row in self.page(Filters({"kind": envelope.members["kind"]}), Page(500)).rows:
            if row.content_hash == envelope.content_hash and row.processed_at is None:
                return Created(row, "duplicate")
        time.sleep(0.2)
        return Created(self.insert_all([new_row(envelope, self._now())]).rows[0], "new")


class NeverRepeats(SqliteSubmissions):
    def create(self, envelope: Normalised) -> Created:
        self._now, kept = (lambda: 2**60), self._now
        try:
            return super().create(evolve(envelope, content_hash="0" * 64))
        finally:
            self._now = kept


class ShowsHidden(SqliteSubmissions):
    def page(self, filters: Filters, page: Page) -> FoundPage:
        return super().page(evolve(filters, exclude_kind=()), page)


class AlwaysMore(SqliteSubmissions):
    def page(self, filters: Filters, page: Page) -> FoundPage:
        return evolve(super().page(filters, page), more=True)


class CountsThePage(SqliteSubmissions):
    def page(self, filters: Filters, page: Page) -> FoundPage:
        found = super().page(filters, page)
        return evolve(found, total=len(found.rows))


class GroupsByName(SqliteSubmissions):
    def counts(
        self, filters: Filters, groups: Sequence[str] = (), bucket: str = "", top: int = 0
    ) -> Counts:
        found = super().counts(filters, groups, bucket, top)
        return evolve(found, groups=sorted(found.groups, key=str))


class WeeksFromThursday(SqliteSubmissions):
    def counts(
        self, filters: Filters, groups: Sequence[str] = (), bucket: str = "", top: int = 0
    ) -> Counts:
        found = super().counts(filters, groups, bucket, top)
        later = 3 * 86_400_000_000 if bucket == "week" else 0
        return evolve(found, series=[(start + later, *rest) for start, *rest in found.series])


class MarksAgain(SqliteSubmissions):
    """A second mark replaces the first one whole."""

    def mark(self, ids: Sequence[int], mark: Mark) -> Marked:
        super().mark(ids, Mark(processed=False))
        return super().mark(ids, mark)


class MarksOneByOne(SqliteSubmissions):
    def mark(self, ids: Sequence[int], mark: Mark) -> Marked:
        done = [super(MarksOneByOne, self).mark([id], mark) for id in ids]
        return Marked(
            [row for each in done for row in each.rows],
            [id for each in done for id in each.changed],
            [id for each in done for id in each.missing],
        )


class InsertsOneByOne(SqliteSubmissions):
    """An import half way through is kept."""

    def insert_all(self, rows: Sequence[SubmissionRow]) -> Inserted:
        done = [super(InsertsOneByOne, self).insert_all([row]) for row in rows]
        return Inserted(
            [row for each in done for row in each.rows],
            sum(each.skipped for each in done),
            [row for each in done for row in each.conflicts],
        )


class OverwritesOnImport(SqliteSubmissions):
    def insert_all(self, rows: Sequence[SubmissionRow]) -> Inserted:
        for row in rows:
            with self._database.writing() as connection:
                connection.execute(
                    "DELETE FROM submissions WHERE kind = ? AND key = ?", (row.kind, row.key)
                )
        return super().insert_all(rows)


class RedactsTwice(SqliteSubmissions):
    def redact(self, id: int) -> SubmissionRow | None:
        row = super().redact(id)
        return None if row is None else evolve(row, redacted_at=self._now())


class KeepsTheSummary(SqliteSubmissions):
    def redact(self, id: int) -> SubmissionRow | None:
        row, before = super().redact(id), self.get(id)
        return row if row is None or before is None else evolve(row, summary="s")


class SpellsNumbersItsOwnWay(SqliteSubmissions):
    def create(self, envelope: Normalised) -> Created:
        created = super().create(envelope)
        payload = created.row.payload.replace("1.50", "1.5")
        return evolve(created, row=evolve(created.row, payload=payload))


class HidesItsFailure(SqliteSubmissions):
    def get(self, id: int) -> SubmissionRow | None:
        try:
            return super().get(id)
        except StoreError:
            return None


class FailsInItsOwnWords(SqliteSubmissions):
    def redact(self, id: int) -> SubmissionRow | None:
        try:
            return super().redact(id)
        except StoreError as error:
            raise OSError(str(error)) from error


#: Each store with one fault, and the test that finds it out.
BROKEN: list[tuple[type[SqliteSubmissions], str]] = [
    (KeysAreIgnored, "a_key_names_one_row_of_its_kind"),
    (LooksBeforeItWrites, "of_many_at_a_time_one_creates"),
    (NeverRepeats, "equal_content_without_a_key_is_one_row_for_a_day"),
    (ShowsHidden, "filters"),
    (AlwaysMore, "cursors_visit_every_match_once"),
    (CountsThePage, "cursors_visit_every_match_once"),
    (GroupsByName, "counts"),
    (WeeksFromThursday, "counts"),
    (MarksAgain, "marks"),
    (MarksOneByOne, "a_call_that_fails_changes_nothing"),
    (InsertsOneByOne, "a_call_that_fails_changes_nothing"),
    (OverwritesOnImport, "an_import_keeps_what_is_there"),
    (RedactsTwice, "a_tombstone_keeps_what_names_the_row"),
    (KeepsTheSummary, "a_tombstone_keeps_what_names_the_row"),
    (SpellsNumbersItsOwnWay, "a_new_row_holds_the_envelope"),
    (HidesItsFailure, "a_store_that_cannot_be_used_says_so"),
    (FailsInItsOwnWords, "a_store_that_cannot_be_used_says_so"),
]


def run(double: type[SqliteSubmissions], name: str, folder: Path) -> None:
    """Run one test of the contract on a store made from a class."""

    class Contract(TestSqliteSubmissions):
        def make(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
            return double(Database(str(folder / "agentfeedback.db"), "submissions"), now=now)

    contract, clock = Contract(), Clock()
    made: dict[str, Any] = {
        "clock": clock,
        "store": contract.make(folder / "store", clock),
        "closed": contract.unusable(folder / "closed", clock),
    }
    test = getattr(contract, f"test_{name}")
    test(**{wanted: made[wanted] for wanted in inspect.signature(test).parameters})


@pytest.mark.parametrize(("double", "name"), BROKEN, ids=lambda each: getattr(each, "__name__", ""))
def test_a_broken_store_fails_the_contract(
    double: type[SqliteSubmissions], name: str, tmp_path: Path
) -> None:
    """Each fault is found out by the test that is about it, which the sound store passes in the same way."""
    run(SqliteSubmissions, name, tmp_path / "sound")
    with pytest.raises((AssertionError, OSError, pytest.fail.Exception)):
        run(double, name, tmp_path / "broken")


def changed(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(statement, values)


@pytest.mark.parametrize("name", COLUMNS[1:])
@pytest.mark.parametrize("value", ["other", 7, 1.5, b"x", None])
def test_a_row_whose_column_changed_is_damaged(tmp_path: Path, name: str, value: object) -> None:
    """Whatever column, whatever it became: the row is an error where it is asked for, left out and named in a page."""
    path, told = tmp_path / "a.db", []
    store = SqliteSubmissions(Database(str(path), "submissions"), warn=told.append)
    file(store, key="before")
    row = file(store, key="k", summary="s", machine="m", context={"a": "b"}).row
    file(store, key="after")
    if value is None and getattr(row, name) is None:
        return
    try:
        changed(path, f"UPDATE submissions SET {name} = ? WHERE id = ?", value, row.id)
    except sqlite3.Error:
        return  # the database itself keeps such a value out
    with pytest.raises(StoreError, match=f"report {row.id} .* is damaged; .*redact {row.id} --yes"):
        store.get(row.id)
    with pytest.raises(StoreError):
        store.mark([row.id], Mark())
    assert [each.id for each in rows(store)] == [1, 3]
    assert len(told) == 1 and f"report {row.id} " in told[0] and "left out" in told[0]
    tombstone = store.redact(row.id)
    assert tombstone is not None and len(rows(store)) == 3


def test_pages_of_damaged_rows_alone_end_no_list(tmp_path: Path) -> None:
    """The cursor goes on behind them, in either direction."""
    path, told = tmp_path / "a.db", []
    store = SqliteSubmissions(Database(str(path), "submissions"), warn=told.append)
    for number in range(6):
        file(store, key=str(number))
    changed(path, "UPDATE submissions SET summary = 'x' WHERE id IN (3, 4)")
    service = Service(store)
    for query, wanted in (([("after_id", "0")], [1, 2, 5, 6]), ([], [6, 5, 2, 1])):
        seen: list[int] = []
        while True:
            body = service.list([("limit", "2"), *query]).body
            seen += [each["id"] for each in body["submissions"]]
            if not body["has_more"]:
                break
            name = "after_id" if query and query[0][0] == "after_id" else "before_id"
            query = [(name, str(body[f"next_{name}"]))]
        assert seen == wanted
    assert b"".join(service.exported([])).count(b'"uid"') == 4


def test_a_row_of_an_earlier_version_is_held_to_its_hash(tmp_path: Path) -> None:
    """It has no checksum; its content has a hash."""
    path = tmp_path / "a.db"
    store = SqliteSubmissions(Database(str(path), "submissions"))
    row = file(store, key="k", summary="s").row
    changed(path, "UPDATE submissions SET checksum = NULL")
    assert store.get(row.id) is not None
    changed(path, "UPDATE submissions SET payload = '{\"a\":1}'")
    with pytest.raises(StoreError, match="is damaged"):
        store.get(row.id)
