"""The work tree that a directory is in, and the folders git keeps for it."""

from __future__ import annotations

import os

from agentfeedback.foundation.files import regular_bytes

# A `.git` file and `commondir` hold one path each: far above the longest one a system takes.
_PATH_LIMIT = 1 << 16


class GitFolders:
    """The folders of a work tree: `folder` is its own, `common` is shared by all linked work trees."""

    __slots__ = ("common", "folder", "root")

    def __init__(self, root: str, folder: str, common: str) -> None:
        self.root = root
        self.folder = folder
        self.common = common


def repository_root(directory: str) -> str | None:
    """Return the nearest folder at or above an absolute directory that is a git work tree.

    Of a `.git` file the first line alone counts, so that a policy file beside it is found in more
    cases than git would take it for a work tree.
    """
    while True:
        if _is_work_tree(directory):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def git_folders(root: str) -> GitFolders | None:
    """Return the folders of the work tree at `root`; None where git would refuse them.

    Both pointer files are taken as git takes them: everything up to the line ends at their end is
    the path, blanks included.
    """
    folder = _own_folder(root, _path_in(os.path.join(root, ".git")))
    if folder is None or not os.path.isdir(folder):
        return None
    pointer = os.path.join(folder, "commondir")
    if not os.path.lexists(pointer):
        return GitFolders(root, folder, folder)
    common = _path_in(pointer)
    if not common:
        return None
    return GitFolders(root, folder, os.path.join(folder, common))


def _is_work_tree(directory: str) -> bool:
    folder = _own_folder(directory, _path_in(os.path.join(directory, ".git")).partition("\n")[0])
    # `isfile` answers for any bytes at all, a zero byte or an endless name included.
    return folder is not None and os.path.isfile(os.path.join(folder, "HEAD"))


def _own_folder(root: str, pointer: str) -> str | None:
    """The folder of a work tree; `pointer` is what its `.git` says where that is a file."""
    git = os.path.join(root, ".git")
    if os.path.isdir(git):
        return git
    target = pointer.removeprefix("gitdir: ").rstrip("\r")
    return os.path.join(root, target) if target and pointer != target else None


def _path_in(path: str) -> str:
    try:
        return os.fsdecode(regular_bytes(path, _PATH_LIMIT).rstrip(b"\r\n"))
    except (OSError, ValueError):
        return ""
