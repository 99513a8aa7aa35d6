"""Adds and removes a program's entries in the text of a harness's hook file; every other byte stays. Pure.

An entry is a program's own when the words of its command say so: `owns` decides. What was there before
is decided by the text alone, so that a removal gives back the bytes there were: an array or object made
for an entry has white space after its bracket, while an entry put into an empty one that was there
stands directly behind the bracket.
"""

from __future__ import annotations

import shlex

from agentfeedback.harness_hooks.json_edit import (
    INDENT,
    NotEditable,
    Part,
    cut,
    decoded,
    inserted,
    member,
    parts,
    rendered,
    root,
    scalar,
    value_at,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentfeedback.harness_hooks.installer import Installer

    #: Whether an entry is ours, by the words of its command as a shell splits them.
    Owns = Callable[[list[str]], bool]


class _Mark:
    """One entry of one's own: its event, its place in the event's array, and its command."""

    __slots__ = ("command", "entry", "event", "item", "text")

    def __init__(self, event: Part, item: Part, entry: Part, command: Part, text: str) -> None:
        self.event = event
        self.item = item
        #: The entry itself; in a group it is one of those of `item`.
        self.entry = entry
        self.command = command
        self.text = text


def installed(text: str, installer: Installer, commands: Mapping[str, str], owns: Owns) -> str:
    """Return the text with one entry of ours for each event of `commands`; unchanged where that is so already.

    Raises `NotEditable` for what is not strict JSON of the shape of a hook file.
    """
    _check(text)
    for event, wanted in commands.items():
        marks = _marks_under(text, installer, owns, event)
        while len(marks) > 1:
            text = _without(text, installer, marks[-1])
            marks = _marks_under(text, installer, owns, event)
        if not marks:
            text = _with(text, installer, event, wanted)
        elif marks[0].text != wanted:  # the program has moved
            at = marks[0].command
            text = text[: at.value] + scalar(wanted) + text[at.end :]
    return text


def removed(text: str, installer: Installer, owns: Owns) -> str:
    """Return the text without our entries; the same text where it has none of ours. Raises as `installed` does."""
    _check(text)
    while marks := list(_marks(text, installer, owns)):
        text = _without(text, installer, marks[-1])
    return text


def events(text: str, installer: Installer, owns: Owns) -> list[str]:
    """Return the events that entries of one's own stand under. Raises as `installed` does."""
    _check(text)
    return list(dict.fromkeys(mark.event.key for mark in _marks(text, installer, owns)))


def commands(text: str, installer: Installer, owns: Owns) -> dict[str, list[str]]:
    """Return the commands of one's own entries, by event. Raises as `installed` does."""
    _check(text)
    found: dict[str, list[str]] = {}
    for mark in _marks(text, installer, owns):
        found.setdefault(mark.event.key, []).append(mark.text)
    return found


def was_made(text: str, installer: Installer, owns: Owns) -> bool:
    """Return whether the text is what `made` gives, so that nobody else had or has a part in it."""
    commands = {mark.event.key: mark.text for mark in _marks(text, installer, owns)}
    return commands.keys() == set(installer.events) and text == made(installer, commands)


def made(installer: Installer, commands: Mapping[str, str]) -> str:
    """Return the whole text of a hook file where there was none."""
    hooks = {event: [installer.item(event, commands[event])] for event in installer.events}
    version = {} if installer.version is None else {"version": installer.version}
    return rendered({**version, "hooks": hooks}, "\n", INDENT) + "\n"


# -- reading -----------------------------------------------------------------------------------


def _check(text: str) -> None:
    hooks = decoded(text).get("hooks", {})
    if not isinstance(hooks, dict):
        raise NotEditable("its hooks are not an object")
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            raise NotEditable(f"its hooks of {event} are not an array")


def _marks(text: str, installer: Installer, owns: Owns) -> Iterator[_Mark]:
    hooks = member(text, root(text), "hooks")
    for event in parts(text, hooks.value) if hooks is not None else ():
        for item in parts(text, event.value):
            for entry in _entries(text, item, grouped=installer.grouped):
                found = member(text, entry.value, installer.command_member)
                value = value_at(text, found.value) if found is not None else None
                if found is not None and isinstance(value, str) and _is_own(value, owns):
                    yield _Mark(event, item, entry, found, value)


def _marks_under(text: str, installer: Installer, owns: Owns, event: str) -> list[_Mark]:
    return [mark for mark in _marks(text, installer, owns) if mark.event.key == event]


def _entries(text: str, item: Part, *, grouped: bool) -> list[Part]:
    if not grouped:
        return [item]
    inner = member(text, item.value, "hooks")
    return parts(text, inner.value) if inner is not None and text[inner.value] == "[" else []


def _is_own(text: str, owns: Owns) -> bool:
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return owns(words)


# -- writing -----------------------------------------------------------------------------------


def _with(text: str, installer: Installer, event: str, wanted: str) -> str:
    item = installer.item(event, wanted)
    top = root(text)
    hooks = member(text, top, "hooks")
    if hooks is None:
        return inserted(text, top, 1, "hooks", {event: [item]})
    entries = member(text, hooks.value, event)
    if entries is None:
        return inserted(text, hooks.value, 2, event, [item])
    return inserted(text, entries.value, 3, "", item)


def _without(text: str, installer: Installer, mark: _Mark) -> str:
    """The text without one entry, and without what was made for it and is empty now."""
    if installer.grouped:
        group = member(text, mark.item.value, "hooks")
        assert group is not None  # the mark was found in it
        if len(parts(text, group.value)) > 1:
            return cut(text, group.value, mark.entry)
    hooks = member(text, root(text), "hooks")
    assert hooks is not None
    if len(parts(text, mark.event.value)) > 1 or not _made_for_it(text, mark.event.value):
        return cut(text, mark.event.value, mark.item)
    if len(parts(text, hooks.value)) > 1 or not _made_for_it(text, hooks.value):
        return cut(text, hooks.value, mark.event)
    return cut(text, root(text), hooks)


def _made_for_it(text: str, opening: int) -> bool:
    return text[opening + 1] in " \t\n\r"
