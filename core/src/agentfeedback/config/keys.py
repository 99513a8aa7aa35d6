"""Every key of `config.toml`, with the form and the default of those a command may change (platform details 1.2). Pure.

The one place that names them: what checks a file and what rewrites one both ask here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

#: `switch` is true or false, `count` a whole number, `duration` a text like 30m, `list` an array of strings.
Form = Literal["switch", "count", "duration", "text", "list", "secret"]
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
    """The seconds of a duration like `90s`, `30m`, `12h` or `2d`; 0 for what is none, or none to wait for."""
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
_ALL = (
    Key("url", "text"),
    Key("api_key", "secret"),
    Key("machine", "text", editable=True),
    Key("model", "text", editable=True),
    Key("harness", "text", editable=True),
    Key("collect.disabled", "switch", default=False),
    Key("collect.deny_paths", "list", default=()),
    Key("collect.opt_in_only", "switch", default=False),
    Key("collect.opt_in_paths", "list", default=()),
    Key("context.cwd", "switch", default=False),
    Key("context.drop", "list", default=()),
    Key("context.app", "text"),
    Key("context.workspace", "text"),
    Key("context.url", "text"),
    Key("context.channel", "text"),
    Key("context.task_id", "text"),
    Key("context.workflow", "text"),
    Key("detect.nudge", "switch", default=True, editable=True),
    # Not above 0 keeps the default: so is how a threshold is given back without removing it.
    Key("detect.same_tool", "count", default=3, editable=True),
    Key("detect.same_command", "count", default=2, editable=True),
    Key("detect.session_failures", "count", default=5, editable=True),
    Key("detect.interval_minutes", "count", default=20, editable=True),
    Key("detect.max_per_session", "count", default=3, editable=True),
    Key("sessions.quiet", "duration", default="30m", editable=True),
    Key("sessions.push_batch", "count", default=10, editable=True, least=1),
    Key("sessions.push_budget", "duration", default="60s", editable=True),
)
#: Every key, by its dotted name, in the order shown.
KEYS: Mapping[str, Key] = {key.name: key for key in _ALL}


def keys_of(table: str) -> frozenset[str]:
    """The names of the keys in a table."""
    return frozenset(key.short for key in _ALL if key.table == table)
