"""Paths under an environment, and loading `config.toml`."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from agentfeedback.config.file import load
from agentfeedback.config.keys import KEYS
from agentfeedback.config.paths import Paths
from agentfeedback.config.shape import Collect
from agentfeedback.foundation.errors import AgentFeedbackError, ConfigError

ODD_DIRECTORIES = ["", "rel", "./rel", "~", "~/x", "~root/x"]


def written(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_the_defaults_lie_below_the_home() -> None:
    """Without XDG variables every path lies at its place below `$HOME`."""
    paths = Paths.of({"HOME": "/h"})
    assert paths.home == paths.store_home == "/h"
    assert paths.config_file == "/h/.config/agentfeedback/config.toml"
    assert paths.database == "/h/.local/share/agentfeedback/agentfeedback.db"
    assert paths.cache == "/h/.cache/agentfeedback"
    assert paths.homes == ("/h",)


def test_absolute_xdg_directories_move_what_is_theirs() -> None:
    """Each absolute XDG variable moves its own paths and no others."""
    paths = Paths.of(
        {
            "HOME": "/h",
            "XDG_CONFIG_HOME": "/c",
            "XDG_DATA_HOME": "/d",
            "XDG_CACHE_HOME": "/k",
        }
    )
    assert paths.config_file == "/c/agentfeedback/config.toml"
    assert paths.database == "/d/agentfeedback/agentfeedback.db"
    assert paths.cache == "/k/agentfeedback"


@pytest.mark.parametrize("value", ODD_DIRECTORIES)
@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"])
def test_a_directory_variable_that_is_not_absolute_is_ignored(variable: str, value: str) -> None:
    """An empty, relative or `~` value of an XDG variable gives the default."""
    moved = Paths.of({"HOME": "/h", variable: value})
    default = Paths.of({"HOME": "/h"})
    for name in ("config_file", "database", "cache"):
        assert getattr(moved, name) == getattr(default, name)


def test_a_directory_variable_is_one_directory() -> None:
    """A comma list is one odd path and not several."""
    assert Paths.of({"HOME": "/h", "XDG_DATA_HOME": "/a,/b"}).database.startswith("/a,/b/")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "rel"}, {"HOME": "~"}])
def test_without_a_usable_home_there_are_no_paths(environ: dict[str, str]) -> None:
    """A missing or relative `$HOME` is an error with exit status 1 that names the variable."""
    with pytest.raises(AgentFeedbackError, match="HOME") as caught:
        Paths.of(environ)
    assert caught.value.exit_status == 1


def test_another_home_keeps_the_callers_configuration_and_has_a_database_of_its_own(
    tmp_path: Path,
) -> None:
    """`--home DIR` moves the stores and the database, never the configuration."""
    own = Paths.of({"HOME": "/h"})
    other = Paths.of({"HOME": "/h"}, str(tmp_path))
    assert other.config_file == own.config_file
    assert other.home == "/h"
    assert other.store_home == str(tmp_path)
    assert other.homes == ("/h", str(tmp_path))
    folder, key, name = other.database.rsplit("/", 2)
    assert (folder, name) == ("/h/.local/share/agentfeedback/homes", "agentfeedback.db")
    assert len(key) == 16
    assert set(key) <= set("0123456789abcdef")


def test_one_directory_has_one_database_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database of `--home` is keyed by the directory itself: relative or linked names share it."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    monkeypatch.chdir(tmp_path)
    names = [str(real), str(link), "real", "./link/", f"{real}/../real"]
    assert len({Paths.of({"HOME": "/h"}, name).database for name in names}) == 1
    assert (
        Paths.of({"HOME": "/h"}, str(tmp_path)).database
        != Paths.of({"HOME": "/h"}, "real").database
    )
    assert Paths.of({"HOME": "/h"}, "real").store_home == str(real)


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
