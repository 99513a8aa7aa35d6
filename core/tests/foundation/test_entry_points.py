"""Entry points read from the files of distributions, and loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentfeedback.foundation import entry_points as module
from agentfeedback.foundation.entry_points import (
    blocked,
    entry_points,
    entry_points_by_name,
    load,
    load_file,
)

GROUP = "house.tests"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, alone on the path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing"), str(tmp_path)])
    return tmp_path


def installed(site: Path, dist: str, text: str | bytes) -> None:
    folder = site / f"{dist}.dist-info"
    folder.mkdir()
    data = text.encode() if isinstance(text, str) else text
    (folder / "entry_points.txt").write_bytes(data)


def test_the_entries_of_a_group_are_found(site: Path) -> None:
    """With comments, extras and other groups around them, once though the folder is twice on the path."""
    text = f"# x\n[console_scripts]\na = no:no\n [{GROUP}] \n; y\n one=m:run [extra]\n two = pkg.n\nodd\n[z]\nb = no:no\n"
    installed(site, "some_dist-1.2", text)
    assert [
        (each.group, each.name, each.value, each.dist, each.version)
        for each in entry_points((GROUP,))
    ] == [(GROUP, "one", "m:run", "some-dist", "1.2"), (GROUP, "two", "pkg.n", "some-dist", "1.2")]
    assert entry_points_by_name(GROUP) == {"one": "m:run", "two": "pkg.n"}
    found = entry_points((GROUP, "z"))
    assert [(each.group, each.name) for each in found] == [
        (GROUP, "one"),
        (GROUP, "two"),
        ("z", "b"),
    ]


def test_of_equal_names_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is with modules."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        installed(tmp_path / name, f"{name}-1", f"[{GROUP}]\nx = {name}:run\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert entry_points_by_name(GROUP) == {"x": "first:run"}
    assert [each.dist for each in entry_points((GROUP,))] == ["first", "second"]


def test_a_distribution_that_cannot_be_read_is_named_and_the_others_are_found(site: Path) -> None:
    """Bytes that are not UTF-8, a folder in the file's place; a distribution without such a file is quiet."""
    installed(site, "good-1", f"[{GROUP}]\nx = m:run\n")
    installed(site, "odd_one-1", b"[\xff]")
    (site / "folder-1.dist-info/entry_points.txt").mkdir(parents=True)
    (site / "quiet-1.dist-info").mkdir()
    (site / "file.dist-info").write_text("")
    unreadable: list[str] = []
    assert [each.name for each in entry_points((GROUP,), unreadable)] == ["x"]
    assert sorted(unreadable) == [
        "the entry points of folder cannot be read: is a directory",
        "the entry points of odd-one cannot be read: not UTF-8",
    ]


def test_what_is_installed_otherwise_is_found_by_importlib(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only when the quick way finds nothing: an egg has no folder of that name."""
    for name in ("old", "older"):
        egg = site / f"{name}.egg-info"
        egg.mkdir()
        (egg / "PKG-INFO").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 3\n")
        (egg / "entry_points.txt").write_text(f"[{GROUP}]\nx = {name}:run\n")
    found = entry_points((GROUP,))
    assert sorted((each.dist, each.version) for each in found) == [("old", "3"), ("older", "3")]
    assert entry_points_by_name(GROUP) == {}
    installed(site, "new-1", f"[{GROUP}]\ny = m:run\n")
    monkeypatch.setattr(module, "_slowly_found", lambda groups: pytest.fail("asked"))
    assert [each.dist for each in entry_points((GROUP,))] == ["new"]


def test_objects_are_loaded_by_their_dotted_names(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`load` imports as Python does, `load_file` passes over the package above a module."""
    package = site / "house_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('the package')\n")
    (package / "part.py").write_text("class A:\n    b = 5\n")
    (package / "bad.py").write_text("raise SystemExit\n")
    for name in ("house_package", "house_package.part", "house_package.bad"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(RuntimeError):
        load("house_package.part:A.b")
    assert load_file("house_package.part:A.b") == 5
    with pytest.raises(AttributeError):
        load_file("house_package.part:A.c")
    with pytest.raises(SystemExit):
        load_file("house_package.bad:x")
    assert "house_package.bad" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        load_file("house_nothing.part:x")
    (site / "house_module.py").write_text("x = [7]\n")
    assert load("house_module").x == load("house_module:x") == load_file("house_module:x") == [7]


def test_names_to_leave_out_are_separated_by_commas() -> None:
    """Blanks around them do not count."""
    assert blocked({"AGENTFEEDBACK_BLOCK": "a, b ,c"}) == ["a", "b", "c"]
    assert blocked({}) == [""]
