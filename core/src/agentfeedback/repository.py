"""The repository a directory lies in, and what its `.agentfeedback.toml` says (details 11, "Repository").

Nothing of git is run and nothing of its configuration is read; a repository file that is no
regular file, too large or not TOML is ignored, and what was wrong kept as the rules' `problem`.
"""

from __future__ import annotations

import os
from typing import Any

from agentfeedback.config import regular_bytes, strings, toml
from agentfeedback.policy import RepositoryRules
from agentfeedback.reader import reason_of

FILE = ".agentfeedback.toml"
#: The largest repository file that is read, in bytes.
FILE_LIMIT = 1 << 20
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


def repository_rules(root: str) -> RepositoryRules:
    """The rules in the repository file of a work tree; a key of a wrong type is ignored alone."""
    try:
        tables = toml(regular_bytes(os.path.join(root, FILE), FILE_LIMIT, follow=False))
    except FileNotFoundError:
        return RepositoryRules(root)
    except (OSError, ValueError) as error:
        return RepositoryRules(root, problem=reason_of(error))
    collect, sessions = _table(tables, "collect"), _table(tables, "sessions")
    push = sessions.get("push")
    return RepositoryRules(
        root,
        disabled=collect.get("disabled") is True,
        deny_paths=strings(collect.get("deny_paths")) or (),
        push=push if isinstance(push, bool) else None,
        drop=strings(_table(tables, "context").get("drop")) or (),
    )


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


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name)
    return table if isinstance(table, dict) else {}
