"""Paths under an environment, and loading `config.toml`."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from agentfeedback.config.file import load
from agentfeedback.config.keys import KEYS
from agentfeedback.config.shape import Collect
from agentfeedback.foundation.errors import ConfigError


def written(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_a_missing_file_is_an_empty_configuration(tmp_path: Path) -> None:
    """No file, no folder or a file where the folder should be: everything is allowed."""
    (tmp_path / "file").write_text("")
    for path in ("config.toml", "no/such/config.toml", "file/config.toml"):
        collect = load(str(tmp_path / path)).collect
        assert collect.deny_paths == collect.opt_in_paths == ()
        assert collect.disabled is collect.opt_in_only is False


def test_the_collect_table_is_read(tmp_path: Path) -> None:
    """Every key of `[collect]` arrives as written."""
    path = written(
        tmp_path,
        "[collect]\n"
        'disabled = true\ndeny_paths = ["~/a", "rel"]\nopt_in_only = true\nopt_in_paths = ["/b"]\n',
    )
    collect = load(path).collect
    assert collect.disabled is True
    assert collect.deny_paths == ("~/a", "rel")
    assert collect.opt_in_only is True
    assert collect.opt_in_paths == ("/b",)


def test_unknown_keys_and_tables_are_ignored(tmp_path: Path) -> None:
    """A newer file stays readable."""
    path = written(
        tmp_path, 'later_key = 5\n[collect]\nlater = 1\ndisabled = true\n[later]\ndisabled = "no"\n'
    )
    assert load(path).collect.disabled is True


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[collect]\ndisabled = 1\n", "collect.disabled"),
        ('[collect]\ndisabled = "true"\n', "collect.disabled"),
        ("[collect]\nopt_in_only = 0\n", "collect.opt_in_only"),
        ('[collect]\ndeny_paths = "/a"\n', "collect.deny_paths"),
        ('[collect]\ndeny_paths = ["/a", 1]\n', "collect.deny_paths"),
        ("[collect]\nopt_in_paths = {}\n", "collect.opt_in_paths"),
        ("[collect]\nopt_in_paths = [true]\n", "collect.opt_in_paths"),
        ("collect = true\n", "collect"),
        ("[[collect]]\ndisabled = true\n", "collect"),
        ("[collect\n", "line 1"),
        ("a = 1\na = 2\n", "line 2"),
        (b"a = '\xff'\n", "UTF-8"),
        ("a = " + "[" * 5000, "deep"),
    ],
)
def test_a_file_that_is_not_valid_is_an_error_that_says_where(
    tmp_path: Path, text: str | bytes, named: str
) -> None:
    """A wrong type or bad TOML is a `ConfigError` naming the file and what is wrong."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).startswith(f"config file {path} is not valid: ")
    assert named in str(caught.value)
    assert caught.value.exit_status == 1


def test_what_is_no_regular_file_is_an_error_at_once(tmp_path: Path) -> None:
    """A pipe, socket, device or directory in the file's place is refused without waiting on it."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name in ("pipe", "directory", "device", "socket"):
            with pytest.raises(ConfigError, match="not a regular file"):
                load(str(tmp_path / name))


def test_a_linked_file_is_read(tmp_path: Path) -> None:
    """A configuration kept elsewhere and linked into place counts."""
    (tmp_path / "kept.toml").write_text("[collect]\ndisabled = true\n")
    (tmp_path / "config.toml").symlink_to("kept.toml")
    assert load(str(tmp_path / "config.toml")).collect.disabled is True


@pytest.mark.parametrize("linked", ["agentfeedback/config.toml", "agentfeedback"])
def test_a_link_that_leads_nowhere_is_not_a_missing_file(tmp_path: Path, linked: str) -> None:
    """A policy behind a dangling link, of the file or its folder, is an error instead of no policy."""
    link = tmp_path / linked
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigError, match="leads nowhere"):
        load(str(tmp_path / "agentfeedback" / "config.toml"))


def test_an_unreadable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be opened is an error with the system's reason."""
    path = written(tmp_path, "")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(
        ConfigError, match="cannot be read: permission denied; allow yourself to read it"
    ):
        load(path)


def test_paths_in_the_file_may_be_anything(tmp_path: Path) -> None:
    """Odd strings in the lists are kept; the policy judges them."""
    path = written(tmp_path, '[collect]\ndeny_paths = ["", "/a\\u0000b", "~x", "/ü"]\n')
    assert load(path).collect.deny_paths == ("", "/a\0b", "~x", "/ü")


def test_a_collect_table_defaults_to_no_rule() -> None:
    """An empty table is not a rule at all."""
    assert Collect().deny_paths == ()
    assert not Collect().opt_in_only


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[detect]\nnudge = 1", "detect.nudge is not true or false"),
        ("[detect]\nsame_tool = true", "detect.same_tool is not a whole number"),
        ("[sessions]\nquiet = 30", "sessions.quiet is not a time like 90s, 30m, 12h or 2d"),
        ("[sessions]\nquiet = 'soon'", "sessions.quiet: it is not a time like 90s, 30m, 12h or 2d"),
        ("[sessions]\npush_batch = 0", "sessions.push_batch: it is not a whole number from 1 on"),
        ("sessions = 3", "sessions is not a table"),
    ],
)
def test_a_wrong_value_is_an_error_in_every_table(tmp_path: Path, line: str, problem: str) -> None:
    """Whichever table a known key is in, a value of another type or one that it cannot have is named with its key."""
    path = tmp_path / "config.toml"
    path.write_text(line)
    with pytest.raises(ConfigError, match=re.escape(problem)):
        load(str(path))


def test_every_key_has_its_default(tmp_path: Path) -> None:
    """A file without a key says what `config` shows as its default."""
    config = load(str(tmp_path / "missing.toml"))
    for key in KEYS.values():
        place = getattr(config, key.table) if key.table else config
        assert (getattr(place, key.short) or None) == (key.default or None)
