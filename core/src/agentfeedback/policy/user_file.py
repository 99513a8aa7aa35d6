"""Keys of the user's configuration file that are not followed: near misses of `[collect]`, which refuse, and unknown ones.

Whoever wrote a line that was meant for `[collect]` believes that sessions are left alone, so no
session is read until it is corrected. Pure, but for entries with a `*`, which are looked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import fields

from agentfeedback.config.keys import keys_of
from agentfeedback.config.shape import Collect
from agentfeedback.foundation.errors import ConfigError
from agentfeedback.policy.rules import expanded

if TYPE_CHECKING:
    from agentfeedback.config.file import ConfigFile

#: The tables of the file with the keys of each, and the keys at its top.
KEYS: Mapping[str, frozenset[str]] = {
    table: keys_of(table) for table in ("collect", "context", "detect", "sessions")
}
TOP = keys_of("")
_LISTS = ("deny_paths", "opt_in_paths")
_RULES = tuple(each.name for each in fields(Collect))
#: How near a name must be to a known one to be taken for a slip: the ratio of `difflib`.
_NEAR = 0.8
#: The most characters of a name or an entry that are shown, and the most faults one error names.
_SHOWN, _NAMED = 200, 5


def refuse_near_misses(file: ConfigFile, homes: Sequence[str]) -> None:
    """Raise `ConfigError` with the near misses of a file, if it has any. `homes` are those `~` stands for."""
    found = near_misses(file.tables, homes)
    if not found:
        return
    more = len(found) - _NAMED
    named = found[:_NAMED] + ([f"and {more} more"] if more > 0 else [])
    raise ConfigError(
        f"config file {file.path} is not valid: {'; '.join(named)}",
        "correct the file; no session is read until then",
    )


def near_misses(tables: Mapping[str, Any], homes: Sequence[str]) -> list[str]:
    """Everything in the file that was meant for `[collect]` and cannot be followed, each with the right form, scrubbed."""
    found = list(_outside(tables))
    table = tables.get("collect")
    if isinstance(table, dict):
        found += _collect(table, homes)
    if not found:
        return []
    from agentfeedback.scrub import SUBMIT, Scrubber, cut

    scrubber: Scrubber = Scrubber(SUBMIT)
    return [f"{cut(scrubber.text(what), _SHOWN)} {why}" for what, why in found]


def _collect(table: Mapping[str, Any], homes: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in table:
        if key not in _RULES:
            meant = near(key, _RULES)
            right = f"write {meant}" if meant else f"its keys are {', '.join(_RULES)}"
            yield f"collect.{key}", f"is not a key of [collect] ({right})"
    for key in _LISTS:
        for entry in table.get(key, ()):
            if fault := wrong_entry(entry, expanded(entry, homes)):
                right = "write an absolute path, ~, or a path that begins with ~/"
                yield f"collect.{key} entry {entry!r}", f"{fault} ({right})"
    if table.get("opt_in_paths") and "opt_in_only" not in table:
        yield (
            "collect.opt_in_paths",
            "is set without collect.opt_in_only (write opt_in_only = true, or false to allow all)",
        )


def wrong_entry(entry: str, paths: Sequence[str]) -> str:
    """What is wrong with an entry of a list of folders; empty when nothing is.

    `paths` are the absolute paths it stands for: none where its form is not allowed.
    """
    if not entry:
        return "is empty"
    if "\0" in entry:
        return "holds a NUL character, which no path has"
    if entry.startswith("$"):
        return "begins with $, and variables are not expanded"
    if not paths:
        return "is not a home of yours" if entry.startswith("~") else "is a relative path"
    if "*" in entry and not any(map(os.path.lexists, paths)):
        return "holds a *, and nothing has that very name; patterns are not expanded"
    return ""


def _outside(tables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of `[collect]` in another place, and names that are near to it or to one of its keys."""
    for name, value in tables.items():
        known = name in KEYS or name in TOP
        if not known and (meant := near(name, ("collect", *_RULES))):
            yield _named(name, value), _right(meant)
        elif name != "collect":
            yield from _within(name, value)


def _within(name: str, value: Any) -> Iterator[tuple[str, str]]:
    waiting = [(name, value)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(at, each) for each in value if isinstance(each, (dict, list))]
        elif isinstance(value, dict):
            for key, inner in value.items():
                path = f"{at}.{key}"
                if key in _RULES:
                    yield path, _right(key)
                elif isinstance(inner, dict) and near(key, ("collect",)):
                    yield _named(path, inner), _right("collect")
                else:
                    waiting.append((path, inner))


def _named(name: str, value: Any) -> str:
    return f"[{name}]" if isinstance(value, dict) else name


def _right(meant: str) -> str:
    if meant == "collect":
        return "is not [collect] (write [collect])"
    return f"is outside of [collect] or misspelt (write {meant} below the line [collect])"


def near(name: str, words: Iterable[str]) -> str:
    """The word that a name, or a part of it between dots, is or is near to; empty when there is none."""
    known = list(words)
    longest = 2 * max(map(len, known))  # a longer name cannot be near
    parts = [part.strip().lower() for part in (name, *name.split("."))]
    for part in dict.fromkeys(part for part in parts if 0 < len(part) <= longest):
        if part in known:
            return part
        from difflib import get_close_matches

        if found := get_close_matches(part, known, 1, _NEAR):
            return found[0]
    return ""


def unknown_keys(tables: Mapping[str, Any]) -> list[str]:
    """The other unknown keys of the file, which have no effect."""
    found = []
    for name, value in tables.items():
        if name in TOP or name == "collect":
            continue
        if name not in KEYS:
            if not near(name, ("collect", *_RULES)):
                found.append(f"{_named(name, value)} is not known; it is ignored")
        elif isinstance(value, dict):
            found += [
                f"[{name}] has no key {key}; it is ignored"
                for key in value
                if key not in KEYS[name] and key not in _RULES
            ]
    return found
