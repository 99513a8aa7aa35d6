"""The root of the work tree that a directory is in."""

from __future__ import annotations

import os

from agentfeedback.foundation.files import regular_bytes

# A `.git` file holds one path: far above the longest one a system takes.
_GITDIR_LIMIT = 1 << 16


def repository_root(directory: str) -> str | None:
    """The nearest folder at or above an absolute directory that is a git work tree; None when there is none."""
    while True:
        if _is_work_tree(directory):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _is_work_tree(directory: str) -> bool:
    git = os.path.join(directory, ".git")
    if os.path.isdir(git):
        return os.path.isfile(os.path.join(git, "HEAD"))
    try:
        first = regular_bytes(git, _GITDIR_LIMIT).partition(b"\n")[0]
    except (OSError, ValueError):
        return False
    target = first.removeprefix(b"gitdir: ").rstrip(b"\r")
    if not first.startswith(b"gitdir: ") or not target:
        return False
    # `isfile` answers for any bytes at all, a zero byte or an endless name included.
    return os.path.isfile(os.path.join(directory, os.fsdecode(target), "HEAD"))
