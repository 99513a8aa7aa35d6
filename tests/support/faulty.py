"""The modules `os` and `fcntl` with a fault before one of their calls: a kill, an error, a full disk."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Protocol

import pytest

#: What our modules call of `os` that reaches the system.
CALLS = frozenset(
    (
        *("open", "close", "read", "write", "fsync", "stat", "fstat", "lstat", "mkdir"),
        *("listdir", "scandir", "replace", "rename", "unlink", "fchmod", "fchown", "lseek"),
    )
)
#: Those of them that change what is on a disk, and the rename that Python does not offer.
CHANGES = frozenset(
    ("write", "fsync", "mkdir", "replace", "rename", "renameat2", "unlink", "fchmod", "fchown")
)


class Watcher(Protocol):
    """Sees each call that ended well: its name, what it was given, and what it returned."""

    def saw(self, name: str, arguments: tuple[Any, ...], more: dict[str, Any], answer: Any) -> None:
        """Take note of a call."""


class Faulty:
    """Counts calls and what they opened; before the n-th, from 1 on, there is the fault."""

    def __init__(
        self,
        at: int = -1,
        fault: Callable[[], None] = lambda: None,
        watcher: Watcher | None = None,
    ) -> None:
        self.calls: list[str] = []
        self.opened: set[int] = set()
        self._at = at
        self._fault = fault
        self._watcher = watcher

    def module(self, real: ModuleType, names: frozenset[str]) -> Any:
        """The module with these functions counted."""
        faulty = self

        class Counted:
            def __getattr__(self, name: str) -> Any:
                found = getattr(real, name)
                return faulty.counted(name, found) if name in names else found

        return Counted()

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted."""

        def call(*arguments: Any, **more: Any) -> Any:
            self.calls.append(name)
            here = len(self.calls) == self._at
            if here and name == "write":
                # A full disk takes a part first.
                real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            if here and name == "close":
                real(*arguments)  # the descriptor is gone even where closing fails
                self.opened.discard(arguments[0])
            if here:
                self._fault()
            answer = real(*arguments, **more)
            if name == "open":
                self.opened.add(answer)
            elif name == "close":
                self.opened.discard(arguments[0])
            if self._watcher is not None:
                self._watcher.saw(name, arguments, more, answer)
            return answer

        return call


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number: int) -> Callable[[], None]:
    def raised() -> None:
        raise OSError(number, os.strerror(number))

    return raised


def modules_of(*packages: str) -> list[ModuleType]:
    """Every loaded module of these packages that has `os`."""
    inside = tuple(f"{package}." for package in packages)
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(inside) and getattr(module, "os", None) is os
    ]


@contextmanager
def faulty(
    modules: Iterable[ModuleType],
    at: int = -1,
    fault: Callable[[], None] = lambda: None,
    watcher: Watcher | None = None,
) -> Iterator[Faulty]:
    """Put the fault into these modules; what they lock is counted too."""
    with pytest.MonkeyPatch.context() as patch:
        system = Faulty(at, fault, watcher)
        counted = system.module(os, CALLS)
        for module in modules:
            patch.setattr(module, "os", counted)
            if getattr(module, "fcntl", None) is fcntl:
                patch.setattr(module, "fcntl", system.module(fcntl, frozenset(("flock",))))
            rename = module.__dict__.get("rename_exclusive")
            if callable(rename):
                patch.setattr(module, "rename_exclusive", system.counted("renameat2", rename))
        yield system
