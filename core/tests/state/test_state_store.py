"""The watermark store: what digests, marks and selections leave behind, and what refuses to be one."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.foundation.errors import StoreError
from agentfeedback.state.state_store import (
    MIGRATIONS,
    Digested,
    NotDigested,
    StateStore,
    WatermarkStore,
)
from agentfeedback.state.watermark import SessionRow
from agentfeedback.wire.records import Selection

S1 = Digested(
    "codex", "s1", "/srv/app/s1.jsonl", mtime=1_700_000_000_123_456_789, size=10, head="aa"
)
S2 = evolve(S1, session_id="s2", path="/srv/app/s2.jsonl", size=20, head="bb")
UID = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "data" / "agentfeedback" / "agentfeedback.db")


@pytest.fixture
def store(path: str) -> StateStore:
    return StateStore(path)


def name(digested: Digested) -> tuple[str, str]:
    return (digested.harness, digested.session_id)


def execute(path: str, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("size", "11"),
        ("head", "'ab'"),
        ("processed_size", "11"),
        ("processed_head", "NULL"),
        ("outcome", "'skipped'"),
        ("refs", "'[]'"),
        ("path", "'/srv/other'"),
        ("session_id", "'s3'"),
        ("mtime", "'x'"),
        ("checksum", "''"),
    ],
)
def test_a_damaged_row_is_never_a_mark(
    store: StateStore, path: str, column: str, value: str
) -> None:
    """It is named with the command that drops it, and nothing is marked or shown by it."""
    store.digested([S1, S2], at=1)
    store.mark([name(S1)], "filed", [UID], at=2)
    assert len(store.rows()) == 2
    execute(path, f"UPDATE sessions_seen SET {column} = {value} WHERE session_id = 's1'")
    ref = "s3" if column == "session_id" else "s1"
    told = f"row of codex:{ref} in sessions_seen is damaged.*sessions forget codex:{ref}"
    again = evolve(S1, session_id=ref)
    for call in (
        store.rows,
        lambda: store.mark([name(again)], "nothing", [], at=3),
        lambda: store.digested([again], at=3),
    ):
        with pytest.raises(StoreError, match=told):
            call()
    store.mark([name(S2)], "nothing", [], at=3)
    assert store.forget([("codex", ref)]) == [True]
    assert list(store.rows()) == [name(S2)]


def test_a_schema_that_is_not_text_is_one_error(store: StateStore, path: str) -> None:
    """What SQLite says of it may not be text either; each byte of the schema may be the damaged one."""
    store.digested([S1], at=1)
    data = Path(path).read_bytes()
    start = data.index(b"sessions_seensessions_seen")
    faults = set()
    for at in range(start - 8, start + 120):
        Path(path).write_bytes(data[:at] + b"\x97" + data[at + 1 :])
        try:
            store.rows()
        except StoreError as error:
            assert path in str(error) and error.remedy
            faults.add(error.fault)
    assert "damaged" in faults


def test_reading_and_forgetting_create_nothing(store: StateStore, tmp_path: Path) -> None:
    """A missing database reads as empty, forgets nothing, and is still missing afterwards."""
    assert {} == store.rows()
    assert store.selection() is None
    assert [False, False] == store.forget([name(S1), name(S2)])
    store.digested([], at=1)
    assert [] == list(tmp_path.iterdir())


def test_an_empty_file_reads_as_empty_and_is_left_so(store: StateStore, path: str) -> None:
    """What a killed creation left reads as an empty database and is completed by the next write."""
    os.makedirs(os.path.dirname(path))
    Path(path).touch()
    assert {} == store.rows()
    assert 0 == os.path.getsize(path)
    store.digested([S1], at=5)
    assert [name(S1)] == list(store.rows())


def test_a_digest_is_remembered_as_told(store: StateStore, path: str) -> None:
    """Another process reads exactly the watermarks that were recorded, in one common time."""
    store.digested([S1, S2], at=1_790_000_000_000_001)
    expected = SessionRow("codex", "s1", S1.path, S1.mtime, 10, "aa", 1_790_000_000_000_001)
    again = StateStore(path)
    assert expected == again.rows()["codex", "s1"]
    assert {name(S1), name(S2)} == set(again.rows())
    assert {1_790_000_000_000_001} == {row.digested_at for row in again.rows().values()}


def test_a_mark_copies_the_latest_digest(store: StateStore) -> None:
    """Marking copies size, mtime and head of the latest digest; a later digest keeps the mark."""
    store.digested([S1], at=5)
    store.digested([evolve(S1, size=11, mtime=2, head="cc")], at=6)
    store.mark([name(S1)], "filed", [UID, UID], at=7)
    marked = SessionRow("codex", "s1", S1.path, 2, 11, "cc", 6, 7, 11, 2, "cc", "filed", (UID, UID))
    assert marked == store.rows().get(name(S1))
    store.digested([evolve(S1, size=12, path="/srv/moved", head="dd", mtime=3)], at=8)
    later = evolve(marked, size=12, path="/srv/moved", head="dd", mtime=3, digested_at=8)
    assert later == store.rows().get(name(S1))


def test_the_last_mark_wins(store: StateStore) -> None:
    """A second mark replaces outcome and uids; without uids an empty array is stored."""
    store.digested([S1], at=5)
    store.mark([name(S1)], "filed", [UID], at=6)
    store.mark([name(S1), name(S1)], "nothing", [], at=7)
    row = store.rows().get(name(S1))
    assert row is not None
    assert ("nothing", (), 7) == (row.outcome, row.refs, row.processed_at)


def test_columns_hold_what_the_specification_says(store: StateStore, path: str) -> None:
    """Uids are a JSON array, the selection its JSON text, the version one row, the id our own."""
    store.digested([S1, S2], at=5)
    store.mark([name(S1)], "filed", [UID], at=6)
    store.mark([name(S2)], "skipped", [], at=6)
    store.save_selection(Selection(["codex"], "7d", 5))
    connection = sqlite3.connect(path)
    refs = connection.execute("SELECT refs FROM sessions_seen ORDER BY session_id").fetchall()
    assert [(f'["{UID}"]',), ("[]",)] == refs
    assert [("selection", '{"harnesses":["codex"],"since":"7d","limit":5}')] == connection.execute(
        "SELECT key, value FROM triage_state"
    ).fetchall()
    assert [(len(MIGRATIONS),)] == connection.execute(
        "SELECT version FROM schema_version"
    ).fetchall()
    assert (0x61667079,) == connection.execute("PRAGMA application_id").fetchone()
    assert ("wal",) == connection.execute("PRAGMA journal_mode").fetchone()
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE sessions_seen SET refs = 'no json'")
    connection.close()


@pytest.mark.parametrize("names", [[("codex", "s1"), ("codex", "s2")], [("codex", "s2")]])
def test_one_undigested_session_refuses_all_marks(
    store: StateStore, names: list[tuple[str, str]]
) -> None:
    """When one of the sessions has no row, none is marked and the error names that one."""
    store.digested([S1], at=5)
    before = store.rows()
    with pytest.raises(NotDigested, match="codex:s2 was not digested yet"):
        store.mark(names, "filed", [UID], at=6)
    assert before == store.rows()


def test_a_row_without_a_digest_time_is_not_markable(store: StateStore, path: str) -> None:
    """A row alone does not make a session markable: it needs the time of a digest."""
    store.digested([S1, S2], at=5)
    execute(
        path, "UPDATE sessions_seen SET digested_at = NULL, checksum = NULL WHERE session_id = 's2'"
    )
    before = store.rows()
    with pytest.raises(NotDigested, match="codex:s2"):
        store.mark([name(S1), name(S2)], "filed", [], at=6)
    assert before == store.rows()


def test_marking_without_a_database_is_refused(store: StateStore) -> None:
    """With no database nothing was digested, so nothing can be marked."""
    with pytest.raises(NotDigested, match="run agentfeedback sessions digest codex:s1 first"):
        store.mark([name(S1)], "filed", [], at=6)
    assert {} == store.rows()


def test_forgetting_drops_rows_and_tells_which_existed(store: StateStore) -> None:
    """Each name is answered by whether it had a row, a repeated name alike; other rows stay."""
    store.digested([S1, S2], at=5)
    unknown = ("claude-code", "s1")
    assert [True, False, True] == store.forget([name(S1), unknown, name(S1)])
    assert [name(S2)] == list(store.rows())
    assert [False] == store.forget([name(S1)])
    assert [] == store.forget([])


def test_a_selection_replaces_the_one_before(store: StateStore) -> None:
    """The saved selection comes back as saved, and saving another leaves nothing of the first."""
    store.save_selection(Selection(["codex", "copilot"], "2026-10-01T00:00:00+02:00", 5))
    store.save_selection(Selection())
    found = store.selection()
    assert found is not None
    assert ([], "", 0) == (found.harnesses, found.since, found.limit)
    assert {} == store.rows()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "7",
        "{}",
        '{"harnesses":null,"since":"","limit":0}',
        '{"harnesses":[1],"since":"","limit":0}',
        '{"harnesses":[],"since":7,"limit":0}',
        '{"harnesses":[],"since":"","limit":"5"}',
        '{"harnesses":[],"since":"","limit":true}',
        '{"harnesses":[],"since":"","limit":-1}',
        '{"harnesses":["\\ud800"],"since":"","limit":0}',
    ],
)
def test_a_damaged_selection_is_an_error_with_a_remedy(
    store: StateStore, path: str, text: str
) -> None:
    """A stored text that is not a selection is one error, and saving a new one is the way out."""
    store.save_selection(Selection(["codex"]))
    execute(path, f"UPDATE triage_state SET value = '{text}'")
    with pytest.raises(StoreError, match="selection is damaged; .*--set-selection") as raised:
        store.selection()
    assert path in str(raised.value)
    store.save_selection(Selection(["codex"]))
    assert store.selection() is not None


@pytest.mark.parametrize(
    "change",
    [
        "size = 'big'",
        "mtime = 1.5",
        "head = x'00'",
        "processed_size = 'big'",
        "outcome = x'00'",
        "path = CAST(x'ff' AS TEXT)",
        "refs = '{}'",
        "refs = '[1]'",
        "refs = '\"a\"'",
        "refs = '[\"\\ud800\"]'",
        "refs = 'no json'",
    ],
)
def test_a_damaged_row_is_an_error_and_not_a_crash(
    store: StateStore, path: str, change: str
) -> None:
    """A row that holds another type than its column's is one error that names the database."""
    store.digested([S1], at=5)
    execute(path, "PRAGMA ignore_check_constraints = ON", f"UPDATE sessions_seen SET {change}")
    with pytest.raises(StoreError, match="cannot be read or written") as raised:
        store.rows()
    assert path in raised.value.problem
    assert raised.value.remedy


