"""What a spool has to be before it is used, and what is done with what does not belong into it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture.facts import Namespace
from agentfeedback_change_capture.spool import layout, records
from agentfeedback_change_capture.spool.initialise import initialise
from agentfeedback_change_capture.spool.inspection import inspect
from agentfeedback_change_capture.spool.limits import SpoolLimits
from agentfeedback_change_capture.spool.outcome import SpoolBusy, SpoolFull, SpoolRefused
from agentfeedback_change_capture.spool.spool import Spool
from agentfeedback_change_capture.spool.storage import mutable
from tests.support import capture, spool_laws
from tests.support.capture import made_spool, opened, stream
from tests.support.disk import current


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    made = made_spool(tmp_path / "private" / "spool")
    with opened(made) as held:
        held.append(stream(), capture.session_start())
    return made


def refused(spool: Path, namespace: Namespace = capture.NAMESPACE) -> str:
    """The code of the refusal; nothing was changed by it."""
    before = current(spool) if spool.exists() else {}
    with pytest.raises(SpoolRefused) as error:
        Spool.open(str(spool), namespace, time.monotonic())
    assert str(spool) in str(error.value) and error.value.remedy
    assert (current(spool) if spool.exists() else {}) == before
    return error.value.code


def test_the_layout_of_a_new_spool(spool: Path) -> None:
    """Eleven folders, nine records at first, everything for the owner alone whatever the umask says."""
    made = spool.with_name("other")
    for mask in (0o000, 0o077):
        shutil.rmtree(made, ignore_errors=True)
        before = os.umask(mask)
        try:
            initialise(str(made), capture.NAMESPACE, SpoolLimits(), created_at=1)
            with opened(made) as held:
                held.append(stream(), capture.session_start())
        finally:
            os.umask(before)
        for path in (made, *made.rglob("*")):
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert sorted(path.name for path in made.iterdir() if path.is_dir()) == sorted(layout.FOLDERS)
    assert len([path for path in made.iterdir() if path.is_file()]) == 9
    commit = json.loads((made / "format.json").read_bytes())
    assert (commit["version"], commit["spool_inode"]) == (4, made.stat().st_ino)


@pytest.mark.parametrize("limits", [SpoolLimits(records=48), SpoolLimits()])
def test_a_layout_that_does_not_fit_is_not_begun(tmp_path: Path, limits: SpoolLimits) -> None:
    """The whole layout is admitted before it is written."""
    tmp_path.chmod(0o700)
    limits.bytes = 17_000
    with pytest.raises(SpoolFull):
        initialise(str(tmp_path / "spool"), capture.NAMESPACE, limits, created_at=1)
    assert not (tmp_path / "spool").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: (path / "x").write_bytes(b""),
        lambda path: path.chmod(0o750),
        lambda path: path.parent.chmod(0o770),
        lambda path: (path.rmdir(), path.write_bytes(b"")),
        lambda path: (path.rmdir(), path.symlink_to("/")),
        lambda path: (path.rmdir(), path.parent.rmdir()),
    ],
    ids=["not empty", "open", "open above", "a file", "a link", "nothing above"],
)
def test_where_no_spool_can_be_made(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    """A folder that is somebody's, or that others can reach into, is left as it is."""
    path = tmp_path / "private" / "spool"
    path.parent.mkdir(mode=0o700)
    path.mkdir(mode=0o700)
    spoil(path)
    before = current(tmp_path)
    with pytest.raises(SpoolRefused):
        initialise(str(path), capture.NAMESPACE, SpoolLimits(), created_at=1)
    assert current(tmp_path) == before


def _swapped(path: Path, name: str) -> None:
    """Replace a file by one of the same bytes and another inode."""
    data = (path / name).read_bytes()
    (path / "keeper").write_bytes(b"")
    (path / name).rename(path.parent / "kept")
    (path / name).write_bytes(data)
    (path / name).chmod(0o600)
    (path / "keeper").unlink()


