"""The arguments of a tool: their JSON Schema, and how they are read. Strict, as the API reads parameters.

One error is reported, the first in the order of names. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from attrs import frozen

from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.json_text import NotJson, Number, parse
from agentfeedback.plugins.host import Host
from agentfeedback_submissions.response import ApiError, invalid

Type = Literal["string", "boolean", "integer", "strings", "integers", "object"]
_LARGEST = 2**63 - 1
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_MANY: dict[str, Type] = {"strings": "string", "integers": "integer"}


@frozen(eq=False)
class Argument:
    """One argument. `least` is that of a number, or of how many items an array has, `items` how many at most.

    `check` makes of the value what the tool wants and raises `UsageError`, which is reported with the
    code `wrong`; of an array it gets each item.
    """

    name: str
    type: Type
    about: str
    required: bool = False
    words: tuple[str, ...] = ()
    least: int | None = None
    most: int = _LARGEST
    default: int | None = None
    items: int | None = None
    wrong: str = "invalid_format"
    check: Callable[[Host, Any], Any] | None = None

    def schema(self) -> dict[str, Any]:
        """The argument as JSON Schema."""
        about = {"description": self.about}
        if self.type in _MANY:
            items: dict[str, Any] = {"type": _MANY[self.type]}
            array = {**about, "type": "array", "items": items}
            bounds = {"minItems": self.least or None, "maxItems": self.items}
            return {**array, **{name: bound for name, bound in bounds.items() if bound}}
        shown: dict[str, Any] = {**about, "type": self.type}
        if self.words:
            shown["enum"] = list(self.words)
        if self.least is not None:
            shown["minimum"] = self.least
        if self.most != _LARGEST:
            shown["maximum"] = self.most
        if self.default is not None:
            shown["default"] = self.default
        return shown

    def read(self, host: Host, value: Any) -> Any:
        """The value as the tool wants it. Raises `ApiError`."""
        if self.type not in _MANY:
            return self._one(host, self.type, value)
        if not isinstance(value, list):
            raise self._refusal("type_mismatch", "is not an array")
        if len(value) < (self.least or 0):
            raise self._refusal("empty", "is empty")
        if self.items is not None and len(value) > self.items:
            raise self._refusal("out_of_range", f"takes at most {self.items}")
        return [self._one(host, _MANY[self.type], item) for item in value]

    def _one(self, host: Host, type: Type, value: Any) -> Any:
        if type == "integer":
            value = self._integer(value)
        elif not isinstance(value, _PYTHON[type]):
            raise self._refusal("type_mismatch", _MISMATCH[type])
        elif value == "":
            raise self._refusal("empty", "is empty")
        elif self.words and value not in self.words:
            raise self._refusal("out_of_range", f"takes {', '.join(self.words)}")
        if self.check is None:
            return value
        try:
            return self.check(host, value)
        except UsageError as error:
            message = f"{error.problem.removeprefix('--')}; {error.remedy}".replace(" --", " ")
            raise invalid(self.wrong, f"?{self.name}", message) from None

    def _integer(self, value: Any) -> int:
        if not isinstance(value, Number) or not _INTEGER.fullmatch(value.text):
            raise self._refusal("type_mismatch", _MISMATCH["integer"])
        least = -_LARGEST if self.least is None or self.type in _MANY else self.least
        # The length first: `int` refuses thousands of digits with an error of its own.
        if len(value.text) > len(str(-_LARGEST)) or not least <= int(value.text) <= self.most:
            bounds = f"from {least} on" if self.most == _LARGEST else f"{least} to {self.most}"
            raise self._refusal("out_of_range", f"takes numbers {bounds}")
        return int(value.text)

    def _refusal(self, code: str, problem: str) -> ApiError:
        return invalid(code, f"?{self.name}", f"{self.name} {problem}")


_PYTHON: dict[str, type] = {"string": str, "boolean": bool, "object": dict}
_MISMATCH = {
    "string": "is not a string",
    "boolean": "is neither true nor false",
    "integer": "is not a whole number",
    "object": "is not an object",
}


def schema(arguments: Iterable[Argument], *, open: bool = False) -> dict[str, Any]:
    """The arguments of a tool as JSON Schema; an `open` one takes others too."""
    known = list(arguments)
    shown: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: each.schema() for each in known},
        "additionalProperties": open,
    }
    required = [each.name for each in known if each.required]
    return {**shown, "required": required} if required else shown


def read(
    arguments: Iterable[Argument], text: bytes | None, host: Host, *, open: bool = False
) -> Mapping[str, Any]:
    """The arguments of a call by name; `text` is their JSON as it was written. Raises `ApiError`."""
    known = {each.name: each for each in arguments}
    try:
        document = parse(text if text is not None else b"null")
    except NotJson as error:
        raise ApiError("bad_request", f"the arguments are refused: {error}") from None
    given = {} if document.value is None else document.value
    if not isinstance(given, dict):
        raise ApiError("bad_request", "the arguments are not a JSON object")
    twice = {path[0] for path in document.duplicates if len(path) == 1}
    required = {name for name in known if known[name].required}
    found = {}
    for name in sorted(required.union(given)):
        if name not in known:
            if open:
                continue
            raise invalid("unknown_field", f"?{name}", f"there is no argument {name}")
        if name in twice:
            raise invalid("duplicate_key", f"?{name}", f"{name} is given more than once")
        if name not in given:
            raise invalid("required", f"?{name}", f"{name} is required")
        found[name] = known[name].read(host, given[name])
    return found
