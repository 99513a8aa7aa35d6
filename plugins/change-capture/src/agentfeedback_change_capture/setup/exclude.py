"""Lines in a repository's local exclude for a settings file that setup itself created.

The exclude is shared by all worktrees of a repository; a file beside it records which lines are ours
and for which checkouts.
"""

from __future__ import annotations

import os
import re

from agentfeedback.foundation import json_shape as shape
from agentfeedback.foundation.files import open_regular, read_all
from agentfeedback.foundation.folder import Folder
from agentfeedback_change_capture.setup import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_RECORD = "exclude.agentscm.json"
_LARGEST = 4 << 20
_SPECIAL = re.compile(r"([\\*?\[\]!#])")
_SHAPE = shape.members(
    {"lines": shape.array(shape.members({"line": shape.text(), "root": shape.text()}))}
)


class ExcludeError(Exception):
    """The exclude cannot be read or written; says why."""


def lines_for(root: str, settings: str) -> list[str]:
    """Return the lines for a settings file and its transaction files; none for one outside the checkout."""
    relative = os.path.relpath(settings, root)
    if relative.startswith("..") or "\n" in relative or "\r" in relative:
        return []
    escaped = _SPECIAL.sub(r"\\\1", relative)
    if escaped.endswith(" "):
        escaped = escaped[:-1] + "\\ "
    return [f"/{escaped}", f"/{escaped}.agentscm-*"]


def add(root: str, settings: str) -> list[str]:
    """Hide a new settings file from `git status` unless git ignores it already; return our lines of it.

    Lines that another checkout of the repository added count for this one too.

    Raises:
        ExcludeError: The exclude or the record beside it cannot be read or written.
    """
    wanted = lines_for(root, settings)
    path = git.exclude_file(root)
    if not wanted:
        return []
    if path is None:
        raise ExcludeError("git does not say where the local exclude is")
    try:
        records = _records(path)
        shared = [line for line in wanted if any(each["line"] == line for each in records)]
        if not shared:
            ignored = git.is_ignored(root, settings)
            if ignored is None:
                raise ExcludeError("git does not say whether it ignores the file")
            if ignored:
                return []
        text = _read(path)
        have = text.split(b"\n")
        missing = [line for line in wanted if os.fsencode(line) not in have]
        added = [line for line in wanted if line in shared or line in missing]
        new = [{"line": line, "root": root} for line in added]
        _save_records(path, [*(each for each in records if each not in new), *new])
        if missing:
            if text and not text.endswith(b"\n"):
                text += b"\n"
            _write(path, text + b"".join(os.fsencode(line) + b"\n" for line in missing))
    except (OSError, ValueError) as error:
        raise ExcludeError(f"{path}: {error}") from error
    return added


def remove(root: str, others: Sequence[tuple[str, str]]) -> int:
    """Take out the lines that were added for a checkout, and return how many went.

    `others` are root and settings file of the other bindings: a line stays, in the name of one of them,
    while it is in the same repository and has the same relative settings path.

    Raises:
        ExcludeError: The exclude or the record beside it cannot be read or written.
    """
    path = git.exclude_file(root) if os.path.isdir(root) else None
    if path is None:
        return 0
    try:
        records = _records(path)
        ours = [each["line"] for each in records if each["root"] == root]
        if not ours:
            return 0
        kept = [each for each in records if each["root"] != root]
        for line in ours:
            if any(each["line"] == line for each in kept):
                continue
            heir = next((other for other in others if _uses(other, line, path)), None)
            if heir is not None:
                kept.append({"line": line, "root": heir[0]})
        gone = [line for line in ours if not any(each["line"] == line for each in kept)]
        if gone:
            text = _read(path)
            bad = {os.fsencode(line) for line in gone}
            lines = text.splitlines(keepends=True)
            _write(path, b"".join(line for line in lines if line.rstrip(b"\r\n") not in bad))
        _save_records(path, kept)
    except (OSError, ValueError) as error:
        raise ExcludeError(f"{path}: {error}") from error
    return len(gone)


def _uses(other: tuple[str, str], line: str, path: str) -> bool:
    root, settings = other
    if line not in lines_for(root, settings) or not os.path.isdir(root):
        return False
    theirs = git.exclude_file(root)
    return theirs is not None and os.path.realpath(theirs) == os.path.realpath(path)


def _records(path: str) -> list[dict[str, Any]]:
    import json

    data = _read(os.path.join(os.path.dirname(path), _RECORD))
    if not data:
        return []
    value = json.loads(data)
    if (wrong := _SHAPE(value, "")) is not None:
        raise ValueError(f"{_RECORD}: {wrong}")
    lines: list[dict[str, Any]] = value["lines"]
    return lines


def _save_records(path: str, records: list[dict[str, Any]]) -> None:
    from agentfeedback.foundation.canonical import canonical

    folder = Folder(os.path.dirname(path), locked=True)
    if records:
        folder.put(_RECORD, canonical({"lines": records}) + b"\n", replace=True)
    else:
        folder.delete(_RECORD)


def _read(path: str) -> bytes:
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return b""
    try:
        return read_all(descriptor, _LARGEST)
    finally:
        os.close(descriptor)


def _write(path: str, data: bytes) -> None:
    try:
        mode = os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mode = 0o644
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        os.mkdir(folder)  # with the mode that git itself would give it
    Folder(folder, locked=True).put(name, data, replace=True, mode=mode)
