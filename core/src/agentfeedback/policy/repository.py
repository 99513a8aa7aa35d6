"""The repository a directory is in, and what its `.agentfeedback.toml` says.

Nothing of git is run and nothing of its configuration is read; a repository file that is not a
regular file, is too large or not TOML is ignored, and what was wrong kept as the rules' `problem`.
"""

from __future__ import annotations

import os
from typing import Any

from agentfeedback.config.toml_text import strings, toml
from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.policy.rules import RepositoryRules

FILE = ".agentfeedback.toml"
#: The largest repository file that is read, in bytes.
FILE_LIMIT = 1 << 20


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


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name)
    return table if isinstance(table, dict) else {}
