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

_STATE_STYLES = {
    "new": "green",
    "changed": "yellow",
    "processed": "dim",
    "absent": "dim",
    "disabled": "magenta",
    "denied": "magenta",
    "unknown-project": "magenta",
    "unreadable": "red",
    "unsupported-format": "red",
}
_LIST_COLUMNS = (
    Column("REF", keep="both"),
    Column("STATE", style=lambda cell: _STATE_STYLES.get(cell.partition(" ")[0], "")),
    Column("PROJECT", keep="end"),
    Column("START", whole=True),
    Column("END", whole=True),
    Column("PROMPTS"),
    Column("TOOL CALLS"),
    Column("TOOL ERRORS"),
)
# A ref is there to be copied, so the first plan gives up every column but the state before it. The
# second shortens those refs that are longer than a harness's name and a UUID (of two ids, say), and
# ends with refs alone; where not even such a ref fits, a shortened one still tells sessions apart.
_MINUTES, _DAY = len("2026-10-08T07:39"), len("2026-10-08")
_UUID_REF = len("claude-code:") + 36
_SQUEEZES = (
    ("PROJECT", 24),
    ("STATE", 20),
    ("END", 0),
    ("START", _MINUTES),
    ("TOOL CALLS", 0),
    ("PROJECT", 12),
    ("STATE", 10),
    ("START", _DAY),
    ("TOOL ERRORS", 0),
)
_DROPS = (
    ("PROJECT", 0),
    ("STATE", len("processed")),
    ("PROMPTS", 0),
    ("START", 0),
)
_LIST_PLANS = (
    (*_SQUEEZES, *_DROPS),
    (("REF", _UUID_REF), *_SQUEEZES, *_DROPS, ("STATE", 0)),
    (
        ("REF", 28),
        *_SQUEEZES,
        ("REF", 20),
        ("START", 0),
        ("PROJECT", 8),
        ("PROMPTS", 0),
        ("REF", 12),
    ),
)


def listing_text(listing: records.Listing, screen: Screen) -> str:
    """The table of `sessions list`."""
    return table(
        _LIST_COLUMNS, [_row(session) for session in listing.sessions], screen, _LIST_PLANS
    )


def _row(session: records.Listed) -> list[str]:
    counts = session.counts
    numbers = (counts.prompts, counts.tool_calls, counts.tool_errors) if counts else ("-", "-", "-")
    return [
        session.ref,
        f"{session.state} ({session.reason})" if session.reason else session.state,
        session.project or "-",
        _seconds(session.start),
        _seconds(session.end),
        *map(str, numbers),
    ]


def _seconds(time: str) -> str:
    whole, point, _ = time.partition(".")
    return f"{whole}Z" if point else time or "-"


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
