"""Warnings about a submission: what was mended, moved or missing. Pure (platform details 2.5)."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from .tokens import Path, pointer


@frozen
class Remark:
    """`pointer` is an RFC 6901 pointer into the stored record; clients compare code and pointer only."""

    code: str
    pointer: str
    message: str

    def plain(self) -> dict[str, Any]:
        """The warning as it is printed."""
        return {"code": self.code, "pointer": self.pointer, "message": self.message}


class Warnings:
    """The warnings of one submission, in the order found. Paths follow what is moved later."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Path, str]] = []

    def add(self, code: str, path: Path, message: str) -> None:
        """Note something at a path of the record as it stands now."""
        self._found.append((code, path, message))

    def moved(self, old: Path, new: Path) -> None:
        """What lay at `old` and below it now lies at `new`."""
        size = len(old)
        self._found = [
            (code, new + path[size:] if path[:size] == old else path, message)
            for code, path, message in self._found
        ]

    def all(self) -> list[Remark]:
        """The warnings with their final pointers."""
        return [Remark(code, pointer(path), message) for code, path, message in self._found]
