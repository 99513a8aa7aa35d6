"""The labels of a corpus, and whether a digest shows each failure as its class says. Pure but for `load`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from attrs import define, field, frozen

Class = Literal[
    "genuine-friction", "expected-failure", "cancellation", "denial", "repeat", "self-noise"
]
CLASSES: tuple[str, ...] = get_args(Class)

_CLAIMS = {
    "genuine-friction": "a tool_call event with status error and no self",
    "expected-failure": "a tool_call event with status error and no self",
    "cancellation": "a tool_call event with status interrupted",
    "denial": "a tool_call event with status denied, and the span in denials[]",
    "repeat": "a retries[] entry of that span",
    "self-noise": "a tool_call event with self true",
}


@frozen
class Label:
    """What a maintainer says a failure is; `tool` names the call where a span carries several."""

    session: str
    span: str
    kind: Class
    note: str
    tool: str | None = None
    #: The line of `labels.json` it begins on.
    line: int = 0

    @property
    def name(self) -> str:
        return f"{self.session}#{self.span}" + (f"[{self.tool}]" if self.tool else "")

    def covers(self, span: str, tool: str) -> bool:
        return self.span == span and self.tool in (None, tool)


@define
class _Written:
    """A label as it is written."""

    session: str
    span: str
    note: str
    kind: Class
    tool: str | None = field(default=None)


class LabelsError(Exception):
    """A `labels.json` that is not a list of labels; the text names each fault by index and member."""


def load(path: Path) -> list[Label]:
    """The labels of a file, in order; raises LabelsError naming every fault, OSError when it cannot be read."""
    import cattrs
    from cattrs.gen import make_dict_structure_fn, override

    text = path.read_text(encoding="utf-8")
    if not text.strip():
        raise LabelsError(f"{path} is empty: write [] where nothing is labelled")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise LabelsError(f"{path}: {error}") from None
    if not isinstance(value, list):
        raise LabelsError(f"{path}: want a list of labels")
    converter = cattrs.Converter(forbid_extra_keys=True)
    converter.register_structure_hook(str, _text)
    shape = make_dict_structure_fn(
        _Written, converter, _cattrs_forbid_extra_keys=True, kind=override(rename="class")
    )
    converter.register_structure_hook(_Written, shape)
    try:
        written = converter.structure(value, list[_Written])
    except cattrs.BaseValidationError as error:
        found = cattrs.transform_error(error, path="labels", format_exception=_fault)
        faults = [fault.replace("].kind", "].class") for fault in found]
        raise LabelsError(f"{path}: " + "; ".join(faults)) from None
    faults = [
        f"labels[{index}]: {name} is empty"
        for index, label in enumerate(written)
        for name in ("session", "span", "note")
        if not getattr(label, name).strip()
    ]
    if faults:
        raise LabelsError(f"{path}: " + "; ".join(faults))
    lines = _lines(text)
    return [
        Label(each.session, each.span, each.kind, each.note, each.tool, line)
        for each, line in zip(written, lines, strict=True)
    ]


def dumped(labels: Iterable[Label]) -> str:
    """The text of a `labels.json`: one label a line, in the order given."""
    lines = [
        json.dumps(
            {
                "session": label.session,
                "span": label.span,
                **({"tool": label.tool} if label.tool is not None else {}),
                "class": label.kind,
                "note": label.note,
            },
            ensure_ascii=False,
        )
        for label in labels
    ]
    return "[\n" + "".join(f"  {line},\n" for line in lines)[:-2] + "\n]\n" if lines else "[]\n"


def broken(label: Label, digest: Mapping[str, Any] | None) -> str:
    """Why the digest does not show the failure as its label says; empty when it does."""
    claim = f"label {label.name} claims {label.kind}: {_CLAIMS[label.kind]} ({label.note})"
    if digest is None:
        return f"{claim}\nbut no session {label.session} was digested"
    events = [event for event in calls(digest) if label.covers(event["span"], event["tool"])]
    if label.kind == "repeat":
        shown = [retry for retry in digest["retries"] if label.covers(retry["span"], retry["tool"])]
        return "" if shown else f"{claim}\nbut the digest shows retries {digest['retries']}"
    if not events:
        return f"{claim}\nbut the digest shows no tool_call event of it{_others(digest)}"
    if label.tool is None and len({event["tool"] for event in events}) > 1:
        tools = ", ".join(sorted({event["tool"] for event in events}))
        return f'{claim}\nbut the span carries several calls ({tools}): name one with "tool"'
    if all(_shows(label, event, digest) for event in events):
        return ""
    shown = [
        {name: event[name] for name in ("span", "tool", "status", "self") if name in event}
        for event in events
    ]
    return f"{claim}\nbut the digest shows {shown}, denials {digest['denials']}"


def unlabelled(labels: Iterable[Label], digest: Mapping[str, Any]) -> list[str]:
    """The `tool_call` events of a digest that no label of its session covers, as text."""
    return [
        f"{event['span']} {event['tool']} {event['status']}: {event.get('excerpt', '')[:80]}".rstrip()
        for event in without_label(labels, digest)
    ]


def without_label(labels: Iterable[Label], digest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The `tool_call` events of a digest that no label of its session covers."""
    own = [label for label in labels if label.session == digest["session_id"]]
    return [
        event
        for event in calls(digest)
        if not any(label.covers(event["span"], event["tool"]) for label in own)
    ]


