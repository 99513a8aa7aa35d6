"""`Folder.put` killed before any system call, or told by any that it failed, leaves the old file or the new one."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation import files, folder
from agentfeedback.foundation.folder import Folder
from tests.support.faulty import Faulty, fail, kill
from tests.support.faulty import faulty as faults
from tests.support.killing import CHANGING, require_tracing, traced

NAME, OLD, NEW = "file.json", b"old\n" * 3000, b"new\n" * 5000


@contextmanager
def faulty(at: int = -1, fault: Callable[[], None] = lambda: None) -> Iterator[Faulty]:
    with faults((files, folder), at, fault) as system:
        yield system


class Case:
    """One way to call `put`: with or without an old file, a folder, a lock, a promise to be on the disk."""

    def __init__(self, room: Path, old: bytes | None, **how: Any) -> None:
        self.path = room / "above/folder"
        self.old = old
        self.replace = how.pop("replace", False)
        self.mode = how.pop("mode", 0o600)
        self.folder = Folder(str(self.path), **how)

    def reset(self) -> None:
        for name in self.path.iterdir() if self.path.exists() else ():
            name.unlink()
        if self.old is not None:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / NAME).write_bytes(self.old)
        elif self.path.exists():
            self.path.rmdir()
            self.path.parent.rmdir()

    def put(self) -> None:
        self.folder.put(NAME, NEW, replace=self.replace, mode=self.mode)

    def content(self) -> bytes | None:
        file = self.path / NAME
        return file.read_bytes() if file.exists() else None

    def leftovers(self) -> list[str]:
        names = os.listdir(self.path) if self.path.exists() else []
        return [name for name in names if name != NAME]


#: Each case with the fewest calls it may have: fewer would be a promise less, or an untested point.
CASES = [
    ("new in a new folder", None, {}, 18),
    ("new", b"", {"replace": True}, 10),
    ("replaced", OLD, {"replace": True}, 10),
    ("replaced with its mode", OLD, {"replace": True, "mode": 0o640}, 11),
    ("replaced under a lock", OLD, {"replace": True, "locked": True}, 11),
    ("new in a cache", None, {"durable": False}, 10),
    ("replaced in a cache", OLD, {"replace": True, "durable": False, "locked": True}, 9),
    ("there already", NEW, {}, 11),
]


@pytest.fixture(params=CASES, ids=[case[0] for case in CASES])
def case(request: Any, tmp_path: Path) -> tuple[Case, list[str]]:
    _, old, how, fewest = request.param
    found = Case(tmp_path, old, **how)
    found.reset()
    with faulty() as system:
        found.put()
    assert found.content() == NEW and not found.leftovers() and not system.opened
    assert len(system.calls) >= fewest
    return found, system.calls


def test_killed_before_any_call(case: tuple[Case, list[str]]) -> None:
    """The file is the old one or the new one, and the next writer succeeds whatever the killed one left."""
    found, calls = case
    seen = set()
    for at in range(1, len(calls) + 1):
        found.reset()
        process = os.fork()
        if process == 0:
            with faulty(at, kill):
                found.put()
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        seen.add(found.content())
        assert all(name.startswith(f".{NAME}.unfinished") for name in found.leftovers())
        assert NAME in found.folder.names() or found.content() is None
        found.put()
        assert found.content() == NEW
        if found.folder.locked:
            assert not found.leftovers()
        found.folder.sweep(2**63)
        assert not found.leftovers() and found.content() == NEW
    assert seen == {found.old, NEW}


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
def test_told_by_any_call_that_it_failed(case: tuple[Case, list[str]], number: int) -> None:
    """The error is raised with the old file in place, and no descriptor or unfinished file is left."""
    found, calls = case
    failed = 0
    for at, name in enumerate(calls, 1):
        found.reset()
        with faulty(at, fail(number)) as system:
            try:
                found.put()
            except OSError as error:
                failed += 1
                assert error.errno == number
            else:
                # What a killed writer left could not be removed: there was nothing.
                assert name == "unlink" and found.content() == NEW
        assert not system.opened
        renamed = "replace" in calls[: at - 1]
        assert found.content() == (NEW if renamed or name == "unlink" else found.old)
        assert not found.leftovers()
        found.put()
        assert found.content() == NEW
    assert failed >= len(calls) - 1


def test_the_content_is_on_the_disk_before_its_name_and_the_name_before_the_end(
    tmp_path: Path,
) -> None:
    """A durable folder waits for the file before the rename, for the folder after it, and for folders it makes."""
    with faulty() as system:
        Folder(str(tmp_path / "a/b")).put(NAME, NEW)
    steps = [name for name in system.calls if name in ("mkdir", "write", "fsync", "replace")]
    # The first and the second attempt to make a folder fail, or find what is missing above it.
    assert steps == [
        "mkdir",
        "mkdir",
        "fsync",
        "mkdir",
        "fsync",
        "write",
        "fsync",
        "replace",
        "fsync",
    ]
    with faulty() as system:
        Folder(str(tmp_path / "a/b"), durable=False).put(NAME, OLD, replace=True)
    assert "fsync" not in system.calls


def test_killed_by_the_system_around_any_change(case: tuple[Case, list[str]]) -> None:
    """The same with a tracer, which sees what the system is asked for whoever asks."""
    require_tracing()
    found, calls = case

    def run(tell: int) -> None:
        found.put()
        os.write(tell, b".")

    at, status, seen = 0, int(signal.SIGKILL), set()
    while status == signal.SIGKILL:
        at += 1
        found.reset()
        status, told, _ = traced(run, at, calls=CHANGING)
        seen.add(found.content())
        assert found.content() == NEW or not told
        found.put()
        assert found.content() == NEW
        found.folder.sweep(2**63)
    # Two stops for each change, and two for the answer.
    changes = [name for name in calls if name in ("mkdir", "write", "fsync", "replace", "unlink")]
    assert at > 2 * len(changes) and seen == {found.old, NEW}
