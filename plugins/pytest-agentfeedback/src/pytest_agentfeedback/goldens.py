"""Goldens: files of exact standard output, kept by syrupy below the folder named by the ini value `agentfeedback_goldens`.

The home of the corpus copy is replaced by `/home/user` in the output before it is compared or
written, wherever it occurs and however long it is, so that goldens are the same on every machine.

Output that is one line of compact JSON is kept with a line for each member, so that a difference can
be reviewed. Nothing is lost by that: only the one form of a text is written so, and any other, such
as one with a blank more, is kept as it is and so differs.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation
    from syrupy.types import SerializedData, SnapshotIndex

_MOST_LINES = 40


class Golden(SingleFileSnapshotExtension):
    """One golden per file, compared byte by byte; `folder` is where those of one harness are."""

    _write_mode = WriteMode.BINARY
    file_extension = "json"
    folder = Path()

    def serialize(self, data: Any, **options: Any) -> SerializedData:
        """The form in which output is kept and compared."""
        return readable(data)

    def diff_lines(
        self, serialized_data: SerializedData, snapshot_data: SerializedData
    ) -> Iterator[str]:
        """The members that differ, line by line, where both are JSON; else the lines."""
        old, new = _shown(snapshot_data), _shown(serialized_data)
        lines = list(difflib.unified_diff(old, new, "the golden", "printed", n=1, lineterm=""))
        yield from lines[:_MOST_LINES] or ["the bytes differ, the JSON does not"]

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(cls.folder)

    # syrupy takes a name with a folder in it for another snapshot than the one in that folder, and
    # reports it as unused: the folder is said above, the name is the file's own.
    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return str(index)

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return str(index)


@functools.cache
def kept_in(folder: Path) -> type[Golden]:
    """The extension for the goldens in a folder (one class each, since syrupy asks classes)."""
    return type("Golden", (Golden,), {"folder": folder})


def readable(output: bytes) -> bytes:
    """Compact JSON with a line for each member; anything else as it is."""
    try:
        value = json.loads(output)
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except (ValueError, RecursionError):
        return output
    if compact != output:
        return output
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _shown(data: SerializedData) -> list[str]:
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False).splitlines()
    except ValueError:
        return text.splitlines()
