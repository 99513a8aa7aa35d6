"""What every `SubmissionStore` promises, as tests: subclass `SubmissionStoreContract` and make a store."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from agentfeedback.foundation.errors import StoreError
from agentfeedback_submissions.envelope import normalise
from agentfeedback_submissions.filters import Filters, Page
from agentfeedback_submissions.row import SubmissionRow
from agentfeedback_submissions.store import (
    DEDUPE_WINDOW_S,
    MOST_GROUPS,
    Conflict,
    Mark,
    SubmissionStore,
)

_START = 1_700_000_000_000_000  # Tuesday, 2023-11-14, 22:13:20 UTC
_DAY = 86_400_000_000
ALL = Filters({})


class Clock:
    """Unix microseconds that stand still until they are moved."""

    def __init__(self, at: int = _START) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at


class Cut(Sequence[Any]):
    """A sequence that fails after its items have been taken: a killed call, as the store sees it."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items) + 1

    def __getitem__(self, at: Any) -> Any:
        if at >= len(self._items):
            raise RuntimeError("cut")
        return self._items[at]

    def __iter__(self) -> Iterator[Any]:
        yield from self._items
        raise RuntimeError("cut")


def file(store: SubmissionStore, **members: Any) -> Any:
    """Create a submission from envelope members."""
    return store.create(normalise(json.dumps({"kind": "note", "payload": {}, **members}).encode()))


def rows(store: SubmissionStore, filters: Filters = ALL) -> list[SubmissionRow]:
    """Every row that matches, oldest first."""
    return list(store.page(filters, Page(500, None, 0)).rows)


def shown(found: Sequence[SubmissionRow]) -> list[dict[str, Any]]:
    """Rows in a form that compares."""
    return [row.record() for row in found]


