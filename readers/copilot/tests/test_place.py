"""Where a session ran, by its `workspace.yaml`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.reader import Place
from agentfeedback_copilot.reader import Copilot
from agentfeedback_copilot.workspace import recorded_directory

if TYPE_CHECKING:
    from conftest import Events, Store


@pytest.mark.parametrize(
    ("line", "directory"),
    [
        ("cwd: /srv/app", "/srv/app"),
        ("cwd: /srv/app # where", "/srv/app"),
        ("cwd: /srv/a#b", "/srv/a#b"),
        ("cwd: /", "/"),
        ("cwd:   /srv/my app  ", "/srv/my app"),
        ("cwd: /srv/app\r", "/srv/app"),
        ("cwd: '/srv/it''s'", "/srv/it's"),
        ("cwd: '/srv/a' # where", "/srv/a"),
        ('cwd: "/srv/\\"a\\"\\t\\x41\\u00e9\\U0001f600\\ud83d\\ude00"', '/srv/"a"\tAé😀😀'),
        ('cwd: "/srv/a"   ', "/srv/a"),
        ("id: x\ncwd: /srv/app\ncwd: /srv/other", "/srv/app"),
        ("meta:\n  cwd: /deny/me\ncwd: /srv/app", "/srv/app"),
        ('{"cwd": "/srv/app", "x": 1}', "/srv/app"),
    ],
)
def test_a_top_level_scalar_names_the_directory(store: Store, line: str, directory: str) -> None:
    """Plain, quoted and JSON forms of a top-level `cwd` name the directory."""
    assert store.place(line.encode() + b"\n").paths == (directory,)


@pytest.mark.parametrize(
    "line",
    [
        "cwd:",
        "cwd: # none",
        "cwd: null",
        "cwd: ~",
        "cwd: relative/path",
        'cwd: "C:\\\\x"',
        "cwd: |\n  /srv/app",
        "meta:\n  cwd: /deny/me",
        " cwd: /srv/app",
        "cwd : /srv/app",
        "cwd: '/srv/app' x",
        'cwd: "/srv/app" x',
        'cwd: "/srv/\\q"',
        'cwd: "/srv/\\U00110000"',
        "cwd: '/srv/app",
        'cwd: "/srv/app',
        'cwd: "/srv/\\0"',
        '{"cwd": 7}',
        '{"cwd": "/srv/app"',
        "",
    ],
)
def test_anything_else_names_none(store: Store, line: str) -> None:
    """No scalar, no top-level one, junk after a quote, a relative path: no directory, and no refusal."""
    place = store.place(line.encode())
    assert (place.paths, place.failed) == ((), False)


def test_a_missing_or_odd_file_names_none(store: Store) -> None:
    """Missing, too large, a folder, a FIFO or a loop of links: the log's own directories decide later."""
    for number, make in enumerate((None, "large", "folder", "pipe", "loop")):
        folder = store.add(f"s{number}")
        path = folder / "workspace.yaml"
        if make == "large":
            path.write_bytes(b"cwd: /srv/app\n".ljust(65_537))
        elif make == "folder":
            path.mkdir()
        elif make == "pipe":
            os.mkfifo(path)
        elif make == "loop":
            path.symlink_to(path)
    found, _ = store.find()
    assert len(found) == 5
    for session in found:
        place = Copilot().place(session, strict=True)
        assert (place.paths, place.failed) == ((), False)


def test_a_link_to_a_regular_file_of_the_largest_size_is_read(store: Store) -> None:
    """65536 bytes behind a symbolic link are read."""
    folder = store.add("s")
    (folder / "x").write_bytes(b"cwd: /srv/app\n".ljust(65_536))
    (folder / "workspace.yaml").symlink_to("x")
    ((session,), _) = store.find()
    assert Copilot().place(session, strict=False).paths == ("/srv/app",)


def test_it_is_recorded_before_the_events(log: Events) -> None:
    """The directory of `workspace.yaml` is the first, whatever the events record."""
    log.add("session.start", {"context": {"cwd": "/srv/app/other"}})
    timeline = log.told(Place(paths=("/srv/app",)))
    assert list(timeline.cwds) == ["/srv/app", "/srv/app/other"]


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda t: f"cwd: {t}".encode())))
def test_any_bytes_name_a_directory_or_none(content: bytes) -> None:
    """Any content gives a text that can be encoded, or none."""
    cwd = recorded_directory(content)
    assert cwd is None or cwd.encode()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")))
def test_quoting_keeps_the_path(path: str) -> None:
    """What is quoted either way is read as it was written."""
    single = "cwd: '" + path.replace("'", "''") + "' # c"
    double = 'cwd: "' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert recorded_directory(single.encode()) == path
    assert recorded_directory(double.encode()) == path
