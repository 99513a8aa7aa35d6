"""Entries of the spool as files: written whole, claimed by one, thrown away by none."""

from __future__ import annotations

import os
import re
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation import folder as folders
from agentfeedback_submit.delivery.spool import CLAIM, REJECTED_AGE, TEMPORARY_AGE, Spool
from agentfeedback_submit.delivery.spool_entry import SpoolEntry, UnreadableEntry, read, written
from agentfeedback_submit.filing.body import Body

START = 1_790_000_000 * 10**9
HOUR = 3600 * 10**9
BODY = b'{"kind":"note","key":"k","x":1.50}'


class Clock:
    """A time that goes on when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def spool(tmp_path: Path, clock: Clock) -> Spool:
    return Spool(str(tmp_path / "data"), now=clock)


def entry(**members: Any) -> SpoolEntry:
    return SpoolEntry(
        **{
            "body": Body(BODY, "note", "k"),
            "destination": "https://x.example",
            "created_at": START,
        }
        | members
    )


def kept(spool: Spool, **members: Any) -> None:
    spool.release(spool.hold(entry(**members)))


times = st.integers(0, 4_000_000_000 * 10**9)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
raw = st.sampled_from(
    [
        BODY,
        b"{}",
        b'{ "a" : 1e400 ,\n "b": "\xff\xfe", "b": "\\ud800" }',
        b'{"a":' * 511 + b"{}" + b"}" * 511,
    ]
)


@given(
    st.builds(
        SpoolEntry,
        st.builds(Body, raw, texts, texts | st.just("")),
        destination=texts,
        created_at=times,
        attempts=st.integers(0, 10**8),
        not_before=times,
        last_error=texts | st.just(""),
    )
)
def test_entry_comes_back_as_it_was_written(each: SpoolEntry) -> None:
    """Every member, and the body byte for byte: odd numbers, broken Unicode and the deepest nesting too."""
    assert written(read(written(each))) == written(each)
    again = read(written(each))
    assert (again.body.data, again.body.kind, again.body.key) == (
        each.body.data,
        each.body.kind,
        each.body.key,
    )
    assert all(
        getattr(again, name) == getattr(each, name)
        for name in (
            "destination",
            "created_at",
            "attempts",
            "not_before",
            "last_error",
        )
    )


@given(
    st.binary(max_size=200)
    | st.integers(0, len(written(entry()))).map(lambda cut: written(entry())[:cut])
)
def test_what_is_no_entry_is_unreadable_and_nothing_else(data: bytes) -> None:
    """Cut short or full of other bytes, a file is named unreadable; nothing is made up for it."""
    try:
        found = read(data)
    except UnreadableEntry:
        return
    assert found.body.data == BODY


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"v":1', b'"v":2'),
        (b'"kind":"note"', b'"kind":""'),
        (b'"destination":"https://x.example"', b'"destination":7'),
        (b'"attempts":0', b'"attempts":-1'),
        (b'"attempts":0', b'"attempts":1e9'),
        (b'"created_at":"', b'"created_at":"x'),
        (b'"body":{', b'"corpse":{'),
        (BODY, b'"text"'),
    ],
)
def test_entry_with_a_wrong_member_is_unreadable(old: bytes, new: bytes) -> None:
    """One wrong member is enough."""
    data = written(entry())
    assert old in data
    with pytest.raises(UnreadableEntry):
        read(data.replace(old, new))


def test_files_are_named_by_time_and_are_the_owners_alone(
    spool: Spool, clock: Clock, tmp_path: Path
) -> None:
    """`af1-<time>-<8 hex>.json`, mode 0600, in folders 0700, which are made with the first entry."""
    assert spool.files() == [] and not (tmp_path / "data").exists()
    kept(spool)
    clock.now += 1
    kept(spool)
    names = sorted(os.listdir(spool.folder))
    assert [each.name for each in spool.files()] == names and len(names) == 2
    assert all(re.fullmatch(r"af1-\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{8}\.json", name) for name in names)
    assert [name[4:30] for name in names] == [
        "20260921T141320.000000000Z",
        "20260921T141320.000000001Z",
    ]
    for name in names:
        assert stat.S_IMODE(os.stat(f"{spool.folder}/{name}").st_mode) == 0o600
    assert stat.S_IMODE(os.stat(spool.folder).st_mode) == 0o700


def test_one_of_many_claims_an_entry(spool: Spool) -> None:
    """However many reach for it at once, one has it."""
    kept(spool)
    (file,) = spool.files()
    found: list[object] = []
    barrier = threading.Barrier(8)

    def claim() -> None:
        barrier.wait()
        found.append(spool.claim(file))

    threads = [threading.Thread(target=claim) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([each for each in found if each is not None]) == 1


def test_claim_is_stale_after_a_minute(spool: Spool, clock: Clock) -> None:
    """Until then the entry is its holder's, after it anybody's; a clock set back frees it too."""
    held = spool.hold(entry())
    (found,) = spool.files()
    assert found.name == held.name and not spool.free(found)
    clock.now += CLAIM - 1
    assert not spool.free(found)
    clock.now += 1
    assert spool.free(found)
    clock.now = START - CLAIM
    assert spool.free(found)
    taken = spool.claim(found)
    assert taken is not None
    # The first holder wakes up: what it gives back or has done with is not there any more.
    spool.release(held, entry(attempts=9))
    spool.done(held)
    assert spool.read(held) is None
    again = spool.read(taken)
    assert again is not None and again.attempts == 0
    assert len(os.listdir(spool.folder)) == 1


def test_entry_given_back_on_a_full_disk_is_kept_as_it_was(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New members may be lost, the report is not."""
    held = spool.hold(entry())

    def full(path: str, data: bytes, **more: Any) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(folders, "write_new", full)
    spool.release(held, entry(attempts=4))
    (file,) = spool.files()
    assert file.claimed is None
    found = spool.look(file)
    assert found is not None and (found.attempts, found.body.data) == (0, BODY)
    # There is no room for the answer beside a refused one either: the file itself is moved.
    held = spool.claim(file)
    assert held is not None
    spool.refuse(entry(), held, status=400, response="no")
    assert spool.counts() == (0, 1)


