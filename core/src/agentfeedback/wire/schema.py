"""JSON Schemas of what commands print with `--json`, made from the records that are printed. Pure.

A member that is always printed is required, one declared with `omitted()` is not, and there are no
others. Descriptions are the records' own docstrings. The files in `docs/reference/schemas` are made of
these and of those of other distributions.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields, has

from agentfeedback.wire import doctor as wire_doctor
from agentfeedback.wire import records
from agentfeedback.wire import report as wire_report
from agentfeedback.wire import show as wire_show

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
#: A record class, an annotation that JSON has a form for, or a schema.
Shape = Any
#: Shapes of members whose annotation says less than is true, by record and member.
Truer = Mapping[tuple[type, str], Shape]

_TRUER: Truer = {
    (records.DigestRun, "sessions"): list[records.Digest],
    (wire_show.Shown, "session"): records.Digest | wire_show.ShownSession,
    (records.HarnessStatus, "states"): dict[records.State, int],
    (wire_doctor.Drift, "skipped"): dict[records.State, int],
}
_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
}


def document(
    title: str, kind: type, *, added: Mapping[str, Shape] | None = None, truer: Truer | None = None
) -> Schema:
    """The schema of a record; `added` are members that other distributions may add to it."""
    making = _Making(truer)
    shown = making.record(kind)
    for name, shape in (added or {}).items():
        shown["properties"][name] = making.of(shape)
    return making.document(title, shown)


def assembled(
    title: str, members: Mapping[str, Shape], *, optional: Collection[str] = (), about: str = ""
) -> Schema:
    """The schema of an object that is not a record: its members by name."""
    making = _Making(None)
    shown: Schema = {"description": about} if about else {}
    shown |= {
        "type": "object",
        "properties": {name: making.of(shape) for name, shape in members.items()},
        "required": [name for name in members if name not in optional],
        "additionalProperties": False,
    }
    return making.document(title, shown)


class _Making:
    """One schema in the making, with the records that it refers to."""

    def __init__(self, truer: Truer | None) -> None:
        self._truer = {**_TRUER, **(truer or {})}
        self._definitions: dict[str, Schema] = {}

    def document(self, title: str, shown: Schema) -> Schema:
        found = {"$schema": DIALECT, "title": title, **shown}
        if self._definitions:
            found["$defs"] = dict(sorted(self._definitions.items()))
        return found

    def record(self, kind: type) -> Schema:
        hints = get_type_hints(kind)
        shown: Schema = {}
        if kind.__doc__:
            shown["description"] = " ".join(inspect.cleandoc(kind.__doc__).split())
        shown |= {"type": "object", "properties": {}, "required": []}
        for item in fields(kind):
            name = item.metadata.get("name") or item.name
            shape = self._truer.get((kind, item.name), hints[item.name])
            shown["properties"][name] = self.of(shape)
            if not item.metadata.get("omit"):
                shown["required"].append(name)
        return {**shown, "additionalProperties": False}

    def of(self, shape: Shape) -> Schema:
        if isinstance(shape, dict):
            return shape
        if has(shape):
            if shape.__name__ not in self._definitions:
                self._definitions[shape.__name__] = {}  # records may hold each other
                self._definitions[shape.__name__] = self.record(shape)
            return {"$ref": f"#/$defs/{shape.__name__}"}
        origin: Any = get_origin(shape)
        arguments = get_args(shape)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, UnionType):
            # None is never printed: such a member is left out.
            kept = [self.of(each) for each in arguments if each is not NoneType]
            return kept[0] if len(kept) == 1 else {"anyOf": kept}
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is dict:
            shown = {"type": "object", "additionalProperties": self.of(arguments[1])}
            return (
                shown if arguments[0] is str else {**shown, "propertyNames": self.of(arguments[0])}
            )
        return dict(_SCALARS[shape])


def schemas(*, doctor: Mapping[str, Shape] | None = None) -> dict[str, Schema]:
    """Every schema of the core by its name; `doctor` are the sections that plugins add to the report."""
    sessions = "agentfeedback sessions"
    return {
        "sessions-list": document(f"{sessions} list --json", records.Listing),
        "sessions-digest": document(f"{sessions} digest --json", records.DigestRun),
        "sessions-report": document(f"{sessions} report --json", wire_report.Report),
        "sessions-show": document(f"{sessions} show --json", wire_show.Shown),
        "sessions-mark": document(f"{sessions} mark --json", records.Marked),
        "sessions-status": document(f"{sessions} status --json", records.Status),
        "sessions-forget": document(f"{sessions} forget --json", records.Forgotten),
        "install": document("agentfeedback install --json, uninstall --json", records.Wiring),
        "plugins": document("agentfeedback plugins --json", records.Plugins),
        "doctor": document("agentfeedback doctor --json", wire_doctor.Doctor, added=doctor),
        "demo": assembled(
            "agentfeedback demo --json", {"list": records.Listing, "digest": records.DigestRun}
        ),
    }
