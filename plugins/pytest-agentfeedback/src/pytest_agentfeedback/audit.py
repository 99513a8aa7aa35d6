"""What code asks of the system while it runs: files opened, changes, connections, processes, by `sys.addaudithook`.

A hook can never be removed, so there is one, and it takes notes only while somebody watches.
SQLite opens its files in C: of those only the `connect` shows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    {
        "os.chmod",
        "os.chown",
        "os.link",
        "os.mkdir",
        "os.mkfifo",
        "os.mknod",
        "os.remove",
        "os.removexattr",
        "os.rename",
        "os.rmdir",
        "os.setxattr",
        "os.symlink",
        "os.truncate",
        "os.utime",
    }
)
_OUTSIDE = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
)
_LISTINGS = ("os.scandir", "os.listdir")
_CONNECT = "sqlite3.connect"

_watching: list[Watch] = []
_installed: list[bool] = []


class Watch:
    """What happened while it was watched, in order; paths are absolute."""

    def __init__(self) -> None:
        #: Files opened, with the flags of the system call.
        self.opened: list[tuple[str, int]] = []
        #: Directories listed.
        self.listed: list[str] = []
        #: Changes to files by other calls than open: (event, path).
        self.changed: list[tuple[str, str]] = []
        #: Databases connected to: (path, whether `immutable=1`).
        self.connected: list[tuple[str, bool]] = []
        #: Sockets and processes: event names.
        self.outside: list[str] = []

    def writes_below(self, folder: str) -> list[str]:
        """What changed, or could have changed, a file below `folder`."""
        faults = [
            f"opened for writing: {path}"
            for path, flags in self.opened
            if flags & _WRITING and below(path, folder)
        ]
        faults += [f"{event}: {path}" for event, path in self.changed if below(path, folder)]
        faults += [
            f"connected without immutable=1: {path}"
            for path, immutable in self.connected
            if not immutable and below(path, folder)
        ]
        return faults

    def _take(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if (path := _path(arguments[0])) is not None:
                self.opened.append((path, arguments[2] if isinstance(arguments[2], int) else 0))
        elif event in _LISTINGS:
            self.listed.append(_path(arguments[0] if arguments[0] is not None else ".") or "")
        elif event in _CHANGES:
            paths = (_path(each) for each in arguments[:2])
            self.changed += ((event, path) for path in paths if path is not None)
        elif event == _CONNECT:
            self.connected.append(_database(arguments[0]))
        elif event.startswith(_OUTSIDE):
            self.outside.append(event)


@contextmanager
def watching() -> Iterator[Watch]:
    """Note what happens in the block, in any thread."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    watch = Watch()
    _watching.append(watch)
    try:
        yield watch
    finally:
        _watching.remove(watch)


def below(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or is below it, by name."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for watch in _watching:
        watch._take(event, arguments)


def _path(value: Any) -> str | None:
    # A descriptor was opened by a path that was noted then.
    return None if isinstance(value, int) or value is None else os.path.abspath(os.fsdecode(value))


def _database(value: Any) -> tuple[str, bool]:
    text = os.fsdecode(value)
    if not text.startswith("file:"):
        return (text if text == ":memory:" else os.path.abspath(text)), False
    path, _, query = text.removeprefix("file:").partition("?")
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    return os.path.abspath(unquote(path)), "immutable=1" in query.split("&")
