"""What is on a disk after the power fails: a model that follows the calls of a program.

Content is there once its file was flushed, a name once its folder was. Everything else may be lost,
or may not: `states` gives what is left in the ways that a test looks at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Node:
    """A file or folder as a program sees it, and as it was at its last flush."""

    def __init__(self, *, folder: bool) -> None:
        self.folder = folder
        self.names: dict[str, Node] = {}
        self.kept_names: dict[str, Node] = {}
        self.data = b""
        self.kept_data = b""

    def flush(self) -> None:
        self.kept_names = dict(self.names)
        self.kept_data = self.data


State = dict[str, bytes | None]


class Disk:
    """Everything below a folder, which is on the disk when the model begins to follow."""

    def __init__(self, top: Path) -> None:
        self._top = os.path.realpath(top)
        self._root = _loaded(Path(self._top))
        self._open: dict[int, Node | None] = {}

    def saw(self, name: str, arguments: tuple[Any, ...], more: dict[str, Any], answer: Any) -> None:
        if name == "open":
            self._opened(arguments, more, answer)
        elif name == "close":
            self._open.pop(arguments[0], None)
        elif name == "write" and (node := self._open.get(arguments[0])) is not None:
            node.data += bytes(arguments[1])[:answer]
        elif name == "fsync" and (node := self._open.get(arguments[0])) is not None:
            node.flush()
        elif name == "mkdir":
            above, last = self._place(arguments[0], more.get("dir_fd"))
            if above is not None:
                above.names[last] = Node(folder=True)
        elif name in ("rename", "replace"):
            self._renamed(
                arguments[0], more.get("src_dir_fd"), arguments[1], more.get("dst_dir_fd")
            )
        elif name == "renameat2":
            self._renamed(*arguments)
        elif name == "unlink":
            above, last = self._place(arguments[0], more.get("dir_fd"))
            if above is not None:
                above.names.pop(last, None)

    def states(self) -> Iterator[State]:
        """What may be left: only what was flushed; or every name, with the content that was flushed, or half of it."""
        yield _state(self._root, names=False, part=0)
        yield _state(self._root, names=True, part=0)
        yield _state(self._root, names=True, part=2)

    def _opened(self, arguments: tuple[Any, ...], more: dict[str, Any], answer: int) -> None:
        above, last = self._place(arguments[0], more.get("dir_fd"))
        if last == "":
            self._open[answer] = above
        elif above is None:
            self._open[answer] = None
        else:
            node = above.names.get(last)
            if node is None and arguments[1] & os.O_CREAT:
                node = above.names[last] = Node(folder=False)
            self._open[answer] = node

    def _renamed(self, name: str, above: int | None, new: str, to: int | None) -> None:
        source, last = self._place(name, above)
        target, new_last = self._place(new, to)
        if source is not None and target is not None:
            target.names[new_last] = source.names.pop(last)

    def _place(self, path: str, above: int | None) -> tuple[Node | None, str]:
        """The folder that a path is in and its last component; `""` for the folder itself."""
        if above is not None and not os.path.isabs(path):
            node, parts = self._open.get(above), path.split("/")
        else:
            full = os.path.abspath(path)
            if full != self._top and not full.startswith(self._top + "/"):
                return None, "outside"
            node, parts = self._root, [each for each in full[len(self._top) :].split("/") if each]
        for part in parts[:-1]:
            node = None if node is None else node.names.get(part)
        return node, parts[-1] if parts else ""


def _loaded(path: Path) -> Node:
    node = Node(folder=path.is_dir())
    if node.folder:
        for each in path.iterdir():
            node.names[each.name] = _loaded(each)
    else:
        node.data = path.read_bytes()
    node.flush()
    return node


def _state(node: Node, *, names: bool, part: int) -> State:
    found: State = {}
    for name, inside in (node.names if names else node.kept_names).items():
        if inside.folder:
            found[name] = None
            below = _state(inside, names=names, part=part)
            found.update({f"{name}/{each}": data for each, data in below.items()})
        elif inside.data != inside.kept_data and part:
            found[name] = inside.data[: len(inside.data) // part]
        else:
            found[name] = inside.kept_data
    return found


def current(top: Path) -> State:
    """What is below a folder now; None for a folder."""
    found: State = {}
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(top))
        # What is neither stands for itself: reading a pipe would wait for ever.
        odd = b"" if path.is_symlink() or not path.is_file() else path.read_bytes()
        found[name] = None if path.is_dir() else odd
    return found


def restore(top: Path, state: State) -> None:
    """Bring a folder into a state; what is as it should be keeps its identity."""
    now = current(top)
    for name in sorted(now, reverse=True):
        if name not in state or (state[name] is None) != (now[name] is None):
            path = top / name
            path.rmdir() if now[name] is None else path.unlink()
    for name, data in sorted(state.items()):
        path = top / name
        if data is None:
            if not path.is_dir():
                path.mkdir(0o700)
        elif not path.exists() or path.read_bytes() != data:
            path.touch(0o600)
            path.write_bytes(data)
