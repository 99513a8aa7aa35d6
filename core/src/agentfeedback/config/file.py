"""What `config.toml` says, checked against its shape; nothing is written or created."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from agentfeedback.config.shape import Config
from agentfeedback.config.toml_text import toml
from agentfeedback.foundation.errors import ConfigError, reason_of
from agentfeedback.foundation.files import NotRegularError, regular_bytes
from agentfeedback.foundation.paths import dangling

if TYPE_CHECKING:
    from agentfeedback.config.keys import Key

# What checks a file is imported where there is one.

#: Where msgspec says that something is wrong: `$.collect.deny_paths[1]` is the key `collect.deny_paths`.
_PLACE = re.compile(r" - at `\$\.([^`\[]+)[^`]*`$")


@frozen(eq=False)
class ConfigFile:
    """What a file holds: the configuration, and its tables as they are written."""

    path: str
    config: Config
    tables: Mapping[str, Any]


def load(path: str) -> Config:
    """The configuration in a file; raises as `read` does."""
    return read(path).config


def read(path: str) -> ConfigFile:
    """The configuration in a file with the tables it comes from; a missing file is an empty one.

    Raises `ConfigError` when the file cannot be read, is not a regular file or not TOML, or holds a
    known key of another type or with a value that it cannot have. A link that leads nowhere is such
    an error and not a missing file: a policy on a volume that is not there must not turn into no policy.
    """
    try:
        data = regular_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        link = dangling(path)
        if link is None:
            return ConfigFile(path, Config(), {})
        raise _invalid(path, f"{link} is a link that leads nowhere") from None
    except (NotRegularError, ValueError) as error:
        raise _invalid(path, reason_of(error)) from error
    except OSError as error:
        raise ConfigError(
            f"config file {path} cannot be read: {reason_of(error)}",
            "allow yourself to read it and to search its folders"
            if isinstance(error, PermissionError)
            else "correct that and try again",
        ) from error
    try:
        tables = toml(data)
    except ValueError as error:
        raise _invalid(path, str(error)) from error
    return ConfigFile(path, _fitted(path, tables), tables)


def _fitted(path: str, tables: dict[str, Any]) -> Config:
    import msgspec

    from agentfeedback.config.keys import KEYS

    try:
        config = msgspec.convert(tables, Config)
    except msgspec.ValidationError as error:
        place = _PLACE.search(str(error))
        name = place[1] if place else ""
        raise _invalid(path, _wrong_type(name), KEYS.get(name)) from None
    for key in KEYS.values():
        if problem := _problem(key, tables):
            raise _invalid(path, f"{key.name}: {problem}", key)
    return config


def _problem(key: Key, tables: dict[str, Any]) -> str:
    """What is wrong with the value of a key that has the right type; an empty string counts as not set."""
    value = (tables.get(key.table, {}) if key.table else tables).get(key.short)
    return key.wrong(value) if key.editable and value not in (None, "") else ""


def _wrong_type(name: str) -> str:
    """The sentence for a key or table whose value has another type."""
    from agentfeedback.config.keys import KEYS

    key = KEYS.get(name)
    if key is None:
        return f"{name} is not a table"
    return f"{name} is not {'a string' if key.form in ('text', 'secret') else key.wanted()}"


def _invalid(path: str, reason: str, key: Key | None = None) -> ConfigError:
    remedy = "correct the file"
    if key is not None and key.editable:
        remedy = f"run agentfeedback config unset {key.name}, or {remedy}"
    return ConfigError(f"config file {path} is not valid: {reason}", remedy)
