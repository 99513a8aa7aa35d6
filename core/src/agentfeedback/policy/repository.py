"""The repository a directory is in, and what its `.agentfeedback.toml` says.

Nothing of git is run and nothing of its configuration is read. A file that is there and cannot be
followed refuses: whoever wrote it believes that the repository's sessions are left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal

from agentfeedback.config.toml_text import strings, toml
from agentfeedback.foundation.errors import reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.policy.rules import FILE, RepositoryRules

#: The largest repository file that is read, in bytes.
FILE_LIMIT = 1 << 20
#: The most keys nobody knows that a file may have, and the most characters of a text of it that are shown.
_UNKNOWN, _SHOWN = 100, 200

#: What a repository may set. Nothing reads `detect.nudge` of a repository yet.
_KEYS: dict[str, dict[str, Literal["switch", "list"]]] = {
    "collect": {"disabled": "switch", "deny_paths": "list"},
    "context": {"drop": "list"},
    "detect": {"nudge": "switch"},
    "sessions": {"push": "switch"},
}
_NAMES = [key for table in _KEYS.values() for key in table]


def repository_rules(root: str) -> RepositoryRules:
    """The rules in the repository file of a work tree; `problem` says why one that is there cannot be followed."""
    try:
        tables = toml(regular_bytes(os.path.join(root, FILE), FILE_LIMIT, follow=False))
        warnings: list[str] = []
        for warning in _unknown(root, tables):
            if len(warnings) == _UNKNOWN:
                raise ValueError(f"it has more than {_UNKNOWN} keys that are not known")
            warnings.append(warning)
    except FileNotFoundError:
        return RepositoryRules(root)
    except (OSError, ValueError) as error:
        return RepositoryRules(root, problem=reason_of(error))
    collect, sessions = tables.get("collect", {}), tables.get("sessions", {})
    return RepositoryRules(
        root,
        disabled=collect.get("disabled", False),
        deny_paths=tuple(collect.get("deny_paths", ())),
        push=sessions.get("push"),
        drop=tuple(tables.get("context", {}).get("drop", ())),
        warnings=tuple(warnings),
    )


def _unknown(root: str, tables: dict[str, Any]) -> Iterator[str]:
    """Warnings about unknown keys of the file. Raises `ValueError` for what cannot be followed."""
    for name, table in tables.items():
        if name not in _KEYS:
            _not_near(name, [*_KEYS, *_NAMES])
            yield f"{_shown(name)} is ignored; a repository sets {', '.join(_KEYS)} only"
        elif not isinstance(table, dict):
            raise ValueError(f"{name} is not a table")
        else:
            for key, value in table.items():
                form = _KEYS[name].get(key)
                if form is None:
                    _not_near(key, _NAMES, f"{name}.")
                    allowed = ", ".join(_KEYS[name])
                    yield f"{name}.{_shown(key)} is ignored; a repository sets {allowed} there only"
                else:
                    _check(root, f"{name}.{key}", form, value)


def _not_near(name: str, words: list[str], before: str = "") -> None:
    from agentfeedback.policy.user_file import near

    if meant := near(name, words):
        raise ValueError(
            f"key {before}{_shown(name)} is misspelt or in the wrong table; {meant} was meant"
        )


def _check(root: str, key: str, form: str, value: object) -> None:
    if form == "switch":
        if not isinstance(value, bool):
            raise ValueError(f"{key} is not true or false")
        return
    entries = strings(value)
    if entries is None:
        raise ValueError(f"{key} is not an array of strings")
    if key != "collect.deny_paths":
        return
    from agentfeedback.policy.user_file import wrong_entry

    for entry in entries:
        if entry.startswith("~"):
            raise ValueError(
                f"{key} entry {_shown(entry)!r} begins with ~, which means nothing here"
            )
        if fault := wrong_entry(entry, [os.path.join(root, entry)]):
            raise ValueError(f"{key} entry {_shown(entry)!r} {fault}")


def _shown(text: str) -> str:
    """A text of the file as far as a message has room for it; scrubbed first, so that a cut leaves no part of a secret."""
    from agentfeedback.scrub import SUBMIT, Scrubber, cut

    scrubber: Scrubber = Scrubber(SUBMIT)
    return cut(scrubber.text(text), _SHOWN)
