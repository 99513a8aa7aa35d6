"""Warnings about a submission: what was mended, moved or missing. Pure."""

from __future__ import annotations

from itertools import chain
from typing import Any

from attrs import frozen

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


class WarningList:
    """The warnings of one submission, in the order found. Paths follow what is moved later."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Path, str]] = []
        # By the first and the second part of their paths: a body may have any number of warnings,
        # and any number of members that are moved.
        self._places: dict[Path, dict[Path, list[int]]] = {}

    def add(self, code: str, path: Path, message: str) -> None:
        """Note something at a path of the record as it stands now."""
        self._place(len(self._found), path)
        self._found.append((code, path, message))

    def moved(self, old: Path, new: Path) -> None:
        """What was at `old`, a path of one part or two, and below it is now at `new`."""
        if len(old) == 1:
            numbers = list(self._places.pop(old, {}).values())
        else:
            numbers = [self._places.get(old[:1], {}).pop(old[1:], [])]
        for number in chain.from_iterable(numbers):
            code, path, message = self._found[number]
            path = new + path[len(old) :]
            self._found[number] = (code, path, message)
            self._place(number, path)

    def all(self) -> list[SubmissionWarning]:
        """The warnings with their final pointers."""
        return [
            SubmissionWarning(code, pointer(path), message) for code, path, message in self._found
        ]

    def _place(self, number: int, path: Path) -> None:
        self._places.setdefault(path[:1], {}).setdefault(path[1:2], []).append(number)