SPOILS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no such folder": ("missing", shutil.rmtree),
    "no commit": ("uncommitted", lambda path: (path / "format.json").unlink()),
    "a commit that is cut off": (
        "uncommitted",
        lambda path: (path / "format.json").write_bytes(b'{"created_at":1'),
    ),
    "an earlier format": (
        "uncommitted",
        lambda path: (path / "format.json").write_bytes(
            (path / "format.json").read_bytes().replace(b'"version":4', b'"version":3')
        ),
    ),
    "a folder that is open": ("unsafe", lambda path: (path / "outbox").chmod(0o711)),
    "a root that is open": ("unsafe", lambda path: path.chmod(0o770)),
    "a record that is open": (
        "unsafe",
        lambda path: next((path / "outbox").iterdir()).chmod(0o640),
    ),
    "a commit that is open": ("unsafe", lambda path: (path / "format.json").chmod(0o644)),
    "a folder that is missing": ("uncommitted", lambda path: (path / "acks").rmdir()),
    "a folder that is a link": (
        "opaque",
        lambda path: ((path / "acks").rmdir(), (path / "acks").symlink_to("/tmp")),
    ),
    "another lock": ("moved", lambda path: _swapped(path, "spool.lock")),
    "another managed lock": ("moved", lambda path: _swapped(path, "managed.lock")),
    "no lock": ("moved", lambda path: (path / "spool.lock").unlink()),
    "a pipe for a record": (
        "malformed",
        lambda path: os.mkfifo(path / "outbox" / f"{'1' * 16}.{'0' * 32}.json", 0o600),
    ),
    "a link for a record": (
        "malformed",
        lambda path: (path / "sessions" / f"{'0' * 32}.json").symlink_to("/etc/passwd"),
    ),
    "a malformed ledger": ("malformed", lambda path: (path / "order.json").write_bytes(b"{}\n")),
    "malformed limits": (
        "malformed",
        lambda path: (path / "limits.json").write_bytes(
            (path / "limits.json").read_bytes().replace(b'"records":4096', b'"records":4097')
        ),
    ),
    "a malformed index": (
        "malformed",
        lambda path: (path / "compaction.json").write_bytes(b"[]\n"),
    ),
    "no namespace": ("malformed", lambda path: (path / "namespace.json").unlink()),
}


@pytest.mark.parametrize("name", SPOILS)
def test_a_spool_that_is_refused_is_not_changed_and_can_be_inspected(
    spool: Path, name: str
) -> None:
    """The refusal names what is wrong; only inspection still works, and it changes nothing either."""
    code, spoil = SPOILS[name]
    spoil(spool)
    assert refused(spool) == code
    if spool.exists():
        before = current(spool)
        found = inspect(str(spool))
        assert (found["authority"], found["completeness"]) == ("none", "unknown")
        expected = {"unsafe": "unsafe", "moved": "moved", "uncommitted": "uncommitted"}
        if code in expected and name not in ("an earlier format", "a commit that is cut off"):
            assert found["classification"] == expected[code] or name == "a folder that is missing"
        assert current(spool) == before


def test_a_link_to_a_spool_is_not_followed(spool: Path) -> None:
    """The path has to be the folder itself."""
    link = spool.with_name("link")
    link.symlink_to(spool)
    assert refused(link) == "opaque"


def test_a_copy_is_another_spool_and_a_moved_folder_is_the_same(spool: Path) -> None:
    """Identity is the random id with the inodes: a copy is refused, a rename while nobody uses it is fine."""
    copied = spool.with_name("copied")
    shutil.copytree(spool, copied)
    assert refused(copied) == "moved"
    moved = spool.rename(spool.with_name("moved"))
    with opened(moved) as held:
        assert held.append(stream(), capture.turn_end()).kind == "new"


@pytest.mark.parametrize("member", ["hub", "repository", "worktree_id"])
def test_a_spool_serves_one_namespace(spool: Path, member: str) -> None:
    """Another Hub, repository or checkout never writes into it."""
    other = Namespace(**{name: getattr(capture.NAMESPACE, name) for name in Namespace.__slots__})
    setattr(other, member, "another")
    assert refused(spool, other) == "namespace"


def test_a_spool_that_is_held_is_waited_for_until_the_deadline(spool: Path) -> None:
    """The lock goes with its holder; a path that was replaced meanwhile is noticed."""
    with opened(spool):
        before = time.monotonic()
        with pytest.raises(SpoolBusy):
            Spool.open(str(spool), capture.NAMESPACE, time.monotonic() + 0.1)
        assert time.monotonic() - before >= 0.1
    opened(spool).close()


