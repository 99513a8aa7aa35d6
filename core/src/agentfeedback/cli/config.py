"""`agentfeedback config`, `config set`, `config unset`: what is configured, and where that comes from.

The key of a server is shown as set or not, and no command takes it as an argument.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from attrs import define

from agentfeedback.config.edit import set_key, unset_key
from agentfeedback.config.file import read
from agentfeedback.config.keys import KEYS, Key
from agentfeedback.config.paths import Paths
from agentfeedback.config.resolve import VARIABLES
from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.urls import shown_url
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import closest
from agentfeedback.terminal.table import Column, table
from agentfeedback.wire.encode import encode, omitted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentfeedback.terminal.arguments import Parsed

_PLANS = ((("VALUE", 12),),)


@define(eq=False)
class Shown:
    """A key with the value that counts; `set` in place of the value of a secret. `source` is `env`, `config` or empty."""

    key: str
    editable: bool
    source: str
    value: Any = omitted()
    set: bool | None = omitted()


def run_config(line: Parsed) -> int:
    """`config`: every key."""
    if line.positionals:
        raise UsageError(
            f'there is no command "config {line.positionals[0]}"',
            "config shows everything; config set <key> <value> and config unset <key> change it",
        )
    paths = Paths.of(os.environ)
    shown = settings(read(paths.config_file).tables, os.environ)
    if line.json:
        plain = [_plain(each) for each in shown]
        screen.write(encode({"path": paths.config_file, "settings": plain}) + b"\n")
        return 0
    rows = [
        [
            each.key,
            _text(each),
            each.source or "default",
            "config set" if each.editable else "by hand",
        ]
        for each in shown
    ]
    columns = [
        Column("KEY", whole=True),
        Column("VALUE"),
        Column("SOURCE", whole=True),
        Column("CHANGED", whole=True),
    ]
    screen.write(f"{screen.visible(paths.config_file)}\n\n")
    screen.write(table(columns, rows, screen.Screen.of(sys.stdout, os.environ), _PLANS))
    return 0


def run_set(line: Parsed) -> int:
    """`config set`: one key of this machine."""
    if len(line.positionals) != 2:
        raise UsageError(
            "config set takes a key and a value", "write agentfeedback config set <key> <value>"
        )
    name, text = line.positionals
    key = _editable(name)
    try:
        value = key.of(text)
    except ValueError as wanted:
        raise UsageError(f'"{text}" is not a value of {name}', f"pass {wanted}") from None
    path = Paths.of(os.environ).config_file
    changed = set_key(path, key, value)
    screen.write(f"{name} is {'now' if changed else 'already'} {screen.visible(text)}\n")
    return _overridden(key)


def run_unset(line: Parsed) -> int:
    """`config unset`: back to the default."""
    if len(line.positionals) != 1:
        raise UsageError("config unset takes one key", "write agentfeedback config unset <key>")
    (name,) = line.positionals
    key = _editable(name)
    changed = unset_key(Paths.of(os.environ).config_file, key)
    screen.write(f"{name} {'is no longer set' if changed else 'was not set'}\n")
    return _overridden(key)


def settings(tables: Mapping[str, Any], environ: Mapping[str, str]) -> list[Shown]:
    """Every key as it counts, in the order of `KEYS`. Pure."""
    return [_setting(key, tables, environ) for key in KEYS.values()]


def _setting(key: Key, tables: Mapping[str, Any], environ: Mapping[str, str]) -> Shown:
    place = tables.get(key.table, {}) if key.table else tables
    value, source = place.get(key.short, key.default), ""
    if key.short in place and not (key.form in ("text", "secret") and not value):
        source = "config"
    if variable := environ.get(VARIABLES.get(key.name, ""), ""):
        value, source = variable, "env"
    if key.form == "secret":
        return Shown(key.name, key.editable, source, set=bool(value))
    if key.name == "url" and isinstance(value, str):
        value = shown_url(value)
    if isinstance(value, str | list | tuple) and value:  # a key that was put into a wrong line
        from agentfeedback.scrub import SUBMIT, Scrubber

        value = Scrubber(SUBMIT).tree(value)
    return Shown(key.name, key.editable, source, value=value if value != "" else None)


def _editable(name: str) -> Key:
    key = KEYS.get(name)
    if key is None:
        near = closest(name, [each.name for each in KEYS.values() if each.editable])
        hint = f"did you mean {near}? " if near else ""
        raise UsageError(f'no setting "{name}"', f"{hint}agentfeedback config shows all")
    if not key.editable:
        raise UsageError(
            f"{name} is not changed by command",
            "change it in the file that agentfeedback config names",
        )
    return key


def _overridden(key: Key) -> int:
    variable = VARIABLES.get(key.name, "")
    if os.environ.get(variable, ""):
        screen.note(f"agentfeedback config: warning: {variable} is set and goes before the file.")
    return 0


def _plain(shown: Shown) -> dict[str, Any]:
    """The JSON of a key: false and empty values count, so they are not left out."""
    plain = {"key": shown.key, "editable": shown.editable, "source": shown.source}
    if shown.set is not None:
        return {**plain, "set": shown.set}
    return {**plain, "value": list(shown.value) if isinstance(shown.value, tuple) else shown.value}


def _text(shown: Shown) -> str:
    if shown.set is not None:
        return "(set, not shown)" if shown.set else "-"
    value = shown.value
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(value) or "-"
    return str(value)
