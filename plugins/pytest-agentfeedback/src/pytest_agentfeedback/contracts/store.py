"""What a watermark store promises to the engine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve

from agentfeedback.state.watermark import Digested, NotDigested, SessionRow, WatermarkStore
from agentfeedback.wire.encode import plain
from agentfeedback.wire.records import Selection

S1 = Digested("codex", "s1", "/srv/app/s1.jsonl", 1_700_000_000_123_456_789, 10, "aa")
S2 = evolve(S1, session_id="s2", path="/srv/app/s2.jsonl", size=20, head="bb")
UID = "01890a5d-ac96-774b-bcce-b302099a8057"


def _name(digested: Digested) -> tuple[str, str]:
    return (digested.harness, digested.session_id)


class WatermarkStoreContract:
    """Every promise of a `WatermarkStore`, as a test.

    Say how one is made:

    ```python
    class TestTeamStore(WatermarkStoreContract):
        def store(self, folder):
            return TeamStore(folder / "marks.json")
    ```
    """

    def store(self, folder: Path) -> WatermarkStore:
        """A store that keeps everything below this folder; called again it is another process's view of the same."""
        raise NotImplementedError

    def test_reading_creates_nothing(self, tmp_path: Path) -> None:
        """A store nobody wrote to is empty, forgets nothing, and is still not there afterwards."""
        store = self.store(tmp_path)
        assert store.rows() == {}
        assert store.selection() is None
        assert store.forget([_name(S1), _name(S2)]) == [False, False]
        store.digested([], at=1)
        assert os.listdir(tmp_path) == []

    def test_a_digest_is_remembered(self, tmp_path: Path) -> None:
        """Another process reads the watermarks exactly, whole nanoseconds and large sizes included."""
        large = evolve(S2, mtime=2**62 + 1, size=2**53 + 1)
        self.store(tmp_path).digested([S1, large], at=1_790_000_000_000_001)
        assert self.store(tmp_path).rows() == {
            _name(each): SessionRow(
                each.harness,
                each.session_id,
                each.path,
                each.mtime,
                each.size,
                each.head,
                1_790_000_000_000_001,
            )
            for each in (S1, large)
        }

    def test_a_mark_is_the_latest_digest(self, tmp_path: Path) -> None:
        """Marking takes over size, mtime and head of the digest before it, with outcome, uids and time."""
        store = self.store(tmp_path)
        store.digested([S1], at=5)
        store.digested([evolve(S1, size=11, mtime=2, head="cc")], at=6)
        store.mark([_name(S1)], "filed", [UID, "x"], at=7)
        expected = SessionRow(
            "codex", "s1", S1.path, 2, 11, "cc", 6, 7, 11, 2, "cc", "filed", (UID, "x")
        )
        assert self.store(tmp_path).rows() == {_name(S1): expected}

    def test_a_later_digest_keeps_the_mark(self, tmp_path: Path) -> None:
        """What was marked stays until the next mark: else a session's end would be read twice, or never."""
        store = self.store(tmp_path)
        store.digested([S1], at=5)
        store.mark([_name(S1)], "nothing", [], at=6)
        store.digested([evolve(S1, size=12, path="/srv/moved", head="dd", mtime=3)], at=8)
        expected = SessionRow(
            "codex",
            "s1",
            "/srv/moved",
            3,
            12,
            "dd",
            8,
            6,
            10,
            S1.mtime,
            "aa",
            "nothing",
            (),
        )
        assert self.store(tmp_path).rows() == {_name(S1): expected}

    def test_the_last_mark_wins(self, tmp_path: Path) -> None:
        """A second mark replaces outcome, uids and time."""
        store = self.store(tmp_path)
        store.digested([S1], at=5)
        store.mark([_name(S1)], "filed", [UID], at=6)
        store.mark([_name(S1), _name(S1)], "skipped", [], at=7)
        row = self.store(tmp_path).rows()[_name(S1)]
        assert (row.outcome, row.refs, row.processed_at) == ("skipped", (), 7)

    def test_marks_are_all_or_none(self, tmp_path: Path) -> None:
        """The first session without a digest is named, and no other is marked."""
        store = self.store(tmp_path)
        store.digested([S1], at=5)
        before = store.rows()
        with pytest.raises(NotDigested) as caught:
            store.mark([_name(S1), _name(S2), ("codex", "s3")], "filed", [UID], at=6)
        assert caught.value.ref == "codex:s2"
        assert self.store(tmp_path).rows() == before

    def test_forgetting_answers_for_each_name(self, tmp_path: Path) -> None:
        """Whether each had a row, in the order asked; only those rows go, and may come back as new."""
        store = self.store(tmp_path)
        store.digested([S1, S2], at=5)
        store.mark([_name(S1)], "filed", [UID], at=6)
        assert store.forget([("codex", "s9"), _name(S1)]) == [False, True]
        assert list(self.store(tmp_path).rows()) == [_name(S2)]
        store.digested([S1], at=7)
        assert self.store(tmp_path).rows()[_name(S1)].processed_at is None

    def test_names_are_pairs_of_exact_texts(self, tmp_path: Path) -> None:
        """Harness and id together, in their own case, with any characters."""
        names = [
            ("codex", "s1"),
            ("codex", "S1"),
            ("cursor", "s1"),
            ("codex", "a'b\"; %_"),
            ("codex", "\u00e9"),
            ("codex", "e\u0301"),
            ("codex", "a:b"),
            ("codex:a", "b"),
        ]
        store = self.store(tmp_path)
        store.digested([evolve(S1, harness=harness, session_id=id) for harness, id in names], at=5)
        store.mark(names[:1], "filed", [], at=6)
        rows = self.store(tmp_path).rows()
        assert set(rows) == set(names)
        assert [name for name, row in rows.items() if row.processed_at] == names[:1]
        assert {name: (row.harness, row.session_id) for name, row in rows.items()} == {
            name: name for name in names
        }

    def test_the_selection_is_replaced(self, tmp_path: Path) -> None:
        """The saved selection is the last one, whole, and has nothing to do with the rows."""
        store = self.store(tmp_path)
        store.save_selection(Selection(["codex", "cursor"], "7d", 5))
        store.save_selection(Selection([], "", 0))
        assert plain(self.store(tmp_path).selection()) == plain(Selection([], "", 0))
        assert store.rows() == {}
