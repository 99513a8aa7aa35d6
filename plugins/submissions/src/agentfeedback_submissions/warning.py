"""Warnings about a submission: what was mended, moved or missing. Pure."""

from __future__ import annotations

from typing import Any

from attrs import define, field, frozen

from agentfeedback.foundation.json_text import Path, pointer


@frozen
class SubmissionWarning:
    """`pointer` is an RFC 6901 pointer into the stored record; clients compare code and pointer only."""

    code: str
    pointer: str
    message: str

    def plain(self) -> dict[str, Any]:
        """The warning as it is printed."""
        return {"code": self.code, "pointer": self.pointer, "message": self.message}


@define(eq=False)
class _Node:
    """A place in the record: what was found there, as (number, code, message), and the places below it."""

    found: list[tuple[int, str, str]] = field(factory=list)
    below: dict[str, _Node] = field(factory=dict)


class WarningList:
    """The warnings of one submission, in the order found. Their places follow what is moved later.

    The warnings are a tree of the record's places, so that moving a member costs the same whatever
    is below it: a body may have any number of warnings, and any number of members that are moved.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._count = 0

    def add(self, code: str, path: Path, message: str) -> None:
        """Note something at a path of the record as it stands now."""
        self._place(path).found.append((self._count, code, message))
        self._count += 1

    def moved(self, old: Path, new: Path) -> None:
        """What was at `old` and below it is now at `new`."""
        node = self._take(old)
        if node is None:
            return
        open = [(node, self._place(new))]
        while open:
            source, target = open.pop()
            target.found += source.found
            for name, child in source.below.items():
                if name in target.below:
                    open.append((child, target.below[name]))
                else:
                    target.below[name] = child

    def replaced(self, path: Path) -> None:
        """The value at `path` gave way to another: what was said of it and below it goes."""
        self._take(path)

    def became_text(self, path: Path) -> None:
        """The value at `path` is a text now: what was said of what was below it is said of the text."""
        node = self._place(path)
        open, node.below = list(node.below.values()), {}
        while open:
            child = open.pop()
            node.found += child.found
            open += child.below.values()

    def all(self) -> list[SubmissionWarning]:
        """The warnings with their final pointers."""
        found: list[tuple[int, SubmissionWarning]] = []
        open: list[tuple[Path, _Node]] = [((), self._root)]
        while open:
            path, node = open.pop()
            if node.found:
                at = pointer(path)
                found += (
                    (number, SubmissionWarning(code, at, message))
                    for number, code, message in node.found
                )
            open += (((*path, name), child) for name, child in node.below.items())
        return [warning for _, warning in sorted(found, key=lambda each: each[0])]

    def _place(self, path: Path) -> _Node:
        node = self._root
        for part in path:
            node = node.below.setdefault(part, _Node())
        return node

    def _take(self, path: Path) -> _Node | None:
        *above, name = path
        node: _Node | None = self._root
        for part in above:
            node = node.below.get(part) if node is not None else None
        return node.below.pop(name, None) if node is not None else None