def duplicates(labels: Iterable[Label]) -> list[str]:
    """The names of labels given more than once."""
    seen: set[tuple[str, str, str | None]] = set()
    twice = []
    for label in labels:
        key = (label.session, label.span, label.tool)
        if key in seen:
            twice.append(f"line {label.line}: {label.name} has a label already")
        seen.add(key)
    return twice


def summary(harness: str, shown: Iterable[str], open_events: int) -> str:
    """One line about a corpus: how many labels of which classes hold a failure, and what has none."""
    kinds = list(shown)
    missing = [name for name in CLASSES if name not in kinds]
    line = f"{harness}: {len(kinds)} labelled, {open_events} unlabelled, {len(CLASSES) - len(missing)}/{len(CLASSES)} classes"
    return line + (f" (no example of {', '.join(missing)})" if missing else "")


def calls(digest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The `tool_call` events of a digest."""
    return [
        {**event, "tool": event.get("tool", "")}
        for event in digest["events"]
        if event["type"] == "tool_call"
    ]


def _shows(label: Label, event: Mapping[str, Any], digest: Mapping[str, Any]) -> bool:
    own, status = bool(event.get("self")), event["status"]
    if label.kind == "self-noise":
        return own
    if label.kind == "cancellation":
        return bool(status == "interrupted")
    if label.kind == "denial":
        return status == "denied" and event["span"] in digest["denials"]
    return status == "error" and not own


def _others(digest: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{event['span']} ({event['status']})" for event in calls(digest))
    return f"; its events are {shown}" if shown else "; it has none"


def _text(value: Any, _: type[str]) -> str:
    if not isinstance(value, str):
        raise TypeError("want a text")
    return value


def _fault(error: BaseException, kind: type[Any] | None) -> str:
    from cattrs import ForbiddenExtraKeysError

    if isinstance(error, ForbiddenExtraKeysError):
        return f"unknown member {', '.join(sorted(error.extra_fields))}"
    if isinstance(error, KeyError):
        return "required member is missing"
    if "not in literal" in str(error):
        return f"want one of {', '.join(CLASSES)}"
    return str(error) or type(error).__name__


def _lines(text: str) -> list[int]:
    """The line each object of a JSON list begins on; `text` is known to be such a list."""
    decoder = json.JSONDecoder()
    lines: list[int] = []
    at = text.index("[") + 1
    while (start := text.find("{", at)) >= 0:
        lines.append(text.count("\n", 0, start) + 1)
        _, at = decoder.raw_decode(text, start)
    return lines
