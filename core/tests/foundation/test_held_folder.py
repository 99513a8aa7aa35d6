"""A folder that is held is the one that was opened, whatever happens to its path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.foundation.files import NotRegularError, TooLargeError
from agentfeedback.foundation.held_folder import HeldFolder


@pytest.fixture
def folder(tmp_path: Path) -> HeldFolder:
    (tmp_path / "held").mkdir()
    return HeldFolder(str(tmp_path / "held"))


def test_a_replaced_path_redirects_nothing(tmp_path: Path, folder: HeldFolder) -> None:
    """What is written goes where the folder is now."""
    (tmp_path / "held").rename(tmp_path / "moved")
    (tmp_path / "held").symlink_to("/tmp")
    assert folder.put("file", b"data", ".t")
    assert os.listdir(tmp_path / "moved") == ["file"]
    with pytest.raises(OSError, match="Not a directory|Too many levels"):
        HeldFolder(str(tmp_path / "held"))
    folder.close()
    folder.close()


def test_a_file_is_put_once(tmp_path: Path, folder: HeldFolder) -> None:
    """The same again writes nothing; other content is refused, or replaces it where that is asked for."""
    path = tmp_path / "held" / "file"
    assert folder.put("file", b"one", ".t")
    assert path.stat().st_mode & 0o777 == 0o600
    inode = path.stat().st_ino
    assert not folder.put("file", b"one", ".t") and path.stat().st_ino == inode
    for other in (b"two", b"other"):
        with pytest.raises(FileExistsError):
            folder.put("file", other, ".t")
    assert path.read_bytes() == b"one" and os.listdir(path.parent) == ["file"]
    assert folder.put("file", b"two", ".t", replace=True) and path.read_bytes() == b"two"


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path: Path, folder: HeldFolder) -> None:
    """A pipe is not waited for, and a link not followed."""
    (tmp_path / "held" / "file").write_bytes(b"12345")
    os.mkfifo(tmp_path / "held" / "pipe")
    (tmp_path / "held" / "link").symlink_to("file")
    assert folder.read("file", 5) == b"12345"
    with pytest.raises(TooLargeError):
        folder.read("file", 4)
    for name in ("pipe", "link", "."):
        with pytest.raises(NotRegularError):
            folder.read(name, 5)
    with pytest.raises(FileNotFoundError):
        folder.read("none", 5)


def test_what_is_there(tmp_path: Path, folder: HeldFolder) -> None:
    """Entries say what they are without following anything; more than asked for is an error."""
    assert folder.is_empty() and folder.entries(0) == {} and folder.stat("none") is None
    folder.make("file", b"123")
    inside = folder.make_folder("inside")
    (tmp_path / "held" / "link").symlink_to("file")
    found = folder.entries(3)
    assert {name: (each.is_regular, each.is_directory) for name, each in found.items()} == {
        "file": (True, False),
        "inside": (False, True),
        "link": (False, False),
    }
    assert found["file"].size == 3 and found["file"].is_private and not folder.is_empty()
    with pytest.raises(OverflowError):
        folder.entries(2)
    folder.move("file", inside, "moved")
    assert inside.entries(9).keys() == {"moved"} and folder.stat("file") is None
    assert inside.delete("moved") and not inside.delete("moved")
    with pytest.raises(FileExistsError):
        folder.make_folder("inside")
    inside.close()