def test_refused_entry_lies_beside_the_answer(spool: Spool) -> None:
    """In `rejected/` under its name, with time, status and answer; the body still byte for byte."""
    held = spool.hold(entry())
    spool.refuse(entry(), held, status=422, response="no \u2028 way")
    assert spool.counts() == (0, 1)
    data = Path(spool.rejected, held.name).read_bytes()
    assert (
        b'"rejected_at":"2026-09-21T14:13:20Z","status":422,"response":"no \xe2\x80\xa8 way","body":'
        + BODY
        in data
    )
    spool.refuse(entry(), None, status=400)
    assert spool.counts() == (0, 2)


def test_what_lies_too_long_is_removed(spool: Spool, clock: Clock) -> None:
    """Refused reports after 30 days, unfinished files after one; entries and foreign files stay."""
    import time

    clock.now = time.time_ns()
    kept(spool)
    spool.refuse(entry(), None)
    for folder in (spool.folder, spool.rejected):
        Path(folder, ".af1-x.json.unfinished-00ff").write_bytes(b"{")
        Path(folder, "letter.txt").write_bytes(b"")
    spool.tidy()
    assert len(os.listdir(spool.folder)) == len(os.listdir(spool.rejected)) == 3
    clock.now += TEMPORARY_AGE + 10**9
    spool.tidy()
    assert len(os.listdir(spool.folder)) == len(os.listdir(spool.rejected)) == 2
    clock.now += REJECTED_AGE
    spool.tidy()
    assert spool.counts() == (1, 0)
    assert os.listdir(spool.rejected) == ["letter.txt"]


@pytest.mark.parametrize(("kind", "hours"), [("friction", 20), ("note", 720), ("review", 720)])
def test_age_at_which_a_report_is_not_sent_any_more(kind: str, hours: int) -> None:
    """20 hours for a friction, 30 days for any other kind."""
    each = entry(body=Body(BODY, kind, "k"))
    assert not each.expired(START + hours * HOUR - 1) and each.expired(START + hours * HOUR)


def test_foreign_things_in_the_folder_are_not_followed(spool: Spool, tmp_path: Path) -> None:
    """A link, a pipe and a folder under the name of an entry are unreadable ones; other names are nothing."""
    kept(spool)
    outside = tmp_path / "outside.json"
    outside.write_bytes(written(entry()))
    name = "af1-20260101T000000.00000000{}Z-00000000.json"
    os.symlink(outside, f"{spool.folder}/{name.format(1)}")
    os.mkfifo(f"{spool.folder}/{name.format(2)}")
    os.mkdir(f"{spool.folder}/{name.format(3)}")
    Path(spool.folder, "af2-x.json").write_bytes(b"{}")
    Path(spool.folder, "af1-x.json.bak").write_bytes(b"{}")
    found = spool.files()
    assert len(found) == 4
    for each in found[:3]:
        with pytest.raises(UnreadableEntry):
            spool.look(each)
