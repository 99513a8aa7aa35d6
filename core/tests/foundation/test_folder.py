"""Files put in place whole: what is in the way, who may read them, what is swept, what readers see meanwhile."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.foundation.files import (
    NotRegularError,
    regular_bytes,
)
from agentfeedback.foundation.folder import Folder


def test_put_says_what_is_in_the_way(tmp_path: Path) -> None:
    """Other content, a folder and a pipe are refused; the same content is not written again; a link is replaced."""
    folder = Folder(str(tmp_path / "f"))
    folder.put("a", b"1")
    inode = (tmp_path / "f/a").stat().st_ino
    folder.put("a", b"1")
    assert (tmp_path / "f/a").stat().st_ino == inode
    with pytest.raises(FileExistsError):
        folder.put("a", b"2")
    folder.put("a", b"2", replace=True)
    assert (tmp_path / "f/a").read_bytes() == b"2"
    (tmp_path / "f/folder").mkdir()
    os.mkfifo(tmp_path / "f/pipe")
    for name in ("folder", "pipe"):
        for replace in (True, False):
            with pytest.raises(NotRegularError):
                folder.put(name, b"", replace=replace)
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / "f/link").symlink_to(tmp_path / "other")
    with pytest.raises(NotRegularError):
        folder.put("link", b"other")
    folder.put("link", b"3", replace=True)
    assert (tmp_path / "other").read_bytes() == b"other"
    assert sorted(folder.names()) == ["a", "folder", "link", "pipe"]


def test_files_and_folders_are_the_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask; a mode that is asked for is given before the file has its name."""
    before = os.umask(0)
    try:
        Folder(str(tmp_path / "a/b")).put("f", b"x")
        Folder(str(tmp_path / "a/b")).put("g", b"x", mode=0o664)
        Folder(str(tmp_path / "a/b")).append("log", b"x\n", limit=9)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o700, "b": 0o700, "f": 0o600, "g": 0o664, "log": 0o600}


def test_a_check_keeps_the_old_file(tmp_path: Path) -> None:
    """What it raises is raised, with nothing changed."""
    folder = Folder(str(tmp_path))
    folder.put("a", b"old")

    def refuse() -> None:
        raise LookupError("no")

    with pytest.raises(LookupError):
        folder.put("a", b"new", replace=True, check=refuse)
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"


def test_move_and_delete_say_whether_there_was_a_file(tmp_path: Path) -> None:
    """A missing file is an answer; a missing target folder is made."""
    one, two = Folder(str(tmp_path / "one")), Folder(str(tmp_path / "two"))
    assert not one.move("a", "b") and not one.delete("a") and one.names() == []
    one.put("a", b"x")
    assert one.move("a", "b", two) and two.names() == ["b"] and one.names() == []
    assert two.delete("b") and not two.delete("b")


def test_append_moves_a_long_file_aside(tmp_path: Path) -> None:
    """Past the limit the file becomes `.1`, over the one before."""
    folder = Folder(str(tmp_path / "log"), durable=False)
    for number in range(5):
        folder.append("a", b"%d\n" % number, limit=2)
    assert (tmp_path / "log/a").read_bytes() == b"4\n"
    assert (tmp_path / "log/a.1").read_bytes() == b"2\n3\n"


def test_sweep_removes_old_unfinished_files_alone(tmp_path: Path) -> None:
    """Names of others stay, even those that sound alike."""
    folder = Folder(str(tmp_path))
    for name in (".a.unfinished", ".a.unfinished-00ff", "a.unfinished", ".a", "b"):
        (tmp_path / name).write_bytes(b"")
    folder.sweep(0)
    assert len(os.listdir(tmp_path)) == 5
    folder.sweep(2**63)
    assert sorted(os.listdir(tmp_path)) == [".a", "a.unfinished", "b"] == sorted(folder.names())


def test_readers_see_one_content_or_the_other(tmp_path: Path) -> None:
    """While one thread replaces a file, another reads only whole contents."""
    folder = Folder(str(tmp_path), durable=False)
    contents = [bytes([65 + number]) * 20_000 for number in range(2)]
    folder.put("a", contents[0])
    stop = threading.Event()

    def write() -> None:
        for number in range(200):
            folder.put("a", contents[number % 2], replace=True)
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not stop.is_set():
        assert regular_bytes(str(tmp_path / "a")) in contents
    writer.join()


@settings(deadline=None)
@given(name=st.binary(min_size=1, max_size=12).filter(lambda raw: raw not in (b".", b"..")))
def test_any_name_a_system_takes(tmp_path_factory: pytest.TempPathFactory, name: bytes) -> None:
    """Names are put as given, or refused as the system refuses them."""
    folder = Folder(str(tmp_path_factory.mktemp("names")))
    text = os.fsdecode(name)
    try:
        folder.put(text, b"x")
    except (OSError, ValueError):
        assert b"/" in name or b"\0" in name
    else:
        assert folder.delete(text)
