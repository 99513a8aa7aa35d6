"""Files read with a bound and put in place whole: what is refused, what is left alone, who may read it."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.files import (
    NotRegularError,
    TooLargeError,
    open_regular,
    regular_bytes,
    small_file,
)


def test_what_is_not_a_regular_file_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No pipe, folder or device is opened, links to them neither; a writer at a pipe goes on waiting."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_pipe").symlink_to("pipe")
    opened: list[str] = []
    real = os.open

    def noted(path: str, *arguments: int, **more: int | None) -> int:
        opened.append(path)
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", noted)
    for name in ("pipe", "to_pipe", ".", "/dev/null"):
        path = str(tmp_path / name)
        for follow in (True, False):
            with pytest.raises(NotRegularError):
                open_regular(path, follow=follow)
            with pytest.raises(NotRegularError):
                regular_bytes(path, 10, follow=follow)
        assert small_file(path, 10) is None
    assert not opened


def test_a_file_that_becomes_a_pipe_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at may be replaced: what was opened counts, and nothing waits for a writer."""
    path = tmp_path / "file"
    path.write_bytes(b"x")
    real = os.stat

    def replaced(*arguments: object, **more: object) -> os.stat_result:
        found = real(*arguments, **more)  # type: ignore[arg-type]
        path.unlink()
        os.mkfifo(path)
        monkeypatch.setattr(os, "stat", real)
        return found

    monkeypatch.setattr(os, "stat", replaced)
    with pytest.raises(NotRegularError):
        regular_bytes(str(path))


def test_links_are_followed_where_that_is_asked_for(tmp_path: Path) -> None:
    """With `follow` a link is its file; without, it is not a regular file."""
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    link = str(tmp_path / "link")
    assert regular_bytes(link) == small_file(link, 4) == b"text"
    with pytest.raises(NotRegularError):
        regular_bytes(link, follow=False)


@given(length=st.integers(0, 40), limit=st.integers(0, 40))
def test_the_bound_is_exact(
    tmp_path_factory: pytest.TempPathFactory, length: int, limit: int
) -> None:
    """A file of `limit` bytes is read, one of a byte more is too large; never is more read than that byte."""
    path = tmp_path_factory.getbasetemp() / "bounded"
    path.write_bytes(b"x" * length)
    if length <= limit:
        assert regular_bytes(str(path), limit) == small_file(str(path), limit) == b"x" * length
    else:
        assert small_file(str(path), limit) is None
        with pytest.raises(TooLargeError, match=f"larger than {limit} bytes"):
            regular_bytes(str(path), limit)


def test_missing_and_unreadable_files_are_told_apart(tmp_path: Path) -> None:
    """A missing small file is None, a path that cannot be searched an error."""
    assert small_file(str(tmp_path / "none"), 9) is None
    (tmp_path / "file").write_bytes(b"")
    assert small_file(str(tmp_path / "file/below"), 9) is None
    with pytest.raises(OSError):
        small_file(str(tmp_path / ("x" * 300)), 9)


def test_errors_survive_a_worker() -> None:
    """A process that reads for another hands its errors over."""
    for error in (NotRegularError(), TooLargeError("larger than 3 bytes")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
