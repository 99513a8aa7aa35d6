"""What of a configuration has no effect: entries that are skipped, keys nobody knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentfeedback.config.keys import keys_of
from agentfeedback.config.paths import Paths
from agentfeedback.config.toml_text import strings, toml
from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.policy.repository import FILE, FILE_LIMIT
from agentfeedback.policy.rules import expanded

#: The keys of each table whose keys are checked.
KEYS: Mapping[str, frozenset[str]] = {
    table: keys_of(table) for table in ("collect", "context", "detect", "sessions")
}
_LISTS = ("deny_paths", "opt_in_paths")


def _boolean(value: object) -> str:
    return "" if isinstance(value, bool) else "it is not true or false"


def _array(value: object) -> str:
    return "" if strings(value) is not None else "it is not an array of strings"


_REPOSITORY: Mapping[str, Mapping[str, Callable[[object], str]]] = {
    "collect": {"disabled": _boolean, "deny_paths": _array},
    "context": {"drop": _array},
    "sessions": {"push": _boolean},
}


def collect_warnings(tables: Mapping[str, Any], homes: Sequence[str]) -> list[str]:
    """What has no effect in `[collect]` of the user's configuration."""
    found = [
        f"{key} stands outside of [collect]; it is ignored"
        for key in tables
        if key in KEYS["collect"]
    ]
    found += [
        f"[{name}] is not [collect]; it is ignored"
        for name, table in tables.items()
        if name != "collect" and isinstance(table, dict) and _looks_like_collect(name)
    ]
    table = tables.get("collect")
    if not isinstance(table, dict):
        return found
    found += [f"[collect] has no key {key}; it is ignored" for key in _unknown("collect", table)]
    for key in _LISTS:
        found += [
            f"collect.{key} entry {entry!r} is skipped; write an absolute path or one that begins with ~/"
            for entry in strings(table.get(key)) or ()
            if not expanded(entry, homes)
        ]
    if table.get("opt_in_paths") and not table.get("opt_in_only"):
        found.append("collect.opt_in_paths has no effect; set collect.opt_in_only to true")
    return found


def _looks_like_collect(name: str) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(name[:100].lower(), ["collect"], cutoff=0.8))


def policy_warnings(paths: Paths) -> list[str]:
    """The same of the file itself, which was read without fault before; one that is gone has none."""
    path = paths.config_file
    try:
        return collect_warnings(toml(regular_bytes(path)), paths.homes)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        return [f"config file {path} changed while it was read: {reason_of(error)}"]


def other_warnings(tables: Mapping[str, Any]) -> list[str]:
    """What has no effect in the other tables whose keys are checked."""
    return [
        f"[{name}] has no key {key}; it is ignored"
        for name in KEYS
        if name != "collect" and isinstance(tables.get(name), dict)
        for key in _unknown(name, tables[name])
    ]


def repository_warnings(root: str) -> list[str]:
    """What has no effect in the repository file of a work tree, whose folder is given."""
    path = os.path.join(root, FILE)
    try:
        tables = toml(regular_bytes(path, FILE_LIMIT, follow=False))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        return [f"{path} is ignored: {reason_of(error)}"]
    found = []
    for name, table in tables.items():
        if name not in _REPOSITORY:
            found.append(
                f"{path}: {name} is ignored; a repository sets collect, context and sessions only"
            )
        elif not isinstance(table, dict):
            found.append(f"{path}: {name} is ignored; it is not a table")
        else:
            found += [f"{path}: {problem}" for problem in _repository_table(name, table)]
    return found


def _repository_table(name: str, table: dict[str, Any]) -> list[str]:
    found = []
    for key, value in table.items():
        wrong = _REPOSITORY[name].get(key)
        if wrong is None:
            allowed = ", ".join(_REPOSITORY[name])
            found.append(f"{name}.{key} is ignored; a repository sets {allowed} there only")
        elif reason := wrong(value):
            found.append(f"{name}.{key} is ignored; {reason}")
        elif key in _LISTS:
            found += [
                f"{name}.{key} entry {entry!r} is skipped; ~ means nothing in a repository"
                for entry in value
                if entry.startswith("~")
            ]
    return found


def _unknown(name: str, table: dict[str, Any]) -> list[str]:
    return [key for key in table if key not in KEYS[name]]
