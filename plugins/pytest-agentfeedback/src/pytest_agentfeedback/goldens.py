"""Goldens: files of exact standard output, kept by syrupy below the folder named by the ini value `agentfeedback_goldens`.

The home of the corpus copy is replaced by `/home/user` in the output before it is compared or
written, wherever it occurs and however long it is, so that goldens are the same on every machine.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

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


def _shown(data: SerializedData) -> list[str]:
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False).splitlines()
    except ValueError:
        return text.splitlines()
