"""Adds and removes agentfeedback's entries in the text of a harness's hook file; every other byte stays (C93). Pure.

An entry is marked by its command: `<agentfeedback> hook <harness> <event>`. What was there before is
told by the text alone, so that a removal gives back the bytes there were: an array or object made for
an entry has white space after its bracket, while an entry put into an empty one that was there stands
directly behind the bracket.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.harness_hooks.json_edit import (
    _DECODER,
    _INDENT,
    _check,
    _cut,
    _inserted,
    _member,
    _Part,
    _parts,
    _rendered,
    _root,
    _scalar,
)


@frozen
class _Mark:
    """One marked entry: its event, its place in the event's array, and its command."""

    event: _Part
    item: _Part
    #: The entry itself; in a group it is one of those of `item`.
    entry: _Part
    command: _Part
    text: str


def command(program: str, harness: str, event: str) -> str:
    """The shell command of an entry; `program` is already quoted for the shell."""
    return f"{program} hook {harness} {event}"


def installed(text: str, installer: Installer, program: str) -> str:
    """The text with one marked entry for each event; the same text where nothing is to do.

    Raises `Refused` for what is not strict JSON of the shape of a hook file.
    """
    _check(text)
    for event in installer.events:
        wanted = command(program, installer.harness, event)
        marks = [mark for mark in _marks(text, installer) if mark.event.key == event]
        while len(marks) > 1:
            text = _without(text, installer, marks[-1])
            marks = [mark for mark in _marks(text, installer) if mark.event.key == event]
        if not marks:
            text = _with(text, installer, event, wanted)
        elif marks[0].text != wanted:  # the program has moved
            at = marks[0].command
            text = text[: at.value] + _scalar(wanted) + text[at.end :]
    return text


def removed(text: str, installer: Installer) -> str:
    """The text without marked entries; the same text where there is none. Raises `Refused` as `installed` does."""
    _check(text)
    while marks := list(_marks(text, installer)):
        text = _without(text, installer, marks[-1])
    return text


def events(text: str, installer: Installer) -> list[str]:
    """The events that marked entries stand under. Raises `Refused` as `installed` does."""
    _check(text)
    return list(dict.fromkeys(mark.event.key for mark in _marks(text, installer)))


def was_made(text: str, installer: Installer) -> bool:
    """Whether the text is what `made` gives, so that nobody else had or has a part in it."""
    mark = next(_marks(text, installer), None)
    return mark is not None and text == made(installer, _program(mark.text))


def made(installer: Installer, program: str) -> str:
    """The whole text of a hook file where there was none."""
    hooks = {
        event: [_entry(installer, command(program, installer.harness, event))]
        for event in installer.events
    }
    version = {} if installer.version is None else {"version": installer.version}
    return _rendered({**version, "hooks": hooks}, "\n", _INDENT) + "\n"


# -- reading -----------------------------------------------------------------------------------


def _marks(text: str, installer: Installer) -> Iterator[_Mark]:
    hooks = _member(text, _root(text), "hooks")
    for event in _parts(text, hooks.value) if hooks is not None else ():
        for item in _parts(text, event.value):
            for entry in _entries(text, item, grouped=installer.grouped):
                found = _member(text, entry.value, installer.command_member)
                value = _DECODER.raw_decode(text, found.value)[0] if found is not None else None
                if found is not None and isinstance(value, str) and _is_own(value, installer):
                    yield _Mark(event, item, entry, found, value)


def _entries(text: str, item: _Part, *, grouped: bool) -> list[_Part]:
    if not grouped:
        return [item]
    inner = _member(text, item.value, "hooks")
    return _parts(text, inner.value) if inner is not None and text[inner.value] == "[" else []


def _is_own(text: str, installer: Installer) -> bool:
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    if len(words) < 4 or words[-3:-1] != ["hook", installer.harness]:
        return False
    program = words[:-3]
    if program[1:] == ["-m", "agentfeedback"]:
        return os.path.isabs(program[0])
    return len(program) == 1 and os.path.basename(program[0]) == "agentfeedback"


def _program(text: str) -> str:
    return shlex.join(shlex.split(text)[:-3])


# -- writing -----------------------------------------------------------------------------------


def _entry(installer: Installer, text: str) -> dict[str, Any]:
    entry = installer.entry(text)
    return {"hooks": [entry]} if installer.grouped else entry


def _with(text: str, installer: Installer, event: str, wanted: str) -> str:
    entry = _entry(installer, wanted)
    root = _root(text)
    hooks = _member(text, root, "hooks")
    if hooks is None:
        return _inserted(text, root, 1, "hooks", {event: [entry]})
    entries = _member(text, hooks.value, event)
    if entries is None:
        return _inserted(text, hooks.value, 2, event, [entry])
    return _inserted(text, entries.value, 3, "", entry)


def _without(text: str, installer: Installer, mark: _Mark) -> str:
    """The text without one entry, and without what was made for it and is empty now."""
    if installer.grouped:
        group = _member(text, mark.item.value, "hooks")
        assert group is not None  # the mark was found in it
        if len(_parts(text, group.value)) > 1:
            return _cut(text, group.value, mark.entry)
    hooks = _member(text, _root(text), "hooks")
    assert hooks is not None
    if len(_parts(text, mark.event.value)) > 1 or not _made_for_it(text, mark.event.value):
        return _cut(text, mark.event.value, mark.item)
    if len(_parts(text, hooks.value)) > 1 or not _made_for_it(text, hooks.value):
        return _cut(text, hooks.value, mark.event)
    return _cut(text, _root(text), hooks)


def _made_for_it(text: str, opening: int) -> bool:
    return text[opening + 1] in " \t\n\r"