def test_odd_texts_and_times_are_stored(store: StateStore) -> None:
    """Unpaired surrogates become U+FFFD on the way in and in look-ups; times are held in 64 bits."""
    odd = Digested("codex", "s\udc80'\"\0%_", "/srv/\ud800/\U0001f600", 1 << 70, 0, "aa")
    store.digested([odd, evolve(S1, mtime=-(1 << 70))], at=5)
    found = store.rows()["codex", "s\ufffd'\"\0%_"]
    assert ("s\ufffd'\"\0%_", "/srv/\ufffd/\U0001f600") == (found.session_id, found.path)
    assert (1 << 63) - 1 == found.mtime
    store.mark([name(odd)], "filed", ["\ud800"], at=6)
    assert [True] == store.forget([name(odd)])


@st.composite
def operations(draw: st.DrawFn) -> list[tuple[str, list[str], int]]:
    kinds = st.sampled_from(["digested", "mark", "forget"])
    sessions = st.lists(st.sampled_from("abc"), max_size=3)
    return draw(st.lists(st.tuples(kinds, sessions, st.integers(0, 99)), max_size=12))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=operations())
def test_any_sequence_of_calls_does_what_a_dictionary_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str], int]]
) -> None:
    """The store agrees with a plain dictionary after every call, whatever the order of calls."""
    store: WatermarkStore = StateStore(str(tmp_path_factory.mktemp("model") / "state.db"))
    model: dict[tuple[str, str], SessionRow] = {}
    for at, (kind, sessions, value) in enumerate(steps):
        names = [("codex", session) for session in sessions]
        if kind == "digested":
            store.digested([Digested(*key, f"/{value}", value, value, "aa") for key in names], at)
            for key in names:
                old = model.get(key, SessionRow(*key, "", 0, 0, ""))
                model[key] = evolve(
                    old, path=f"/{value}", mtime=value, size=value, head="aa", digested_at=at
                )
        elif kind == "forget":
            assert [key in model for key in names] == store.forget(names)
            model = {key: row for key, row in model.items() if key not in names}
        elif all(key in model for key in names):
            store.mark(names, "filed", [str(value)], at)
            for key in names:
                row = model[key]
                model[key] = evolve(
                    row,
                    processed_at=at,
                    processed_size=row.size,
                    processed_mtime=row.mtime,
                    processed_head=row.head,
                    outcome="filed",
                    refs=(str(value),),
                )
        else:
            with pytest.raises(NotDigested):
                store.mark(names, "filed", [str(value)], at)
        assert model == store.rows()
