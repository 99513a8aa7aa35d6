"""What commands print without `--json`: lists, summaries and digests.

Every text that comes from a log, a path or a plugin goes through `visible`. Each function returns
whole lines; writing them is the command's.
"""

from __future__ import annotations

from agentfeedback.terminal.screen import visible
from agentfeedback.terminal.table import Column, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agentfeedback.terminal.screen import Screen
    from agentfeedback.wire import records


def status_text(status: records.Status) -> str:
    """The summary of `sessions status`: stores and counts, then the saved selection."""
    from agentfeedback.wire.records import STATES

    lines = []
    for harness in status.harnesses:
        storage_only = " storage only" if harness.storage_only else ""
        lines.append(f"{harness.harness}: store {harness.location} ({harness.store}){storage_only}")
        lines += [f"  not listed: {problem}" for problem in harness.problems]
        lines += [
            f"  {state:<18} {harness.states[state]}"
            for state in STATES
            if harness.states.get(state)
        ]
    saved = status.selection
    if saved is None:
        return _text([*lines, "selection: none saved"])
    names, since = ",".join(saved.harnesses) or "-", saved.since or "-"
    lines.append(f"selection: harnesses {names}, since {since}, limit {saved.limit or '-'}")
    return _text(lines)


def marked_text(marked: records.Marked) -> str:
    """The line of `sessions mark`."""
    lines = [f"marked {len(marked.marked)} session(s) {marked.outcome}"]
    if marked.skipped:
        lines.append(f"left out {len(marked.skipped)}: changed since the digest")
    return _text(lines)


def forgotten_text(forgotten: records.Forgotten) -> str:
    """The line of `sessions forget`."""
    return _text([f"forgot {len(forgotten.forgotten)} session(s)"])


def plugins_text(plugins: Sequence[Mapping[str, Any]], screen: Screen) -> str:
    """The table of `plugins`: a row for each `records.InstalledPlugin` made plain."""
    members = ("name", "kind", "dist", "version", "hooks", "error")
    rows = [[_joined(plugin.get(member)) for member in members] for plugin in plugins]
    squeezes = ("ERROR", 24), ("HOOKS", 24), ("DIST", 0), ("KIND", 0), ("HOOKS", 12), ("ERROR", 12)
    plans = ((*squeezes, ("NAME", 12)),)
    return table([Column(member.upper()) for member in members], rows, screen, plans)


def _joined(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(str, value))
    return str(value) if value else "-"


def _text(lines: Sequence[str]) -> str:
    return "".join(visible(line) + "\n" for line in lines)