def test_too_many_entries_are_only_inspected(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan has a bound of its own, whatever the limits of the spool are."""
    monkeypatch.setattr(layout, "MOST_ENTRIES", 11)
    assert refused(spool) == "too_many"
    found = inspect(str(spool))
    assert {"path": "outbox/", "code": "too_many_entries"} in found["issues"]


# -- what a crash left ---------------------------------------------------------------------------


def _temporary(spool: Path, folder: str, target: str, data: bytes) -> Path:
    path = spool / folder / layout.temporary(target, os.urandom(8))
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def test_temporary_files_are_completed_removed_or_set_aside(spool: Path) -> None:
    """By what is in them: a whole record is put in place, a copy goes, anything else is kept under an opaque name."""
    artifact = b"an artifact"
    name = records.identities.bytes_digest(artifact)
    whole = _temporary(spool, "artifacts", name, artifact)
    copy = _temporary(spool, "", "scope.json", (spool / "scope.json").read_bytes())
    order = json.loads((spool / "order.json").read_bytes())
    members = {"active": [], "next_order": 5}
    after = _temporary(spool, "", "order.json", mutable("", "order.json", members, order))
    cursor = json.loads((spool / "cursor.json").read_bytes())
    far = mutable("", "cursor.json", {"position": 1}, {**cursor, "rev": 7})
    ambiguous = _temporary(spool, "", "cursor.json", far)
    half = _temporary(spool, "artifacts", "0" * 64, b"half")
    odd = _temporary(spool, "outbox", "not a name", b"x")
    stranger = spool / "sessions" / "stranger"
    stranger.write_bytes(b"stranger")
    stranger.chmod(0o600)
    (spool / "attempts" / "a folder").mkdir(0o700)
    opened(spool).close()
    assert (spool / "artifacts" / name).read_bytes() == artifact
    assert json.loads((spool / "order.json").read_bytes())["next_order"] == 5
    assert not [
        path for path in (whole, copy, after, ambiguous, half, odd, stranger) if path.exists()
    ]
    kept = [path for path in (spool / "quarantine").iterdir() if path.is_file()]
    assert sorted(path.read_bytes() for path in kept) == sorted([far, b"half", b"x", b"stranger"])
    reasons = {each["bytes"]: each["reason"] for each in inspect(str(spool))["quarantine"]}
    assert reasons[len(far)] == "temporary ambiguous" and reasons[4] == "temporary malformed"
    assert len(list((spool / "quarantine").iterdir())) == 5
    before = current(spool)
    opened(spool).close()
    assert current(spool) == before


def test_a_temporary_commit_is_not_a_commit(spool: Path) -> None:
    """Nothing writes the commit but initialisation: a spool without it stays without it."""
    data = (spool / "format.json").read_bytes()
    (spool / "format.json").unlink()
    _temporary(spool, "", "format.json", data)
    assert refused(spool) == "uncommitted"


def test_debris_may_leave_a_spool_above_its_cap_until_it_is_pruned(tmp_path: Path) -> None:
    """It opens, inspects and prunes; ordinary facts wait for the room."""
    spool = made_spool(tmp_path / "private" / "spool", SpoolLimits(records=48))
    with opened(spool) as held:
        held.append(stream(), capture.session_start())
    for number in range(60):
        path = spool / "outbox" / f"debris-{number}"
        path.write_bytes(b"x")
        path.chmod(0o600)
    with opened(spool) as held:
        assert held.usage.records > 48
        assert held.append(stream(), capture.turn_end()).kind == "dropped"
        names = sorted(os.listdir(spool / "quarantine"))
        assert len(names) == 60
        assert held.prune([*names[:59], "q_" + "0" * 32]) == (names[:59], ["q_" + "0" * 32])
        assert held.append(stream(), capture.turn_end()).kind == "new"
    spool_laws.check(spool, {})


def test_a_malformed_final_record_stays_and_stops_only_what_reads_it(spool: Path) -> None:
    """Evidence is not moved; the error names the file."""
    session = next((spool / "sessions").iterdir())
    session.write_bytes(session.read_bytes().replace(b'"next_sequence":3', b'"next_sequence":1'))
    broken = session.read_bytes()
    with opened(spool) as held:
        assert len(held.pending()) == 1
        with pytest.raises(AgentFeedbackError, match="sum is not") as error:
            for observed in ("native-1", "ses_demo"):
                held.append(stream(observed), capture.turn_end())
        assert str(session) in str(error.value)
    assert session.read_bytes() == broken
    found = inspect(str(spool))
    assert found["classification"] == "committed_v4"