class SubmissionStoreContract:
    """Tests that a store passes; a test module subclasses it and gives the two ways to make one."""

    def make(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
        """An empty store with its files below `folder`, whose clock is `now` in unix microseconds."""
        raise NotImplementedError

    def unusable(self, folder: Path, now: Callable[[], int]) -> SubmissionStore:
        """A store that can be neither read nor written."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, tmp_path: Path, clock: Clock) -> SubmissionStore:
        return self.make(tmp_path / "store", clock)

    @pytest.fixture
    def closed(self, tmp_path: Path, clock: Clock) -> SubmissionStore:
        return self.unusable(tmp_path / "closed", clock)

    def test_an_empty_store_holds_nothing(self, store: SubmissionStore) -> None:
        """Reading, marking and redacting find nothing, and that is not an error."""
        page = store.page(ALL, Page())
        assert (list(page.rows), page.total, page.more) == ([], 0, False)
        counts = store.counts(ALL, ("kind",), "day")
        assert (counts.total, counts.open, counts.redacted) == (0, 0, 0)
        assert not counts.groups and not counts.recurring and not counts.series
        assert store.get(1) is None and store.redact(1) is None
        assert store.by_uid("0" * 8 + "-0000" * 3 + "-" + "0" * 12) is None
        marked = store.mark([2, 1, 2], Mark())
        assert (list(marked.rows), list(marked.changed), list(marked.missing)) == ([], [], [2, 1])
        inserted = store.insert_all([])
        assert (list(inserted.rows), inserted.skipped, list(inserted.conflicts)) == ([], 0, [])

    def test_a_new_row_holds_the_envelope(self, store: SubmissionStore, clock: Clock) -> None:
        """Members, hash and time; the id is positive; the same row is found by id and by uid."""
        envelope = normalise(
            b'{"kind":"friction","key":"k","summary":"\xf0\x9f\x98\x80 \\u0000","machine":"m","model":"o",'
            b'"harness":"codex","project":"shop","occurred_at":"2023-01-01T00:00:00.5Z",'
            b'"context":{"origin":"inbox"},"payload":{"n":1.50,"b":1e999,"a":"\\u0001"}}'
        )
        created = store.create(envelope)
        row = created.row
        assert created.outcome == "new" and row.id > 0 and row.created_at == clock.at
        record = row.record()
        for name, value in envelope.members.items():
            assert record[name] == value, name
        assert row.content_hash == envelope.content_hash
        assert row.occurred_at == envelope.occurred_at
        assert '"b":1e999,"n":1.50' in row.payload
        for found in (store.get(row.id), store.by_uid(row.uid), *rows(store)):
            assert found is not None and found.record() == record

    def test_ids_ascend_and_are_not_reused(self, store: SubmissionStore) -> None:
        """Later rows have larger ids, from this call or an import."""
        ids = [file(store, key=str(number)).row.id for number in range(4)]
        ids += [row.id for row in store.insert_all(self._elsewhere(2)).rows]
        ids.append(file(store, key="last").row.id)
        assert ids == sorted(set(ids)) and ids[0] > 0

    def test_a_key_names_one_row_of_its_kind(self, store: SubmissionStore, clock: Clock) -> None:
        """Equal content is a duplicate, also later and processed; other content a mismatch; kinds are apart."""
        first = file(store, key="k", summary="a").row
        store.mark([first.id], Mark())
        clock.at += 2 * DEDUPE_WINDOW_S * 1_000_000
        for members, outcome in (
            ({"summary": "a", "context": {"x": "y"}}, "duplicate"),
            ({"summary": "b"}, "mismatch"),
        ):
            again = file(store, key="k", **members)
            assert (again.outcome, again.row.uid) == (outcome, first.uid)
            assert again.row.processed_at is not None and again.row.context is None
        assert file(store, kind="other", key="k", summary="b").outcome == "new"
        assert len(rows(store)) == 2

    def test_equal_content_without_a_key_is_one_row_for_a_day(
        self, store: SubmissionStore, clock: Clock
    ) -> None:
        """The newest row that is not processed and younger than the window; a keyed one counts too."""
        first = file(store, summary="a")
        clock.at += DEDUPE_WINDOW_S * 1_000_000 - 1
        assert file(store, summary="a").row.uid == first.row.uid
        clock.at += 1
        second = file(store, summary="a")
        assert (first.outcome, second.outcome) == ("new", "new")
        keyed = file(store, summary="a", key="k")
        assert keyed.outcome == "new"
        again = file(store, summary="a")
        assert (again.outcome, again.row.uid) == ("duplicate", keyed.row.uid)
        store.mark([second.row.id, keyed.row.id], Mark())
        assert file(store, summary="a").outcome == "new"

    def test_of_many_at_a_time_one_creates(self, store: SubmissionStore) -> None:
        """Threads that file the same thing at once, with a key or without, make one row of it."""
        file(store, key="there", summary="x")
        for members in ({"key": "k", "summary": "keyed"}, {"summary": "keyless"}):
            found: list[Any] = []
            together = threading.Barrier(4)

            def work(members: Any = members, found: Any = found, together: Any = together) -> None:
                together.wait(20)
                try:
                    found.append(file(store, **members))
                except Exception as error:  # noqa: BLE001 - it fails the test below
                    found.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join(60)
            assert not [each for each in found if isinstance(each, Exception)]
            assert sorted(each.outcome for each in found) == ["duplicate"] * 3 + ["new"]
            assert len({each.row.uid for each in found}) == 1
        assert len(rows(store)) == 3

    def test_filters(self, store: SubmissionStore, clock: Clock) -> None:
        """Each filter gives the rows it names, newest first, and the others do not count."""
        friction = {"kind": "friction", "project": "shop"}
        members: list[dict[str, Any]] = [
            {
                **friction,
                "harness": "codex",
                "machine": "m",
                "payload": {"category": "docs", "fix_status": "none"},
            },
            {
                **friction,
                "model": "o",
                "summary": "100% _Wrong_\\",
                "payload": {"category": "tool"},
            },
            {"key": "k", "context": {"origin": "inbox"}, "occurred_at": "2020-01-01T00:00:00Z"},
            {"kind": "install-check"},
            {"kind": "friction", "schema_version": 2, "payload": {"category": ["no text"]}},
            {"kind": "review", "payload": {"category": "docs", "text": "a Needle"}},
        ]
        made = []
        for each in members:
            made.append(file(store, **each).row)
            clock.at += 1_000_000
        ids = [row.id for row in made]
        store.mark([ids[1]], Mark(members={"verdict": "fixed"}))
        store.redact(ids[4])
        second = made[1].created_at
        old = made[2].occurred_at
        assert old is not None
        cases: list[tuple[dict[str, Any], list[int]]] = [
            ({}, [6, 5, 4, 3, 2, 1]),
            ({"equal": {"kind": "install-check"}}, [4]),
            ({"equal": {"kind": "friction", "project": "shop"}}, [2, 1]),
            ({"equal": {"harness": "codex"}}, [1]),
            ({"equal": {"machine": "m"}}, [1]),
            ({"equal": {"model": "o"}}, [2]),
            ({"equal": {"category": "docs"}}, [1]),
            ({"equal": {"category": '["no text"]'}}, []),
            ({"equal": {"fix_status": "none"}}, [1]),
            ({"equal": {"origin": "inbox"}}, [3]),
            ({"equal": {"key": "k"}}, [3]),
            ({"equal": {"verdict": "fixed"}}, [2]),
            ({"equal": {"content_hash": made[0].content_hash}}, [1]),
            ({"equal": {"project": "' OR 1=1 --"}}, []),
            ({"exclude_kind": ("friction", "x")}, [6, 4, 3]),
            ({"schema_version": 2}, [5]),
            ({"processed": True}, [2]),
            ({"processed": False}, [6, 5, 4, 3, 1]),
            ({"redacted": True}, [5]),
            ({"redacted": False}, [6, 4, 3, 2, 1]),
            ({"since": second}, [6, 5, 4, 3, 2]),
            ({"since": second + 1}, [6, 5, 4, 3]),
            ({"until": second}, [2, 1]),
            ({"until": second - 1}, [1]),
            ({"since": old, "until": old, "on": "occurred_at"}, [3]),
            ({"until": old - 1, "on": "occurred_at"}, []),
            ({"q": "0% _wRONG_\\"}, [2]),
            ({"q": "0%_"}, []),
            ({"q": "NEEDLE"}, [6]),
        ]
        for given, wanted in cases:
            filters = Filters(**{"equal": {}, **given})
            page = store.page(filters, Page())
            assert [ids.index(row.id) + 1 for row in page.rows] == wanted, given
            assert (page.total, page.more) == (len(wanted), False), given
            assert store.counts(filters).total == len(wanted), given

    def test_cursors_visit_every_match_once(self, store: SubmissionStore) -> None:
        """In both directions; `more` says whether a match follows, the total ignores the cursor."""
        ids = [file(store, kind="ab"[n % 2], key=str(n)).row.id for n in range(7)]
        filters = Filters({"kind": "a"})
        wanted = ids[::2]
        for limit in (1, 2, 4, 9):
            for ascending in (True, False):
                seen: list[int] = []
                cursor: int | None = 0 if ascending else None
                while True:
                    page = store.page(
                        filters, Page(limit, *((None, cursor) if ascending else (cursor, None)))
                    )
                    assert page.total == 4 and len(page.rows) <= limit
                    seen += [row.id for row in page.rows]
                    assert page.more == (len(seen) < 4)
                    if not page.more:
                        break
                    cursor = seen[-1]
                assert seen == (wanted if ascending else wanted[::-1])

    def test_counts(self, store: SubmissionStore, clock: Clock) -> None:
        """Groups come with the most rows first, then by value; buckets in order, weeks from Monday."""
        for kind, project, occurred in (
            ("a", "z", "2024-02-29T23:59:59.999999Z"),
            ("a", "q", "2024-03-01T00:00:00Z"),
            ("b", "z", "1969-12-31T12:00:00Z"),
            ("a", None, None),
            ("a", "z", None),
        ):
            given = {"project": project, "occurred_at": occurred}
            members = {name: value for name, value in given.items() if value}
            file(store, kind=kind, key=str(clock.at), **members)
            clock.at += _DAY
        store.mark([rows(store)[0].id], Mark())
        store.redact(rows(store)[3].id)
        counts = store.counts(ALL, ("kind", "project"), "week")
        assert (counts.total, counts.open, counts.redacted) == (5, 4, 1)
        assert [tuple(each) for each in counts.groups] == [
            ("a", "z", 2, 1),
            ("a", "q", 1, 1),
            ("b", "z", 1, 1),
        ]
        monday = _START - _START % _DAY - _DAY
        assert [tuple(each) for each in counts.series] == [(monday, 5, 4)]
        days = store.counts(Filters({}, on="occurred_at"), (), "day").series
        leap = 1_709_164_800_000_000
        assert [tuple(each) for each in days] == [(-_DAY, 1, 1), (leap, 1, 0), (leap + _DAY, 1, 1)]
        plain = store.counts(ALL)
        assert not plain.groups and not plain.series and not plain.recurring

    def test_groups_are_the_largest(self, store: SubmissionStore) -> None:
        """Of more groups than are counted those with the most rows stay."""
        for number in range(MOST_GROUPS + 3):
            file(store, key=str(number), machine=f"m{number:03}")
        file(store, key="again", machine=f"m{MOST_GROUPS + 2:03}")
        groups = store.counts(ALL, ("machine",)).groups
        assert tuple(groups[0]) == (f"m{MOST_GROUPS + 2:03}", 2, 2)
        assert [each[0] for each in groups[1:]] == [f"m{n:03}" for n in range(MOST_GROUPS - 1)]

    def test_recurring_content(self, store: SubmissionStore) -> None:
        """Hashes of more than one row that matches: most rows first, then the newest, with its texts."""
        ids = {}
        for key, members in (
            ("a1", {"summary": "a"}),
            ("b1", {"summary": "b", "project": "p"}),
            ("a2", {"summary": "a"}),
            ("c1", {"summary": "c"}),
            ("b2", {"summary": "b", "project": "p"}),
            ("c2", {"summary": "c"}),
            ("b3", {"summary": "b", "project": "p"}),
            ("once", {"summary": "d"}),
        ):
            ids[key] = file(store, key=key, **members).row.id
        store.redact(ids["a2"])
        found = store.counts(ALL, top=10).recurring
        assert [(each.count, each.first_id, each.last_id, each.summary) for each in found] == [
            (3, ids["b1"], ids["b3"], "b"),
            (2, ids["c1"], ids["c2"], "c"),
            (2, ids["a1"], ids["a2"], None),
        ]
        assert (found[0].kind, found[0].project, found[1].project) == ("note", "p", None)
        row = store.get(ids["b1"])
        assert row is not None and found[0].content_hash == row.content_hash
        assert len(store.counts(ALL, top=1).recurring) == 1
        assert not store.counts(Filters({"key": "b1"}), top=9).recurring

    def test_marks(self, store: SubmissionStore, clock: Clock) -> None:
        """The first time stays, what is not given stays, taking it back clears all; missing ids stop nothing."""
        ids = [file(store, key=str(n)).row.id for n in range(3)]
        first = store.mark([ids[1], 99, ids[0], ids[1]], Mark(members={"verdict": "v", "ref": "r"}))
        assert [row.id for row in first.rows] == [ids[1], ids[0]]
        assert (list(first.changed), list(first.missing)) == ([ids[1], ids[0]], [99])
        at = clock.at
        clock.at += 5
        more = store.mark(ids[:2], Mark(members={"resolution": "s", "processed_by": "me"})).rows[0]
        assert (more.processed_at, more.verdict, more.resolution) == (at, "v", "s")
        assert (more.ref, more.processed_by) == ("r", "me")
        cleared = store.mark(ids[:1], Mark(members={"ref": ""})).rows[0]
        assert (cleared.ref, cleared.verdict, cleared.processed_by) == (None, "v", "me")
        same = store.mark(ids, Mark(members={"verdict": "v"}))
        assert list(same.changed) == [ids[2]] and len(same.rows) == 3
        assert shown(same.rows) == shown(rows(store))
        bare = store.mark(ids, Mark(processed=False)).rows[0]
        assert {bare.processed_at, bare.verdict, bare.resolution, bare.ref, bare.processed_by} == {
            None
        }
        assert not store.mark(ids, Mark(processed=False)).changed

    def test_a_tombstone_keeps_what_names_the_row(
        self, store: SubmissionStore, clock: Clock
    ) -> None:
        """Content goes, id, uid, key, hash, times and mark stay; a second time changes nothing."""
        row = file(store, key="k", summary="s", payload={"a": 1}, context={"c": "d"}).row
        store.mark([row.id], Mark(members={"verdict": "v"}))
        clock.at += 5
        tombstone = store.redact(row.id)
        assert tombstone is not None and tombstone.redacted_at == clock.at
        assert (tombstone.summary, tombstone.context) == (None, None)
        assert tombstone.payload == '{"redacted":true}'
        kept = ("id", "uid", "kind", "key", "content_hash", "created_at")
        assert all(getattr(tombstone, name) == getattr(row, name) for name in kept)
        assert tombstone.verdict == "v"
        clock.at += 5
        for again in (store.redact(row.id), store.get(row.id)):
            assert again is not None and again.record() == tombstone.record()
        assert file(store, key="k", summary="s", payload={"a": 1}).outcome == "duplicate"

    def test_an_import_keeps_what_is_there(self, store: SubmissionStore) -> None:
        """Uids, times, marks and tombstones arrive; a known uid is skipped, a taken key a conflict."""
        ours = file(store, key="2", summary="ours").row
        theirs = self._elsewhere(4)
        alike = evolve(theirs[2], uid=theirs[2].uid[:-1] + "f", content_hash=ours.content_hash)
        done = store.insert_all([*theirs, alike])
        assert (len(done.rows), done.skipped) == (3, 2)
        ids = [row.id for row in done.rows]
        assert ours.id < ids[0] and ids == sorted(set(ids))
        assert list(done.conflicts) == [Conflict(2, ours.id)]
        arrived = [evolve(row, id=0).record() for row in done.rows]
        assert arrived == [evolve(each, id=0).record() for each in theirs if each.key != "2"]
        assert shown(rows(store)) == shown([ours, *done.rows])
        again = store.insert_all([*theirs, theirs[0]])
        assert (len(again.rows), again.skipped, len(again.conflicts)) == (0, 5, 1)
        assert len(rows(store)) == 4

    def test_a_call_that_fails_changes_nothing(self, store: SubmissionStore) -> None:
        """An import or a mark that is cut off half way is not there at all."""
        ids = [file(store, key=f"own{n}").row.id for n in range(2)]
        before = shown(rows(store))
        with pytest.raises(RuntimeError, match="cut"):
            store.insert_all(Cut(self._elsewhere(2)))
        with pytest.raises(RuntimeError, match="cut"):
            store.mark(Cut(ids), Mark())
        assert shown(rows(store)) == before
        assert len(store.insert_all(self._elsewhere(2)).rows) == 2

    def test_a_store_that_cannot_be_used_says_so(self, closed: SubmissionStore) -> None:
        """Every method raises `StoreError`, whatever is below it."""
        envelope = normalise(b"{}")
        calls: list[Callable[[], Any]] = [
            lambda: closed.create(envelope),
            lambda: closed.get(1),
            lambda: closed.by_uid("0" * 8 + "-0000" * 3 + "-" + "0" * 12),
            lambda: closed.page(ALL, Page()),
            lambda: closed.counts(ALL),
            lambda: closed.mark([1], Mark()),
            lambda: closed.redact(1),
            lambda: closed.insert_all(self._elsewhere(1)),
        ]
        for call in calls:
            with pytest.raises(StoreError):
                call()

    @staticmethod
    def _elsewhere(count: int) -> list[SubmissionRow]:
        """Rows as an export gives them: the second is marked, the fourth a tombstone."""
        found = []
        for number in range(count):
            redacted = number == 3
            found.append(
                SubmissionRow(
                    id=number + 50,
                    uid=f"018bcfe5-6800-7000-8000-{number:012x}",
                    kind="note",
                    schema_version=number + 1,
                    key=None if number == 1 else str(number),
                    summary=None if redacted else f"theirs {number}",
                    machine="m",
                    model=None,
                    harness=None,
                    project=None,
                    occurred_at=_START - 1 if number else None,
                    context='{"origin":"inbox"}' if number == 0 else None,
                    payload='{"redacted":true}' if redacted else '{"n":1.50}',
                    content_hash=f"{number:064x}",
                    created_at=_START - 5 * _DAY + number,
                    processed_at=_START if number == 1 else None,
                    verdict="v" if number == 1 else None,
                    redacted_at=_START if redacted else None,
                )
            )
        return found
