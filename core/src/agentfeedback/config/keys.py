"""Every key of `config.toml` by its dotted name, as `shape` declares it: what checks a file and what rewrites one ask here. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import fields, frozen

from agentfeedback.config.shape import Config, Form

_DURATION = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_COUNT = re.compile(r"-?[0-9]{1,9}", re.ASCII)
#: The most bytes of UTF-8 a text may have: what an envelope takes.
_TEXT_BYTES = 200


@frozen
class Key:
    """One key: `name` is dotted; an `editable` one may be changed by command, and none of those grants anything.

    `least` is the smallest count that is taken.
    """

    name: str
    form: Form
    default: Any = None
    editable: bool = False
    least: int | None = None

    @property
    def table(self) -> str:
        """The table it stands in; empty for the top of the file."""
        return self.name.rpartition(".")[0]

    @property
    def short(self) -> str:
        """Its name within the table."""
        return self.name.rpartition(".")[2]

    def of(self, text: str) -> Any:
        """The value a text on the command line means. Raises `ValueError` with the form that is wanted."""
        if self.form == "switch" and text in ("true", "false"):
            return text == "true"
        if self.form == "count" and _COUNT.fullmatch(text):
            value: Any = int(text)
        elif self.form in ("duration", "text"):
            value = text
        else:
            raise ValueError(self.wanted())
        if self.wrong(value):
            raise ValueError(self.wanted())
        return value

    def wrong(self, value: Any) -> str:
        """What is wrong with a value in the file; empty when nothing is."""
        fits = {
            "switch": isinstance(value, bool),
            "count": isinstance(value, int)
            and not isinstance(value, bool)
            and (self.least is None or value >= self.least),
            "duration": isinstance(value, str) and bool(seconds(value)),
            "text": isinstance(value, str) and self._is_text(value),
            "secret": isinstance(value, str),
            "list": isinstance(value, list) and all(isinstance(item, str) for item in value),
        }[self.form]
        return "" if fits else f"it is not {self.wanted()}"

    def wanted(self) -> str:
        """The form in words."""
        if self.form == "count" and self.least is not None:
            return f"a whole number from {self.least} on"
        return _WANTED[self.form]

    def _is_text(self, value: str) -> bool:
        if not self.editable:
            return True
        return value.isprintable() and bool(value.strip()) and len(value.encode()) <= _TEXT_BYTES


def seconds(text: str) -> int:
    """Return the seconds of a duration like `90s`, `30m`, `12h` or `2d`; 0 if the text is not a positive duration."""
    match = _DURATION.fullmatch(text)
    return int(match[1]) * _SECONDS[match[2]] if match else 0


_WANTED = {
    "switch": "true or false",
    "count": "a whole number",
    "duration": "a time like 90s, 30m, 12h or 2d",
    "text": f"one line of text, at most {_TEXT_BYTES} bytes",
    "secret": "a text",
    "list": "an array of strings",
}


def _keys(table: type, before: str = "") -> Iterator[Key]:
    for each in fields(table):
        metadata = each.metadata
        if metadata:
            default = each.default if each.default != "" else None
            yield Key(
                f"{before}{each.name}",
                metadata["form"],
                default,
                metadata["editable"],
                metadata["least"],
            )
        else:  # a table is its own default
            yield from _keys(type(each.default), f"{each.name}.")


#: Every key, by its dotted name, in the order shown.
KEYS: Mapping[str, Key] = {key.name: key for key in _keys(Config)}


def keys_of(table: str) -> frozenset[str]:
    """The names of the keys in a table."""
    return frozenset(key.short for key in KEYS.values() if key.table == table)
