"""What is installed, by entry points alone: nothing of a plugin is imported here."""

from __future__ import annotations

import re
from typing import Any, Literal

from attrs import define, field

from agentfeedback.foundation import entry_points
from agentfeedback.plugins.harnesses import HARNESSES

Kind = Literal["reader", "gate", "plugin", "command", "installer"]
GROUPS: dict[str, Kind] = {
    "agentfeedback.readers": "reader",
    "agentfeedback.gates": "gate",
    "agentfeedback.plugins": "plugin",
    "agentfeedback.commands": "command",
    "agentfeedback.installers": "installer",
}
_KINDS = list(GROUPS.values())
#: Names of plugins to leave out, separated by commas.
BLOCK_VARIABLE = "AGENTFEEDBACK_BLOCK"


@define(eq=False)
class Plugin:
    """An installed plugin, by its entry point; `error` says why it cannot be used."""

    name: str
    kind: Kind
    dist: str
    version: str
    #: `module` or `module:attribute`.
    value: str
    error: str = ""
    hooks: list[str] = field(factory=list)
    loaded: Any = None


def installed_plugins(blocked: set[str], unreadable: list[str]) -> list[Plugin]:
    """Return every installed plugin, in the order of every output.

    Of equal names in one group the first on the path counts, as with modules. Gates and
    commands are the exception: two distributions with a gate of one name both have it asked, since
    leaving one out would leave a refusal out, and both may bring commands that begin with one word.

    Args:
        blocked: Names of plugins that get an error and are never loaded.
        unreadable: Receives a sentence for each distribution whose entry points cannot be read.
    """
    found: list[Plugin] = []
    seen: set[tuple[str, ...]] = set()
    for point in entry_points.entry_points(GROUPS, unreadable):
        kind = GROUPS[point.group]
        several = kind in ("gate", "command")
        key = (kind, point.name, _normal(point.dist)) if several else (kind, point.name)
        if key in seen:
            continue
        seen.add(key)
        plugin = Plugin(point.name, kind, point.dist, point.version, point.value)
        if plugin.name in blocked:
            plugin.error = f"blocked by {BLOCK_VARIABLE}"
        found.append(plugin)
    found.sort(key=_order)
    return found


def _order(plugin: Plugin) -> tuple[int, int, str, str]:
    known = HARNESSES.index(plugin.name) if plugin.name in HARNESSES else len(HARNESSES)
    return _KINDS.index(plugin.kind), known, plugin.name, plugin.dist


def _normal(dist: str) -> str:
    """A distribution's name as installers compare it."""
    return re.sub(r"[-_.]+", "-", dist).lower()
