"""Where the configuration, the database and the cache are, under any environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfeedback.config.paths import Paths
from agentfeedback.foundation.errors import AgentFeedbackError

ODD_DIRECTORIES = ["", "rel", "./rel", "~", "~/x", "~root/x"]


def test_the_defaults_lie_below_the_home() -> None:
    """Without XDG variables every path is at its place below `$HOME`."""
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
