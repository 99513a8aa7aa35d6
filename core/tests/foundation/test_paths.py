"""The directories of a user, and links that lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfeedback.foundation.paths import cache_directory, dangling, env_directory


@pytest.mark.parametrize("value", ["", "rel", "./rel", "~", "~/x"])
def test_a_variable_that_is_not_an_absolute_path_counts_as_not_set(value: str) -> None:
    """The XDG base directory rules say so; the default is put together from its parts."""
    assert env_directory({"X": value}, "X", "/h", ".cache") == "/h/.cache"
    assert env_directory({}, "X", "/h", ".cache") == "/h/.cache"
    assert env_directory({"X": "/c"}, "X", "/h", ".cache") == "/c"


def test_the_cache_is_a_folder_of_our_own() -> None:
    """Below the user's cache, wherever that is."""
    assert cache_directory({}, "/h") == "/h/.cache/agentfeedback"
    assert cache_directory({"XDG_CACHE_HOME": "/k"}, "/h") == "/k/agentfeedback"


def test_the_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    """Of a missing path the nearest part that is there decides whether it is missing or lost."""
    (tmp_path / "real").mkdir()
    for name, target in (("lost", "gone"), ("good", "real"), ("loop", "loop")):
        (tmp_path / name).symlink_to(tmp_path / target)
    (tmp_path / "chain").symlink_to(tmp_path / "lost")
    for name in ("lost", "chain", "loop"):
        for below in ("", "/a", "/a/b"):
            assert dangling(f"{tmp_path}/{name}{below}") == f"{tmp_path}/{name}"
    for path in ("good/x", "real/x", "missing/x", "good", "real"):
        assert dangling(f"{tmp_path}/{path}") is None
    assert dangling("missing/relative") is None
